"""Columns compared with other programs of PyPI: `publicsuffixlist` for suffixes and domains, `surt` for keys.

Each difference has the number of its rule: H in tests/conformance/HOSTS.md, K in tests/conformance/KEYS.md. URLSIFT_TESTS=long compares more lines.
"""

from __future__ import annotations

import os
import random
import re
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import unquote

import publicsuffixlist
import pyarrow as pa
import surt
from conftest import ROOT

import urlsift

LIST = ROOT / "crates/grammar/data/public_suffix_list.dat"
IS_LONG = os.environ.get("URLSIFT_TESTS") == "long"


def columns(values: list[str], names: list[str]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pa.array(urlsift.judge_array(values, names, names="string")).to_pylist()
    return rows


def rules() -> Iterator[str]:
    """The rules of the list, without `*.` and `!`."""
    for line in LIST.read_text().splitlines():
        if line and not line.startswith("//"):
            yield line.split()[0].removeprefix("*.").removeprefix("!").encode("idna").decode()


def names_of_hosts() -> list[str]:
    """Names at, below and above each rule, those of the samples, and names of pieces."""
    drawn = random.Random(1)
    names = {below + rule for rule in rules() for below in ("", "a.", "www.b-c.")}
    hosts = (row["host"] for row in columns(lines_of_samples(), ["host"]))
    names.update(host for host in hosts if host and re.fullmatch(r"([a-z0-9-]+\.)*[a-z][a-z0-9-]*", host))
    pieces = ["a", "www", "com", "uk", "co", "jp", "kobe", "city", "ck", "kawasaki", "github", "io", "amazonaws", "s3", "zz", "xn--p1ai"]
    for _ in range(1_000_000 if IS_LONG else 10_000):
        names.add(".".join(drawn.choice(pieces) for _ in range(drawn.randint(1, 5))))
    return sorted(names)


def test_suffixes_are_those_of_publicsuffixlist() -> None:
    names = names_of_hosts()
    rows = columns([f"http://{name}/" for name in names], ["suffix", "domain", "private_suffix", "private_domain"])
    # H7: a rule `*.b.c` says nothing of `b.c` itself; publicsuffixlist takes it for a suffix, and so has no domain for it.
    wildcards = {line[2:].split()[0] for line in LIST.read_text().splitlines() if line.startswith("*.")}
    n_wildcards = 0
    for only_icann, columns_of_list in ((True, ("suffix", "domain")), (False, ("private_suffix", "private_domain"))):
        with LIST.open(encoding="utf-8") as file:
            peer = publicsuffixlist.PublicSuffixList(file, only_icann=only_icann)
        for name, row in zip(names, rows, strict=True):
            ours = tuple(row[column] for column in columns_of_list)
            theirs = (peer.publicsuffix(name), peer.privatesuffix(name))
            if ours != theirs:
                assert name in wildcards and theirs == (name, None), f"{name}: {ours}, and not {theirs}"
                n_wildcards += 1
    assert len(names) > 30_000 and n_wildcards > 0


def authority(line: str) -> str:
    return re.split("[/?#]", line.partition("://")[2], maxsplit=1)[0]


def host(line: str) -> str:
    """The host of a line, without its port."""
    return unquote(re.sub(r":[^:\]]*$", "", authority(line).rpartition("@")[2]))


def has_odd_port(line: str) -> bool:
    port = re.search(r":([^:@\]]*)$", authority(line))
    return port is not None and not (port[1] == "" or re.fullmatch("0*[1-9][0-9]{0,4}", port[1]) and int(port[1]) < 65536)


# The rule of each difference, and the lines that it concerns.
DIFFERENCES: dict[str, Callable[[str], object]] = {
    "K13: other schemes are hosts; a scheme behind `http://` is one too": lambda line: not re.match("(https?|ftp)://(?!https?://)", line, re.IGNORECASE),
    "K11, K15, K16: a line without a host has no key; the userinfo ends at the first `@`": lambda line: not host(line).strip(".") or "@" in authority(line)[authority(line).find("@") + 1 :],
    "K17, K18, K19: a port that is no number of 32 bits is refused; port 0 of http is kept": has_odd_port,
    "K17, K26: brackets of a host that is no address stay, and the labels in them are reversed": lambda line: re.search(r"[][]", authority(line)) or ":" in host(line),
    "K22: DEL is not escaped": lambda line: "\x7f" in line or "%7f" in line.lower(),
    "K23, K24: hosts beyond ASCII are converted by the tables of Java; what these refuse stays": lambda line: not host(line).isascii(),
    "K25: only four numbers are an address, and dots in a row are one": lambda line: re.search(r"(^|\.)[0-9]+\.?$|\.\.", host(line)),
    "K25: `www.` is dropped again and again": lambda line: re.match(r"(?i)www[0-9]*\.www[0-9]*\.", host(line)),
}


def lines_of_samples() -> list[str]:
    lines: set[str] = set()
    for file in sorted((ROOT / "corpora/samples").iterdir()):
        lines.update(file.read_bytes().decode("utf-8", "ignore").splitlines())
    return sorted(lines)


def drawn_lines() -> Iterator[str]:
    drawn = random.Random(2)
    starts = ["http://", "https://", "ftp://", "HTTP://www.", "http://u:p@", "https://www2.example.org/"]
    pieces = "/ / // /. /.. /../ ? ? # & = a B b=2 a=1 www. example .com .org :80 :443 :8080 %20 %41 %7e %2F %2e %2541 %c3%a9 é ~ + ; ,".split()
    for _ in range(1_000_000 if IS_LONG else 10_000):
        yield drawn.choice(starts) + "example.org" * drawn.randint(0, 1) + "".join(drawn.choice(pieces) for _ in range(drawn.randint(0, 8)))


def key_of_peer(line: str) -> str | None:
    try:
        key: str = surt.surt(line)
    except ValueError:
        return None
    return key


def test_keys_are_those_of_surt() -> None:
    lines = [line for line in lines_of_samples() if re.match("(https?|ftp)://", line, re.IGNORECASE)]
    lines += drawn_lines()
    found = dict.fromkeys(DIFFERENCES, 0)
    for line, row in zip(lines, columns(lines, ["surt"]), strict=True):
        theirs = key_of_peer(line)
        if row["surt"] != theirs:
            rules = [rule for rule, concerns in DIFFERENCES.items() if concerns(line)]
            assert rules, f"{line!r}: {row['surt']!r}, and not {theirs!r}"
            for rule in rules:
                found[rule] += 1
    assert len(lines) > 50_000
    assert all(found.values()), f"no line shows a rule any more: {found}"
