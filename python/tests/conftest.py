"""What the tests share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import urlsift

ROOT = Path(__file__).parents[2]


class Bare:
    """An Arrow array without its methods, so that only urlsift checks it."""

    def __init__(self, array: pa.Array) -> None:
        self.__arrow_c_array__ = array.__arrow_c_array__


def by_judge(values: list[Any]) -> list[Any]:
    """The verdicts of values, one by one."""
    return [None if value is None else urlsift.judge(value).verdict for value in values]


def by_array(data: Any, **options: Any) -> list[Any]:
    """The verdicts of values, as a column."""
    rows = pa.array(urlsift.judge_array(data, ["verdict"], **options)).to_pylist()
    return [row if row is None else tuple(name for name, accepts in row["verdict"].items() if accepts) for row in rows]


@pytest.fixture(scope="session")
def lines() -> list[str]:
    """Lines of a real list with defects of many kinds."""
    return (ROOT / "corpora/samples/parser_vectors.txt").read_text().split("\n")[:-1]
