"""The header of a message: text between hidden markers, which is no part of what is shown."""

from __future__ import annotations

from tagsmith.spec.models import Header

MAX_HEADER = 128
"""The longest header, in characters: what is longer is text."""


class HeaderReader:
    """Tells, as an output arrives, which text is of a header; `room` is how much more may be.

    >>> header = HeaderReader(Header(start=("<h>",), end="</h>"))
    >>> header.marker("<h>"); header.past("to me", 0, 5)
    5
    >>> header.marker("</h>"); header.past("hello", 0, 5)
    0
    """

    __slots__ = ("_ends", "_starts", "room")

    def __init__(self, header: Header | None) -> None:
        self._starts = () if header is None else header.start
        self._ends = "" if header is None else header.end
        self.room = 0

    def marker(self, hidden: str | None) -> None:
        """A marker was read; None for one that is shown to have an effect."""
        if hidden is None or hidden == self._ends:
            self.room = 0
        elif hidden in self._starts:
            self.room = MAX_HEADER

    def past(self, text: str, pos: int, end: int) -> int:
        """Where, from `pos` on, text is no header any more."""
        if self.room == 0:
            return pos
        line_end = text.find("\n", pos, end)
        stop = min(end if line_end < 0 else line_end, pos + self.room)
        self.room = self.room - (stop - pos) if stop == end else 0
        return stop
