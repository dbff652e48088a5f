#!/usr/bin/env python3
"""Reports on URL lists with Spark: `urlsift scan` on the executors, split by split, and `urlsift merge` as a tree.

    spark-submit urlsift_spark.py [OPTION]... INPUT... [-- OPTION OF SCAN...]

Decides what an executor gets to do and where bytes come from; counts nothing, and no line passes through Python or Spark. The
report equals the report of `urlsift OPTION... INPUT...` on one machine: `digest` is the same. The README beside this file tells more.
"""

from __future__ import annotations

import argparse
import glob
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from py4j.java_gateway import GatewayParameters, JavaGateway, JVMView, launch_gateway
from py4j.protocol import Py4JError, Py4JJavaError
from pyspark import RDD, SparkContext, SparkFiles
from pyspark.errors import PySparkException
from pyspark.find_spark_home import _find_spark_home
from pyspark.sql import SparkSession

Split = dict[str, Any]
"""A line of `urlsift plan`: `input` and how many `inputs` there are, `name`, `path`, `start`, `end` and `size`."""

FAN_IN = 32
"""How many partial reports a task merges, and the driver at most."""

MAX_TASKS = 20_000
"""With more splits than this a task gets several."""

STREAM_HEAP = "256m"
"""The memory of the virtual machine that an executor's Python worker reads Hadoop file systems with."""


class JobError(Exception):
    """The work could not be done; the message is for the user, and mostly what `urlsift` wrote to standard error."""


# What runs on executors.


@dataclass(frozen=True)
class Scan:
    """Splits of a task to one partial report each, or one of all that can be opened by path.

    With `hadoop` paths are URLs of its file systems. Without `strict` an input that cannot be read to its end is marked so in
    the partial report, as `urlsift` does; with it the task fails.
    """

    command: str
    options: tuple[str, ...]
    hadoop: HadoopSettings | None
    strict: bool

    def __call__(self, splits: Iterable[Split]) -> Iterator[bytes]:
        if self.hadoop is None:
            yield self.partial(list(splits))
        else:
            for split in splits:
                yield self.partial([split])

    def partial(self, splits: list[Split]) -> bytes:
        """The partial report of one run of `urlsift`.

        # Errors
        `JobError` if there is none, or it says of an input that it is incomplete and the job is strict.
        """
        with temporary_folder() as name:
            folder = Path(name)
            given = [split | {"path": "-"} for split in splits] if self.hadoop else splits
            (folder / "splits").write_text("".join(json.dumps(split) + "\n" for split in given))
            command = [SparkFiles.get(self.command), "scan", *self.options, "--splits", folder / "splits"]
            command += ["--format", "partial", "-o", folder / "partial"]
            # In a file, since a pipe would not be read while a stream is copied.
            with open(folder / "messages", "wb") as messages:
                if self.hadoop:
                    status = run_with_stream(command, messages, self.hadoop, splits[0])
                else:
                    status = subprocess.run(command, stdin=subprocess.DEVNULL, stderr=messages).returncode
            said = (folder / "messages").read_text(errors="backslashreplace")
            if self.hadoop:
                # What is standard input to the command has a name here.
                said = said.replace("urlsift: -: ", f"urlsift: {splits[0]['name']}: ")
            sys.stderr.write(said)
            if status not in (0, 2) or not (folder / "partial").exists() or (status == 2 and self.strict):
                raise JobError(said.strip() or f"urlsift ended with status {status}")
            return (folder / "partial").read_bytes()


def temporary_folder() -> tempfile.TemporaryDirectory[str]:
    """One that ends with the executor at the latest, should the worker be killed."""
    return tempfile.TemporaryDirectory(prefix="urlsift-", dir=SparkFiles.getRootDirectory())


def merge_on_executor(command: str, partials: Iterable[bytes]) -> Iterator[bytes]:
    """One partial report of several, or none of none."""
    lines = b"".join(partials)
    if lines:
        merged = subprocess.run([SparkFiles.get(command), "merge", "--format", "partial", "-"], input=lines, capture_output=True)
        if not merged.stdout.endswith(b"\n"):
            said = merged.stderr.decode(errors="backslashreplace").strip()
            raise JobError(said or f"urlsift merge ended with status {merged.returncode}")
        yield merged.stdout


