"""A small standalone cluster of Spark on this machine, for tests and measurements."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

from pyspark.find_spark_home import _find_spark_home
from pyspark.sql import SparkSession


class Standalone:
    """A standalone cluster: a master, and two workers of one core on hosts of their own, since Spark runs nothing twice on one host."""

    def __init__(self, folder: Path) -> None:
        """Starts it, with its logs and its workers' files in `folder`; a driver that comes early waits for it."""
        # Ended by `timeout` and the like, it ends the cluster too.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.master = f"spark://127.0.0.1:{port}"
        self.folder = folder
        self.processes: list[subprocess.Popen[bytes]] = []
        self.start("master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0")
        for host in ["127.0.0.1", "127.0.0.2"]:
            self.start("worker.Worker", "--host", host, "--webui-port", "0", "--cores", "1", "--memory", "1g", "--work-dir",
                       str(folder / host), self.master)

    def start(self, name: str, *words: str) -> None:
        command = [Path(_find_spark_home(), "bin/spark-class"), f"org.apache.spark.deploy.{name}", *words]
        with open(self.folder / "cluster.log", "ab") as log:
            self.processes.append(subprocess.Popen(command, stdout=log, stderr=log, env=os.environ | {"SPARK_LOCAL_IP": words[1]}))

    def session(self, **settings: str) -> SparkSession:
        """A driver on it, in this process; of names of settings "_" stands for "."."""
        builder = SparkSession.builder.master(self.master).config("spark.ui.enabled", "false").config("spark.log.level", "OFF")
        builder = builder.config("spark.ui.showConsoleProgress", "false")
        for name, value in settings.items():
            builder = builder.config("spark." + name.replace("_", "."), value)
        return builder.getOrCreate()

    def __enter__(self) -> Standalone:
        return self

    def __exit__(self, *_: object) -> None:
        for process in reversed(self.processes):
            process.terminate()
            process.wait()
