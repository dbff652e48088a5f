"""What the modules for engines share. Needs pyarrow."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from ._judge import judge_array


def plain_type(columns: Sequence[str], grammar: str, base: str | None) -> pa.DataType:
    """The type of a judged column, with strings that all engines know."""
    return plain(pa.array(judge_array([], columns, grammar=grammar, base=base, names="string")).type)


def plain(of: pa.DataType) -> pa.DataType:
    """A type with strings and lists of 32-bit offsets instead of 64-bit ones."""
    if pa.types.is_struct(of):
        return pa.struct([(of.field(n).name, plain(of.field(n).type)) for n in range(of.num_fields)])
    if pa.types.is_large_list(of):
        return pa.list_(plain(of.value_type))
    return pa.string() if of == pa.large_string() else of
