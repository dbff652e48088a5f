"""Reports: a column counts what a list of it counts, however it is cut and counted."""

from __future__ import annotations

import io
import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from conftest import ROOT

import urlsift


def test_a_column_counts_what_a_file_counts() -> None:
    for path in sorted(ROOT.glob("corpora/samples/*.txt")):
        text = path.read_bytes()
        if b"\r" in text or not text.endswith(b"\n") or text.startswith(b"\xef\xbb\xbf"):
            continue
        column = pa.array(text.split(b"\n")[:-1], pa.binary())
        of_file = urlsift.scan(path, lengths=True, distinct=["hosts"])
        of_column = urlsift.count(column, name=str(path), lengths=True, distinct=["hosts"])
        expected, found = of_file.to_dict(), of_column.to_dict()
        for report in (expected, found):
            del report["run"], report["digest"], report["inputs"][0]["name"]
            report["inputs"][0].pop("looks_like", None)
            for kind in report["verdict_sets"] + report["defects"] + report["advisories"]:
                for example in kind["examples"]:
                    del example["input_name"]
        assert found == expected, path


def test_what_browsers_take() -> None:
    values = ["http://a/", "http://a\\@b/", "/x", None, "http://h h/"]
    whatwg = urlsift.count(values, whatwg=True).to_dict()["whatwg"]
    levels = {level["name"]: level["lines"] for level in whatwg["levels"]}
    assert levels == {"valid": 1, "errors": 1, "failure": 1, "relative": 1}
    assert whatwg["hosts_differ"]["lines"] == 1 and whatwg["base"] is None
    with_base = urlsift.count(values, whatwg=True, base="http://h/").to_dict()["whatwg"]
    assert with_base["base"] == "http://h/" and with_base["levels"][3]["lines"] == 0
    parts = [urlsift.count(values[start::2], whatwg=True, ordered=False) for start in range(2)]
    assert urlsift.merge(parts).digest == urlsift.count(values, whatwg=True, ordered=False).digest
    assert "whatwg" not in urlsift.count(values).to_dict()
    with pytest.raises(ValueError, match="base is for whatwg=True"):
        urlsift.count(values, base="http://h/")
    with pytest.raises(ValueError, match=r"no URL by the WHATWG URL Standard \(missing-scheme"):
        urlsift.count(values, whatwg=True, base="/a")


def test_parts_of_a_column_have_one_digest() -> None:
    values = (ROOT / "corpora/samples/parser_vectors.txt").read_text().split("\n") + [None] * 3
    whole = urlsift.count(values, ordered=False)
    for n in (1, 2, 7, 100):
        parts = [urlsift.count(values[start::n], ordered=False) for start in range(n)]
        merged = urlsift.merge(urlsift.Report.from_partial(part.to_partial()) for part in parts)
        assert merged.digest == whole.digest
        assert merged.to_dict()["totals"] == whole.to_dict()["totals"]
    assert whole.nulls == 3


def test_frequent_names_without_order() -> None:
    """Lists of names that depend on the order do not change the digest."""
    values = [f"http://host{n % 70_001}.example/" for n in range(140_000)]
    whole = urlsift.count(values, ordered=False, top={"hosts": 3})
    parts = [urlsift.count(values[start::3], ordered=False, top={"hosts": 3}) for start in range(3)]
    assert urlsift.merge(parts).digest == whole.digest
    assert not whole.to_dict()["top"][0]["exact"]


def test_tables(tmp_path: Path) -> None:
    report = urlsift.count(["http://h/", "a b", "ftp://u:p@h/", None], top={"hosts": 2})
    assert sum(pa.table(report.to_arrow("schemes"))["lines"].to_pylist()) == report.judged
    assert pickle.loads(pickle.dumps(report)).digest == report.digest
    for table in ("grammars", "verdict_sets", "schemes", "defects", "advisories", "top", "inputs", "examples"):
        rows = pa.array(report.to_arrow(table))
        rows.validate(full=True)
        assert len(rows) > 0, table
    assert pa.array(report.to_arrow("inputs")).to_pylist() == [
        {"name": "column", "bytes": 28, "lines": 4, "nulls": 1, "error": None}
    ]
    with pytest.raises(ValueError, match="no table 'hosts'"):
        report.to_arrow("hosts")
    empty = urlsift.count([])
    for table in ("verdict_sets", "schemes", "defects", "examples"):
        assert pa.table(empty.to_arrow(table)).schema == pa.table(report.to_arrow(table)).schema


