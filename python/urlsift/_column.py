"""What a column is, before it comes to Arrow's C data interface."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from operator import index
from typing import Any


def column_of(data: Any) -> Any:
    """An object with the C data interface, or an iterable of str, bytes, None, and Arrow arrays.

    Raises TypeError for an expression.
    """
    name = type(data).__name__
    module = type(data).__module__.partition(".")[0]
    if module == "pyarrow" and name == "Scanner":
        return data.to_reader()
    if module == "polars" and name == "LazyFrame":
        # The stream of all frames does not say that values are objects.
        if "Object" in map(str, data.collect_schema().dtypes()):
            raise TypeError("values of the type Object, which are neither strings nor bytes")
        return data.collect_batches()
    if module == "polars" and name == "Expr":
        raise TypeError("an expression instead of a column; urlsift.polars has judge() for expressions")
    if module == "pandas" and name == "DataFrame":
        if len(data.columns) != 1:
            raise TypeError(f"a table with {len(data.columns)} columns ({', '.join(map(str, data.columns))}); choose one")
        data = data.iloc[:, 0]
    if module == "pandas" and hasattr(data, "dtype"):
        return column_of_pandas(data)
    return data


def column_of_pandas(series: Any) -> Any:
    """A Series: one of objects value by value, any other by pyarrow."""
    if series.dtype == object:
        return values_of(series)
    import pyarrow

    return pyarrow.array(series, from_pandas=True)


MOST_THREADS = 1024


def check_threads(threads: int) -> None:
    """Raises an exception for no number of threads."""
    check_numbers({"threads": threads})
    if threads > MOST_THREADS:
        raise ValueError(f"threads is {threads}; at most {MOST_THREADS} are started")


def check_numbers(numbers: Mapping[str, int]) -> None:
    """Raises TypeError for what is no integer, and ValueError for a negative one."""
    for name, number in numbers.items():
        try:
            negative = index(number) < 0
        except TypeError:
            raise TypeError(f"{name} is {number!r}; expected an integer") from None
        if negative:
            raise ValueError(f"{name} is {number}; it cannot be negative")


def names_of(columns: Sequence[str]) -> tuple[str, ...]:
    """The names of columns, or of one. A tuple, because the caller may change a list later."""
    return (columns,) if isinstance(columns, str) else tuple(columns)


def values_of(series: Any) -> Iterator[Any]:
    """The values of a column of objects, with None for what pandas takes for missing."""
    for value in series:
        missing = value is None or (isinstance(value, float) and math.isnan(value)) or type(value).__name__ in ("NAType", "NaTType")
        yield None if missing else value


def name_of(data: Any) -> str:
    """The name of a column, if it has one."""
    if type(data).__name__ == "LazyFrame":
        data = data.collect_schema()
        return str(next(iter(data))) if len(data) == 1 else "column"
    name = getattr(data, "name", None)
    if isinstance(name, str) and name:
        return name
    for attribute in ("column_names", "columns"):
        names: Any = getattr(data, attribute, None)
        if isinstance(names, list | tuple) or type(names).__name__ == "Index":
            names = list(names)
            if len(names) == 1 and isinstance(names[0], str):
                return names[0]
    return "column"
