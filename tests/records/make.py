"""Makes samples of this folder with the programs whose formats they are, and says by other readers what is in all of them.

    make.py --nginx /usr/sbin/nginx --apache /usr/sbin/apache2 --apache-modules /usr/lib/apache2/modules

Needs warcio, brotli and cdxj-indexer. Servers listen on 127.0.0.1 only. What it makes depends on their versions and on the time, so
the results are kept, with NAME.expected beside NAME: a row for each field, with the number of the line where its record
begins, the role and the bytes, escaped as urlsift does.
"""

import argparse
import csv
import gzip
import io
import json
import os
import re
import socket
import subprocess
import tempfile
import time
import zlib
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urljoin
from xml.etree import ElementTree
from xml.parsers import expat

import brotli
from cdxj_indexer.main import CDXJIndexer
from warcio.archiveiterator import ArchiveIterator
from warcio.bufferedreaders import BufferedReader
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

HERE = Path(__file__).parent

# Request targets and Referers that clients have sent.
TARGETS = [
    (b"/", None),
    (b"/index.html?q=a&b=c#x", b"http://example.org/"),
    (b'/quote"s"', b'http://example.org/"quoted"'),
    (b"/back\\slash\\\\two\\", b"http://example.org/\\"),
    (b"/%22%5c%0a%00", b"http://example.org/%22"),
    (b"/caf\xc3\xa9", "http://example.org/\u00fc\u4e2d\u6587".encode()),
    (b"/latin1-\xe9\xff", b"http://example.org/\xff\xfe"),
    (b"/\\x41\\x22\\n\\t", b"\\x00\\xZZ\\x4"),
    (b"/tab\tin\tit", b"a\tb"),
    (b"/a b c", b"http://example.org/a b"),
    (b"/'<script>alert(1)</script>", b"<>'`{|}^"),
    (b"//double//slash", b"-"),
    (b"/\x7f", b"\x7f"),
    (b"http://other.example/absolute-form", b"android-app://com.example/"),
    (b"/" + b"a" * 3000 + b"?" + b"b" * 3000, b"http://example.org/" + b"c" * 3000),
    (b"/empty-referer", b""),
    (b"*", None),
    (b"/.%2e/%2e./etc/passwd", b"\x1b[31mred\x1b[0m"),
]
# What is no request.
GARBAGE = [b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"GET", b"GET /nine\r\n", b"\r\n\r\n", b"\"\" \"\" \"\"\r\n\r\n", b"FOO BAR BAZ\r\n\r\n"]


def escaped(data):
    plain = lambda byte: chr(byte) if 0x20 <= byte < 0x7F and byte != 0x5C else "\\\\" if byte == 0x5C else f"\\x{byte:02x}"
    return "".join(map(plain, data))


def expect(name, rows):
    with open(HERE / f"{name}.expected", "w", newline="\n") as out:
        for line, role, data in rows:
            out.write(f"{line}\t{role}\t{escaped(data)}\n")


def text_of(name):
    """A sample that was written by hand."""
    return (HERE / name).read_bytes().decode()


def send(port, data):
    with socket.create_connection(("127.0.0.1", port), timeout=5) as client:
        client.sendall(data)
        client.shutdown(socket.SHUT_WR)
        try:
            while client.recv(65536):
                pass
        except OSError:
            pass


