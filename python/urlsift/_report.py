"""Reports: of files, of columns, and merged ones."""

from __future__ import annotations

import functools
import glob
import html
import json
import os
import shutil
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

from . import _urlsift
from ._column import check_numbers, check_threads, column_of, name_of

StrPath = str | os.PathLike[str]

Progress = Callable[[int, int | None, int], object]
"""Called with the bytes read, the bytes of all inputs if they are known, and the lines judged."""


@dataclass(frozen=True)
class GrammarCount:
    """How many values a grammar accepts and refuses."""

    accepted: int
    refused: int


@dataclass(frozen=True)
class FieldCount:
    """How many values of a wanted field the chosen grammar accepts and refuses, and how many are blank."""

    accepted: int
    refused: int
    blank: int


class Report:
    """What was counted in files or columns.

    In a notebook it is shown as a page. `print(report)` shows it as text.

    >>> report = urlsift.count(["http://example.org/", "http://example.org/a b", "", None])
    >>> report.grammars["rfc3986"]
    GrammarCount(accepted=1, refused=1)
    >>> report.judged, report.blank, report.nulls
    (2, 1, 1)
    >>> report.schemes
    {'http': 2}
    """

    def __init__(self, counted: _urlsift.Counted) -> None:
        self._counted = counted

    @functools.cached_property
    def _report(self) -> dict[str, Any]:
        report: dict[str, Any] = json.loads(self._counted.json())
        return report

    @property
    def grammars(self) -> dict[str, GrammarCount]:
        """For each grammar, how many values it accepts and refuses."""
        return {row["name"]: GrammarCount(row["accepted"], row["refused"]) for row in self._report["grammars"]}

    @property
    def lines(self) -> int:
        """The number of lines or values: judged ones and blank ones."""
        return int(self._report["totals"]["lines"])

    @property
    def judged(self) -> int:
        """The number of judged values: those with at least one byte."""
        return int(self._report["totals"]["judged"])

    @property
    def blank(self) -> int:
        """The number of values without any byte. They are not judged."""
        return int(self._report["totals"]["blank"])

    @property
    def nulls(self) -> int:
        """The number of rows of columns, and of records in files, that have no value. `lines` does not count them."""
        skipped = (skip for row in self._report["inputs"] for skip in row.get("records", {}).get("skipped", ()))
        no_field = sum(int(skip["records"]) for skip in skipped if skip["reason"] == "no-field")
        return no_field + sum(int(row.get("nulls", 0)) for row in self._report["inputs"])

    @property
    def fields(self) -> dict[str, FieldCount]:
        """The counts of each wanted field of records, if `scan` was given several `fields`."""
        counts: dict[str, FieldCount] = {}
        records = (row.get("records") or {} for row in self._report["inputs"])
        for field in (field for found in records for field in found.get("fields", ()) if "name" in field):
            accepted = int(field["accepted"][self._report["grammar"]])
            sums = counts.get(field["name"], FieldCount(0, 0, 0))
            counts[field["name"]] = FieldCount(
                sums.accepted + accepted,
                sums.refused + int(field["lines"]) - accepted,
                sums.blank + int(field["blank"]),
            )
        return counts

    @property
    def n_bytes(self) -> int:
        """The number of bytes, with one for the end of each line or row."""
        return int(self._report["totals"]["bytes"])

    @property
    def schemes(self) -> dict[str, int]:
        """How many values each scheme has, the most frequent first. `relative` counts those without one."""
        return {row["name"]: row["lines"] for row in self._report["schemes"]}

    @property
    def relative(self) -> int:
        """The number of values without a scheme."""
        return int(self._report["relative"]["lines"])

    @property
    def complete(self) -> bool:
        """Whether all inputs were read to their end."""
        return bool(self._report["complete"])

    @property
    def failures(self) -> list[str]:
        """The inputs that were not read to their end, with the reasons."""
        return [f"{row['name']}: {row['error']}" for row in self._report["inputs"] if row["error"]]

    @property
    def digest(self) -> str:
        """A SHA-256 of the findings, to compare reports. It does not depend on threads, batches and names of inputs."""
        return str(self._report["digest"])

    def to_dict(self) -> dict[str, Any]:
        """The report as its JSON has it, in the schema urlsift.report/2."""
        result: dict[str, Any] = json.loads(self.to_json())
        return result

    def to_json(self) -> str:
        """The report as JSON, as `urlsift --json` writes it."""
        return self._counted.json()

    def to_html(self) -> str:
        """The report as a page that needs nothing else."""
        return self._counted.html()

    def to_partial(self) -> bytes:
        """The counts as a line of JSON, for from_partial() or `urlsift merge`."""
        return self._counted.partial()

    @classmethod
    def from_partial(cls, partial: bytes) -> Report:
        """The report of one or more lines that to_partial() or `urlsift --format partial` wrote.

        Raises ValueError if they are none, or cannot be merged.
        """
        return cls(_urlsift.Counted.read(partial))

    def to_arrow(self, table: str) -> _urlsift.Array:
        """A table of the report, as an Arrow array of structs.

        - grammars: name, accepted, refused
        - verdict_sets: grammars (joined by commas, or 'none'), lines
        - schemes: name, label ('reserved', 'experimental' or null), lines, and accepted_... for each grammar. The lines without a
          scheme have the label 'relative', and those of schemes that were not counted by name the label 'other'.
        - defects: component, cause, lines
        - advisories: name, lines
        - top: of, name, lines
        - inputs: name, bytes, lines (of columns: rows), nulls, error
        - examples: of ('verdict', 'defect' or 'advisory'), name, input, line, offset, text, text_base64 (if it is not UTF-8)

        >>> import pyarrow
        >>> pyarrow.array(urlsift.count(["ftp://h/", "ftp://i/"]).to_arrow("schemes"))[0]["lines"].as_py()
        2
        """
        if table not in TABLES:
            raise ValueError(f"no table {table!r}; there are {', '.join(TABLES)}")
        return _urlsift.table(columns_of(table, self._report))

    def save(self, path: StrPath) -> None:
        """Writes the report: a page for .html, JSON for .json, text for .txt. The file appears whole or not at all."""
        writers = {".html": self.to_html, ".htm": self.to_html, ".json": self.to_json, ".txt": self.__str__}
        target = Path(path)
        write = writers.get(target.suffix.lower())
        if write is None:
            raise ValueError(f"{target}: its ending names no format; there are {', '.join(writers)}")
        if not target.parent.is_dir():
            raise FileNotFoundError(f"{target}: no folder {target.parent}")
        target = target.resolve()
        whole = target.with_name(f".urlsift-{os.urandom(4).hex()}")
        try:
            with open(whole, "x", encoding="utf-8", newline="") as file:
                file.write(write())
            if target.exists():
                shutil.copymode(target, whole)
            os.replace(whole, target)
        except BaseException:
            whole.unlink(missing_ok=True)
            raise

    def __reduce__(self) -> tuple[Callable[[bytes], Report], tuple[bytes]]:
        return Report.from_partial, (self.to_partial(),)

    def __str__(self) -> str:
        return self._counted.text(min(shutil.get_terminal_size((100, 24)).columns, 160))

    def __repr__(self) -> str:
        count = self.grammars[self._report["grammar"]]
        state = "" if self.complete else ", incomplete"
        return f"<urlsift.Report: {self._report['grammar']} accepts {count.accepted:,} of {self.judged:,} judged{state}>"

    def _repr_html_(self) -> str:
        page = html.escape(self.to_html(), quote=True)
        return f'<iframe srcdoc="{page}" style="width:100%;height:40em;border:0" sandbox="allow-scripts"></iframe>'

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}


