"""The command in the wheel: what it prints and how it ends, as the program does."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

import urlsift

LIST = ROOT / "corpora/samples/parser_vectors.txt"


@pytest.fixture(params=["script", "module"])
def command(request: pytest.FixtureRequest) -> list[str]:
    """The words that begin a command line."""
    if request.param == "module":
        return [sys.executable, "-m", "urlsift"]
    script = shutil.which("urlsift", path=os.path.dirname(sys.executable))
    assert script
    return [script]


def test_the_report_is_that_of_scan(command: list[str]) -> None:
    found = subprocess.run([*command, "--json", LIST], capture_output=True, check=True)
    assert json.loads(found.stdout)["digest"] == urlsift.scan(LIST).to_dict()["digest"]
    assert subprocess.check_output([*command, "-V"]).startswith(f"urlsift {urlsift.__version__}\n".encode())


def test_pipes_and_bytes_of_names(command: list[str], tmp_path: Path) -> None:
    name = os.fsencode(tmp_path) + b"/\xff.txt"
    Path(os.fsdecode(name)).write_bytes(b"http://a/\nhttp://b c/\n")
    rows = [subprocess.check_output([*command, "lines", "-c", "text", name])]
    rows.append(subprocess.check_output([*command, "lines", "-c", "text"], input=b"http://a/\nhttp://b c/\n"))
    assert rows == [b"http://a/\nhttp://b c/\n"] * 2


def test_statuses(command: list[str]) -> None:
    def status(*words: str) -> int:
        return subprocess.run([*command, *words], capture_output=True).returncode

    assert status("--fail-on", "refused>0", str(LIST)) == 1
    assert status("missing.txt") == status("--no-such-option") == 2
    assert status("--help") == status("explain", "http://a/") == 0


def test_a_closed_pipe_is_no_error(command: list[str], tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    path.write_bytes(b"http://example.org/\n" * 200_000)
    with subprocess.Popen([*command, "lines", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout and process.stderr
        assert process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


def test_closed_standard_streams_are_no_files(command: list[str], tmp_path: Path) -> None:
    (tmp_path / "list").write_bytes(b"http://a/\na b\n")
    split = [*command, "split", "-q", "list", "--accepted", "accepted", "--refused", "-"]
    for words, closed in (([*command, "list"], ">&-"), ([*command, "-"], "<&-"), (split, "<&- >&- 2>&-")):
        assert subprocess.run(["sh", "-c", f'"$@" {closed}', "sh", *words], cwd=tmp_path, capture_output=True).returncode == 0
    assert (tmp_path / "accepted").read_bytes() == b"http://a/\n"


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_signals_stop_the_work(command: list[str], name: str) -> None:
    number = signal.Signals[name]
    with subprocess.Popen(
        [*command, "--no-progress", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin and process.stdout and process.stderr
        # More than a pipe holds. When it is written, the command reads, and handles signals.
        process.stdin.write(b"http://a/\n" * 400_000)
        process.stdin.flush()
        process.send_signal(number)
        output, message = process.stdout.read(), process.stderr.read()
    assert process.returncode == 128 + number
    assert output == b""
    assert b"INCOMPLETE" in message and b"nothing was written to standard output" in message


def test_ctrl_c_ends_a_command_that_has_nothing_to_save(command: list[str]) -> None:
    with subprocess.Popen([*command, "merge"], stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin
        # More than a pipe holds, so that the command reads.
        process.stdin.write(b" " * 4_000_000)
        process.stdin.flush()
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == -signal.SIGINT