def ask_everything(port):
    for _ in range(100):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            break
        except OSError:
            time.sleep(0.1)
    for target, referer in TARGETS:
        header = b"" if referer is None else b"Referer: " + referer + b"\r\n"
        method = b"OPTIONS" if target == b"*" else b"GET"
        send(port, method + b" " + target + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + header + b"\r\n")
    for data in GARBAGE:
        send(port, data)
    time.sleep(0.5)


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def nginx(program):
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        temporary = "".join(f"{kind}_temp_path {folder}/{kind};" for kind in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"])
        Path(folder, "nginx.conf").write_text(
            f"daemon off; master_process off; pid {folder}/pid; error_log {folder}/error;\n"
            f"events {{}}\nhttp {{ access_log {folder}/access combined; {temporary} large_client_header_buffers 4 32k;\n"
            f"server {{ listen 127.0.0.1:{port}; return 204; }} }}\n"
        )
        server = subprocess.Popen([program, "-c", f"{folder}/nginx.conf", "-p", folder], stderr=subprocess.DEVNULL)
        try:
            ask_everything(port)
        finally:
            server.terminate()
            server.wait()
        return Path(folder, "access").read_bytes()


def apache(program, modules):
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        load = "".join(f"LoadModule {name}_module {modules}/mod_{name}.so\n" for name in ["mpm_event", "authz_core"])
        Path(folder, "apache.conf").write_text(
            f"ServerRoot {folder}\nServerName localhost\n{load}PidFile {folder}/pid\nListen 127.0.0.1:{port}\n"
            f"DefaultRuntimeDir {folder}\nErrorLog {folder}/error\nDocumentRoot {folder}\nAllowEncodedSlashes On\n"
            f"HttpProtocolOptions Unsafe\n"
            'LogFormat "%h %l %u %t \\"%r\\" %>s %b \\"%{Referer}i\\" \\"%{User-agent}i\\"" combined\n'
            'LogFormat "%h %l %u %t \\"%r\\" %>s %b" common\n'
            f"CustomLog {folder}/combined combined\nCustomLog {folder}/common common\n"
        )
        server = subprocess.Popen([program, "-X", "-f", f"{folder}/apache.conf"], stderr=subprocess.DEVNULL)
        try:
            ask_everything(port)
        finally:
            server.terminate()
            server.wait()
        return Path(folder, "combined").read_bytes(), Path(folder, "common").read_bytes()


QUOTED = rb'"((?:[^"\\]|\\.)*)"'
ENTRY = re.compile(rb'[^"]* \[[^]]*\] ' + QUOTED + rb" \S+ \S+(?: " + QUOTED + rb")?", re.S)
NAMED = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"b": b"\b", b"v": b"\v", b'"': b'"', b"\\": b"\\"}


def plain(text):
    one = lambda found: bytes([int(found[1][1:], 16)]) if len(found[1]) == 3 else NAMED[found[1]]
    return re.sub(rb'\\(x[0-9a-fA-F]{2}|[ntrbv"\\])', one, text)


def fields_of_log(name, log, sent=[target for target, _ in TARGETS]):
    """By expressions; and against what was sent."""
    rows, requests = [], []
    for number, line in enumerate(log.split(b"\n")[:-1], 1):
        request, referer = ENTRY.match(line).groups()
        found = re.fullmatch(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+) (.+?)( HTTP/[^ ]*)?", request, re.S)
        if not found and request not in (b"-", b""):
            continue
        if found:
            rows.append((number, "request", plain(found[2])))
            requests.append(plain(found[2]))
        if referer not in (None, b"-"):
            rows.append((number, "referer", plain(referer)))
    print(name, "not logged as sent:", [target[:40] for target in sent if target not in requests])
    (HERE / name).write_bytes(log)
    expect(name, rows)


HOSTILE_URLS = [
    "http://example.org/",
    'http://example.org/"quoted"\\back/',
    "http://example.org/caf\u00e9/\u4e2d\u6587/\U0001f600",
    "http://example.org/tab\tnew\nline\r\nend",
    "http://example.org/\x00\x01\x1f\x7f",
    "",
    "http://example.org/" + "x" * 5000,
    "a,b;c\td",
    '"',
    '","',
    "#comment",
    " padded ",
    "\n",
    "http://[::1]:8080/?a=b&c=%zz",
]


def csv_samples():
    rows = [["id", "url", "note"]] + [[str(n), url, 'say "no",\nplease'] for n, url in enumerate(HOSTILE_URLS)]
    for name, dialect, quoting in [
        ("excel.csv", "excel", csv.QUOTE_MINIMAL),
        ("unix.csv", "unix", csv.QUOTE_ALL),
        ("excel.tsv", "excel-tab", csv.QUOTE_MINIMAL),
    ]:
        text = io.StringIO(newline="")
        csv.writer(text, dialect, quoting=quoting).writerows(rows)
        data = text.getvalue()
        (HERE / name).write_bytes(data.encode())
        expected, before = [], 0
        reader = csv.reader(io.StringIO(data, newline="\n"), dialect)
        for row in reader:
            if row and row[1] != "url":
                expected.append((before + 1, "url", row[1].encode()))
            before = reader.line_num
        expect(name, expected)


