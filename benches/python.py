#!/usr/bin/env python3
"""Times the Python package beside other ways to check a column of URLs, or to make others of it: PYTHON benches/python.py [--rounds N] [--command URLSIFT] LIST...

PYTHON needs urlsift, pyarrow, polars and duckdb, and takes ada-url, rfc3986-validator, publicsuffixlist, surt, tldextract and w3lib along if they
are installed. Each way runs once in each round, on one thread, with the values in memory; the table has medians and their ratio to
`urlsift.count`. What a way accepts is printed, because the ways check different things:

- the expression is RFC 3986, appendix A, without IP literals. Polars and DuckDB apply it to each value.
- ada-url parses by the WHATWG standard, rfc3986-validator by an expression for URIs, and urllib.parse splits and checks nothing.

Ways that take one value at a time get a sample of the list. With --command, the command is timed on the file.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import statistics
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["POLARS_MAX_THREADS"] = "1"

import duckdb
import polars as pl
import pyarrow as pa

import urlsift

UNRESERVED = r"[A-Za-z0-9._~-]"
ESCAPE = "%[0-9A-Fa-f]{2}"
SUB_DELIMS = r"[!$&'()*+,;=]"
PCHAR = f"(?:{UNRESERVED}|{ESCAPE}|{SUB_DELIMS}|[:@])"
AUTHORITY = f"(?:(?:{UNRESERVED}|{ESCAPE}|{SUB_DELIMS}|:)*@)?(?:{UNRESERVED}|{ESCAPE}|{SUB_DELIMS})*(?::[0-9]*)?"
ABEMPTY = f"(?:/{PCHAR}*)*"
PATH = f"(?://{AUTHORITY}{ABEMPTY}|/(?:{PCHAR}+{ABEMPTY})?|{PCHAR}+{ABEMPTY}|)"
RELATIVE = f"(?://{AUTHORITY}{ABEMPTY}|/(?:{PCHAR}+{ABEMPTY})?|(?:{UNRESERVED}|{ESCAPE}|{SUB_DELIMS}|@)+{ABEMPTY}|)"
REST = rf"(?:\?(?:{PCHAR}|[/?])*)?(?:#(?:{PCHAR}|[/?])*)?"
STRICT = f"^(?:[A-Za-z][A-Za-z0-9+.-]*:{PATH}|{RELATIVE}){REST}$"

HOST = r"^[A-Za-z][A-Za-z0-9+.-]*://(?:[^/?#]*@)?([^/?#:]*)"

SAMPLE = 100_000
"""How many values the ways get that take one at a time."""


def optional(module: str, name: str) -> Callable[..., Any] | None:
    """A function of a package that may be missing."""
    try:
        function: Callable[..., Any] = getattr(importlib.import_module(module), name)
    except ImportError:
        return None
    return function


def ways(values: pa.Array) -> dict[str, tuple[pa.Array, Callable[[], int | None]]]:
    """For each way, the values it gets and what it does with them. The result is how many it accepts."""
    from urllib.parse import urlsplit

    sample = values.slice(0, SAMPLE)
    strings = sample.to_pylist()
    series = pl.Series("url", values)
    con = duckdb.connect()
    con.execute("set threads = 1")
    con.register("pages", pa.table({"url": values}))
    con.execute("create table stored as select url from pages")

    def split(value: str) -> bool:
        try:
            urlsplit(value)
        except ValueError:
            return False
        return True

    one_thread: dict[str, Any] = {"threads": 1}
    verdict = "urlsift.judge_array(verdict)"
    found: dict[str, tuple[pa.Array, Callable[[], int | None]]] = {
        "urlsift.count": (values, lambda: urlsift.count(values, **one_thread).grammars["rfc3986"].accepted),
        verdict: (values, lambda: accepted(urlsift.judge_array(values, ["verdict"], **one_thread))),
        "urlsift.judge_array(verdict,kind,scheme,defect,advisories)": (
            values,
            lambda: accepted(urlsift.judge_array(values, ["verdict", "kind", "scheme", "defect", "advisories"], **one_thread)),
        ),
        "urlsift.judge": (sample, lambda: sum(urlsift.judge(value).accepts("rfc3986") for value in strings)),
        "Polars str.contains(expression)": (values, lambda: int(series.str.contains(STRICT).sum())),
        "DuckDB regexp_matches(expression)": (
            values,
            lambda: con.execute("select count(*) filter (regexp_matches(url, ?)) from stored", [STRICT]).fetchall()[0][0],
        ),
        "urllib.parse.urlsplit": (sample, lambda: sum(map(split, strings))),
    }
    for name, module, function in (
        ("ada_url.check_url", "ada_url", "check_url"),
        ("rfc3986_validator.validate_rfc3986", "rfc3986_validator", "validate_rfc3986"),
    ):
        if check := optional(module, function):
            found[name] = (sample, lambda check=check: sum(bool(check(value)) for value in strings))  # type: ignore[misc]
    return found | columns(values, con, series)


def columns(values: pa.Array, con: duckdb.DuckDBPyConnection, series: pl.Series) -> dict[str, tuple[pa.Array, Callable[[], None]]]:
    """The same for ways that make columns, which accept nothing."""
    from urllib.parse import urlsplit

    sample = values.slice(0, SAMPLE)
    strings = sample.to_pylist()
    found: dict[str, tuple[pa.Array, Callable[[], None]]] = {}
    for names in ("host", "host,domain", "canonical", "surt", "whatwg_host,whatwg_href"):
        found[f"urlsift.judge_array({names})"] = (
            values,
            lambda names=names: discard(urlsift.judge_array(values, names.split(","), threads=1)),  # type: ignore[misc]
        )
    found["Polars str.extract(host)"] = (values, lambda: discard(series.str.extract(HOST)))
    found["DuckDB regexp_extract(host)"] = (
        values,
        lambda: discard(con.sql("select regexp_extract(url, ?, 1) from stored", params=[HOST]).to_arrow_table()),
    )
    ada, suffixes = optional("ada_url", "URL"), optional("publicsuffixlist", "PublicSuffixList")
    extract = optional("tldextract", "TLDExtract")
    each: dict[str, Callable[[str], object] | None] = {
        "urlsplit(value).hostname": lambda value: urlsplit(value).hostname,
        "ada_url.URL(value), hostname and href": ada and (lambda value: (url := ada(value)).hostname and url.href),
        "PublicSuffixList.privatesuffix": suffixes and (lambda value, of=suffixes(): of.privatesuffix(urlsplit(value).hostname or "")),
        "TLDExtract, registered domain": extract and (lambda value, of=extract(suffix_list_urls=()): of(value).top_domain_under_public_suffix),
        "surt.surt": optional("surt", "surt"),
        "w3lib.url.canonicalize_url": optional("w3lib.url", "canonicalize_url"),
    }
    for name, make in each.items():
        if make:
            found[name] = (sample, lambda make=make: discard([made(make, value) for value in strings]))  # type: ignore[misc]
    return found


def made(make: Callable[[str], object], value: str) -> object:
    """What a way makes of a value; `None` if it refuses the value."""
    try:
        return make(value)
    except ValueError:
        return None


def discard(_: object) -> None:
    """Takes a result that is not looked at."""


def accepted(judged: urlsift.Array) -> int:
    """How many values RFC 3986 accepts."""
    verdict = pa.array(judged).field("verdict").field("rfc3986")
    return int(verdict.true_count)


def accepted_by(command: list[Any]) -> int:
    """How many lines of a file RFC 3986 accepts."""
    report = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return next(int(row["accepted"]) for row in report["grammars"] if row["name"] == "rfc3986")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("lists", nargs="+", type=Path)
    parser.add_argument("--command", type=Path)
    options = parser.parse_args()
    for path in options.lists:
        lines = [line.rstrip(b"\r") for line in path.read_bytes().split(b"\n")]
        values = pa.array([line.decode() for line in lines if line and line.isascii()], pa.string())
        all_ways = ways(values)
        if options.command:
            command = [options.command, "-q", "-j1", "--json", path]
            all_ways["the command, -j1, on the file"] = (values, lambda command=command: accepted_by(command))  # type: ignore[misc]
        times: dict[str, list[float]] = {name: [] for name in all_ways}
        accepts: dict[str, int | None] = {}
        for _ in range(options.rounds):
            for name, (_, way) in all_ways.items():
                start = time.perf_counter()
                accepts[name] = way()
                times[name].append(time.perf_counter() - start)
        print(f"{path}: {len(values):,} values in ASCII, urlsift {urlsift.__version__} ({urlsift.KERNEL}), {options.rounds} rounds")
        n_bytes = {name: column.buffers()[2].size * len(column) / len(values) for name, (column, _) in all_ways.items()}
        rate_of = {name: n_bytes[name] / statistics.median(of) for name, of in times.items()}
        for name, (column, _) in all_ways.items():
            spread = (max(times[name]) - min(times[name])) / statistics.median(times[name])
            ratio = rate_of[name] / rate_of["urlsift.count"]
            per_value = statistics.median(times[name]) / len(column) * 1e9
            print(
                f"  {name:36} {rate_of[name] / 1e9:8.3f} GB/s {ratio:8.4f} {per_value:10.1f} ns/value, spread {spread:4.0%}"
                + ("" if accepts[name] is None else f", accepts {accepts[name]:,} of {len(column):,}")
            )


if __name__ == "__main__":
    main()
