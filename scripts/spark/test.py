"""Tests `urlsift_spark.py` on a cluster of two worker processes; run by `scripts/test-spark`.

The command that executors get is a script before the real one, which a test can have fail, be slow, or kill its executor.
"""

from __future__ import annotations

import gzip
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any

from pyspark import SparkContext

import urlsift_spark
from standalone import Standalone

SPARK = Path(__file__).resolve().parent
ROOT = SPARK.parent.parent
# A fault is a file with the number of scans before it; the first scan after them that removes the file acts upon it.
FAULTY = """#!/bin/sh
happens() {{
    [ -e "$1" ] && [ "$(wc -l <scans)" -gt "$(cat "$1")" ] && rm "$1"
}} 2>/dev/null
if [ "$1" = scan ]; then
    cd {folder}/faults
    echo >>scans
    happens fail && echo 'urlsift: made to fail' >&2 && exit 101
    happens slow && sleep 15
    if happens kill; then
        executor=$$
        until grep -q CoarseGrainedExecutorBackend "/proc/$executor/cmdline"; do
            executor=$(awk '/^PPid:/ {{ print $2 }}' "/proc/$executor/status")
        done
        kill -KILL "$executor"
    fi
    cd "$OLDPWD"
fi
exec {urlsift} "$@"
"""


def make_inputs(folder: Path) -> list[str]:
    """Lists of all kinds that are cut, or cannot be: about 60 splits of 100,000 bytes."""
    samples = ROOT / "corpora/samples"
    links, plain, crlf = ((samples / name).read_bytes() for name in ["ebook_links.txt", "ldp_urls.txt", "loc_seeds.crlf.txt"])
    made = {
        "list.gz": gzip.compress(links),
        "members.gz": b"".join(gzip.compress(plain[start:start + 99_999]) for start in range(0, len(plain), 99_999)),
        "crlf.gz": gzip.compress(crlf),
        "crlf.txt": plain.replace(b"\n", b"\r\n"),
        "empty.gz": gzip.compress(b""),
        "empty.txt": b"",
        "one long line.txt": b"http://example.org/" + b"a" * 350_000 + b"\nhttp://example.org/",
    }
    for name, content in made.items():
        (folder / name).write_bytes(content)
    return [*map(str, sorted(samples.glob("*.txt"))), *(str(folder / name) for name in made), str(ROOT / "corpora/hostile/bom.txt")]


