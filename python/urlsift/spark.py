"""Judges and counts columns of Spark DataFrames, and files. Needs Spark 4 and pyarrow; urlsift has to be installed where executors run.

Spark hands over Arrow batches of columns; no value becomes a Python object. Files are read by urlsift itself.
"""

from __future__ import annotations

import glob
import itertools
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa
import pyarrow.fs
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_type
from pyspark.sql.types import StructField, StructType

from . import _urlsift
from ._arrow import plain_type
from ._column import check_numbers, names_of
from ._judge import judge_array
from ._report import Reading, Report, StrPath, checked, count, counts, merge, paths_of, reading

__all__ = ["judge", "report", "scan"]

FAN_IN = 32
"""At most how many tasks merge partial reports, before one task merges theirs."""

FEW_CORES = 8

MAX_TASKS = 10_000
"""At most how many tasks scan files. Each reads the whole plan."""

TASKS_PER_CORE = 4
"""At least how many tasks scan files, if there are as many."""

N_LOOKS = 16
"""How many files the driver looks at at once, to plan."""


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
    columns = names_of(columns)
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
    # In backticks, because a name may have dots.
    values = df["`" + column.replace("`", "``") + "`"]
    parts = df.select(values.alias("url")).mapInArrow(partial(count_batches, options=options), "partial binary")
    return merged(parts) or count([], **options)


