#!/usr/bin/env python3
"""Times urlsift.spark on a local cluster of two executors: PYTHON benches/python_spark.py [--rows N] [--rounds N] LIST

Writes the lines of the list as Parquet, again and again until there are enough rows, and reads them once in each round with: a
`mapInArrow` that counts rows and does nothing else, `urlsift.spark.report`, `urlsift.spark.scan`, and Spark's own `try_parse_url` with `groupBy`. PYTHON
needs urlsift, pyarrow and pyspark, and JAVA_HOME has to name a Java (scripts/java-home).
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

import urlsift
import urlsift.spark


def rows_of(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield pa.RecordBatch.from_pydict({"n": [sum(batch.num_rows for batch in batches)]})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("list", type=Path)
    options = parser.parse_args()
    lines = options.list.read_text(errors="replace").split("\n")
    with tempfile.TemporaryDirectory() as folder:
        table = pa.table({"url": lines[:1_000_000]})
        for part in range(-(-options.rows // len(table))):
            pq.write_table(table, Path(folder, f"{part}.parquet"))
        os.environ.update(SPARK_LOCAL_IP="127.0.0.1", PYSPARK_PYTHON=sys.executable)
        builder: Any = SparkSession.builder
        spark = builder.master("local-cluster[2,1,2048]").config("spark.ui.enabled", "false").getOrCreate()
        spark.sparkContext.setLogLevel("ERROR")
        pages = spark.read.parquet(folder).select("url")
        ways: dict[str, Callable[[], int]] = {
            "rows counted in mapInArrow": lambda: sum(row[0] for row in pages.mapInArrow(rows_of, "n bigint").collect()),
            "urlsift.spark.report": lambda: urlsift.spark.report(pages, "url").lines,
            "urlsift.spark.scan": lambda: urlsift.spark.scan(spark, folder).lines,
            "try_parse_url and groupBy": lambda: sum(
                row[1] for row in pages.selectExpr("try_parse_url(url, 'PROTOCOL') as p").groupBy("p").count().collect()
            ),
        }
        times: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(options.rounds + 1):
            for name, way in ways.items():
                start = time.perf_counter()
                rows = way()
                times[name].append(time.perf_counter() - start)
        print(f"{rows:,} rows, two executors of one core, {options.rounds} rounds after one more")
        first = statistics.median(times["rows counted in mapInArrow"][1:])
        for name, of in times.items():
            median = statistics.median(of[1:])
            print(f"  {name:28} {median:6.2f} s, {median / first:.2f} of the first, spread {(max(of[1:]) - min(of[1:])) / median:.0%}")
        spark.stop()


if __name__ == "__main__":
    main()