class Cluster(unittest.TestCase):
    """A job reports what one process reports, whatever happens on the way."""

    urlsift: str
    context: SparkContext

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="urlsift-test-spark-")))
        cls.faults = cls.folder / "faults"
        cls.faults.mkdir()
        cls.faulty = cls.folder / "faulty"
        cls.faulty.write_text(FAULTY.format(folder=shlex.quote(str(cls.folder)), urlsift=shlex.quote(cls.urlsift)))
        cls.faulty.chmod(0o755)
        cls.inputs = make_inputs(cls.folder)
        cls.report = cls.alone(*cls.inputs)
        cluster = cls.enterClassContext(Standalone(cls.folder))
        # What takes long is run a second time elsewhere.
        session = cluster.session(
            speculation="true", speculation_interval="100ms", speculation_quantile="0.1", speculation_minTaskRuntime="3s",
            task_maxFailures="2")
        cls.addClassCleanup(session.stop)
        cls.context = session.sparkContext

    def setUp(self) -> None:
        for left in self.faults.iterdir():
            left.unlink()
        self.start = time.monotonic()
        self.addCleanup(lambda: print(f"{self.id()}: {time.monotonic() - self.start:.1f} s", file=sys.stderr, flush=True))

    @classmethod
    def alone(cls, *words: str) -> dict[str, Any]:
        """The report of one process."""
        return json.loads(subprocess.run([cls.urlsift, "--format", "json", *words], stdout=subprocess.PIPE).stdout)

    def job(self, *words: str) -> tuple[int, dict[str, Any]]:
        """The status and the report of a job on the cluster."""
        output = self.folder / "report.json"
        output.unlink(missing_ok=True)
        words = ("--urlsift", str(self.faulty), "--split-size", "100000", "-o", str(output), *words)
        status = urlsift_spark.arguments(list(words)).run(self.context)
        return status, json.loads(output.read_bytes())

    def faulty_after(self, **faults: int) -> None:
        """Has each of these happen once, after so many scans."""
        for name, n_scans in faults.items():
            (self.faults / name).write_text(str(n_scans))

    def n_scans(self) -> int:
        return (self.faults / "scans").stat().st_size

    def assert_same(self, outcome: tuple[int, dict[str, Any]]) -> None:
        status, report = outcome
        self.assertEqual(status, 0)
        self.assertTrue(report["complete"])
        self.assertEqual(report["digest"], self.report["digest"])

    def test_a_task_fails_and_another_is_slow(self) -> None:
        n_splits = len(urlsift_spark.plan_paths(self.urlsift, 100_000, self.inputs))
        self.assertGreaterEqual(n_splits, 40)
        # Near the end, since Spark runs what is slow a second time only when all others run.
        self.faulty_after(fail=5, slow=n_splits - 5)
        self.assert_same(self.job(*self.inputs))
        self.assertEqual(self.n_scans(), n_splits + 2)

    def test_an_executor_is_killed(self) -> None:
        self.faulty_after(kill=10)
        self.assert_same(self.job(*self.inputs))
        self.assertFalse((self.faults / "kill").exists())

    def test_urls_of_hadoop(self) -> None:
        self.faulty_after(fail=5)
        self.assert_same(self.job("--input-format", "lines", *(f"file://{name}" for name in self.inputs)))
        self.assertGreater(self.n_scans(), len(self.inputs))

    def test_an_input_is_missing(self) -> None:
        for name in [str(self.folder / "none"), f"file://{self.folder}/none", "nonesuch://host/none"]:
            with self.assertRaisesRegex(urlsift_spark.JobError, "none"):
                self.job(name)
        with self.assertRaisesRegex(urlsift_spark.JobError, "all paths or all URLs"):
            self.job(self.inputs[0], "file:///none")

    def test_folders_and_patterns_of_hadoop(self) -> None:
        folder = self.folder / "a folder"
        for name in ["b.txt", "a/z.txt", ".hidden", "_SUCCESS", "a/_temporary/0/part"]:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(b"http://example.org/" + name.encode() + b"\n")
        hadoop = urlsift_spark.Hadoop(self.context._jvm, self.context._jsc.hadoopConfiguration())
        names = [f"file:{folder}/{name}" for name in ["a/z.txt", "b.txt"]]
        self.assertEqual([name for name, _ in hadoop.files(f"file://{folder}")], names)
        self.assertEqual([name for name, _ in hadoop.files(f"file://{folder}/*.txt")], names[1:])
        self.assertEqual(list(hadoop.files(f"file://{folder}/none")), [])

    def test_an_input_is_damaged(self) -> None:
        damaged = self.folder / "damaged.gz"
        damaged.write_bytes(gzip.compress(os.urandom(50_000).hex().encode())[:40_000])
        for scheme in ["", "file://"]:
            names = [scheme + self.inputs[0], f"{scheme}{damaged}"]
            status, report = self.job(*names)
            self.assertEqual(status, 2)
            self.assertFalse(report["complete"])
            with self.assertRaisesRegex(urlsift_spark.JobError, "^urlsift: .*damaged.gz: "):
                self.job("--strict", *names)

    def test_recipes(self) -> None:
        output, work = self.folder / "recipe.json", self.folder / "work"
        environment = os.environ | {"URLSIFT": str(self.faulty), "SPLIT_SIZE": "500000"}
        subprocess.run([SPARK / "xargs", output, *self.inputs], env=environment, check=True)
        self.assert_same((0, json.loads(output.read_bytes())))

        work.mkdir()
        with open(work / "plan", "wb") as plan:
            subprocess.run([self.urlsift, "plan", "--split-size", "500000", "--", *self.inputs], stdout=plan, check=True)
        for task in range(3):
            array = {"SLURM_ARRAY_TASK_ID": str(task), "SLURM_ARRAY_TASK_COUNT": "3"}
            subprocess.run([SPARK / "slurm", work], env=environment | array, check=True)
        partials = sorted(work.glob("*.partial"))
        merge = [self.urlsift, "merge", "-o", output]
        subprocess.run([*merge, *partials], check=True)
        self.assert_same((0, json.loads(output.read_bytes())))

        # What is there twice, or was found by other rules, is no part of a report; what is missing is named in it.
        twice = [*partials, partials[0]]
        self.assert_refused([*merge, *twice], output, "counted already")
        subprocess.run([SPARK / "slurm", work, "-g", "rfc1738"], env=environment | array, check=True)
        self.assert_refused([*merge, *partials], output, "rfc1738")
        self.assertEqual(subprocess.run([*merge, *partials[:2]]).returncode, 2)
        self.assertFalse(json.loads(output.read_bytes())["complete"])

    def assert_refused(self, command: list[str | Path], output: Path, why: str) -> None:
        output.unlink(missing_ok=True)
        refused = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(refused.returncode, 2)
        self.assertIn(why, refused.stderr)
        self.assertFalse(output.exists())


if __name__ == "__main__":
    Cluster.urlsift = os.path.abspath(sys.argv[1])
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=0)
