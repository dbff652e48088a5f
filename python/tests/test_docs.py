"""What the documentation shows is what happens."""

from __future__ import annotations

import doctest
import importlib
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from conftest import ROOT
from nbclient import NotebookClient

import urlsift

MODULES = ["urlsift", "urlsift._judge", "urlsift._report", "urlsift.duckdb", "urlsift.polars"]


@pytest.fixture(autouse=True)
def in_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


@pytest.mark.parametrize("name", MODULES)
def test_docstrings_of_modules(name: str) -> None:
    module = importlib.import_module(name)
    result = doctest.testmod(module, extraglobs={"urlsift": urlsift})
    assert result.failed == 0
    assert result.attempted > 0 or name == "urlsift"


@pytest.mark.parametrize("of", [urlsift.judge, urlsift.Judgement, urlsift.Judgement.accepts, urlsift.Judgement.defect, urlsift.Defect])
def test_docstrings_of_what_is_written_in_rust(of: Any) -> None:
    test = doctest.DocTestParser().get_doctest(of.__doc__, {"urlsift": urlsift}, of.__name__, None, None)
    assert test.examples
    assert doctest.DocTestRunner().run(test).failed == 0


def test_everything_public_is_described() -> None:
    for name in urlsift.__all__:
        value = getattr(urlsift, name)
        if callable(value):
            assert value.__doc__, name
            for member, function in vars(value).items() if isinstance(value, type) else ():
                if not member.startswith("_"):
                    assert function.__doc__, f"{name}.{member}"


@pytest.mark.parametrize("page", ["docs/python.md", "python/README.md"])
def test_programs_of_the_pages(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All Python programs of a page, one after the other, and what they print."""
    monkeypatch.setenv("TERM", "dumb")
    blocks = re.findall(r"```(python|py|text)\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    program = "".join(f"{text}print('\\x1e', flush=True)\n" for kind, text in blocks if kind == "python")
    environment = {**os.environ, "PYTHONWARNINGS": "ignore", "COLUMNS": "100"}
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    printed = iter(done.stdout.split("\x1e\n"))
    last: str | None = ""
    for kind, text in blocks:
        if kind != "text":
            # What needs Spark is in test_spark.py.
            last = next(printed) if kind == "python" else None
        elif last is not None:
            assert last.rstrip() == text.rstrip()


def test_a_notebook() -> None:
    cells = ["import urlsift\nreport = urlsift.scan('corpora/samples', top={'hosts': 5})\nreport", "urlsift.judge('a b')"]
    make: Any = nbformat.v4
    notebook = make.new_notebook(cells=[make.new_code_cell(cell) for cell in cells])
    NotebookClient(notebook, kernel_name="python3").execute()
    shown = [output["data"] for cell in notebook.cells for output in cell.outputs if "data" in output]
    assert shown[0]["text/html"].startswith("<iframe srcdoc=") and "accepts" in shown[0]["text/plain"]
    assert "Judgement" in shown[1]["text/plain"]
    # URLSIFT_NOTEBOOK=FILE keeps the page, to look at it.
    if path := os.environ.get("URLSIFT_NOTEBOOK"):
        Path(path).write_text(shown[0]["text/html"])
