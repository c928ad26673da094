"""The list that calls stand in, in the `json` layout: its brackets, and where it ends."""

from __future__ import annotations

import re

from tagsmith.engine.json_runs import BETWEEN

MAX_BETWEEN = 64
"""How far it may be from a call to the next one, where nothing closes the region of both."""

_TO_NEXT = re.compile(f"[{re.escape(BETWEEN)}]*")


class CallList:
    """Counts the brackets around calls. `closed` says that a list was, and none has begun since.

    >>> calls = CallList()
    >>> calls.passed("[ ]", 0, 3), calls.closed, calls.open_brackets
    (3, True, 0)
    """

    __slots__ = ("closed", "open_brackets")

    def __init__(self, open_brackets: int = 0) -> None:
        self.open_brackets = open_brackets
        self.closed = False

    def passed(self, text: str, pos: int, end: int) -> int:
        """Brackets, separators and blanks up to `end` were read; returns `end`."""
        opened, closed = (text.count(sign, pos, end) for sign in "[]")
        self.open_brackets += opened - closed
        self.closed = self.open_brackets <= 0 and (closed > 0 or self.closed)
        return end

    def end(self, text: str, pos: int, *, final: bool) -> int | None:
        """Where what belongs to the list ends: at the next call, or before other text.

        None where the text has yet to say.
        """
        found = _TO_NEXT.match(text, pos, pos + MAX_BETWEEN)
        end = pos if found is None else found.end()
        at_end = end == len(text)
        if text[end : end + 1] == "{" or (at_end and final):
            return end
        return None if at_end else self._closing(text, pos)

    def _closing(self, text: str, pos: int) -> int:
        """Where the brackets of an open list, and blanks and separators, end."""
        still_open = self.open_brackets
        while pos < len(text) and text[pos] in BETWEEN:
            char = text[pos]
            if char == "[" or (char == "]" and still_open <= 0):
                break
            still_open -= char == "]"
            pos += 1
        return pos