def jsonl_samples():
    lines, expected = [], []
    for ascii_only in [True, False]:
        for n, url in enumerate(HOSTILE_URLS):
            other = {"id": n, "nested": {"url": "no", "list": [1, {"url": "no"}, "]}"]}, "text": 'a "quoted" {brace}'}
            item = {"url": url, **other} if n % 2 else {**other, "url": url}
            lines.append(json.dumps(item, ensure_ascii=ascii_only, separators=(",", ":") if n % 3 else None))
    lines += ['{"id": 1}', '{"url": null}', '{"url": 5}', '{"url": "cut', "[]", "", '{"\\u0075rl": "http://escaped.example/key"}', '  {"url" : "http://blanks.example/" }  ']
    data = "\n".join(lines) + "\n"
    (HERE / "objects.jsonl").write_bytes(data.encode())
    for number, line in enumerate(lines, 1):
        try:
            url = json.loads(line).get("url")
        except (ValueError, AttributeError):
            continue
        if isinstance(url, str):
            expected.append((number, "url", url.encode()))
    expect("objects.jsonl", expected)


def warc_samples():
    urls = [
        "http://example.org/", "https://example.org/a?b=c", "http://example.org/caf\u00e9", "urn:uuid:00000000-0000-0000-0000-000000000000",
        # warcio makes "%20" of a blank when it reads one.
        "http://example.org/a|b", "dns:example.org", 'http://example.org/"q"\\', "http://example.org/" + "x" * 2000,
    ]
    for name, version in [("written-1.0.warc", "WARC/1.0"), ("written-1.1.warc", "WARC/1.1")]:
        with open(HERE / name, "wb") as out:
            writer = WARCWriter(out, gzip=False, warc_version=version)
            writer.write_record(writer.create_warcinfo_record("written.warc", {"software": "warcio"}))
            for n, url in enumerate(urls):
                body = b"WARC/1.0\r\nWARC-Target-URI: http://inside.example/\r\n\r\n" * (n % 3) + b"\n" * n
                headers = StatusAndHeaders("200 OK", [("Content-Type", "text/plain")], protocol="HTTP/1.1")
                kind = ["response", "resource", "metadata", "conversion"][n % 4]
                http = {"http_headers": headers} if kind == "response" else {}
                writer.write_record(writer.create_warc_record(url, kind, payload=io.BytesIO(body), **http))
        # warcio writes no brackets; wget and the grammar of WARC 1.0 do.
        if version == "WARC/1.0":
            data = (HERE / name).read_bytes()
            (HERE / name).write_bytes(re.sub(rb"(WARC-Target-URI: )(https[^\r]*)", rb"\1<\2>", data))
        expect(name, warc_rows(HERE / name))
        with open(HERE / name, "rb") as stream:
            print(name, sum(1 for _ in ArchiveIterator(stream)), "records by warcio")


def warc_rows(path):
    data = path.read_bytes()
    rows, before = [], 0
    with open(path, "rb") as stream:
        iterator = ArchiveIterator(stream)
        for record in iterator:
            url = record.rec_headers.get_header("WARC-Target-URI")
            record.content_stream().read()
            at = iterator.get_record_offset()
            assert data[at:].startswith(b"WARC/")
            if url:
                value = url.encode()
                rows.append((data[:at].count(b"\n") + 1, "url", value[1:-1] if value.startswith(b"<") else value))
    return rows


def cdxj_sample():
    out = io.StringIO()
    indexer = CDXJIndexer(out, [str(HERE / "written-1.1.warc")])
    indexer.process_all()
    (HERE / "indexed.cdxj").write_text(out.getvalue())
    rows = [(number, "url", json.loads(line.split(" ", 2)[2])["url"].encode()) for number, line in enumerate(out.getvalue().splitlines(), 1)]
    expect("indexed.cdxj", rows)


def w3c(text, names=None):
    rows = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("#Fields:"):
            names = line[8:].split()
        if not line or line.startswith("#") or not names:
            continue
        row = dict(zip(names, line.split("\t") if "\t" in line else line.split(" ")))
        if len(row) < len(names):
            continue
        stem, query, referer = (row.get(name, "-") for name in ["cs-uri-stem", "cs-uri-query", "cs(Referer)"])
        if stem != "-":
            rows.append((number, "request", (stem if query == "-" else f"{stem}?{query}").encode()))
        if referer != "-":
            rows.append((number, "referer", referer.encode()))
    return rows


def cdx(text):
    index, rows = 2, []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split(" ")
        if words[1] == "CDX":
            index = words.index("a") - 2
        elif len(words) > index and words[index] != "-":
            rows.append((number, "url", words[index].encode()))
    return rows


