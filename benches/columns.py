"""Counts the schemes of a list with DuckDB and Polars, on one thread, and prints the times and counts as JSON.

Run by benches/peers.rs: columns.py LIST ROUNDS. The list is read into a column before the time is taken. Both engines first
compare the beginning with "https://" and "http://", which is twice as fast as the regular expression alone.
"""

import json
import os
import sys
import time

os.environ["POLARS_MAX_THREADS"] = "1"

import duckdb
import polars
import pyarrow  # noqa: F401, with which DuckDB reads a table of Polars

SCHEME = "^([A-Za-z][A-Za-z0-9+.-]*):"
with open(sys.argv[1], encoding="utf-8", newline="\n") as file:
    lines = polars.DataFrame({"url": file.read().split("\n")[:-1]})

connection = duckdb.connect(config={"threads": 1})
connection.execute("create table lines as select url from lines")
query = f"""
    select case when starts_with(url, 'https://') then 'https' when starts_with(url, 'http://') then 'http'
                else lower(regexp_extract(url, '{SCHEME}', 1)) end as scheme, count(*)
    from lines group by scheme
"""

url = polars.col("url")
scheme = (
    polars.when(url.str.starts_with("https://")).then(polars.lit("https"))
    .when(url.str.starts_with("http://")).then(polars.lit("http"))
    .otherwise(url.str.extract(SCHEME, 1).str.to_lowercase())
)
plan = lines.lazy().group_by(scheme.alias("scheme")).len()

engines = {
    f"DuckDB {duckdb.__version__}": lambda: connection.execute(query).fetchall(),
    f"Polars {polars.__version__}": lambda: plan.collect().rows(),
}
found = {name: {"seconds": [], "schemes": {}} for name in engines}
for _ in range(int(sys.argv[2])):
    for name, count in engines.items():
        start = time.perf_counter()
        rows = count()
        found[name]["seconds"].append(time.perf_counter() - start)
        found[name]["schemes"] = {scheme or "": lines for scheme, lines in rows}
json.dump(found, sys.stdout)