Row = dict[str, Any]


def accepted(row: Row) -> Row:
    """The counts by grammar, each as a column."""
    return {f"accepted_{name}": n for name, n in row["accepted"].items()}


def joined(grammars: list[str]) -> str:
    """A verdict in a word."""
    return ",".join(grammars) or "none"


def schemes(report: Row) -> list[Row]:
    """Lines by scheme, which add up to all judged lines."""
    rows = [(row["name"], row["label"], row) for row in report["schemes"]]
    rows += [(None, name, report[name]) for name in ("relative", "other") if report[name]["lines"]]
    return [{"name": name, "label": label, "lines": row["lines"], **accepted(row)} for name, label, row in rows]


def examples(report: Row) -> list[Row]:
    """All example lines, each with what it is an example of."""
    kinds = [("verdict", joined(row["grammars"]), row) for row in report["verdict_sets"]]
    kinds += [("defect", f"{row['component']}:{row['cause']}", row) for row in report["defects"]]
    kinds += [("advisory", row["name"], row) for row in report["advisories"]]
    return [
        {
            "of": of,
            "name": name,
            "input": example["input_name"],
            "line": example["line"],
            "offset": example["offset"],
            "text": example.get("text"),
            "text_base64": example.get("text_base64"),
        }
        for of, name, row in kinds
        for example in row["examples"]
    ]