def alb(text):
    rows = []
    for number, line in enumerate(text.splitlines(), 1):
        found = re.match(r'[^"]*"([^ "]+) (.*?) ?(HTTP/[0-9.]+|-)?" ', line)
        if found[1] != "-":
            rows.append((number, "request", plain(found[2].encode())))
    return rows


REQUEST = r"(?:(?P<method>[!#$%&'*+.^_`|~0-9A-Za-z-]+) )?(?P<target>.*?)(?: (?:HTTP/[0-9.]+|-))?"
BY_LINE = {
    "s3.log": r'\S+ \S+ \[[^]]*\] \S+ \S+ \S+ \S+ \S+ (?:"' + REQUEST + r'"|-) \S+ \S+ \S+ \S+ \S+ \S+ (?:"(?P<referer>[^"]*)"|-) .*',
    "elb.log": r'(?:\S+ ){11}"(?P<method>\S+) (?P<target>(?:[^\\"]|\\.)*?) (?:HTTP/[0-9.]+|- )"(?: .*)?',
    "haproxy.log": r'(?:.* )?\S+:\d+ \[[^]]*\] \S+ \S+/\S+ [-/0-9]+ \d+ \d+ .*? [0-9/]+ [0-9/]+ (?:\{.*\} )?"' + REQUEST + r'"(?: .*)?',
    "squid.log": r"\d+\.\d{3} +\d+ \S+ \w+/\d+ \d+ (?P<method>\S+) (?P<target>\S+) \S+ \S+ \S+.*",
    "envoy.log": r'\[[^]]*\] "' + REQUEST + r'" \d+ .*',
}


def by_line(name, text):
    """By one expression for each format."""
    role = "url" if name == "squid.log" else "request"
    undo = {"elb.log": plain, "haproxy.log": lambda text: re.sub(rb"#([0-9A-F]{2})", lambda found: bytes.fromhex(found[1].decode()), text)}
    rows = []
    for number, line in enumerate(text.splitlines(), 1):
        found = re.fullmatch(BY_LINE[name], line)
        fields = found.groupdict() if found else {}
        if fields.get("method") and (fields["method"] != "-" or role == "url"):
            rows.append((number, role, undo.get(name, bytes)(fields["target"].encode())))
        if fields.get("referer") not in (None, "-"):
            rows.append((number, "referer", fields["referer"].encode()))
    return rows


def zeek(text):
    rows = []
    names = next(line for line in text.splitlines() if line.startswith("#fields")).split("\t")[1:]
    for number, line in enumerate(text.splitlines(), 1):
        cells = line.split("\t")
        if not line.startswith("#") and len(cells) == len(names):
            row = dict(zip(names, cells))
            found = [("request", row["uri"]), ("referer", row["referrer"])]
            rows += [(number, role, plain(cell.encode())) for role, cell in found if cell not in ("-", "(empty)")]
    return rows


IIS_NAMES = "date time s-ip cs-method cs-uri-stem cs-uri-query s-port cs-username c-ip cs(User-Agent) cs(Referer) sc-status sc-substatus sc-win32-status time-taken"


def handwritten():
    """What is in the samples that were written by hand, after the examples in the documents of their formats."""
    for name, read in [
        ("cloudfront.log", w3c),
        ("iis.log", w3c),
        ("iis-default.log", lambda text: w3c(text, IIS_NAMES.split())),
        ("alb.log", alb),
        ("crawl.cdx", cdx),
        ("zeek.log", zeek),
    ]:
        expect(name, read(text_of(name)))
    for name in BY_LINE:
        expect(name, by_line(name, text_of(name)))