def run_with_stream(command: list[str | Path], messages: IO[bytes], settings: HadoopSettings, split: Split) -> int:
    """Runs `command` with the bytes of a file of a Hadoop file system as its standard input, and returns its status.

    The bytes go from the virtual machine to the command through a named pipe.

    # Errors
    `JobError` if the file cannot be read; that the command has seen enough is none.
    """
    url = split["path"]
    try:
        hadoop = Hadoop.beside_worker(settings)
        with closing(hadoop.open(url)) as stream, temporary_folder() as folder:
            pipe = os.path.join(folder, "pipe")
            os.mkfifo(pipe)
            # Held open both ways, so that opening one end does not wait for the other.
            held = os.open(pipe, os.O_RDWR)
            with open(pipe, "rb") as standard_input:
                process = subprocess.Popen(command, stdin=standard_input, stderr=messages)
            # Whatever fails, the pipe ends with it, and so does the command.
            with process:
                try:
                    sink = hadoop.jvm.java.io.FileOutputStream(pipe)
                finally:
                    os.close(held)
                with closing(sink):
                    hadoop.copy(stream, sink)
            return process.returncode
    except Py4JJavaError as error:
        raise JobError(f"urlsift: {url}: {cause_of(error)}") from None
    except Py4JError as error:
        Hadoop.worker = None
        raise JobError(f"urlsift: {url}: the virtual machine that reads it is gone: {error}") from None


@dataclass(frozen=True)
class HadoopSettings:
    """What a virtual machine beside a worker needs to be told: the configuration, as XML, and what Spark gives to Java."""

    configuration: str
    java_options: tuple[str, ...]


class Hadoop:
    """Hadoop's file systems, by a Java virtual machine: the driver's own, or one beside a Python worker.

    A worker reaches the executor's virtual machine only by records, and those go through Python.
    """

    worker: Hadoop | None = None

    def __init__(self, jvm: JVMView, configuration: Any) -> None:
        self.jvm = jvm
        self.configuration = configuration

    @classmethod
    def beside_worker(cls, settings: HadoopSettings) -> Hadoop:
        """The one of this worker, started at the first call (about a second), which ends with the worker."""
        if cls.worker is None:
            jar, classpath = java_classpath()
            java = os.path.join(os.environ["JAVA_HOME"], "bin", "java") if os.environ.get("JAVA_HOME") else "java"
            if "SPARK_USER" in os.environ:
                # Who submitted the job is who reads, where the file system believes that without more proof.
                os.environ.setdefault("HADOOP_USER_NAME", os.environ["SPARK_USER"])
            options = [*settings.java_options, f"-Xmx{STREAM_HEAP}", "-XX:+UseSerialGC"]
            try:
                port, token = launch_gateway(
                    jarpath=jar, classpath=classpath, java_path=java, javaopts=options, die_on_exit=True, enable_auth=True,
                    redirect_stderr=sys.stderr)
            except (OSError, ValueError) as error:
                raise JobError(f"urlsift: {java} cannot be started to read Hadoop file systems: {error}") from None
            jvm = JavaGateway(gateway_parameters=GatewayParameters(port=port, auth_token=token)).jvm
            configuration = jvm.org.apache.hadoop.conf.Configuration(False)
            configuration.addResource(jvm.java.io.ByteArrayInputStream(settings.configuration.encode()))
            cls.worker = cls(jvm, configuration)
        return cls.worker

    def path(self, url: str) -> tuple[Any, Any]:
        """A path and its file system."""
        path = self.jvm.org.apache.hadoop.fs.Path(url)
        return path, path.getFileSystem(self.configuration)

    def open(self, url: str) -> Any:
        path, system = self.path(url)
        return system.open(path)

    def copy(self, stream: Any, sink: Any) -> None:
        """All that follows, until the sink is closed."""
        try:
            self.jvm.org.apache.hadoop.io.IOUtils.copyBytes(stream, sink, 1 << 18, False)
        except Py4JJavaError as error:
            if error.java_exception.getStackTrace()[0].getClassName() != "java.io.FileOutputStream":
                raise

    def files(self, url: str) -> Iterator[tuple[str, int]]:
        """The files that a URL or a pattern means, with their lengths in bytes; of folders, all below them but hidden ones, in order."""
        path, system = self.path(url)
        for found in system.globStatus(path) or []:
            if found.isFile():
                yield found.getPath().toString(), found.getLen()
                continue
            below = []
            entries = system.listFiles(found.getPath(), True)
            while entries.hasNext():
                entry = entries.next()
                below.append((entry.getPath().toString(), entry.getLen()))
            top = found.getPath().toString()
            hidden = re.compile("/[._]")
            yield from sorted((file for file in below if not hidden.search(file[0], len(top))), key=lambda file: file[0].split("/"))

    def settings(self) -> HadoopSettings:
        """Those of the driver, for machines beside workers."""
        text = self.jvm.java.io.StringWriter()
        self.configuration.writeXml(text)
        return HadoopSettings(text.toString(), tuple(self.jvm.org.apache.spark.launcher.JavaModuleOptions.defaultModuleOptionArray()))

