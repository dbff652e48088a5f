"""Single values and columns of all types: each row has the verdict of its value, or there is an exception that says why not."""

from __future__ import annotations

import gc
import io
import re
import struct
from collections.abc import Callable
from typing import Any, Literal

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import ROOT, Bare, by_array, by_judge
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import urlsift

VALUES = ["http://example.org/~fred", "", None, "a b", "http://h/\n", "x\r", "\0", "http://h/é", "HTTP://H:80/%zz#a#b", "ftp://h/a;type=b"]

VALUE = st.one_of(
    st.none(),
    st.binary(max_size=30),
    st.from_regex(rb"(https?|ftp|mailto|x-[a-z]{1,3}):(//)?[a-z0-9.:@\[\]]{0,12}(/[ -~]{0,8})?([?#][ -~]{0,5})?[\r\n]?", fullmatch=True),
    st.text("abc:/?#[]@!$&'()*+,;=%20 .~-_\n\r\t\"<>\\^`{|}", max_size=20).map(str.encode),
)


def dictionary(values: list[Any]) -> pa.Array:
    return pa.array(values, pa.binary()).dictionary_encode()


FORMS: dict[str, Callable[[list[Any]], Any]] = {
    "binary": lambda values: pa.array(values, pa.binary()),
    "large_binary": lambda values: pa.array(values, pa.large_binary()),
    "binary_view": lambda values: pa.array(values, pa.binary_view()),
    "dictionary": dictionary,
    "dictionary of uint16": lambda values: dictionary(values).cast(pa.dictionary(pa.uint16(), pa.binary())),
    "chunks": lambda values: pa.chunked_array([values[:3], values[3:], []], pa.binary()),
    "a slice": lambda values: pa.array([b"a b", None, *values, b"x"], pa.binary())[2:-1],
    "a slice of a dictionary": lambda values: dictionary([b"a b", None, *values, b"x"])[2:-1],
    "a table": lambda values: pa.table({"url": pa.array(values, pa.binary())}).slice(0),
    "a reader": lambda values: pa.table({"url": pa.array(values, pa.binary())}).to_reader(max_chunksize=7),
    "a list": list,
    "batches": lambda values: iter(pa.table({"url": pa.array(values, pa.binary())}).to_batches(max_chunksize=5)),
    "values and arrays": lambda values: [*values[:2], pa.array(values[2:], pa.binary())],
    "a generator": iter,
}


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(VALUE, max_size=40), st.integers(1, 800), st.sampled_from([1, 2]))
def test_any_array_has_the_verdicts_of_its_values(form: str, values: list[Any], times: int, threads: int) -> None:
    values = values * times
    expected = by_judge(values)
    assert by_array(FORMS[form](values), threads=threads) == expected
    report = urlsift.count(FORMS[form](values), threads=threads)
    judged = [verdict for value, verdict in zip(values, expected, strict=True) if value]
    assert (report.judged, report.blank, report.nulls) == (len(judged), values.count(b""), values.count(None))
    for grammar, found in report.grammars.items():
        assert found.accepted == sum(grammar in verdict for verdict in judged)
        assert found.refused == len(judged) - found.accepted


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(VALUE, max_size=40), st.integers(1, 400), st.sampled_from([1, 2]))
def test_any_array_has_the_columns_of_a_dictionary(form: str, values: list[Any], times: int, threads: int) -> None:
    columns = ["text", "host", "path", "query", "domain", "canonical", "surt", "whatwg_host", "whatwg_href"]
    # The values of a dictionary are looked at one by one. Others are searched together if they follow each other in memory.
    expected = pa.array(urlsift.judge_array(dictionary(values * times), columns))
    found = pa.array(urlsift.judge_array(FORMS[form](values * times), columns, threads=threads))
    found.validate(full=True)
    assert found.equals(expected)


@pytest.mark.parametrize("of", [pa.string(), pa.large_string(), pa.string_view()])
def test_strings(of: pa.DataType) -> None:
    assert by_array(pa.array(VALUES, of)) == by_judge(VALUES)


def test_fixed_size_binary_and_null() -> None:
    assert by_array(pa.array([b"ab", None, b"a "], pa.binary(2))) == by_judge([b"ab", None, b"a "])
    assert by_array(pa.nulls(3)) == [None] * 3
    assert by_array([]) == []
    assert by_array(pa.chunked_array([], pa.string())) == []