def test_saved_reports(tmp_path: Path) -> None:
    report = urlsift.count(["http://h/", "ftp://u:secret@h/"])
    (tmp_path / "r.json").touch(0o600)
    for name in ("r.html", "r.json", "r.txt"):
        report.save(tmp_path / name)
        text = (tmp_path / name).read_text()
        assert "rfc3986" in text and "secret" not in text
    assert json.loads((tmp_path / "r.json").read_text())["digest"] == report.digest
    assert (tmp_path / "r.json").stat().st_mode & 0o777 == 0o600
    with pytest.raises(ValueError, match="names no format"):
        report.save(tmp_path / "r.pdf")
    with pytest.raises(FileNotFoundError):
        report.save(tmp_path / "no" / "r.json")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r.html", "r.json", "r.txt"]


def test_scan_of_what_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FileNotFoundError, match="no file .*nothing"):
        urlsift.scan(tmp_path / "nothing*")
    (tmp_path / "a.gz").write_bytes(b"\x1f\x8b\x08\0\0\0\0\0\0\3damaged")
    (tmp_path / "b.txt").write_bytes(b"http://h/\n")
    with pytest.warns(UserWarning, match="a.gz"):
        report = urlsift.scan(tmp_path)
    assert not report.complete and "incomplete" in repr(report) and len(report.failures) == 1
    with pytest.raises(OSError, match="a.gz"):
        urlsift.scan(tmp_path / "a.gz")
    for option in ("input_format", "codec", "grammar"):
        wrong: dict[str, Any] = {option: "xyz"}
        with pytest.raises(ValueError, match="xyz"):
            urlsift.scan(tmp_path / "a.gz", **wrong)
    with pytest.raises(ValueError, match="no report"):
        urlsift.merge([])
    with pytest.raises(TypeError, match="expected reports, not int"):
        urlsift.merge([1])  # type: ignore[list-item]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "-").write_bytes(b"http://file/\n")
    assert urlsift.scan(["-", "[-]", "./-"]).lines == 1
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "c.txt").write_bytes(b"http://h/\n")
    same: tuple[Any, ...] = (["folder", "folder/c.txt", tmp_path / "folder" / "c.txt"], "folder/**", "fold*/**/*")
    assert [urlsift.scan(paths).lines for paths in same] == [1, 1, 1]
    (tmp_path / "folder" / "empty").mkdir()
    assert urlsift.scan("fold*/**").complete
    with pytest.raises(TypeError, match="TextIOWrapper instead of a path"), open("folder/c.txt") as file:
        urlsift.scan(file)
    with pytest.raises(TypeError, match="bytes instead of a path"):
        urlsift.scan(b"folder")  # type: ignore[arg-type]
    (tmp_path / "t.csv").write_bytes(b"id,url\nx\n")
    for name, cause in (("jsonl", "2 bad-json"), ("csv", "1 too-few-fields")):
        with pytest.warns(UserWarning, match=f"t.csv: no record gave a URL: {cause}"):
            assert urlsift.scan("t.csv", input_format=name).lines == 0
    for stderr in (None, io.StringIO()):
        if stderr:
            stderr.close()
        monkeypatch.setattr(sys, "stderr", stderr)
        assert urlsift.scan("folder/c.txt").lines == 1
    with pytest.raises(ValueError, match="counted already"):
        scanned = urlsift.scan(ROOT / "corpora/samples/trackers.txt")
        urlsift.merge([scanned, scanned])


