"""What a column is, before it comes to Arrow's C data interface."""

from __future__ import annotations

import math
from collections.abc import Iterator
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
        return data.collect_batches()
    if module == "polars" and name == "Expr":
        raise TypeError("an expression instead of a column; urlsift.polars has judge() for expressions")
    if module == "polars" and "Object" in map(str, [getattr(data, "dtype", ""), *getattr(data, "dtypes", ())]):
        # Polars hands over their addresses.
        raise TypeError("values of the type Object, which are neither strings nor bytes")
    if module == "pandas" and name == "DataFrame":
        import pyarrow

        return pyarrow.Table.from_pandas(data, preserve_index=False)
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


def check_numbers(threads: int = 0, **numbers: int) -> None:
    """Raises ValueError for a negative number and for too many threads."""
    for name, number in {"threads": threads, **numbers}.items():
        if number < 0:
            raise ValueError(f"{name} is {number}; it cannot be negative")
    if threads > MOST_THREADS:
        raise ValueError(f"threads is {threads}; at most {MOST_THREADS} are started")


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