def java_classpath() -> tuple[str, str]:
    """The jar of Py4J and the class path with Spark's and Hadoop's, as this worker's executor has them.

    A container of YARN has it in its environment, all others in Spark's home; jars of `--jars` and `--packages` are beside the
    files of the job.
    """
    for classpath in [os.environ.get("CLASSPATH", ""), os.path.join(_find_spark_home(), "jars", "*")]:
        folders = [entry.removesuffix("*") for entry in classpath.split(os.pathsep) if entry.endswith("*")]
        jars = [jar for folder in folders for jar in glob.glob(os.path.join(folder, "py4j-*.jar"))]
        if jars:
            return jars[0], os.pathsep.join([classpath, os.path.join(SparkFiles.getRootDirectory(), "*")])
    raise JobError("urlsift: no jars of Spark are found on the executor to read Hadoop file systems with (SPARK_HOME)")


# What runs on the driver.


def is_url(name: str) -> bool:
    """Whether a Hadoop file system is meant."""
    return re.match("[A-Za-z][A-Za-z0-9+.-]*:/", name) is not None


def plan_paths(urlsift: str, split_size: int, words: list[str]) -> list[Split]:
    """The splits of files that driver and executors can open by the same paths."""
    planned = subprocess.run([urlsift, "plan", "--split-size", str(split_size), *words], capture_output=True)
    if planned.returncode:
        raise JobError(planned.stderr.decode(errors="backslashreplace").strip())
    splits = [json.loads(line) for line in planned.stdout.splitlines()]
    return [split | {"path": os.path.abspath(split["path"])} for split in splits]


def plan_urls(hadoop: Hadoop, urls: list[str]) -> list[Split]:
    """The splits of files of Hadoop file systems, the largest first. Each file is one split."""
    files = []
    for url in urls:
        found = list(hadoop.files(url))
        if not found:
            raise JobError(f"urlsift: {url}: no such file")
        files += found
    sized = [
        (length, {"input": number, "inputs": len(files), "name": printable(name), "path": name, "start": 0, "end": None, "size": None})
        for number, (name, length) in enumerate(files)]
    sized.sort(key=lambda entry: -entry[0])
    return [split for _, split in sized]


def bytes_of(size: str) -> int:
    """A number of bytes, with K, M, G or T for powers of 1024."""
    match = re.fullmatch(r"(\d+)([KMGT]?)", size, re.IGNORECASE)
    if not match or int(match[1]) == 0:
        raise argparse.ArgumentTypeError(f"{size!r} is no size; say 256M")
    return int(match[1]) << 10 * " KMGT".index(match[2].upper() or " ")


def merge_tree(command: str, partials: RDD[bytes]) -> bytes:
    """The partial reports of all tasks, merged by executors until few are left, a line each."""
    n_tasks = partials.getNumPartitions()
    while n_tasks > FAN_IN:
        n_tasks = math.ceil(n_tasks / FAN_IN)
        # By number, so that a task that runs again gets the same ones.
        keyed = partials.mapPartitionsWithIndex(lambda index, lines, n=n_tasks: ((index % n, line) for line in lines))
        partials = keyed.partitionBy(n_tasks, int).mapPartitions(lambda lines: merge_on_executor(command, (line for _, line in lines)))
    return b"".join(partials.collect())


