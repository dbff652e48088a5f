from collections.abc import Callable
from typing import Any, NoReturn, final

__all__ = [
    "COLUMNS",
    "GRAMMARS",
    "KERNEL",
    "Array",
    "Counted",
    "Defect",
    "Judgement",
    "__version__",
    "command",
    "count",
    "cut",
    "judge",
    "judge_array",
    "list_files",
    "scan",
    "scan_part",
    "table",
]

COLUMNS: list[str]
GRAMMARS: list[str]
KERNEL: str
__version__: str

@final
class Defect:
    @property
    def grammar(self) -> str: ...
    @property
    def component(self) -> str: ...
    @property
    def cause(self) -> str: ...
    @property
    def offset(self) -> int: ...
    @property
    def rule(self) -> str: ...
    @property
    def rule_text(self) -> str: ...
    @property
    def source(self) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class Judgement:
    @property
    def verdict(self) -> tuple[str, ...]: ...
    @property
    def kind(self) -> str: ...
    @property
    def scheme(self) -> str | None: ...
    @property
    def advisories(self) -> tuple[str, ...]: ...
    def accepts(self, grammar: str) -> bool: ...
    def defect(self, grammar: str = "rfc3986") -> Defect | None: ...

@final
class Array:
    def __len__(self) -> int: ...
    def __arrow_c_schema__(self) -> Any: ...
    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[Any, Any]: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> Any: ...

@final
class Counted:
    @staticmethod
    def read(partial: bytes) -> Counted: ...
    def merge(self, other: Counted) -> Counted: ...
    def partial(self) -> bytes: ...
    def json(self) -> str: ...
    def html(self) -> str: ...
    def text(self, width: int) -> str: ...

_Range = tuple[int, int, int | None]
_Counts = tuple[bool, dict[str, int], list[str], tuple[bool, str | None]]

def judge(url: str | bytes) -> Judgement: ...
def judge_array(
    data: Any, columns: list[str], *, grammar: str, base: Any, bits: bool, plain: bool, threads: int
) -> Array: ...
def scan(
    paths: list[Any],
    *,
    grammar: str,
    counts: _Counts,
    input_format: str | None,
    fields: list[str],
    codec: str | None,
    threads: int,
    show_secrets: bool,
    progress: Callable[[int, int | None, int], object] | None,
) -> Counted: ...
def list_files(paths: list[Any]) -> list[tuple[str, Any, int | None]]: ...
def cut(
    name: str, origin: Any, split_size: int, *, input_format: str | None, fields: list[str], codec: str | None
) -> list[_Range]: ...
def scan_part(
    name: str,
    origin: Any,
    place: tuple[int, int],
    range: _Range,
    *,
    grammar: str,
    counts: _Counts,
    input_format: str | None,
    fields: list[str],
    codec: str | None,
    threads: int,
    show_secrets: bool,
) -> Counted: ...
def count(
    data: Any, *, name: str, grammar: str, counts: _Counts, ordered: bool, threads: int, show_secrets: bool
) -> Counted: ...
def command(words: list[str]) -> NoReturn: ...
def table(columns: list[tuple[str, bool, list[Any]]]) -> Array: ...
