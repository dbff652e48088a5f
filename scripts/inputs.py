"""The inputs of the part `inputs` of scripts/measure: compressed lists and records, each made of a sample list, and the commands that read them.

    python3 scripts/inputs.py FOLDER MEGABYTES     makes them, each of about so many bytes decoded

Some commands do less than `urlsift`. Their names say what they do.
"""

import gzip
import random
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def urls(size):
    """The lines of a sample, each time in another order, until they are so many bytes."""
    lines = (ROOT / "corpora/samples/top100.txt").read_bytes().decode("ascii", "ignore").split("\n")
    lines = [line for line in lines if line and not set(line) & set('",\\ ')]
    random.seed(1)
    made = 0
    while made < size:
        random.shuffle(lines)
        yield from lines
        made += sum(len(line) + 1 for line in lines)


def make(folder, size):
    """The inputs, each as long as they need for about so many bytes decoded."""
    cdxj = ('org,example)/a/page 20260101000000 {{"url": "{}", "mime": "text/html", "status": "200", "digest": '
            '"OSSAPWJ23L56IYVRW3GFEAR4MCJMGPTB", "length": "22580", "offset": "334123456", "filename": "a/b/c.warc.gz"}}')
    log = ('192.0.2.7 - - [01/Jan/2026:00:00:00 +0000] "GET /a/page?id=12345 HTTP/1.1" 200 2326 "{}" '
           '"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36"')
    jsonl = '{{"id": 123456, "date": "2026-01-01", "tags": ["a", "b"], "url": "{}", "status": 200}}'
    csv = "123456,2026-01-01 00:00:00,{},online,malware"
    quoted = '"123456","2026-01-01 00:00:00","{}","online","malware, phishing"'
    haproxy = ('Jan  1 00:00:00 web haproxy[1]: 192.0.2.7:50000 [01/Jan/2026:00:00:00.000] http-in app/s1 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 '
               '"GET {} HTTP/1.1"')
    caddy = ('{{"level":"info","ts":1767225600.1,"logger":"http.log.access","msg":"handled request","request":{{"remote_ip":"192.0.2.7","proto":"HTTP/2.0",'
             '"method":"GET","host":"example.org","uri":"/a/page?id=12345","headers":{{"User-Agent":["Mozilla/5.0"],"Referer":["{}"]}}}},"status":200}}')
    forms = [("list", "{}", None), ("haproxy.log", haproxy, None), ("caddy.log", caddy, None), ("index.cdxj", cdxj, None), ("access.log", log, None), ("table.jsonl", jsonl, None),
             ("table.csv", csv, "id,date,url,status,threat"), ("quoted.csv", quoted, '"id","date","url","status","threat"')]
    for name, form, header in forms:
        share = size * 65 // (len(form) + 63)
        with open(folder / name, "w") as file:
            if header:
                file.write(header + "\n")
            for url in urls(share):
                file.write(form.format(url) + "\n")
    # Documents, one for all URLs.
    documents = [("array.json", "[\n", '  {{"id": 123456, "url": "{}", "status": 200}},\n', '  {{}}\n]\n'),
                 ("sitemap.xml", '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n',
                  "  <url><loc>{}</loc><lastmod>2026-01-01</lastmod></url>\n", "</urlset>\n"),
                 ("page.html", "<!doctype html>\n<html><body><ul>\n",
                  '<li class="entry"><a class="title" href="{}" rel="nofollow">An entry of the list</a>\n<p>Some words about the entry, with an <em>emphasis</em> or two.</p></li>\n',
                  "</ul></body></html>\n")]
    for name, start, form, end in documents:
        with open(folder / name, "w") as file:
            file.write(start)
            for url in urls(size * 65 // (len(form) + 63)):
                file.write(form.format(url.replace("&", "&amp;") if name != "array.json" else url))
            file.write(end.format())
    text = folder / "list"
    with open(text, "rb") as source, gzip.open(folder / "list.gz", "wb", 6) as packed:
        shutil.copyfileobj(source, packed)
    for tool, ending, args in [("bgzip", "bgzip.gz", ["-c"]), ("zstd", "zst", ["-qc"]), ("xz", "xz", ["-1c"]), ("bzip2", "bz2", ["-c"]),
                               ("pzstd", "frames.zst", ["-qc"]), ("xz", "blocks.xz", ["-1cT2"])]:
        if shutil.which(tool):
            with open(f"{text}.{ending}", "wb") as packed:
                subprocess.run([tool, *args, text], stdout=packed, check=True)
    # Members of 3,000 lines, as those of an index of Common Crawl.
    with open(folder / "index.cdxj", "rb") as source, open(folder / "index.cdxj.gz", "wb") as packed:
        while lines := source.readlines(1_000_000):
            packed.write(gzip.compress(b"".join(lines), 6))
    # As many services and days leave them.
    for name in ["logs", "logs.gz"]:
        (folder / name).mkdir()
    with open(folder / "access.log", "rb") as source:
        for number, lines in enumerate(iter(lambda: source.readlines(size // 1000), [])):
            (folder / "logs" / f"{number:04}.log").write_bytes(b"".join(lines))
    with open(folder / "access.log", "rb") as source:
        for number, lines in enumerate(iter(lambda: source.readlines(size // 16), [])):
            (folder / "logs.gz" / f"{number:02}.log.gz").write_bytes(gzip.compress(b"".join(lines), 6))


def decoded_len(folder, name):
    """The bytes of an input, decoded."""
    plain = "list" if name.startswith("list") else "access.log" if name.startswith("logs") else name.removesuffix(".gz")
    return (folder / plain).stat().st_size


def all_commands(urlsift):
    """Input, name and words of each command, in the folder of the inputs."""
    own = lambda threads, name: f"{urlsift} -j{threads} {name}"
    for name, decoder in [("list.gz", "gzip"), ("list.bgzip.gz", "bgzip"), ("list.zst", "zstd")]:
        yield name, "urlsift -j1", own(1, name)
        yield name, "urlsift -j2", own(2, name)
        yield name, f"{decoder} -dc, nothing else", f"{decoder} -dc {name}"
        yield name, f"{decoder} -dc | urlsift -j1", f"{decoder} -dc {name} | {own(1, '-')}"
        yield name, "rg -z -c http: counts lines with it", f"rg -z -c http {name}"
    yield "list.xz", "urlsift -j1", own(1, "list.xz")
    yield "list.xz", "xz -dc, nothing else", "xz -dc list.xz"
    for name, tool, alone, parallel in [("list.frames.zst", "pzstd", "zstd -qdc", "pzstd -qdcp2"), ("list.blocks.xz", "xz", "xz -dc", "xz -dcT2"),
                                        ("list.bz2", "lbzip2", "bzip2 -dc", "lbzip2 -dcn2")]:
        if shutil.which(tool):
            yield name, "urlsift -j1", own(1, name)
            yield name, "urlsift -j2", own(2, name)
            yield name, f"{alone}, nothing else", f"{alone} {name}"
            yield name, f"{parallel}, nothing else", f"{parallel} {name}"
            yield name, f"{parallel} | urlsift -j1", f"{parallel} {name} | {own(1, '-')}"
    yield "list.gz", "igzip -dc, nothing else", "igzip -dc list.gz"
    yield "list.gz", "zgrep -c http: counts lines with it", "zgrep -c http list.gz"
    yield "list", "urlsift -j1", own(1, "list")
    yield "list", "urlsift -j2", own(2, "list")
    for name in ["list", "access.log", "quoted.csv"]:
        yield name, "wc -l: counts line ends", f"wc -l {name}"
    for name in ["index.cdxj", "index.cdxj.gz", "access.log", "logs", "logs.gz", "table.jsonl", "table.csv", "quoted.csv", "haproxy.log", "caddy.log", "array.json", "sitemap.xml", "page.html"]:
        yield name, "urlsift -j1", own(1, name)
        yield name, "urlsift -j2", own(2, name)
    yield "index.cdxj", "cut, jq -r .url: finds the URLs", "cut -d' ' -f3- index.cdxj | jq -r .url"
    yield "access.log", "awk: finds the Referers", "awk -F'\"' '{print $4}' access.log"
    yield "logs", "cat | urlsift -j2", f"cat logs/* | {own(2, '-')}"
    yield "logs.gz", "gzip -dc | urlsift -j2", f"gzip -dc logs.gz/* | {own(2, '-')}"
    yield "table.jsonl", "jq -r .url: finds the URLs", "jq -r .url table.jsonl"
    yield "array.json", "jq -r .[].url: finds the URLs", "jq -r '.[].url' array.json"
    yield "caddy.log", "jq: finds URI and Referer", "jq -r '.request.uri, .request.headers.Referer[0]' caddy.log"
    yield "haproxy.log", "awk: finds the request", "awk -F'\"' '{print $2}' haproxy.log"
    yield "sitemap.xml", "xmllint --stream: parses it", "xmllint --stream --noout sitemap.xml"
    for name in ["page.html", "access.log"]:
        yield name, "urlsift extract", f"{urlsift} extract -j1 {name}"
        yield name, "grep -oE: finds http URLs", f"env LC_ALL=C grep -oE 'https?://[^\"<> ]+' {name} | cat"
    yield "table.csv", "qsv select url: finds the URLs", "qsv select url table.csv"
    yield "table.csv", "xsv select url: finds the URLs", "xsv select url table.csv"
    yield "table.csv", "cut -d, -f3: finds the URLs, no quotes", "cut -d, -f3 table.csv"


if __name__ == "__main__":
    make(Path(sys.argv[1]), int(sys.argv[2]) * 1_000_000)
