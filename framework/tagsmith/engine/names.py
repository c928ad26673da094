"""A name as it arrives: of a tool, a call, or a parameter. It is short, and on one line."""

from __future__ import annotations

import re

from tagsmith.engine.json_runs import BLANK

MAX_NAME = 256
"""The longest name, in characters: what is longer is none."""

_SECOND_LINE = re.compile(rf"\n[{BLANK}]*[^{BLANK}]")


class Name:
    """Collects a name. Where text stops being one is the same place however it is cut.

    >>> name = Name()
    >>> name.more(" get_"), name.more("time\\n"), name.text
    (5, 5, 'get_time')
    >>> name.more(" it"), name.text
    (1, 'get_time')
    """

    __slots__ = ("_raw",)

    def __init__(self) -> None:
        self._raw = ""

    @property
    def text(self) -> str:
        """The name so far, without the blanks around it."""
        return self._raw.rstrip(BLANK)

    def more(self, text: str) -> int:
        """Take more of it; returns how many of the characters can be part of a name."""
        raw = (self._raw + text).lstrip(BLANK)
        second_line = _SECOND_LINE.search(raw)
        limit = MAX_NAME if second_line is None else min(second_line.end() - 1, MAX_NAME)
        beyond = max(len(raw) - limit, 0)
        self._raw = raw[:limit]
        return len(text) - beyond

    def clear(self) -> None:
        """Forget it."""
        self._raw = ""
