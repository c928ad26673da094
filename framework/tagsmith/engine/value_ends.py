"""Where the value of a tagged parameter ends: which of the literals in it close it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto

from tagsmith.engine.buffer import Buffer
from tagsmith.engine.json_runs import BLANK
from tagsmith.engine.scanner import Found, Scanner, scanner_of
from tagsmith.engine.tagged_layout import TaggedLayout
from tagsmith.engine.templates import Place

MAX_BLANKS = 64
"""How many blanks may stand between a value's closer and what makes it one."""

_FEW_BLANKS = re.compile(f"[{BLANK}]{{0,{MAX_BLANKS}}}")


class Verdict(Enum):
    """What a literal in a value is."""

    CLOSER = auto()
    DATA = auto()
    UNDECIDED = auto()


@dataclass(frozen=True, slots=True)
class ValueEnds:
    """What ends a value that is to be followed by `closers`, in a call that goes on with `after`.

    A literal closes the value only where what follows it may follow: all else is data.
    """

    layout: TaggedLayout
    closers: Place
    after: Place

    @property
    def literals(self) -> Scanner:
        """Finds the literals that may end the value."""
        words = frozenset(self.closers.words) | frozenset(self.after.words)
        return scanner_of(words | self.layout.turn_ends)

    def verdict(self, buffer: Buffer, start: int, end: int, literal: str) -> Verdict:
        """Whether the literal at `start` closes the value."""
        if buffer.marks is not None and not buffer.marks.real(literal, buffer.base + start):
            return Verdict.DATA
        closer = self.closers.words.get(literal)
        following = closer or self.after.words.get(literal)
        if following is None:
            return _at_end(buffer) if end == len(buffer.text) else Verdict.DATA
        if closer is not None:
            found = _past_blanks(buffer, closer.scanner, end)
            return found if isinstance(found, Verdict) else Verdict.CLOSER
        return self._call_ends(buffer, following, end)

    def _call_ends(self, buffer: Buffer, place: Place, pos: int) -> Verdict:
        """Whether the rest of the call stands here, and nothing more, or the next call.

        Then the value ends though nothing closes it; otherwise the rest of the call is quoted.
        """
        while place.words:
            found = _past_blanks(buffer, place.own, pos)
            if isinstance(found, Verdict):
                return found
            pos, place = found[1], place.words[found[2] or ""]
        while True:
            found = _past_blanks(buffer, self.layout.around, pos)
            if isinstance(found, Verdict):
                return found
            if found[2] not in self.layout.region_ends:
                return Verdict.CLOSER
            pos = found[1]


def _at_end(buffer: Buffer) -> Verdict:
    return Verdict.CLOSER if buffer.final else Verdict.UNDECIDED


def _past_blanks(buffer: Buffer, scanner: Scanner, pos: int) -> Found | Verdict:
    """The literal behind a few blanks; or what is to be thought where there is none."""
    blanks = _FEW_BLANKS.match(buffer.text, pos)
    pos = pos if blanks is None else blanks.end()
    if pos == len(buffer.text):
        return _at_end(buffer)
    found = buffer.match(scanner, pos)
    if found is None:
        return Verdict.DATA
    return Verdict.UNDECIDED if found[2] is None else found