def scan(
    spark: SparkSession,
    paths: StrPath | Iterable[StrPath],
    *,
    filesystem: pyarrow.fs.FileSystem | None = None,
    split_size: int = 256 << 20,
    grammar: str = "rfc3986",
    top: Mapping[str, int] | None = None,
    distinct: Iterable[str] = (),
    lengths: bool = False,
    whatwg: bool = False,
    base: str | None = None,
    input_format: str | None = None,
    fields: Sequence[str] = (),
    codec: str | None = None,
    show_secrets: bool = False,
) -> Report:
    """The report of all URLs in files, which the executors read: what urlsift.scan() makes on one machine, with the same digest.

    A path is a file, a directory, or a pattern with * or ? (in a URI with * alone). It is one of these:

    - a path that driver and executors open alike, such as one on a shared file system
    - a URI that pyarrow.fs knows, such as hdfs://, s3://, gs:// or abfs://; s3a:// is s3://. Credentials are those of the
      URI, or those that pyarrow finds on the executors. Settings of Hadoop and Spark do not count.
    - a path in `filesystem`, an object of pyarrow.fs, if that is given. It is pickled for the executors, with the credentials in it.

    Of a directory in a store, files and directories whose names begin with "." or "_" are left out. The other options are those of
    urlsift.scan().

    The driver plans: it lists the files, and cuts lists, logs, JSON lines and Parquet files that are larger than `split_size` bytes into
    splits. For that, it reads the beginnings of such files. A compressed file is one split, however large. A task scans a split on
    spark.task.cpus threads, other tasks merge partial reports, and one row comes to the driver. A task that fails is run again, and one
    that is run twice counts once. Beside its bytes, a split costs some milliseconds, and a task what Spark needs to start it. A task takes some
    dozen megabytes of memory outside the virtual machine of its executor (spark.executor.memoryOverhead).

    Executors need this package, pyarrow, and for hdfs:// the native library of Hadoop.

    A file that is damaged, or whose path an executor cannot open, does not stop the others: a warning names it, and the report is not
    complete. If nothing can be read, it is an OSError.

    Raises FileNotFoundError if a path names no file, ValueError for an unknown option, and what pyarrow raises if a store cannot
    be listed. If a store cannot be read, tasks fail, and after spark.task.maxFailures tries, Spark raises a PySparkException with the reason.
    """
    check_numbers({"split_size": split_size})
    if split_size == 0:
        raise ValueError("split_size is 0; a split has at least 1 byte")
    format_options = reading(input_format, fields, codec)
    options: dict[str, Any] = {
        "grammar": grammar,
        "counts": counts(lengths, top, distinct, whatwg, base),
        **format_options,
        "threads": int(spark.conf.get("spark.task.cpus", "1") or 1),
        "show_secrets": show_secrets,
    }
    # Wrong options are an error here, and not in each task.
    _urlsift.scan([], **options, progress=None)
    files = found_files(paths, filesystem)
    splits = plan(files, split_size, format_options)
    # Small files share tasks, but not so much that cores have nothing to do.
    n_wanted = max(sum(file.n_bytes for file in files) // split_size + 1, TASKS_PER_CORE * cores(spark))
    n_tasks = min(len(splits), n_wanted, MAX_TASKS)
    # Dealt out, so that each task has large and small splits, and the largest begin first.
    work = partial(scan_splits, tasks=[splits[task::n_tasks] for task in range(n_tasks)], options=options)
    scanned = merged(spark.range(0, n_tasks, 1, n_tasks).mapInArrow(work, "partial binary"))
    assert scanned is not None, "there is a split"
    return checked(scanned, 3)


@dataclass(frozen=True)
class File:
    """A file to scan: its name in the report, and where it is."""

    name: str
    path: str
    n_bytes: int
    filesystem: pyarrow.fs.FileSystem | None

    def open(self) -> Any:
        """The path, or the open file of a store."""
        return self.path if self.filesystem is None else self.filesystem.open_input_file(self.path)


Split = tuple[File, tuple[int, int], tuple[int, int, int | None]]
"""A part of a file: the file, its number and how many files there are, and a range of bytes with the size of the file."""


def found_files(paths: StrPath | Iterable[StrPath], filesystem: pyarrow.fs.FileSystem | None) -> list[File]:
    """The files that paths name, each once, in the order of a report."""
    local: list[StrPath] = []
    files = {}
    for path in [paths] if isinstance(paths, str | os.PathLike) else paths:
        text = os.fspath(path)
        store, below, prefix = filesystem, text, ""
        if store is None and re.match("[A-Za-z][A-Za-z0-9+.-]+:/", text):
            store, below = pyarrow.fs.FileSystem.from_uri(re.sub("^s3[an]:", "s3:", text))
            uri = urlsplit(text)
            # Without a password and options.
            host = uri.netloc.rpartition("@")[2]
            prefix = f"{uri.scheme}://" + ("" if below.startswith(host) else host if below.startswith("/") else f"{host}/")
        if store is None or (filesystem is None and isinstance(store, pyarrow.fs.LocalFileSystem)):
            local.append(below)
        else:
            files.update({prefix + info.path: File(prefix + info.path, info.path, info.size, store) for info in infos(store, below)})
    if local:
        for name, found, n_bytes in _urlsift.list_files(paths_of(local)):
            files[name] = File(name, os.path.join(os.getcwd(), found), n_bytes or 0, None)
    if not files:
        raise ValueError("no path")
    return sorted(files.values(), key=lambda file: (file.name.split("/"), file.name))


def infos(store: pyarrow.fs.FileSystem, path: str) -> list[pyarrow.fs.FileInfo]:
    """The files of a store that a path names: one file, all below a directory, or all that match a pattern. Hidden files are left out."""
    wanted = path.rstrip("/").split("/")
    n_fixed = len(wanted)
    info = store.get_file_info("/".join(wanted))
    if info.type == pyarrow.fs.FileType.NotFound and glob.has_magic(path):
        n_fixed = next(n for n, name in enumerate(wanted) if glob.has_magic(name))
        info = store.get_file_info("/".join(wanted[:n_fixed]))
    found = [info]
    if info.type == pyarrow.fs.FileType.Directory:
        found = store.get_file_info(pyarrow.fs.FileSelector(info.path, recursive=True))

    def is_meant(info: pyarrow.fs.FileInfo) -> bool:
        names = info.path.split("/")
        is_match = len(names) >= len(wanted) and all(map(fnmatchcase, names[n_fixed:], wanted[n_fixed:]))
        return info.is_file and is_match and not any(name.startswith((".", "_")) for name in names[n_fixed:])

    found = [info for info in found if is_meant(info)]
    if not found:
        raise FileNotFoundError(f"no file {path}")
    return found


def plan(files: list[File], split_size: int, format_options: Reading) -> list[Split]:
    """The splits of files, the largest first."""

    def ranges(file: File) -> list[tuple[int, int, int | None]]:
        if file.n_bytes <= split_size:
            return [(0, WHOLE, None)]
        try:
            return _urlsift.cut(file.name, file.open(), split_size, **format_options)
        except OSError:
            # The task that scans it names what is wrong with it.
            return [(0, WHOLE, None)]

    with ThreadPoolExecutor(N_LOOKS) as pool:
        splits = [
            (file, (number, len(files)), part) for number, (file, parts) in enumerate(zip(files, pool.map(ranges, files))) for part in parts
        ]
    splits.sort(key=lambda split: min(split[2][1] - split[2][0], split[0].n_bytes), reverse=True)
    return splits


WHOLE = 2**64 - 1
"""The end of a range that ends with its file."""


def scan_splits(batches: Iterator[pa.RecordBatch], *, tasks: list[list[Split]], options: dict[str, Any]) -> Iterator[pa.RecordBatch]:
    """The partial report of the splits of each task whose number is in a batch."""
    for batch in batches:
        for task in batch.column(0).to_pylist():
            parts = (_urlsift.scan_part(file.name, file.open(), place, part, **options) for file, place, part in tasks[task])
            yield batch_of(merge(map(Report, parts)))


def merged(parts: DataFrame) -> Report | None:
    """The report of partial reports, a row each, which tasks merge until there is one."""
    # Each level is a shuffle of its own, so that counting uses all cores. On few cores one level is faster.
    n_cores = cores(parts.sparkSession)
    for tasks in (min(FAN_IN, n_cores), 1) if n_cores > FEW_CORES else (1,):
        parts = parts.repartition(tasks).mapInArrow(merge_batches, "partial binary")
    rows = parts.collect()
    return Report.from_partial(bytes(rows[0][0])) if rows else None


def cores(spark: SparkSession) -> int:
    """How many tasks run at once; FAN_IN if the session does not say."""
    try:
        return int(spark.sparkContext.defaultParallelism)
    except Exception:  # Spark Connect has no context.
        return FAN_IN


def count_batches(batches: Iterator[pa.RecordBatch], *, options: dict[str, Any]) -> Iterator[pa.RecordBatch]:
    """The partial report of a partition."""
    yield batch_of(count(batches, **options))


def merge_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """One partial report of those of a partition, if there are any."""
    partials = (Report.from_partial(partial) for batch in batches for partial in batch.column(0).to_pylist())
    for first in partials:
        yield batch_of(merge(itertools.chain([first], partials)))


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