def test_advice_names_arguments(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,name\n1,x\n")
    (tmp_path / "a.zip").write_bytes(b"PK\x03\x04\x14\0\0\0")
    for name, options, advice in (
        ("a.csv", {"fields": "url", "input_format": "csv"}, "its columns are id, name; fields chooses one by name or number"),
        ("a.csv", {"fields": "9", "input_format": "csv"}, "no record has as many columns as fields says"),
        ("a.zip", {}, 'input_format="lines", codec="none" reads its bytes as lines'),
    ):
        given: dict[str, Any] = options
        with pytest.raises(OSError, match="a[.]") as caught:
            urlsift.scan(tmp_path / name, **given)
        assert advice in str(caught.value) and "--" not in str(caught.value)
    (tmp_path / "b.txt").write_text("see http://h/ and more\n" * 20)
    with pytest.warns(UserWarning, match='input_format="text" finds 20 URLs'):
        urlsift.scan(tmp_path / "b.txt")
    with pytest.raises(ValueError, match="as urlsift writes them: not JSON"):
        urlsift.Report.from_partial(b"no JSON")


def test_progress_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    path.write_bytes(b"http://example.org/\n" * 3_000_000)
    seen: list[tuple[int, int | None, int]] = []
    report = urlsift.scan(path, progress=lambda *progress: seen.append(progress), threads=1)
    assert report.lines == 3_000_000
    assert seen and all(total == 60_000_000 and done <= 60_000_000 for done, total, _ in seen)

    def fail(*progress: object) -> None:
        raise ZeroDivisionError

    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ZeroDivisionError):
        urlsift.scan(tmp_path / "pipe", progress=fail)


def test_ctrl_c_stops_a_scan(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        urlsift.scan(tmp_path / "pipe")
    assert time.monotonic() - start < 30


def test_other_python_threads_go_on() -> None:
    """A thread counts seconds while one call works."""
    values = pa.array(["http://example.org/a/b/c?d=e"] * 4_000_000)
    for call in (lambda: urlsift.count(values, threads=1), lambda: urlsift.judge_array(values, threads=1)):
        ticks: list[float] = []
        stop = threading.Event()

        def tick(ticks: list[float] = ticks, stop: threading.Event = stop) -> None:
            while not stop.wait(0.001):
                ticks.append(time.monotonic())

        thread = threading.Thread(target=tick)
        thread.start()
        start = time.monotonic()
        call()
        end = time.monotonic()
        stop.set()
        thread.join()
        middle = [at for at in ticks if start + (end - start) / 4 < at < end - (end - start) / 4]
        assert middle


def test_ctrl_c_stops_a_column() -> None:
    for call in (urlsift.count, urlsift.judge_array):
        program = f"""
import itertools, os, signal, threading, urlsift
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    urlsift.{call.__name__}(itertools.repeat("http://h/"))
except KeyboardInterrupt:
    print("stopped")
"""
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
        assert done.stdout == "stopped\n", done.stderr


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="the module for interpreters has another name")
def test_two_interpreters() -> None:
    program = """
import _xxsubinterpreters as interpreters, urlsift
other = interpreters.create()
try:
    interpreters.run_string(other, "import urlsift; assert urlsift.judge('a b').verdict == ()")
except Exception as error:
    assert "interpreter" in str(error), error
assert urlsift.count(["http://h/"], threads=2).judged == 1
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_after_a_fork() -> None:
    program = """
import os, urlsift
values = ["http://h/"] * 100_000
urlsift.count(values, threads=2)
pid = os.fork()
if pid == 0:
    os._exit(0 if urlsift.count(values, threads=2).judged == 100_000 else 1)
assert os.waitpid(pid, 0)[1] == 0
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=True, timeout=60)


def test_in_a_notebook() -> None:
    report = urlsift.count(["http://h/<script>alert(1)</script>"])
    assert "&#60;script&#62;" in report.to_html() and "<script>alert" not in report.to_html()
    assert report._repr_html_().startswith("<iframe srcdoc=")
