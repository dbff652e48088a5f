"""Judges columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from . import _urlsift
from ._column import check_threads, column_of, names_of


def judge_array(
    data: Any,
    columns: Sequence[str] = ("verdict",),
    *,
    grammar: str = "rfc3986",
    base: Any = None,
    sets: Literal["struct", "bits"] = "struct",
    names: Literal["dictionary", "string"] = "dictionary",
    threads: int = 0,
) -> _urlsift.Array:
    """Judges the values of a column, row for row. Returns an Arrow array of structs, with null for null.

    `data` is an Arrow array, table of one column, or stream, of strings or bytes (pyarrow, Polars, DuckDB, pandas), or an iterable of
    str, bytes and None. A value is judged unchanged: a line end in it is an illegal character. The empty string is judged, too: it
    is a relative reference since RFC 1808. A report counts it as blank instead.

    `columns` names the members of the struct:

    - length: the number of bytes.
    - verdict: five booleans, one for each grammar. With sets="bits" it is a uint8, whose bit n is grammar n of GRAMMARS.
    - kind: 'absolute' if the value has a scheme, otherwise 'relative'.
    - scheme: in lower case; null without one.
    - defect: why `grammar` refuses the value: component, cause, offset (in bytes, from 0) and rule. Null if it accepts the value.
      Each call explains the refusals of one grammar.
    - advisories: booleans or bits like verdict, one for each property worth noting: password, port-nondefault, port-reserved,
      encoded-control, encoded-delimiter, gopher-smtp. No verdict depends on them.
    - text: the value itself. Bytes that are not UTF-8 become U+FFFD.
    - resolved: the URI that the value refers to (RFC 3986, section 5.2). `base` is one URL for all values, or a column with a base
      for each. Null if RFC 3986 refuses the value, or if the value is relative and has no base, or one that is relative or refused.
    - userinfo, host, port, path, query, fragment: the components by the delimiters of RFC 3986, also of values that no grammar
      accepts; null if absent. The path is never null.
    - host_kind: 'name', 'ipv4', 'ipv6', 'ipvfuture', or 'other', which is no host of RFC 3986; null without an authority.
    - host_reversed: the labels of the host in reverse order, such as 'org.example.www'; null if the host is no name.
    - host_problems: a list of what DNS says against the host, such as 'underscore'; null without an authority.
    - suffix, domain: the public suffix and the registrable domain of the host, by the ICANN section of the Public Suffix List; null
      for an address and for a name that has none.
    - private_suffix, private_domain: the same by both sections of the list.
    - canonical: the canonical form of the value by RFC 3986 (6.2.2 and 6.2.3); null if RFC 3986 refuses it.
    - surt: the key of the value in the CDX indices of Common Crawl and the Wayback Machine; null if it has none.
    - whatwg: what browsers make of the value, by the WHATWG URL Standard: 'valid', 'errors' (a URL with errors), 'failure', or
      'relative' (a failure because there is no base). With `base`, they resolve relative values against it.
    - whatwg_errors: a list of the errors of their parser, in its order and as often as it reports them.
    - whatwg_host: the host of the URL that browsers use; null without one.
    - whatwg_href: that URL; null if the parser fails.
    - hosts_differ: a sentence with the hosts that RFC 3986 and browsers find, and why they differ; null if they do not.

    Kind, scheme, whatwg and the names in defect and whatwg_errors are dictionaries (categoricals); with names="string" they are strings. `threads` is the number
    of threads, 0 for one on each processor. One thread judges about 1 GB of text in a second.

    The result can become an array (`pyarrow.array(result)`, `polars.Series(result)`) or a table with a column for each member
    (`pyarrow.table(result)`, `polars.DataFrame(result)`, `pandas.DataFrame.from_arrow(result)`).

    >>> import pyarrow
    >>> result = urlsift.judge_array(["http://example.org/~fred", "a b", None], ["verdict", "defect"], names="string")
    >>> pyarrow.array(result).field("verdict").field("rfc3986").to_pylist()
    [True, False, None]
    >>> pyarrow.array(result).field("defect").to_pylist()[1]
    {'component': 'path', 'cause': 'space', 'offset': 1, 'rule': 'URI-reference'}

    Raises TypeError for values of other types, and ValueError for an unknown name, an unusable base, or a malformed array. For a list,
    the message names the row, from 0.
    """
    check_threads(threads)
    return _urlsift.judge_array(
        column_of(data),
        list(names_of(columns)),
        grammar=grammar,
        base=base if base is None or isinstance(base, str | bytes) else column_of(base),
        bits=choice("sets", sets, ("struct", "bits")) == "bits",
        plain=choice("names", names, ("dictionary", "string")) == "string",
        threads=threads,
    )


def choice(name: str, value: str, choices: tuple[str, ...]) -> str:
    """`value`, if it is one of the choices."""
    if value not in choices:
        raise ValueError(f"{name} is {value!r}; it can be {' or '.join(map(repr, choices))}")
    return value
