"""Makes the Parquet samples of this folder by pyarrow, DuckDB and Polars, and says by pyarrow what is in them.

Needs pyarrow, duckdb and polars. Beside NAME.parquet stands NAME.expected, or urls.expected says it of several: a row for each value
of the column that is read without being told which, or named in COLUMNS, with the number of its row, the role and the bytes, escaped
as urlsift does; the last has the number of all rows. What is made depends on the versions, so the results are kept.
"""

from pathlib import Path

import duckdb
import polars
import pyarrow as pa
import pyarrow.parquet as pq

HERE = Path(__file__).parent

HOSTILE = [
    "http://example.org/",
    'http://example.org/"quoted"\\back/',
    "http://example.org/caf\u00e9/\u4e2d\u6587/\U0001f600",
    "http://example.org/tab\tnew\nline\r\nend",
    "http://example.org/\x00\x01\x1f\x7f",
    "",
    None,
    "http://example.org/" + "x" * 700,
    "\n",
    "ends in CR\r",
    "http://[::1]:8080/?a=b&c=%zz",
    None,
]
# Some that have much in common, some that come again.
URLS = HOSTILE + [f"https://www.example.com/page/{n // 3}/{n % 7}?q={n * n}" if n % 5 else None for n in range(150)] + HOSTILE
PRESENT = [url or "" for url in URLS]
IDS = list(range(len(URLS)))

# What of a sample is read, where that has to be said.
COLUMNS = {"required": "URL", "list-v1": "links", "list-v2": "links", "nested": "page.meta.url", "list-of-groups": "links", "fixed": "code", "map": "links.key"}


def escaped(data):
    plain = lambda byte: chr(byte) if 0x20 <= byte < 0x7F and byte != 0x5C else "\\\\" if byte == 0x5C else f"\\x{byte:02x}"
    return "".join(map(plain, data))


def values(item):
    """All that is no group, list or null in a value, in written order."""
    if isinstance(item, dict):
        item = list(item.values())
    if isinstance(item, (list, tuple)):
        return [value for part in item for value in values(part)]
    return [] if item is None else [item.encode() if isinstance(item, str) else item]


def expect(name):
    path = HERE / f"{name}.parquet"
    top, *below = COLUMNS.get(name, "url").split(".")
    column = pq.ParquetFile(path).read().column(top).to_pylist()
    for part in below:
        if part == "key":
            column = [pairs and [key for key, _ in pairs] for pairs in column]
        else:
            column = [item and item[part] for item in column]
    rows = [f"{row}\turl\t{escaped(value)}\n" for row, item in enumerate(column, 1) for value in values(item)]
    listing = "".join(rows) + f"{len(column)}\trows\t\n"
    shared = HERE / "urls.expected"
    if name == "plain":
        shared.write_text(listing, newline="\n")
    if shared.read_text() != listing:
        (HERE / f"{name}.expected").write_text(listing, newline="\n")


def write(name, table, **options):
    pq.write_table(table, HERE / f"{name}.parquet", row_group_size=60, store_schema=False, **options)
    expect(name)


def text(values, name="url", nullable=True):
    schema = pa.schema([pa.field("id", pa.int64()), pa.field(name, pa.string(), nullable=nullable)])
    return pa.table([IDS, values], schema=schema)


def main():
    write("plain", text(URLS), compression="none", use_dictionary=False)
    write("required", text(PRESENT, "URL", nullable=False), compression="none", use_dictionary=False, data_page_version="2.0")
    small = {"data_page_size": 512, "write_batch_size": 8}
    for codec in ["snappy", "gzip", "zstd", "lz4", "brotli"]:
        write(f"{codec}-v1", text(URLS), compression=codec, **small)
        write(f"{codec}-v2", text(URLS), compression=codec, data_page_version="2.0", use_dictionary=False, **small)
    write("checksum", text(URLS), compression="none", write_page_checksum=True)
    # A dictionary that is given up when it is full.
    write("fallback", text(URLS), compression="snappy", dictionary_pagesize_limit=400, **small)
    delta = lambda encoding: {"use_dictionary": False, "column_encoding": {"url": encoding}, "compression": "snappy"}
    write("delta-length", text(URLS), **delta("DELTA_LENGTH_BYTE_ARRAY"))
    write("delta-byte-array", text(URLS), data_page_version="2.0", **delta("DELTA_BYTE_ARRAY"), **small)
    lists = [[], None, [None], ["http://example.org/", None, "", "/a b"]] + [URLS[n : n + n % 9] for n in range(100)] + [URLS, []]
    table = pa.table({"id": range(len(lists)), "links": pa.array(lists, pa.list_(pa.string()))})
    write("list-v1", table, compression="zstd", **small)
    write("list-v2", table, compression="zstd", data_page_version="2.0", use_dictionary=False, **small)
    pages = [{"meta": {"url": url, "n": 1} if n % 4 else None, "title": "no"} if n % 6 else None for n, url in enumerate(URLS)]
    write("nested", pa.table({"page": pages}), compression="gzip")
    groups = [[{"url": url} if n % 3 else None for n, url in enumerate(links)] if links is not None else None for links in lists]
    write("list-of-groups", pa.table({"links": groups}), compression="snappy")
    write("map", pa.table({"links": pa.array([[(url, 1) for url in links if url] if links is not None else None for links in lists], pa.map_(pa.string(), pa.int32()))}))
    codes = [f"{n:08x}".encode() if n % 3 else None for n in IDS]
    write("fixed", pa.table({"code": pa.array(codes, pa.binary(8))}), compression="lz4")
    write("no-rows", pa.table({"url": pa.array([], pa.string())}))
    write("only-nulls", pa.table({"url": pa.array([None] * 200, pa.string())}))
    # Of other writers.
    polars.from_arrow(text(URLS)).write_parquet(HERE / "polars.parquet", compression="zstd", row_group_size=100, data_page_size=600)
    expect("polars")
    urls = text(URLS)  # by its name in the statement
    duckdb.sql(f"COPY urls TO '{HERE}/duckdb.parquet' (FORMAT parquet, COMPRESSION snappy, PARQUET_VERSION v2)")
    expect("duckdb")
    # What is no text, and what is not called as usual.
    unusual = {"id": IDS[:3], "note": ["a", "b", "c"], "group": [{"url": "http://a/", "n": 1}] * 3}
    pq.write_table(pa.table(unusual), HERE / "unusual.parquet", store_schema=False)


main()