def test_columns_are_those_of_judge(lines: list[str]) -> None:
    for names in ("dictionary", "string"):
        wanted = ["kind", "scheme", "defect", "advisories"]
        for grammar in urlsift.GRAMMARS:
            judged = urlsift.judge_array(lines, wanted, grammar=grammar, names=names)
            rows = pa.array(judged)
            rows.validate(full=True)
            for line, row in zip(lines, rows.to_pylist(), strict=True):
                one = urlsift.judge(line)
                defect = one.defect(grammar)
                expected = defect and {name: getattr(defect, name) for name in ("component", "cause", "offset", "rule")}
                advisories = tuple(name for name, is_so in row["advisories"].items() if is_so)
                assert (row["kind"], row["scheme"], row["defect"], advisories) == (one.kind, one.scheme, expected, one.advisories)


def test_every_column_is_described() -> None:
    described = re.findall(r"^    - ([\w, ]+):", urlsift.judge_array.__doc__ or "", re.MULTILINE)
    assert ", ".join(described).split(", ") == urlsift.COLUMNS


def test_columns_that_are_computed_of_the_value_alone() -> None:
    values = ["http://a\\@b/", "", None, b"/\xff"]
    for names in ("dictionary", "string"):
        rows = pa.array(urlsift.judge_array(values, ["length", "text", "hosts_differ"], names=names))
        rows.validate(full=True)
        found = rows.to_pylist()
        assert [row and (row["length"], row["text"]) for row in found] == [(12, "http://a\\@b/"), (0, ""), None, (2, "/\ufffd")]
        assert found[0]["hosts_differ"].startswith("RFC 3986: b, browsers: a. ")
        assert [row and row["hosts_differ"] for row in found[1:]] == [None] * 3


def test_sets_as_bits(lines: list[str]) -> None:
    rows = pa.array(urlsift.judge_array(lines, ["verdict", "advisories"], sets="bits")).to_pylist()
    for line, row in zip(lines, rows, strict=True):
        one = urlsift.judge(line)
        assert tuple(name for n, name in enumerate(urlsift.GRAMMARS) if row["verdict"] >> n & 1) == one.verdict
        assert row["advisories"].bit_count() == len(one.advisories)


def test_resolved() -> None:
    def resolved(values: list[Any], base: Any) -> list[Any]:
        rows = pa.array(urlsift.judge_array(values, ["resolved"], base=base)).to_pylist()
        return [row if row is None else row["resolved"] for row in rows]

    assert resolved(["b", "../c", "a b", None, "//i/"], "http://h/a/x") == ["http://h/a/b", "http://h/c", None, None, "http://i/"]
    assert resolved(["b", "b", "b"], ["http://h/", None, "no base"]) == ["http://h/b", None, None]
    assert resolved(["http://h/a/../b", "ftp:x"], [None, "no base"]) == ["http://h/b", "ftp:x"]
    with pytest.raises(ValueError, match="2 bases of 1 values"):
        resolved(["b"], ["http://h/", "http://h/"])
    with pytest.raises(ValueError, match="base: it has no scheme"):
        resolved(["b"], "//h/")
    assert resolved(["http://h/a/../b", "b"], None) == ["http://h/b", None]
    assert set(urlsift.COLUMNS) == {field.name for field in pa.array(urlsift.judge_array(["b"], urlsift.COLUMNS)).type}
    with pytest.raises(ValueError, match="have a use for a base"):
        urlsift.judge_array(["b"], base="http://h/")
    with pytest.raises(TypeError, match="base: values of the Arrow type float64"):
        urlsift.judge_array(["b"], ["resolved"], base=pa.array([1.5]))


WHATWG = ["whatwg", "whatwg_errors", "whatwg_host", "whatwg_href"]


def unescaped(text: str) -> bytes:
    """Bytes that are written as \\xHH in the conformance cases."""
    return re.sub(rb"\\x(..)", lambda found: bytes.fromhex(found[1].decode()), text.encode())


def is_url(text: bytes) -> bool:
    """Whether browsers take a text as a URL."""
    rows = pa.array(urlsift.judge_array([text], ["whatwg"], names="string")).to_pylist()
    return rows[0]["whatwg"] in ("valid", "errors")