def wat_sample():
    """Records written by warcio with the members that Common Crawl's WAT files have."""
    links = lambda *urls: [{"path": "A@/href", "url": url, "text": 'say "hi" [{'} for url in urls]
    bodies = [
        {"Head": {"Title": '"Links": [{"url": "no"}]', "Link": [{"url": "no"}]}, "Links": links("http://example.org/", "../a?b", "#c", "")},
        {"Links": []},
        {"Head": {}},
        {"Links": [{"path": "no url"}, {"alt": {"url": "no"}, "url": "café \\ \" \n"}]},
        {"Links": links(*(f"/{n}" for n in range(50)))},
    ]
    with open(HERE / "crawl.wat", "wb") as out:
        writer = WARCWriter(out, gzip=False, warc_version="WARC/1.0")
        writer.write_record(writer.create_warcinfo_record("crawl.wat", {"software": "warcio"}))
        for n, html in enumerate(bodies):
            url = f"http://example.org/{n}"
            body = {"Container": {"Links": 1}, "Envelope": {"WARC-Header-Metadata": {"WARC-Target-URI": url}, "Payload-Metadata": {"HTTP-Response-Metadata": {"HTML-Metadata": html}}}}
            text = json.dumps(body, ensure_ascii=n % 2 == 0).encode()
            writer.write_record(writer.create_warc_record(url, "metadata", payload=io.BytesIO(text), warc_content_type="application/json"))
    data, rows = (HERE / "crawl.wat").read_bytes(), []
    with open(HERE / "crawl.wat", "rb") as stream:
        iterator = ArchiveIterator(stream)
        for record in iterator:
            if record.rec_type == "metadata":
                document = json.loads(record.content_stream().read())
                line = data[: iterator.get_record_offset()].count(b"\n") + 1
                found = document["Envelope"]["Payload-Metadata"]["HTTP-Response-Metadata"]["HTML-Metadata"].get("Links", [])
                rows += [(line, "link", link["url"].encode()) for link in found if "url" in link]
    expect("crawl.wat", rows)


def sitemap_sample():
    """A sitemap by ElementTree, with images and translations, and its URLs by expat."""
    site, image, xhtml = "http://www.sitemaps.org/schemas/sitemap/0.9", "http://www.google.com/schemas/sitemap-image/1.1", "http://www.w3.org/1999/xhtml"
    for prefix, namespace in [("", site), ("image", image), ("xhtml", xhtml)]:
        ElementTree.register_namespace(prefix, namespace)
    root = ElementTree.Element(f"{{{site}}}urlset")
    for n, (target, _) in enumerate(TARGETS):
        # XML has no control characters.
        text = re.sub(r"[\x00-\x1f\x7f]", "", target.decode("utf-8", "replace"))
        url = ElementTree.SubElement(root, f"{{{site}}}url")
        ElementTree.SubElement(url, f"{{{site}}}loc").text = f"\n  http://example.org{text}?a=1&b={n} "
        ElementTree.SubElement(url, f"{{{site}}}lastmod").text = "2026-01-01"
        if n % 3 == 0:
            ElementTree.SubElement(url, f"{{{xhtml}}}link", {"rel": "alternate", "hreflang": "de", "href": f"http://example.org/de{text}"})
        if n % 4 == 0:
            below = ElementTree.SubElement(url, f"{{{image}}}image")
            ElementTree.SubElement(below, f"{{{image}}}loc").text = f"http://example.org/{n}.png"
    ElementTree.indent(root)
    data = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True).replace(b"<lastmod>", b"<!-- <loc>no</loc> --><lastmod>", 3)
    (HERE / "sitemap.xml").write_bytes(data)
    rows, texts = [], []
    parser = expat.ParserCreate()

    def start(name, attributes):
        texts.append((parser.CurrentLineNumber, []))
        if "href" in attributes:
            rows.append((parser.CurrentLineNumber, "link", attributes["href"].encode()))

    def end(name):
        line, text = texts.pop()
        if name.split(":")[-1] == "loc":
            rows.append((line, "url", "".join(text).strip().encode()))

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = lambda text: texts[-1][1].append(text)
    parser.Parse(data, True)
    expect("sitemap.xml", rows)


ROLES = {"href": "link", "formaction": "link", "action": "link", "cite": "link", "src": "embed", "poster": "embed", "data": "embed"}


def page_sample():
    """The links of a page by html.parser."""
    rows = []

    class Links(HTMLParser):
        def handle_starttag(self, tag, attributes):
            for name, value in attributes:
                if name in ROLES:
                    role = "url" if tag == "base" else ROLES[name]
                    rows.append((self.getpos()[0], role, (value or "").strip().encode()))

    parser = Links()
    # The parser of Python 3.11 takes what is in a title for tags.
    parser.feed(text_of("page.html").replace('A <a href="no"> title', "A title"))
    expect("page.html", rows)


def chunked(data, size):
    chunks = [data[at : at + size] for at in range(0, len(data), size)]
    return b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"


def deflated(data):
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


