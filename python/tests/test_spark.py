"""Spark on two executors: each row has its verdict, and reports do not depend on partitions, or on tasks that fail, are slow or die."""

from __future__ import annotations

import contextlib
import gzip
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.fs
import pyarrow.parquet as pq
import pytest
from conftest import ROOT, by_judge
from pyspark import cloudpickle
from pyspark.errors import PySparkException
from pyspark.find_spark_home import _find_spark_home
from pyspark.sql import DataFrame, SparkSession

import urlsift
import urlsift.spark


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A session on two workers of one core, on hosts of their own, since Spark runs nothing twice on one host."""
    folder = tmp_path_factory.mktemp("cluster")
    os.environ.update(SPARK_LOCAL_IP="127.0.0.1", PYSPARK_PYTHON=sys.executable)
    for name in ("SPARK_HOME", "SPARK_CONF_DIR", "HADOOP_CONF_DIR", "PYTHONPATH"):
        os.environ.pop(name, None)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    master = f"spark://127.0.0.1:{port}"
    hosts = ["127.0.0.1", "127.0.0.2"]
    commands = [["master.Master", "--host", hosts[0], "--port", port]]
    commands += [["worker.Worker", "--host", host, "--cores", "1", "--memory", "1g", "--work-dir", str(folder / host), master] for host in hosts]
    with contextlib.ExitStack() as stack, open(folder / "log", "wb") as log:
        for name, *options in commands:
            command = [f"{_find_spark_home()}/bin/spark-class", f"org.apache.spark.deploy.{name}", "--webui-port", "0", *options]
            process = subprocess.Popen(command, stdout=log, stderr=log, env=os.environ | {"SPARK_LOCAL_IP": options[1]})
            stack.callback(process.wait)
            stack.callback(process.terminate)
        builder = SparkSession.builder.master(master).appName("urlsift")
        for setting, value in {
            "ui.enabled": "false",
            "log.level": "OFF",
            "ui.showConsoleProgress": "false",
            "sql.shuffle.partitions": "4",
            "sql.execution.arrow.maxRecordsPerBatch": "1000",
            "driver.bindAddress": "127.0.0.1",
            "task.maxFailures": "2",
            # What takes long is run a second time on the other host.
            "speculation": "true",
            "speculation.interval": "100ms",
            "speculation.quantile": "0.1",
            "speculation.minTaskRuntime": "3s",
        }.items():
            builder = builder.config(f"spark.{setting}", value)
        session = builder.getOrCreate()
        stack.callback(session.stop)
        yield session


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
    named = pages.withColumnRenamed("url", "a.`b")
    assert urlsift.spark.report(named, "a.`b", name="url").digest == expected.digest
    assert urlsift.spark.report(pages.where("false"), "url").digest == urlsift.count([], ordered=False).digest


def test_programs_of_the_page(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The programs of docs/python.md that need Spark, and what they print."""
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs/python.md").read_text()
    sample = next(block for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "cc-index" in block)
    names: dict[str, Any] = {"spark": spark, "pa": pa, "pq": pq}
    exec(sample.partition("con.sql")[0], names)
    blocks = re.findall(r"```py\n(.*?)```\n\n```text\n(.*?)```", text, re.DOTALL)
    assert len(blocks) == 3
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


class Faulty:
    """Local files as those of a store. A fault is a file with a number: after so many opened files, opening one has the fault, once."""

    def __init__(self, faults: Path) -> None:
        self.faults = faults
        self.local = pyarrow.fs.LocalFileSystem()
        self.driver = os.getpid()

    def get_file_info(self, wanted: Any) -> Any:
        return self.local.get_file_info(wanted)

    def open_input_file(self, path: str) -> Any:
        if os.getpid() != self.driver:
            with open(self.faults / "opened", "ab") as opened:
                opened.write(b".")
            if self.happens("fail"):
                raise OSError("made to fail")
            if self.happens("slow"):
                time.sleep(15)
            if self.happens("kill"):
                process = os.getpid()
                while b"CoarseGrainedExecutorBackend" not in Path(f"/proc/{process}/cmdline").read_bytes():
                    process = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
                os.kill(process, signal.SIGKILL)
        return self.local.open_input_file(path)

    def n_opened(self) -> int:
        return (self.faults / "opened").stat().st_size

    def happens(self, fault: str) -> bool:
        mark = self.faults / fault
        try:
            happens = self.n_opened() > int(mark.read_text())
            if happens:
                mark.unlink()
            return happens
        except FileNotFoundError:
            return False


# Executors do not have this file.
by_value: Any = cloudpickle.register_pickle_by_value
by_value(sys.modules[__name__])