TABLES: dict[str, Callable[[Row], list[Row]]] = {
    "grammars": lambda report: list(report["grammars"]),
    "verdict_sets": lambda report: [{"grammars": joined(row["grammars"]), "lines": row["lines"]} for row in report["verdict_sets"]],
    "schemes": schemes,
    "defects": lambda report: list(report["defects"]),
    "advisories": lambda report: list(report["advisories"]),
    "top": lambda report: [
        {"of": top["of"], "name": row["name"], "lines": row["lines"]} for top in report["top"] for row in top["entries"]
    ],
    "inputs": lambda report: [{"nulls": 0, **row} for row in report["inputs"]],
    "examples": examples,
}


ACCEPTED = [f"accepted_{name}" for name in _urlsift.GRAMMARS]

COLUMNS = {
    "grammars": ["name", "accepted", "refused"],
    "verdict_sets": ["grammars", "lines"],
    "schemes": ["name", "label", "lines", *ACCEPTED],
    "defects": ["component", "cause", "lines"],
    "advisories": ["name", "lines"],
    "top": ["of", "name", "lines"],
    "inputs": ["name", "bytes", "lines", "nulls", "error"],
    "examples": ["of", "name", "input", "line", "offset", "text", "text_base64"],
}
"""The columns of each table."""

NUMBERS = {"accepted", "refused", "lines", "bytes", "nulls", "line", "offset", *ACCEPTED}


def columns_of(table: str, report: Row) -> list[tuple[str, bool, list[Any]]]:
    """A table of a report, by column: the name, whether it has numbers, and the values."""
    rows = TABLES[table](report)
    return [(name, name in NUMBERS, [row.get(name) for row in rows]) for name in COLUMNS[table]]


def counts(
    lengths: bool, top: Mapping[str, int] | None, distinct: Iterable[str], whatwg: bool, base: str | None
) -> tuple[bool, dict[str, int], list[str], tuple[bool, str | None]]:
    top = top or {}
    if not isinstance(top, Mapping):
        raise TypeError(f'top is {top!r}; expected a mapping, such as {{"hosts": 20}}')
    check_numbers(top)
    return lengths, dict(top), [distinct] if isinstance(distinct, str) else list(distinct), (whatwg, base)


