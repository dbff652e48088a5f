"""Judges URLs in bulk: columns of tables and files, under five grammars at once.

The grammars are 'draft1993' (the URL draft of November 1993), 'rfc1738', 'rfc1808', 'rfc2396' and 'rfc3986'. The verdict of a value
is the set of grammars that accept it. For each grammar that refuses the value, a defect names the byte, the component, the cause,
and the rule of the document.

    judge(url)              one value
    judge_array(column)     a column, row for row: an Arrow array
    count(column)           a column: a Report
    scan(paths)             files of any format that the command urlsift reads: a Report
    merge(reports)          one Report of several

COLUMNS names the columns of judge_array(). KERNEL names the vector instructions that this machine judges with. Grammars may be named by their digits alone, as in "3986".

Columns come and go by the Arrow C data interface: arrays and tables of pyarrow, pandas, Polars, DuckDB and others, without a copy.
urlsift.polars, urlsift.duckdb and urlsift.spark put the functions into expressions, SQL and DataFrames of these engines.
"""

from __future__ import annotations

import importlib
from types import ModuleType

from ._judge import judge_array
from ._report import FieldCount, GrammarCount, Report, count, merge, scan
from ._urlsift import COLUMNS, GRAMMARS, KERNEL, Array, Defect, Judgement, __version__, judge

__all__ = [
    "COLUMNS",
    "GRAMMARS",
    "KERNEL",
    "Array",
    "Defect",
    "FieldCount",
    "GrammarCount",
    "Judgement",
    "Report",
    "__version__",
    "count",
    "judge",
    "judge_array",
    "merge",
    "scan",
]


def __getattr__(name: str) -> ModuleType:
    # Modules for engines, which are imported only where they are used.
    if name in ("duckdb", "polars", "spark"):
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module 'urlsift' has no attribute {name!r}")
