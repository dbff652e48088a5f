"""The function `urlsift` in DuckDB's SQL.

>>> import duckdb, urlsift
>>> con = duckdb.connect()
>>> urlsift.duckdb.register(con)
>>> con.sql("select urlsift('http://example.org/a b').defect.cause as cause").fetchall()
[('space',)]

Reports of relations need no function: urlsift.count(con.sql("select url from pages")) reads batch by batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import duckdb
import pyarrow as pa
from duckdb.func import ARROW

from ._arrow import plain_type
from ._column import names_of
from ._judge import judge_array

__all__ = ["register"]


def register(
    con: duckdb.DuckDBPyConnection,
    name: str = "urlsift",
    columns: Sequence[str] = ("verdict", "kind", "scheme", "defect"),
    *,
    grammar: str = "rfc3986",
    base: str | None = None,
) -> None:
    """Creates a function of a VARCHAR that returns a struct of the wanted columns, as judge_array() has them, and NULL for NULL.

    `base` is one URL for all values. A function of this name that `con` has registered before is replaced. Cursors of a connection share
    its functions, and cannot replace them. Fewer columns are faster. Needs pyarrow. Raises what judge_array() raises.
    """
    columns = names_of(columns)
    arrow_type = plain_type(columns, grammar, base)

    def judged(values: Any) -> pa.Array:
        # DuckDB calls this on its own threads.
        result = judge_array(values, columns, grammar=grammar, base=base, names="string", threads=1)
        return pa.array(result).cast(arrow_type)

    with suppress(duckdb.InvalidInputException):
        con.remove_function(name)
    con.create_function(name, judged, ["VARCHAR"], sql_type(arrow_type), type=ARROW)


def sql_type(of: pa.DataType) -> str:
    """The type in SQL."""
    if pa.types.is_struct(of):
        fields = (of.field(n) for n in range(of.num_fields))
        return "STRUCT(" + ", ".join(f'"{field.name}" {sql_type(field.type)}' for field in fields) + ")"
    if pa.types.is_list(of):
        return sql_type(of.value_type) + "[]"
    return {pa.bool_(): "BOOLEAN", pa.int64(): "BIGINT", pa.string(): "VARCHAR"}[of]