def scan(
    paths: StrPath | Iterable[StrPath],
    *,
    grammar: str = "rfc3986",
    top: Mapping[str, int] | None = None,
    distinct: Iterable[str] = (),
    lengths: bool = False,
    whatwg: bool = False,
    base: str | None = None,
    input_format: str | None = None,
    fields: Sequence[str] = (),
    codec: str | None = None,
    threads: int = 0,
    show_secrets: bool = False,
    progress: bool | Progress | None = None,
) -> Report:
    """Judges and counts all URLs in files, as the command `urlsift` does.

    `paths` is a path or several. A directory stands for all files in it and below it, and a path with * or ? for the files that it
    matches. Compressed files are decoded. The format of each file is detected: a list with one URL per line, or records with URLs
    (CSV, JSON lines, Parquet, logs, web archives). Of a table it is the column with a usual name (url, uri, link ...), or the one with
    URLs in it; `fields` names columns, keys or headers. `input_format` ("csv", "jsonl", "lines" ...) and `codec` ("gzip", "none" ...)
    are for files that are not recognised. Memory does not depend on the size of the files.

    `grammar` is the one whose refusals are explained. `top` says how many of the most frequent names are listed, such as
    {"hosts": 20}, for hosts, schemes, ports, tlds (last labels of hosts), domains (registrable domains), suffixes (public suffixes) and
    host-problems. `distinct` estimates how many distinct items there are: hosts, lines, domains, canonical, surt and whatwg_href.
    `lengths` counts lengths. `whatwg` counts what the parser of the WHATWG URL Standard makes of the lines, against the URL `base` if
    there is one: `to_dict()["whatwg"]` has the levels, the validation errors, and the lines whose hosts differ. Passwords in examples
    are masked unless `show_secrets` is true. `threads` is the number of threads, 0 for one on each processor.

    `progress` is True, False or a function; without it, progress is shown in terminals and notebooks. An input that cannot be read
    to its end does not stop the others: a warning names it, and the report is not complete. If nothing can be read, it is an OSError.

    >>> report = urlsift.scan("corpora/samples/trackers.txt", top={"hosts": 1})
    >>> report.complete, report.lines
    (True, 511)

    Raises FileNotFoundError if a path names no file, and ValueError for an unknown option.
    """
    check_threads(threads)
    show = progress if callable(progress) else ProgressLine() if progress or (progress is None and is_watched()) else None
    try:
        counted = _urlsift.scan(
            paths_of(paths),
            grammar=grammar,
            counts=counts(lengths, top, distinct, whatwg, base),
            **reading(input_format, fields, codec),
            threads=threads,
            show_secrets=show_secrets,
            progress=show,
        )
    finally:
        if isinstance(show, ProgressLine):
            show.end()
    return checked(Report(counted), 3)


class Reading(TypedDict):
    """How files are read."""

    input_format: str | None
    fields: list[str]
    codec: str | None


def reading(input_format: str | None, fields: Sequence[str], codec: str | None) -> Reading:
    """How files are read, from the options of scan()."""
    return {
        "input_format": input_format,
        "fields": [str(field) for field in ([fields] if isinstance(fields, str) else fields)],
        "codec": codec,
    }


def checked(report: Report, stacklevel: int) -> Report:
    """The report of files, with warnings for those that were not read to their end, and those without a URL in their records.

    Raises OSError if nothing was read of any of them.
    """
    if report.failures and len(report.failures) == len(report._report["inputs"]) and not report.lines:
        raise OSError("; ".join(report.failures))
    for message in report.failures:
        warnings.warn(message, stacklevel=stacklevel)
    for row in report._report["inputs"]:
        if "looks_like" in row:
            warnings.warn(f"{row['name']}: looks like {row['looks_like']['shape']}; {row['looks_like']['advice']}", stacklevel=stacklevel)
        records = row.get("records") or {"refused": []}
        if records["refused"] and not records["read"] and all(skip["reason"] != "no-field" for skip in records["skipped"]):
            causes = ", ".join(f"{found['records']} {found['cause']}" for found in records["refused"])
            warnings.warn(f"{row['name']}: no record gave a URL: {causes}", stacklevel=stacklevel)
    return report


def paths_of(paths: StrPath | Iterable[StrPath]) -> list[StrPath]:
    """The files that paths and patterns name."""
    all_paths: list[StrPath] = []
    if isinstance(paths, bytes) or hasattr(paths, "read"):
        raise TypeError(f"{type(paths).__name__} instead of a path, which is str or os.PathLike")
    for path in [paths] if isinstance(paths, str | os.PathLike) else paths:
        text = os.fspath(path)
        if os.path.exists(text):
            # "-" alone would be standard input.
            all_paths.append(os.path.join(".", text) if text == "-" else text)
            continue
        found = sorted(glob.glob(text, recursive=True)) if glob.has_magic(text) else []
        if "**" in text:
            # Which stands for all directories, so that their files are found too.
            found = [path for path in found if not os.path.isdir(path)]
        if not found:
            raise FileNotFoundError(f"no file {text}")
        all_paths += [os.path.join(".", path) if path == "-" else path for path in found]
    if not all_paths:
        raise ValueError("no path")
    return all_paths