@dataclass(frozen=True)
class Job:
    """What the command line asks for."""

    inputs: list[str]
    files_from: str | None
    urlsift: str
    split_size: int
    strict: bool
    plan_options: list[str]
    scan_options: list[str]
    merge_options: list[str]

    def run(self, context: SparkContext) -> int:
        """Scans, merges and reports; the status of the final `urlsift merge`, by which 2 is an incomplete report.

        # Errors
        `JobError` if there is no report.
        """
        try:
            hadoop, splits = self.plan(context)
            if not splits:
                raise JobError("urlsift_spark: there is no file to read in what is named")
            # Dealt out, so that tasks with several splits have alike much to do, and the largest begin first.
            n_tasks = min(len(splits), MAX_TASKS)
            print(f"urlsift_spark: {len(splits)} splits in {n_tasks} tasks", file=sys.stderr)
            context.addFile(self.urlsift)
            context.addPyFile(os.path.abspath(__file__))
            command = os.path.basename(self.urlsift)
            threads = context.getConf().get("spark.task.cpus", "1")
            scan = Scan(command, ("--threads", threads, *self.scan_options), hadoop and hadoop.settings(), self.strict)
            groups = context.parallelize([splits[task::n_tasks] for task in range(n_tasks)], n_tasks)
            merged = merge_tree(command, groups.flatMap(scan))
        except (Py4JJavaError, PySparkException) as error:
            raise JobError(cause_of(error)) from None
        return subprocess.run([self.urlsift, "merge", *self.merge_options, "-"], input=merged).returncode

    def plan(self, context: SparkContext) -> tuple[Hadoop | None, list[Split]]:
        """The splits, and by what they are read if not by their paths."""
        listed = Path(self.files_from).read_text().splitlines() if self.files_from else []
        names = [*self.inputs, *filter(None, listed)]
        if not any(map(is_url, names)):
            more = ["--files-from", self.files_from] if self.files_from else []
            return None, plan_paths(self.urlsift, self.split_size, [*self.plan_options, *more, "--", *self.inputs])
        if not all(map(is_url, names)):
            raise JobError("urlsift_spark: inputs are all paths or all URLs of Hadoop file systems (file:///path is one)")
        hadoop = Hadoop(context._jvm, context._jsc.hadoopConfiguration())
        return hadoop, plan_urls(hadoop, names)


def cause_of(error: Py4JJavaError | PySparkException) -> str:
    """What went wrong in Java, or in a task of a Spark job: what that raised, if it is known."""
    message = error.java_exception.toString() if isinstance(error, Py4JJavaError) else str(error)
    raised = re.search(r"^urlsift_spark\.JobError: (.*?)(?:\n\s*\n|\n\tat |\Z)", message, re.DOTALL | re.MULTILINE)
    return raised[1].strip() if raised else message


def arguments(words: list[str]) -> Job:
    """The command line; the arguments after "--" are for `urlsift scan`."""
    end = words.index("--") if "--" in words else len(words)
    parser = argparse.ArgumentParser(
        prog="urlsift_spark.py", usage="spark-submit urlsift_spark.py [OPTION]... INPUT... [-- OPTION OF SCAN...]",
        description="Reports on URL lists with Spark. Exit status: 0 done; 2 no report, or one that says that it is incomplete.")
    parser.add_argument("inputs", nargs="*", metavar="INPUT",
                        help="a path that driver and executors open alike, or a URL of a Hadoop file system (hdfs:, s3a:, file: ...)")
    parser.add_argument("--files-from", metavar="FILE", help="read more inputs from a list, one a line")
    parser.add_argument("--split-size", type=bytes_of, default="256M", metavar="SIZE", help="bytes a task reads of an uncompressed path [default: 256M]")
    parser.add_argument("--urlsift", default=shutil.which("urlsift"), metavar="PATH",
                        help="the command, which is sent to executors: best the static one [default: the one on the path]")
    parser.add_argument("--input-format", metavar="FORMAT",
                        help="how URLs are written down, as in urlsift --help")
    parser.add_argument("--strict", action="store_true", help="fail where an input cannot be read to its end")
    parser.add_argument("-o", "--output", metavar="FILE", help="write to a file, which appears whole or not at all")
    parser.add_argument("--format", metavar="FORMAT", help="text, json, html or partial [default: by --output, or text]")
    given = parser.parse_args(words[:end])
    if not given.inputs and not given.files_from:
        parser.error("no INPUT is named")
    if not given.urlsift:
        parser.error("there is no urlsift on the path; --urlsift PATH says where it is")

    def options(*names: str) -> list[str]:
        values = [(f"--{name}", getattr(given, name.replace("-", "_"))) for name in names]
        return [word for name, value in values if value is not None for word in (name, value)]

    reading = options("input-format")
    return Job(given.inputs, given.files_from, os.path.abspath(given.urlsift), given.split_size, given.strict, reading,
               [*reading, *words[end + 1:]], options("output", "format"))


def main(words: list[str]) -> int:
    """The job, by command line."""
    job = arguments(words)
    with SparkSession.builder.appName("urlsift").getOrCreate() as session:
        try:
            return job.run(session.sparkContext)
        except (JobError, OSError) as error:
            print(f"{printable(str(error))}\nurlsift_spark: there is no report", file=sys.stderr)
            return 2


def printable(message: str) -> str:
    """A message with names of files in it, as is safe on a terminal."""
    return "".join(char if char.isprintable() or char == "\n" else char.encode("unicode_escape").decode() for char in message)


if __name__ == "__main__":
    # By its name, under which executors import it too: what is defined in `__main__` would be sent along with each task.
    import urlsift_spark

    sys.exit(urlsift_spark.main(sys.argv[1:]))
