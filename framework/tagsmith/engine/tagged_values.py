"""The value of a tagged parameter on its way to JSON text."""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import Enum, auto
from functools import lru_cache

from tagsmith.engine.call_values import is_json_text
from tagsmith.engine.dialects import PYTHON, json_inside
from tagsmith.engine.json_runs import BLANK
from tagsmith.engine.literals import to_json
from tagsmith.engine.value_types import ANYTHING, TEXT, Types, Undecided, typed_json


@lru_cache(maxsize=256)
def ends_run(first_chars: frozenset[str]) -> Callable[[str], object]:
    """Finds what text in a raw string may not hold, if it is to be its own JSON."""
    stops = re.escape("".join(sorted(first_chars)))
    return re.compile(rf'["\\\x00-\x1f{stops}]').search


class Written(Enum):
    """How a value is written."""

    TEXT = auto()
    """As text of these types, which JSON it is to become its end may have to say."""
    JSON = auto()
    """As JSON of any type."""
    SKIPPED = auto()
    """In a way that does not matter: it is dropped."""


class ValueText:
    """Turns one value, as it arrives, into JSON text. A string flows; what may be more is held.

    >>> value = ValueText()
    >>> value.begin(Written.TEXT, TEXT)
    >>> value.more('say "hi'), value.more('"'), value.end()
    ('"say \\\\"hi', '\\\\"', ('"', True))
    """

    __slots__ = ("_held", "_types", "_undecided", "_written", "streams")

    def __init__(self) -> None:
        self.begin(Written.SKIPPED, TEXT)

    def begin(self, written: Written, types: Types) -> None:
        """A value begins; `types` are those that it may have."""
        self._written = written
        self._types = ANYTHING if written is Written.JSON else types
        self._undecided = Undecided(self._types)
        self._held: list[str] = []
        self.streams = False
        """Whether text becomes part of a JSON string as it comes."""

    def more(self, text: str) -> str:
        """More of the value; returns the JSON text that it decides."""
        if self._written is Written.SKIPPED:
            return ""
        if self.streams:
            return json_inside(text)
        self._held.append(text)
        if self._written is Written.JSON or self._undecided.after(text):
            return ""
        return self._stream()

    def end(self) -> tuple[str, bool]:
        """The value is whole; returns the rest of its JSON, and whether it is of its type."""
        if self._written is Written.SKIPPED:
            return "", True
        if self.streams:
            return '"', True
        text = "".join(self._held)
        if self._types == TEXT:
            return self._stream() + '"', True
        if self._written is Written.JSON and is_json_text(text):
            return text.strip(BLANK), True
        types = self._types - TEXT if self._written is Written.JSON else self._types
        typed = typed_json(text, types, _python)
        return typed.json, typed.fits

    def _stream(self) -> str:
        text = "".join(self._held)
        self._held.clear()
        self.streams = True
        return '"' + json_inside(text)


def _python(text: str) -> str | None:
    return to_json(text, PYTHON)
