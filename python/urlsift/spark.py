"""Judges and counts columns of Spark DataFrames. Needs Spark 4 and pyarrow; urlsift has to be installed where executors run.

Spark hands over Arrow batches; no value becomes a Python object.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import from_arrow_type
from pyspark.sql.types import StructField, StructType

from ._arrow import plain_type
from ._judge import judge_array
from ._report import Report, count

__all__ = ["judge", "report"]

FAN_IN = 32
"""At most how many tasks merge partial reports, before one task merges theirs."""

FEW_CORES = 8


def judge(
    df: DataFrame,
    column: str,
    columns: Sequence[str] = ("verdict", "kind", "scheme", "defect"),
    *,
    name: str = "urlsift",
    grammar: str = "rfc3986",
    base: str | None = None,
) -> DataFrame:
    """Adds the column `name` to a DataFrame: a struct of the wanted columns, as judge_array() has them, with null for null.

    `base` is one URL for all values. Raises ValueError if there is no column `column` of strings or bytes, or one that is called `name`.
    """
    check_column(df, column)
    columns = (columns,) if isinstance(columns, str) else tuple(columns)
    if name in df.columns:
        raise ValueError(f"there is a column {name!r} already; name= chooses another name")
    arrow_type = plain_type(columns, grammar, base)
    field = StructField(name, from_arrow_type(arrow_type))
    work = partial(judge_batches, column=column, name=name, columns=columns, grammar=grammar, base=base, arrow_type=arrow_type)
    return df.mapInArrow(work, StructType([*df.schema.fields, field]))


def judge_batches(
    batches: Iterator[pa.RecordBatch],
    *,
    column: str,
    name: str,
    columns: Sequence[str],
    grammar: str,
    base: str | None,
    arrow_type: pa.DataType,
) -> Iterator[pa.RecordBatch]:
    """Batches with one more column. Runs on executors, where Spark has one task per core."""
    for batch in batches:
        judged = judge_array(batch.column(column), columns, grammar=grammar, base=base, names="string", threads=1)
        yield batch.append_column(name, pa.array(judged).cast(arrow_type))


def report(df: DataFrame, column: str, **options: Any) -> Report:
    """The report of a column of any size. `options` are those of count().

    Each task counts its partition. Tasks merge their partial reports, and one row comes to the driver. The rows have no order: the
    digest is the same however they are divided, and does not depend on the values that are shown as examples.

    Raises ValueError if there is no such column of strings or bytes.
    """
    check_column(df, column)
    options = {"name": column, **options, "ordered": False, "threads": 1}
    # Wrong options are an error here, and not in each task.
    count([], **options)
    parts = df.select(df[column].alias("url")).mapInArrow(partial(count_batches, options=options), "partial binary")
    # Each level is a shuffle of its own, so that counting uses all cores. On few cores one level is faster.
    n_cores = cores(df)
    for tasks in (min(FAN_IN, n_cores), 1) if n_cores > FEW_CORES else (1,):
        parts = parts.repartition(tasks).mapInArrow(merge_batches, "partial binary")
    rows = parts.collect()
    return Report.from_partial(bytes(rows[0][0])) if rows else count([], **options)


def cores(df: DataFrame) -> int:
    """How many tasks run at once; FAN_IN if the session does not say."""
    try:
        return int(df.sparkSession.sparkContext.defaultParallelism)
    except Exception:  # Spark Connect has no context.
        return FAN_IN


def count_batches(batches: Iterator[pa.RecordBatch], *, options: dict[str, Any]) -> Iterator[pa.RecordBatch]:
    """The partial report of a partition."""
    yield batch_of(count(batches, **options))


def merge_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """One partial report of those of a partition, if there are any."""
    partials = b"".join(partial for batch in batches for partial in batch.column(0).to_pylist())
    if partials:
        yield batch_of(Report.from_partial(partials))


def batch_of(report: Report) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict({"partial": pa.array([report.to_partial()], pa.binary())})


def check_column(df: DataFrame, column: str) -> None:
    """Raises an exception if a DataFrame has no such column of strings or bytes."""
    if not isinstance(column, str):
        raise TypeError(f"the column is {type(column).__name__}; expected its name")
    types = dict(df.dtypes)
    if column not in types:
        raise ValueError(f"no column {column!r}; there are {', '.join(df.columns)}")
    if types[column].partition("(")[0] not in ("string", "binary", "varchar", "char"):
        raise ValueError(f"the column {column!r} is of the type {types[column]}, and not of strings or bytes")
