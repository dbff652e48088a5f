"""What a column is, before it comes to Arrow's C data interface."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any


def column_of(data: Any) -> Any:
    """An object with the C data interface, or an iterable of str, bytes, None, and Arrow arrays.

    Raises ValueError if pyarrow says that the array is damaged, and TypeError for a plan of Polars that selects no column.
    """
    name = type(data).__name__
    module = type(data).__module__.partition(".")[0]
    if module == "pyarrow" and hasattr(data, "validate"):
        # The interface does not say how long buffers are, but pyarrow knows.
        data.validate()
    if module == "pyarrow" and not hasattr(data, "__arrow_c_stream__") and hasattr(data, "to_reader"):
        return data.to_reader()
    if module == "polars" and name == "LazyFrame":
        return data.collect_batches()
    if module == "polars" and name == "Expr":
        raise TypeError("an expression instead of a column; urlsift.polars has judge() for expressions")
    if module == "pandas" and getattr(data, "ndim", 1) == 1:
        return column_of_pandas(data)
    return data


def column_of_pandas(series: Any) -> Any:
    """A Series: one of objects value by value, any other by pyarrow."""
    if series.dtype == object:
        return values_of(series)
    import pyarrow

    return pyarrow.array(series, from_pandas=True)


def not_negative(**numbers: int) -> None:
    """Raises ValueError for a negative number."""
    for name, number in numbers.items():
        if number < 0:
            raise ValueError(f"{name} is {number}; it cannot be negative")


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
        names: Any = getattr(data, attribute, ())
        if len(names) == 1 and isinstance(names[0], str):
            return names[0]
    return "column"