@pytest.fixture
def faulty(tmp_path: Path) -> Faulty:
    (tmp_path / "faults").mkdir()
    return Faulty(tmp_path / "faults")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Files of all kinds that are cut, or cannot be: about 60 splits of 100,000 bytes."""
    folder = tmp_path_factory.mktemp("files")
    samples = ROOT / "corpora/samples"
    links, plain, crlf = ((samples / name).read_bytes() for name in ["ebook_links.txt", "ldp_urls.txt", "loc_seeds.crlf.txt"])
    made = {
        "list.gz": gzip.compress(links),
        "members.gz": b"".join(gzip.compress(plain[start : start + 99_999]) for start in range(0, len(plain), 99_999)),
        "crlf.gz": gzip.compress(crlf),
        "crlf.txt": plain.replace(b"\n", b"\r\n"),
        "utf16.txt": b"\xff\xfe" + plain.decode().encode("utf-16-le"),
        "table.csv": b"n,url\n" + b"".join(b"1,%s\n" % line for line in crlf.split(b"\r\n")),
        "empty.gz": gzip.compress(b""),
        "empty.txt": b"",
        "one long line.txt": b"http://example.org/" + b"a" * 350_000 + b"\nhttp://example.org/",
    }
    for name, content in made.items():
        (folder / name).write_bytes(content)
    urls = plain.decode().split("\n")
    pq.write_table(pa.table({"text": ["x" * 99] * len(urls), "url": urls}), folder / "table.parquet", row_group_size=len(urls) // 4)
    return [*map(str, sorted(samples.glob("*.txt"))), *map(str, folder.iterdir()), str(ROOT / "corpora/hostile/bom.txt")]


def without_run(report: urlsift.Report) -> dict[str, Any]:
    return {name: part for name, part in report.to_dict().items() if name != "run"}


def test_files_have_the_report_of_one_machine(spark: SparkSession, files: list[str], faulty: Faulty) -> None:
    options: dict[str, Any] = {"grammar": "rfc1738", "top": {"hosts": 5, "domains": 5}, "distinct": ["lines", "domains"], "lengths": True}
    alone = urlsift.scan(files, **options)
    assert alone.complete
    for filesystem in (None, faulty):
        report = urlsift.spark.scan(spark, files, split_size=100_000, filesystem=filesystem, **options)
        assert without_run(report) == without_run(alone)
    by_uri = urlsift.spark.scan(spark, [f"file://{name.replace(' ', '%20')}" for name in files], **options)
    assert by_uri.digest == alone.digest
    fields = urlsift.spark.scan(spark, ROOT / "tests/records/apache-combined.log", fields=["referer"], input_format="clf", split_size=500)
    assert fields.digest == urlsift.scan(ROOT / "tests/records/apache-combined.log", fields=["referer"], input_format="clf").digest


def test_a_task_fails_and_another_is_slow(spark: SparkSession, files: list[str], faulty: Faulty) -> None:
    n_splits = len(urlsift.spark.plan(urlsift.spark.found_files(files, None), 100_000, urlsift._report.reading(None, (), None)))
    assert n_splits >= 40
    # Near the end, since Spark runs what is slow a second time only when all others run.
    (faulty.faults / "fail").write_text("5")
    (faulty.faults / "slow").write_text(str(n_splits - 5))
    report = urlsift.spark.scan(spark, files, split_size=100_000, filesystem=faulty)
    assert report.complete and report.digest == urlsift.scan(files).digest
    assert faulty.n_opened() >= n_splits + 2


def test_an_executor_is_killed(spark: SparkSession, files: list[str], faulty: Faulty) -> None:
    (faulty.faults / "kill").write_text("10")
    report = urlsift.spark.scan(spark, files, split_size=100_000, filesystem=faulty)
    assert not (faulty.faults / "kill").exists()
    assert report.complete and report.digest == urlsift.scan(files).digest


def test_a_store_that_fails_on(spark: SparkSession, files: list[str], faulty: Faulty, tmp_path: Path) -> None:
    class Failing(Faulty):
        def open_input_file(self, path: str) -> Any:
            raise OSError("the store is closed")

    with pytest.raises(PySparkException, match="the store is closed"):
        urlsift.spark.scan(spark, files[:2], filesystem=Failing(tmp_path))


def test_folders_and_patterns_of_a_store(spark: SparkSession, faulty: Faulty, tmp_path: Path) -> None:
    folder = tmp_path / "a folder"
    for name in ["b.txt", "a/z.txt", ".hidden", "_SUCCESS", "a/_temporary/0/part"]:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"http://example.org/" + name.encode() + b"\n")

    def found(name: str) -> list[str]:
        return [file.name for file in urlsift.spark.found_files([name], faulty)]

    both = [f"{folder}/a/z.txt", f"{folder}/b.txt"]
    assert found(f"{folder}") == found(f"{folder}/") == found(f"{tmp_path}/a*r") == both
    assert found(f"{folder}/*.txt") == both[1:] and found(f"{folder}/*/?.txt") == found(f"{folder}/a") == both[:1]
    with pytest.raises(FileNotFoundError, match="no file .*none"):
        found(f"{folder}/none")
    with pytest.raises(FileNotFoundError, match="no file .*csv"):
        found(f"{folder}/*.csv")


def test_what_cannot_be_read_is_named(spark: SparkSession, files: list[str], faulty: Faulty, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.gz"
    damaged.write_bytes(gzip.compress(os.urandom(50_000).hex().encode())[:40_000])
    # An archive larger than a split cannot be cut.
    archive = tmp_path / "archive.zip"
    archive.write_bytes(b"PK\3\4" + bytes(50_000))
    for filesystem in (None, faulty):
        for bad, split_size in [(damaged, 256 << 20), (archive, 256 << 20), (archive, 10_000)]:
            with pytest.warns(UserWarning, match=f"{bad.name}: "):
                report = urlsift.spark.scan(spark, [files[0], str(bad)], filesystem=filesystem, split_size=split_size)
            assert not report.complete and len(report.failures) == 1
    with pytest.raises(OSError, match="damaged.gz: "):
        urlsift.spark.scan(spark, damaged)
    for name in [str(tmp_path / "none"), f"file://{tmp_path}/none"]:
        with pytest.raises(FileNotFoundError, match="none"):
            urlsift.spark.scan(spark, name)
    with pytest.raises(ValueError, match="nonesuch"):
        urlsift.spark.scan(spark, "nonesuch://host/none")
    with pytest.raises(ValueError, match="no input format"):
        urlsift.spark.scan(spark, files, input_format="none")
    with pytest.raises(ValueError, match="no path"):
        urlsift.spark.scan(spark, [])
    with pytest.raises(ValueError, match="split_size is 0"):
        urlsift.spark.scan(spark, files, split_size=0)
