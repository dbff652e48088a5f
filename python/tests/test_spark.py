"""Spark on two executors: each row has its verdict, and the report does not depend on partitions or on executors that die."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import ROOT, by_judge
from pyspark.sql import DataFrame, SparkSession

import urlsift
import urlsift.spark


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName("urlsift")
    for name, value in {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "1000",
        "spark.driver.bindAddress": "127.0.0.1",
    }.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.fixture(scope="module")
def values() -> list[str | None]:
    lines: list[str | None] = [*(ROOT / "corpora/samples/parser_vectors.txt").read_text().split("\n")]
    return [*lines, None, "http://h/\n", None] * 10


@pytest.fixture(scope="module")
def pages(spark: SparkSession, values: list[str | None], tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    path = tmp_path_factory.mktemp("pages")
    for part in range(4):
        rows = values[part::4]
        pq.write_table(pa.table({"url": rows, "n": range(part, len(values), 4)}), path / f"{part}.parquet")
    return spark.read.parquet(str(path))


def test_each_row_has_its_verdict(pages: DataFrame, values: list[str | None]) -> None:
    judged = urlsift.spark.judge(pages, "url", ["verdict", "scheme", "defect"])
    rows = sorted(judged.collect(), key=lambda row: row["n"])
    found = [row["urlsift"] and tuple(name for name in urlsift.GRAMMARS if row["urlsift"]["verdict"][name]) for row in rows]
    assert found == by_judge(values)
    assert judged.where("urlsift.defect.cause = 'space'").count() == sum(
        value is not None and (defect := urlsift.judge(value).defect()) is not None and defect.cause == "space" for value in values
    )
    wanted = ["whatwg", "whatwg_errors", "whatwg_host", "whatwg_href"]
    browsers = sorted(urlsift.spark.judge(pages, "url", wanted, base="http://b/").collect(), key=lambda row: row["n"])
    expected = pa.array(urlsift.judge_array(values, wanted, base="http://b/", names="string")).to_pylist()
    assert [row["urlsift"] and row["urlsift"].asDict() for row in browsers] == expected
    with pytest.raises(ValueError, match="no column 'link'; there are url, n"):
        urlsift.spark.judge(pages, "link")
    with pytest.raises(ValueError, match="type bigint"):
        urlsift.spark.judge(pages, "n")
    with pytest.raises(ValueError, match="there is a column 'n' already"):
        urlsift.spark.judge(pages, "url", name="n")


def test_the_report_does_not_depend_on_partitions(pages: DataFrame, values: list[str | None]) -> None:
    expected = urlsift.count(values, name="url", ordered=False)
    for frame in (pages, pages.repartition(7), pages.repartition(70), pages.coalesce(1)):
        report = urlsift.spark.report(frame, "url")
        assert report.digest == expected.digest
        assert (report.judged, report.nulls, report.complete) == (expected.judged, expected.nulls, True)
    assert urlsift.spark.report(pages.where("false"), "url").digest == urlsift.count([], ordered=False).digest


def test_programs_of_the_page(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The programs of docs/python.md that need Spark, and what they print."""
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs/python.md").read_text()
    sample = next(block for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "cc-index" in block)
    names: dict[str, Any] = {"spark": spark, "pa": pa, "pq": pq}
    exec(sample.partition("con.sql")[0], names)
    blocks = re.findall(r"```py\n(.*?)```\n\n```text\n(.*?)```", text, re.DOTALL)
    assert len(blocks) == 2
    for program, expected in blocks:
        exec(program.replace('"cc-index"', repr(str(tmp_path / "cc-index"))), names)
        assert capsys.readouterr().out == expected


def test_a_task_that_fails_counts_once(spark: SparkSession, pages: DataFrame, values: list[str | None], tmp_path: Path) -> None:
    """An executor is killed while it counts, and its tasks run again."""
    mark = tmp_path / "killed"

    def slow(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            time.sleep(1)
            yield batch

    def kill() -> None:
        time.sleep(3)
        pattern = f"CoarseGrainedExecutorBackend.*{spark.sparkContext.applicationId}"
        found = subprocess.run(["pgrep", "-f", pattern], capture_output=True, text=True)
        os.kill(int(found.stdout.split()[-1]), signal.SIGKILL)
        mark.touch()

    killer = threading.Thread(target=kill)
    killer.start()
    frame = pages.repartition(12).mapInArrow(slow, pages.schema)
    report = urlsift.spark.report(frame, "url")
    # It came in the middle.
    assert mark.exists()
    killer.join()
    assert report.digest == urlsift.count(values, name="url", ordered=False).digest
