"""Judges columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from . import _urlsift
from ._column import column_of

COLUMNS = ("verdict", "kind", "scheme", "defect", "advisories", "resolved")


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
    """Judges the values of a column, row for row.

    `data` is an Arrow array or stream of strings or bytes (pyarrow, Polars, DuckDB, pandas), or an iterable of str, bytes and None.
    A value is judged unchanged: a line end in it is an illegal character. The result is an Arrow array of structs with the wanted
    columns, with one row for each value and null for null:

    - verdict: a struct of five booleans, one for each grammar. With sets="bits" a uint8, whose bit `n` is grammar `n` of GRAMMARS.
    - kind: 'absolute' if the value has a scheme, otherwise 'relative'.
    - scheme: in lower case; null without one.
    - defect: why `grammar` refuses the value: a struct of component, cause, offset (in bytes) and rule. Null if it accepts it.
    - advisories: a struct of booleans, or bits, like verdict.
    - resolved: the URI that the value refers to (RFC 3986, section 5); null if RFC 3986 refuses the value. `base` is one base
      for all values, or a column of bases.

    Names are dictionaries, or strings with names="string". `threads` is the number of threads, 0 for one on each processor. With one
    thread about 1 GB of text is judged in a second.

    >>> import pyarrow
    >>> result = urlsift.judge_array(["http://example.org/~fred", "a b", None], ["verdict", "defect"], names="string")
    >>> pyarrow.array(result).field("verdict").field("rfc3986").to_pylist()
    [True, False, None]
    >>> pyarrow.array(result).field("defect").to_pylist()[1]
    {'component': 'path', 'cause': 'space', 'offset': 1, 'rule': 'URI-reference'}

    Raises TypeError for values of other types, ValueError for a name that there is not, for a base that is none, and for an array
    that cannot be. The message names the row.
    """
    if isinstance(columns, str):
        columns = [columns]
    return _urlsift.judge_array(
        column_of(data),
        list(columns),
        grammar=grammar,
        base=base if base is None or isinstance(base, str) else column_of(base),
        bits=choice("sets", sets, ("struct", "bits")) == "bits",
        plain=choice("names", names, ("dictionary", "string")) == "string",
        threads=threads,
    )


def choice(name: str, value: str, choices: tuple[str, ...]) -> str:
    """`value`, if it is one of the choices."""
    if value not in choices:
        raise ValueError(f"{name} is {value!r}; it can be {' or '.join(map(repr, choices))}")
    return value