@pytest.mark.parametrize("names", ["dictionary", "string"])
def test_what_browsers_take(names: Literal["dictionary", "string"]) -> None:
    lines, bases, expected = [], [], []
    for row in (ROOT / "tests/conformance/whatwg.tsv").read_text().split("\n"):
        if row and not row.startswith("# "):
            line, base, level, errors, host, href = row.split("\t")
            if base == "-" or is_url(unescaped(base)):
                lines.append(unescaped(line))
                bases.append(None if base == "-" else unescaped(base))
                found = [] if errors == "none" else errors.split(",")
                text = [None if field == "-" else field for field in (host, href)]
                expected.append(dict(zip(WHATWG, [level, found, *text], strict=True)))
    assert len(lines) > 3000
    rows = pa.array(urlsift.judge_array(lines, WHATWG, base=pa.array(bases, pa.binary()), names=names))
    rows.validate(full=True)
    assert rows.to_pylist() == expected
    # Several threads join their rows.
    many = pa.array(urlsift.judge_array(lines * 40, WHATWG, base=pa.array(bases * 40, pa.binary()), names=names, threads=2))
    many.validate(full=True)
    assert many == pa.concat_arrays([rows] * 40)


def test_what_browsers_take_of_nulls_and_of_one_base() -> None:
    rows = pa.array(urlsift.judge_array(["..\\c", None, ""], WHATWG, base="http://h/a/b")).to_pylist()
    assert rows[0] == {"whatwg": "errors", "whatwg_errors": ["invalid-reverse-solidus"], "whatwg_host": "h", "whatwg_href": "http://h/c"}
    assert rows[1] is None
    assert rows[2]["whatwg_href"] == "http://h/a/b"
    table = pa.table(urlsift.judge_array(["c", None], WHATWG, names="string")).to_pylist()
    assert table[0] == {"whatwg": "relative", "whatwg_errors": ["missing-scheme-non-relative-URL"], "whatwg_host": None, "whatwg_href": None}
    assert table[1] == dict.fromkeys(WHATWG)
    with pytest.raises(ValueError, match=r"no URL by the WHATWG URL Standard \(.*host-missing\)"):
        urlsift.judge_array(["c"], ["whatwg"], base="http:")
    assert pa.array(urlsift.judge_array(["c"], ["resolved"], base="http:")).to_pylist() == [{"resolved": "http:c"}]
    href = pa.array(urlsift.judge_array(["c"], ["whatwg_href"], base="http://h/a|b/")).to_pylist()
    assert href == [{"whatwg_href": "http://h/a|b/c"}]


def test_wrong_values_are_named() -> None:
    for data, message in [
        (5, "not int"),
        ({"url": ["a"]}, "a dict instead of a column"),
        (pa.array([1.5]), "float64"),
        (pl.col("url"), "an expression instead of a column"),
        ("http://h/", "one value instead of a column"),
        (["a", 1], "row 1: expected str, bytes or None, not int"),
        (pa.array([1]), "neither strings nor bytes"),
        (pa.table({"a": ["x"], "b": ["y"]}), r"a table with 2 columns \(a, b\); choose one"),
    ]:
        with pytest.raises(TypeError, match=message):
            urlsift.judge_array(data)
        with pytest.raises(TypeError, match=message):
            urlsift.count(data)
    with pytest.raises(TypeError, match="judge_array"):
        urlsift.judge(["a"])  # type: ignore[arg-type]
    for call in (urlsift.judge_array, urlsift.count):
        with pytest.raises(ValueError, match="row 1: .*surrogates"):
            call(["a", "\ud800"])
        with pytest.raises(ZeroDivisionError):
            call(str(1 / n) for n in (1, 0))
    with pytest.raises(UnicodeEncodeError):
        urlsift.judge("\ud800")
    with pytest.raises(ValueError, match='no grammar "rfc1".*rfc3986'):
        urlsift.count(["a"], grammar="rfc1")
    with pytest.raises(ValueError, match="no column .hosts.; there are length, verdict"):
        urlsift.judge_array(["a"], ["hosts"])
    with pytest.raises(ValueError, match="threads is -1"):
        urlsift.count(["a"], threads=-1)
    with pytest.raises(ValueError, match="threads is 5000; at most"):
        urlsift.judge_array(["a"], threads=5000)
    for options, message in (
        ({"threads": "2"}, "threads is '2'; expected an integer"),
        ({"top": {"threads": 1.5}}, "threads is 1.5; expected an integer"),
        ({"top": ["hosts"]}, r"top is \['hosts'\]; expected a mapping"),
    ):
        wrong: dict[str, Any] = options
        with pytest.raises(TypeError, match=message):
            urlsift.count(["a"], **wrong)
    with pytest.raises(ValueError, match="base: row 0: not text"):
        urlsift.judge_array(["a"], ["whatwg_href"], base=["\ud800"])
    with pytest.raises(TypeError, match="row 1: expected str, bytes or None, not int"):
        urlsift.judge_array(pd.DataFrame({"url": ["a", 5]}))
    with pytest.raises(ValueError, match="sets is 'list'"):
        urlsift.judge_array(["a"], sets="list")  # type: ignore[arg-type]