SIMPLE = '<!DOCTYPE html>\n<title>A page</title>\n<p><a href="../up?a=b&amp;c=d#e">up</a> <a href=next>next</a>\n<img src=/i.png><a href="http://other.example/x/y">y</a>\n'
# Pages of a crawl: the URL, the codings of the body in their order, and the page.
CRAWL = [
    ("http://example.org/a/b?c", [], SIMPLE),
    ("http://example.org/gzip/", ["gzip"], SIMPLE + "<base target=_top><base href='/dir/'><base href=no/><a href=after>after</a>"),
    ("http://example.org/deflate/x", ["deflate"], SIMPLE + "<a href='//host.example?q'>host</a><a href=''>empty</a><a href=?d>query</a>"),
    ("http://example.org/raw/x", ["raw"], SIMPLE + "<base href='https://cdn.example/v1/x'><form action=send>"),
    ("http://example.org/br", ["br"], SIMPLE + "<a href='caf\u00e9'>caf\u00e9</a>" * 3),
    ("http://example.org/chunked/", ["chunked"], SIMPLE * 5),
    ("https://example.org:8080/both/x/y/", ["gzip", "chunked"], SIMPLE + "<iframe src='./../../../z'></iframe>"),
    ("https://example.org/both/of/them", ["br", "chunked"], text_of("page.html")),
]


class Brotli:
    """What warcio expects of a decoder. brotli 1.2 is otherwise."""

    def __init__(self):
        self.unused_data, self.decoder = None, brotli.Decompressor()

    def decompress(self, data):
        return self.decoder.process(data)

    def flush(self):
        return b""


def crawl_sample():
    """Pages of an archive by warcio, and their links and targets by warcio, html.parser and urllib."""
    pack = {"gzip": lambda data: gzip.compress(data, mtime=0), "deflate": zlib.compress, "raw": deflated, "br": brotli.compress, "chunked": lambda data: chunked(data, 77)}
    BufferedReader.DECOMPRESSORS["br"] = Brotli
    with open(HERE / "pages.warc", "wb") as out:
        writer = WARCWriter(out, gzip=False, warc_version="WARC/1.1")
        for url, codings, page in CRAWL:
            data = page.encode()
            headers = [("Content-Type", "text/html; charset=utf-8")]
            for coding in codings:
                data = pack[coding](data)
                name = "deflate" if coding == "raw" else coding
                headers.append(("Transfer-Encoding" if coding == "chunked" else "Content-Encoding", name))
            http = StatusAndHeaders("200 OK", headers, protocol="HTTP/1.1")
            writer.write_record(writer.create_warc_record(url, "response", payload=io.BytesIO(data), http_headers=http))
    expect("pages.warc", warc_rows(HERE / "pages.warc"))
    rows = []
    with open(HERE / "pages.warc", "rb") as stream:
        for record in ArchiveIterator(stream):
            links = []

            class Links(HTMLParser):
                def handle_starttag(self, tag, attributes):
                    links.extend((tag == "base", ROLES[name], (value or "").strip()) for name, value in attributes if name in ROLES)

            Links().feed(record.content_stream().read().decode().replace('A <a href="no"> title', "A title"))
            url = record.rec_headers.get_header("WARC-Target-URI")
            bases = [urljoin(url, href) for is_base, _, href in links if is_base]
            for is_base, role, href in links:
                # What RFC 3986 refuses has no target.
                is_uri = re.fullmatch(r"[!#-;=?-Z_a-z~]+", href)
                target = urljoin(url if is_base or not bases else bases[0], href) if is_uri else "-"
                text = escaped(href.encode()) or "-"
                rows.append(f"{'url' if is_base else role}\t{text}\t{target}\n")
    (HERE / "pages.warc.links").write_text("".join(rows), newline="\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--nginx")
    parser.add_argument("--apache")
    parser.add_argument("--apache-modules")
    args = parser.parse_args()
    csv_samples()
    jsonl_samples()
    warc_samples()
    cdxj_sample()
    wat_sample()
    sitemap_sample()
    page_sample()
    crawl_sample()
    handwritten()
    # Real ones, of elsewhere.
    expect("warcio_example.warc", warc_rows(HERE / "warcio_example.warc"))
    fields_of_log("apache_sample.log", (HERE / "apache_sample.log").read_bytes(), [])
    if args.nginx:
        fields_of_log("nginx.log", nginx(args.nginx))
    if args.apache:
        combined, common = apache(args.apache, args.apache_modules)
        fields_of_log("apache-combined.log", combined)
        fields_of_log("apache-common.log", common)


main()