def is_watched() -> bool:
    """Whether somebody sees what is written to standard error, which may be None or closed."""
    try:
        return not sys.stderr.closed and ("ipykernel" in sys.modules or sys.stderr.isatty())
    except AttributeError:
        return False


class ProgressLine:
    """A line on standard error that says how far the scan is."""

    def __init__(self) -> None:
        self.ticks = 0

    def __call__(self, done: int, total: int | None, lines: int) -> None:
        self.ticks += 1
        # Short scans show nothing, and no line changes more often than it can be read.
        if self.ticks >= 10 and self.ticks % 4 == 0:
            share = f" of {total / 1e9:.2f} GB" if total else " GB"
            sys.stderr.write(f"\r{done / 1e9:.2f}{share}, {lines:,} lines ")
            sys.stderr.flush()

    def end(self) -> None:
        if self.ticks >= 12:
            sys.stderr.write("\r" + " " * 60 + "\r")
            sys.stderr.flush()


def count(
    data: Any,
    *,
    name: str | None = None,
    grammar: str = "rfc3986",
    top: Mapping[str, int] | None = None,
    distinct: Iterable[str] = (),
    lengths: bool = False,
    whatwg: bool = False,
    base: str | None = None,
    ordered: bool = True,
    threads: int = 0,
    show_secrets: bool = False,
) -> Report:
    """Judges and counts the values of a column.

    `data` is what judge_array() takes, or a LazyFrame of Polars with one column. A stream is read batch by batch and never held whole.
    A stream can be read once: reading it again counts nothing. A value is judged unchanged: a line end in it is an illegal character.
    An empty value is counted as blank, and a null in `nulls` alone. `name` is the name of the column in the report.

    `grammar` is the one whose refusals are explained. `top` says how many of the most frequent names are listed, such as
    {"hosts": 20}, for hosts, schemes, ports, tlds (last labels of hosts), domains (registrable domains), suffixes (public suffixes) and
    host-problems. `distinct` estimates how many distinct items there are: hosts, lines, domains, canonical, surt and whatwg_href.
    `lengths` counts lengths. `whatwg` counts what the parser of the WHATWG URL Standard makes of the lines, against the URL `base` if
    there is one: `to_dict()["whatwg"]` has the levels, the validation errors, and the lines whose hosts differ. Passwords in examples
    are masked unless `show_secrets` is true. `threads` is the number of threads, 0 for one on each processor.

    The digest of a report tells whether two reports found the same. If the rows have no order, as in a distributed table, say
    ordered=False: then the digest does not depend on which values are shown as examples.

    >>> report = urlsift.count(["http://example.org/", "news:*", None], name="url")
    >>> report
    <urlsift.Report: rfc3986 accepts 2 of 2 judged>

    Raises what judge_array() raises.
    """
    check_threads(threads)
    counted = _urlsift.count(
        column_of(data),
        name=name or name_of(data),
        grammar=grammar,
        counts=counts(lengths, top, distinct, whatwg, base),
        ordered=ordered,
        threads=threads,
        show_secrets=show_secrets,
    )
    return Report(counted)


def merge(reports: Iterable[Report]) -> Report:
    """One report of several that were made with the same options.

    It is an error if two reports counted the same file. The rows of columns with the same name are joined, and have no order then.
    The caller has to know that no rows are counted twice.

    >>> parts = [urlsift.count(["http://h/"]), urlsift.count(["a b"])]
    >>> urlsift.merge(parts).grammars["rfc3986"]
    GrammarCount(accepted=1, refused=1)

    Raises ValueError if there is no report, or the reports do not fit together.
    """
    # Sums of equally many reports are added, so that the time does not grow with the square of their number.
    sums: list[tuple[int, _urlsift.Counted]] = []
    for report in reports:
        if not isinstance(report, Report):
            raise TypeError(f"expected reports, not {type(report).__name__}")
        n, counted = 1, report._counted
        while sums and sums[-1][0] == n:
            counted = sums.pop()[1].merge(counted)
            n *= 2
        sums.append((n, counted))
    if not sums:
        raise ValueError("no report")
    return Report(functools.reduce(lambda one, other: one.merge(other), (counted for _, counted in sums)))
