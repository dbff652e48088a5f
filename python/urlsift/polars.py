"""The namespace `urlsift` of Polars expressions and series. Importing this module registers it.

>>> import polars, urlsift.polars
>>> frame = polars.DataFrame({"url": ["http://example.org/", "a b", None]})
>>> frame.select(polars.col("url").urlsift.judge().struct.field("verdict").struct.field("rfc3986")).to_series().to_list()
[True, False, None]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import polars as pl

from ._column import names_of
from ._judge import judge_array
from ._report import Report, count
from ._urlsift import Array


__all__ = ["UrlsiftExpr", "UrlsiftSeries"]


class OneArray:
    """An Arrow array that is no table, so that rows may be null."""

    def __init__(self, array: Array) -> None:
        self.__arrow_c_array__ = array.__arrow_c_array__


def series_of(array: Array) -> pl.Series:
    return pl.Series(OneArray(array))


@pl.api.register_expr_namespace("urlsift")
class UrlsiftExpr:
    """Judges the values of an expression."""

    def __init__(self, expr: pl.Expr) -> None:
        self._expr = expr

    def judge(
        self,
        columns: Sequence[str] = ("verdict",),
        *,
        grammar: str = "rfc3986",
        base: str | pl.Expr | None = None,
        sets: Literal["struct", "bits"] = "struct",
    ) -> pl.Expr:
        """A struct of the wanted columns, as judge_array() has them, with null for null. Lazy and streaming queries can use it.

        `base` is a URL, or an expression with a base for each value.
        """

        columns = names_of(columns)

        def judged(values: Any, base: Any) -> pl.Series:
            # Polars calls this on its own threads.
            return series_of(judge_array(values, columns, grammar=grammar, base=base, sets=sets, names="string", threads=1))

        if isinstance(base, pl.Expr):
            dtype = judged([], []).dtype
            both = pl.struct(self._expr.alias("value"), base.alias("base"))
            named = both.map_batches(
                lambda pair: judged(pair.struct.field("value"), pair.struct.field("base")), return_dtype=dtype, is_elementwise=True
            )
            return named.alias(self._expr.meta.output_name())
        return self._expr.map_batches(lambda values: judged(values, base), return_dtype=judged([], base).dtype, is_elementwise=True)


@pl.api.register_series_namespace("urlsift")
class UrlsiftSeries:
    """Judges and counts the values of a series."""

    def __init__(self, series: pl.Series) -> None:
        self._series = series

    def judge(self, columns: Sequence[str] = ("verdict",), **options: Any) -> pl.Series:
        """judge_array() of the series, as a series of the same name."""
        options.setdefault("names", "string")
        return series_of(judge_array(self._series, columns, **options)).alias(self._series.name)

    def count(self, **options: Any) -> Report:
        """count() of the series."""
        return count(self._series, **options)