def test_capsules_are_used_once() -> None:
    class Again:
        def __init__(self, capsules: Any) -> None:
            self.capsules = capsules

        def __arrow_c_array__(self, requested_schema: object = None) -> Any:
            return self.capsules

    again = Again(pa.array(["a"]).__arrow_c_array__())
    assert by_array(again) == by_judge(["a"])
    with pytest.raises(ValueError, match="was used before"):
        urlsift.count(again)


def test_lying_offsets_are_an_error() -> None:
    def array(offsets: list[int], text: bytes) -> pa.Array:
        buffers = [None, pa.array(offsets, pa.int32()).buffers()[1], pa.py_buffer(text)]
        return pa.Array.from_buffers(pa.string(), len(offsets) - 1, buffers)

    for offsets in ([0, 3, 1], [-1, 0, 1], [0, 2, -5]):
        with pytest.raises(ValueError, match="offset"):
            urlsift.judge_array(Bare(array(offsets, b"abc")))
    # How long a buffer is only its owner knows.
    with pytest.raises(ValueError):
        urlsift.judge_array(array([0, 1 << 30], b"abc"))


def test_damaged_batches_of_a_reader_are_an_error() -> None:
    table = pa.table({"url": ["http://a/", "http://bbbbbbb/"]})
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    stream = bytearray(sink.getvalue())
    at = stream.find(struct.pack("<iii", 0, 9, 24))
    stream[at + 8 : at + 12] = struct.pack("<i", 2**31 - 1)
    with pytest.raises(ValueError):
        urlsift.count(pa.ipc.open_stream(bytes(stream)))
    other = pa.record_batch([pa.array(["a b"], pa.large_string())], names=["url"])
    reader = pa.RecordBatchReader.from_batches(pa.schema([("url", pa.string())]), iter([other]))
    assert by_array(reader) == by_judge(["a b"])


def test_bytes_of_other_things_are_refused() -> None:
    objects = pl.Series("url", [object()], dtype=pl.Object)
    empty = pl.LazyFrame({"a": ["b"], "c": ["d"]}).filter(False)
    with pytest.raises(TypeError, match="choose one"):
        urlsift.count(empty)
    for column in (objects, objects.to_frame(), objects.to_frame().lazy(), [objects]):
        with pytest.raises(TypeError, match="Object"):
            urlsift.count(column)
    with pytest.raises(TypeError, match="extension type arrow.uuid"):
        urlsift.count(pa.array([b"0123456789abcdef"], pa.uuid()))


def test_a_stream_that_fails_says_so() -> None:
    def batches() -> Any:
        yield pa.record_batch({"url": ["a", "b"]})
        raise RuntimeError("the disk is gone")

    reader = pa.RecordBatchReader.from_batches(pa.schema([("url", pa.string())]), batches())
    with pytest.raises(RuntimeError, match="the disk is gone"):
        urlsift.count(reader)

    class Broken:
        columns = 5

        def __iter__(self) -> Any:
            raise FileNotFoundError("urls.txt")

    with pytest.raises(FileNotFoundError):
        urlsift.count(Broken())


def test_results_outlive_what_they_come_from() -> None:
    values = pa.array(["http://h/a", "x y"] * 1000)
    judged = urlsift.judge_array(values, ["verdict", "scheme", "defect"])
    del values
    rows = pa.array(judged)
    table = pa.table(judged)
    del judged
    gc.collect()
    rows.validate(full=True)
    assert rows.to_pylist() == table.to_pylist()
    assert rows[1]["defect"]["offset"].as_py() == 1


def test_a_table_of_the_result() -> None:
    assert pa.table(urlsift.judge_array(["http://h/", None], [])).num_rows == 2
    table = pa.table(urlsift.judge_array(["http://h/", None], ["kind", "defect"], names="string"))
    assert table.to_pylist() == [{"kind": "absolute", "defect": None}, {"kind": None, "defect": None}]


def test_long_values() -> None:
    long = b"http://h/" + b"a" * (5 << 20)
    values = [b"a", long, long + b"\n", None, long + b" ", b"http://h/\r", b"http://h/", b"a\n"]
    for values in (values, values[1:], values * 20):
        assert by_array(values) == by_judge(values)
    report = urlsift.count(values[:8])
    assert report.grammars["rfc3986"] == urlsift.GrammarCount(3, 4)
