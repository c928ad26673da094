"""One JSON value, read as it arrives, to the letter: where it ends is all that is asked of it."""

from __future__ import annotations

import re
from enum import Enum, auto

from tagsmith.engine.json_runs import BLANK, IN_STRING, Runs
from tagsmith.engine.runs import run_end

ENDS_STRING_RUN = re.compile(r'["\\]').search
"""Finds what text inside a JSON string may not hold, if it is to be nothing but more of it."""


class _Kind(Enum):
    """What kind of value it is, by its first character."""

    STRING = auto()
    SCALAR = auto()
    NESTED = auto()


class JsonValue:
    """Reads one value. `done` says that it is whole, `nested` that it is an object or an array."""

    __slots__ = ("_depth", "_escaped", "_kind", "done", "in_string")

    def __init__(self) -> None:
        self._kind = _Kind.SCALAR
        self._depth = 0
        self._escaped = self.in_string = self.done = False

    @property
    def nested(self) -> bool:
        """Whether it is an object or an array."""
        return self._kind is _Kind.NESTED

    @property
    def flows(self) -> bool:
        """Whether text without a quote or a backslash can only be more of a string in it."""
        return self.in_string and not self._escaped and self._kind is _Kind.NESTED

    def begin(self, text: str, pos: int, runs: Runs) -> bool:
        """Start at `pos`; False when no value can start there. Nothing is read yet."""
        char = text[pos]
        if char == '"':
            self._kind = _Kind.STRING
        elif char in "{[":
            self._kind = _Kind.NESTED
        elif char not in BLANK and runs.scalar.match(text, pos):
            self._kind = _Kind.SCALAR
        else:
            return False
        self._depth = 0
        self._escaped = self.in_string = self.done = False
        return True

    def read(self, text: str, pos: int, runs: Runs) -> int:
        """Read on from `pos` to a place where a marker may stand, or the value is done."""
        if self.in_string:
            return self._string(text, pos)
        char = text[pos]
        if self._kind is _Kind.NESTED:
            return self._nested(text, pos, char, runs)
        if char == '"' and self._kind is _Kind.STRING:
            self.in_string = True
            return pos + 1
        match = runs.scalar.match(text, pos)
        self.done = match is None
        return pos if match is None else match.end()

    def _string(self, text: str, pos: int) -> int:
        if self._escaped:
            self._escaped = False
            return pos + 1
        match = IN_STRING.match(text, pos)
        end = pos if match is None else match.end()
        if end == len(text):
            return end
        if text[end] == "\\":
            self._escaped = True
            return end + 1
        self.in_string = False
        self.done = self._kind is _Kind.STRING
        return end + 1

    def _nested(self, text: str, pos: int, char: str, runs: Runs) -> int:
        if char in "{[":
            self._depth += 1
            return pos + 1
        if char not in "}]":
            # Whole strings go with what stands between them; the start of one is read on its own.
            end = run_end(runs.nested, text, pos)
            self.in_string = end == pos
            return max(end, pos + 1)
        self._depth -= 1
        self.done = self._depth == 0
        return pos + 1
