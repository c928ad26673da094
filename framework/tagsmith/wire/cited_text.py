"""Where citations stand: in which block, and at which offsets in the unit that a client counts."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from dataclasses import dataclass

from tagsmith.events import Citation
from tagsmith.wire.options import OffsetUnit

_RUNS = {
    OffsetUnit.UTF_16: re.compile("[\0-\uffff]+|[\U00010000-\U0010ffff]+"),
    OffsetUnit.UTF_8: re.compile(
        "[\0-\x7f]+|[\x80-\u07ff]+|[\u0800-\uffff]+|[\U00010000-\U0010ffff]+"
    ),
}
"""Runs of characters that are as wide as each other, in units."""


class UnitCount:
    """How many units a growing text has before each of its characters.

    Only the places where characters become wider or narrower are kept, so that a text costs
    nothing while it is ASCII and little when it is all of one script.

    >>> count = UnitCount(OffsetUnit.UTF_16)
    >>> count.add("a😀b")
    >>> [count.before(offset) for offset in range(4)]
    [0, 1, 3, 4]
    """

    __slots__ = ("_at", "_length", "_runs", "_unit", "_units", "_widths")

    def __init__(self, unit: OffsetUnit) -> None:
        self._unit = unit
        self._runs = _RUNS.get(unit)
        self._length = 0
        self._at = array("Q", [0])
        self._units = array("Q", [0])
        self._widths = array("B", [1])

    def add(self, text: str) -> None:
        """Take the next piece of the text."""
        if self._runs is None:
            return
        if self._widths[-1] == 1 and text.isascii():
            self._length += len(text)
            return
        for run in self._runs.finditer(text):
            width = _width(text[run.start()], self._unit)
            if width != self._widths[-1]:
                self._units.append(self.before(self._length))
                self._at.append(self._length)
                self._widths.append(width)
            self._length += run.end() - run.start()

    def before(self, offset: int) -> int:
        """How many units stand before the character at this offset, in code points."""
        run = bisect_right(self._at, offset) - 1
        return self._units[run] + (offset - self._at[run]) * self._widths[run]


def _width(char: str, unit: OffsetUnit) -> int:
    code = ord(char)
    if unit is OffsetUnit.UTF_16:
        return 1 + (code > 0xFFFF)
    return 1 + (code > 0x7F) + (code > 0x7FF) + (code > 0xFFFF)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a cited text stands: offsets in units from the start of the block of this index, or
    from the start of the whole text where `block` is None."""

    start: int
    end: int
    text: str
    block: int | None


class CitedText:
    """One of a message's two texts as it grows, and the blocks it is cut into.

    A parser's offsets count over all blocks of a text; a client's count in one of them.

    >>> from tagsmith.events import Target
    >>> text = CitedText(OffsetUnit.UTF_8)
    >>> text.begin(0); text.add("é, "); text.begin(2); text.add("né")
    >>> text.places(Citation(3, 5, "né", Target.CONTENT, ()))
    [Place(start=0, end=3, text='né', block=2)]
    """

    __slots__ = ("_blocks", "_count", "_length", "_starts")

    def __init__(self, unit: OffsetUnit) -> None:
        self._count = UnitCount(unit)
        self._length = 0
        self._starts: list[int] = []
        self._blocks: list[int] = []

    def begin(self, block: int) -> None:
        """What follows stands in the block of this index."""
        self._starts.append(self._length)
        self._blocks.append(block)

    def add(self, text: str) -> None:
        """Take the next piece of the text."""
        self._length += len(text)
        self._count.add(text)

    def places(self, citation: Citation) -> list[Place]:
        """The place of a citation; one for each block, where it reaches over several."""
        if not self._starts:
            return [self._place(citation, citation.start, citation.end, None)]
        first = max(bisect_right(self._starts, citation.start) - 1, 0)
        last = max(bisect_left(self._starts, citation.end) - 1, first)
        cuts = [citation.start, *self._starts[first + 1 : last + 1], citation.end]
        return [
            self._place(citation, cuts[i], cuts[i + 1], first + i) for i in range(len(cuts) - 1)
        ]

    def _place(self, citation: Citation, start: int, end: int, run: int | None) -> Place:
        before = self._count.before
        base = 0 if run is None else before(self._starts[run])
        text = citation.text[start - citation.start : end - citation.start]
        if end == citation.end:
            text = citation.text[start - citation.start :]
        return Place(
            before(start) - base,
            before(end) - base,
            text,
            None if run is None else self._blocks[run],
        )
