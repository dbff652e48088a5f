"""Polars, DuckDB and pandas have the verdicts of judge()."""

from __future__ import annotations

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pytest
from conftest import by_array, by_judge

import urlsift
import urlsift.duckdb
import urlsift.polars
from urlsift.polars import UrlsiftExpr

VALUES = ["http://example.org/~fred", "", None, "a b", "http://h/\n", "http://h/é", "HTTP://H:80/#a#b"] * 500


def names_of(verdicts: list[dict[str, bool] | None]) -> list[tuple[str, ...] | None]:
    return [None if verdict is None else tuple(name for name, accepts in verdict.items() if accepts) for verdict in verdicts]


def test_polars() -> None:
    frame = pl.DataFrame({"url": VALUES})
    judged = UrlsiftExpr(pl.col("url")).judge(["verdict", "scheme", "defect"]).alias("judged")
    named = pl.col("url").urlsift.judge(["verdict", "scheme", "defect"]).alias("judged")  # type: ignore[attr-defined]
    expected = by_judge(VALUES)
    for result in (
        frame.with_columns(judged),
        frame.with_columns(named),
        frame.lazy().with_columns(judged).collect(),
        frame.lazy().with_columns(judged).collect(engine="streaming"),
    ):
        assert names_of(result["judged"].struct.field("verdict").to_list()) == expected
        assert result["judged"].struct.field("scheme").to_list()[:7] == ["http", None, None, None, "http", "http", "http"]
    series = frame["url"]
    of_series = series.urlsift  # type: ignore[attr-defined]
    assert of_series.judge().name == "url"
    assert of_series.count().digest == urlsift.count(VALUES).digest
    assert by_array(series) == expected
    assert by_array(pl.concat([series, series], rechunk=False).cast(pl.Categorical)) == expected * 2
    assert urlsift.count(frame.lazy().select("url")).digest == urlsift.count(VALUES).digest
    links = pl.DataFrame({"url": ["b", "http://i/", None, "c"], "base": ["http://h/", None, "http://h/", "x"]})
    resolved = UrlsiftExpr(pl.col("url")).judge(["resolved"], base=pl.col("base")).struct.field("resolved")
    assert links.lazy().select(resolved).collect()["resolved"].to_list() == ["http://h/b", "http://i/", None, None]
    assert frame.lazy().select(judged).collect_schema()["judged"] == frame.select(judged).schema["judged"]


def test_duckdb() -> None:
    con = duckdb.connect()
    urlsift.duckdb.register(con)
    wanted = ["kind"]
    urlsift.duckdb.register(con, columns=wanted)
    wanted[0] = "host"
    assert con.sql("select urlsift('http://a/')").fetchall() == [({"kind": "absolute"},)]
    urlsift.duckdb.register(con)
    with pytest.raises(ValueError, match="no grammar"):
        urlsift.duckdb.register(con, grammar="x")
    con.register("pages", pa.table({"url": VALUES, "n": range(len(VALUES))}))
    rows = con.sql("select urlsift(url) as judged from pages order by n").fetchall()
    assert names_of([row[0] and row[0]["verdict"] for row in rows]) == by_judge(VALUES)
    counted = con.sql("select urlsift(url).verdict.rfc3986 as ok, count(*) as n from pages group by all").fetchall()
    assert dict(counted) == {True: 1000, False: 2000, None: 500}
    causes = con.sql("select urlsift(url).defect.cause as cause, count(*) from pages where cause is not null group by all").fetchall()
    assert dict(causes) == {"space": 500, "control-byte": 500, "non-ascii": 500, "character-not-allowed": 500}
    report = urlsift.count(con.sql("select url from pages order by n"))
    assert report.digest == urlsift.count(VALUES).digest
    assert report.to_dict()["inputs"][0]["name"] == "url"
    with pytest.raises(TypeError, match="choose one"):
        urlsift.count(con.sql("select * from pages"))


def test_what_browsers_take() -> None:
    wanted = ["whatwg", "whatwg_errors", "whatwg_href"]
    values = ["http://a\\@b/ ", None, "c"]
    expected = [
        {"whatwg": "errors", "whatwg_errors": ["invalid-URL-unit", "invalid-reverse-solidus"], "whatwg_href": "http://a/@b/"},
        None,
        {"whatwg": "valid", "whatwg_errors": [], "whatwg_href": "http://h/c"},
    ]
    frame = pl.DataFrame({"url": values})
    judged = UrlsiftExpr(pl.col("url")).judge(wanted, base="http://h/")
    assert frame.lazy().select(judged).collect()["url"].to_list() == expected
    con = duckdb.connect()
    urlsift.duckdb.register(con, "browsers", wanted, base="http://h/")
    con.register("pages", pa.table({"url": values, "n": range(3)}))
    assert [row[0] for row in con.sql("select browsers(url) from pages order by n").fetchall()] == expected
    errors = con.sql("select unnest(browsers(url).whatwg_errors) as error from pages order by error").fetchall()
    assert errors == [("invalid-URL-unit",), ("invalid-reverse-solidus",)]


def test_pyarrow_scanner() -> None:
    scanner = pyarrow.dataset.dataset(pa.table({"url": VALUES, "n": range(len(VALUES))})).scanner(columns=["url"])
    assert urlsift.count(scanner).digest == urlsift.count(VALUES).digest


def test_pandas() -> None:
    expected = by_judge(VALUES)
    series = [
        pd.Series(VALUES, dtype=object),
        pd.Series(VALUES, dtype="string"),
        pd.Series(VALUES, dtype="category"),
        pd.Series(VALUES, dtype=pd.ArrowDtype(pa.large_string())),
        pd.Series(VALUES),
    ]
    for column in series:
        assert by_array(column) == expected, column.dtype
        assert urlsift.count(column).digest == urlsift.count(VALUES).digest, column.dtype
    mixed = pd.Series(["a", b"\xff", None, float("nan"), pd.NA], dtype=object)
    assert by_array(mixed) == by_judge(["a", b"\xff", None, None, None])
    with pytest.raises(TypeError, match="neither strings nor bytes"):
        urlsift.count(pd.Series([1.5]))
    assert urlsift.count(pd.DataFrame({"url": VALUES}, index=range(5, len(VALUES) + 5))).judged == 2500
    assert urlsift.count(pd.DataFrame({"url": ["a"]}, index=["x"])).judged == 1
