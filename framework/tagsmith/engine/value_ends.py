"""Where the value of a tagged parameter ends: which of the literals in it close it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from tagsmith.engine.buffer import Buffer
from tagsmith.engine.json_runs import FEW_BLANKS
from tagsmith.engine.names import Name
from tagsmith.engine.scanner import Found, Scanner, scanner_of
from tagsmith.engine.tagged_layout import TaggedLayout
from tagsmith.engine.templates import Hole, Place


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
        return scanner_of(self.layout.ends.union(self.closers.words, self.after.words))

    def quotes_call(self, buffer: Buffer, end: int, literal: str) -> bool | None:
        """Whether the opener that ends before `end` begins a call, which the value quotes.

        None where the text has yet to say.
        """
        pos, place = end, self.layout.call.words[literal]
        while place.hole is not Hole.ARGUMENTS:
            if place.hole is None:
                found = _past_blanks(buffer, place.own, pos)
                if isinstance(found, Verdict):
                    return None if found is Verdict.UNDECIDED else False
                pos, place = found[1], place.words[found[2] or ""]
            else:
                stop = self._past_name(buffer, place.past_hole.leads, pos)
                if stop is None or stop[1] == "":
                    return None if stop is None else False
                pos, place = stop[0], place.past_hole
            if not place.words and place.hole is None:
                return False
        found = _past_blanks(buffer, scanner_of(place.leads), pos)
        if isinstance(found, Verdict):
            return None if found is Verdict.UNDECIDED else False
        return True

    def next_key(self, buffer: Buffer, end: int, literal: str) -> str | None:
        """The key of the parameter whose opener ends before `end`; "" where none begins there.

        None where the text has yet to say.
        """
        place = self.layout.parameter.words[literal]
        if place.hole is not Hole.KEY:
            return ""
        stop = self._past_name(buffer, place.past_hole.leads, end)
        return None if stop is None else stop[1]

    def _past_name(self, buffer: Buffer, leads: frozenset[str], pos: int) -> tuple[int, str] | None:
        """The name that stands here up to a literal, and where that begins; "" for no name.

        None where the text has yet to say.
        """
        found = buffer.find(scanner_of(leads | self.layout.literals), pos)
        stop = len(buffer.text) if found is None else found[0]
        name = Name()
        if name.more(buffer.text[pos:stop]) < stop - pos:
            return stop, ""
        if found is None or found[2] is None:
            return (stop, "") if buffer.final else None
        return stop, name.text if found[2] in leads else ""

    def verdict(self, buffer: Buffer, start: int, end: int, literal: str) -> Verdict:
        """Whether the literal at `start` closes the value."""
        if buffer.marks is not None and not buffer.marks.real(literal, buffer.base + start):
            return Verdict.DATA
        if literal in self.layout.region_ends and literal not in self.after.words:
            return self._turn_ends(buffer, end)
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
        found = _past_blanks(buffer, self.layout.around, pos)
        if isinstance(found, Verdict):
            return found
        if found[2] in self.layout.region_ends:
            found = _past_blanks(buffer, self.layout.around, found[1])
        return self._ends_all(buffer, found)

    def _turn_ends(self, buffer: Buffer, pos: int) -> Verdict:
        """Whether nothing comes here but the end of the output, or of the turn."""
        scanner = scanner_of(self.layout.turn_ends)
        return self._ends_all(buffer, _past_blanks(buffer, scanner, pos))

    def _ends_all(self, buffer: Buffer, found: Found | Verdict) -> Verdict:
        """Whether what stands behind a call is no text; a turn ends with the output alone."""
        if isinstance(found, Verdict):
            return found
        if found[2] not in self.layout.turn_ends:
            return Verdict.CLOSER
        return _at_end(buffer) if found[1] == len(buffer.text) else Verdict.DATA


def _at_end(buffer: Buffer) -> Verdict:
    return Verdict.CLOSER if buffer.final else Verdict.UNDECIDED


def _past_blanks(buffer: Buffer, scanner: Scanner, pos: int) -> Found | Verdict:
    """The literal behind a few blanks; or what is to be thought where there is none."""
    blanks = FEW_BLANKS.match(buffer.text, pos)
    pos = pos if blanks is None else blanks.end()
    rest_may_start_one = buffer.final and buffer.text[pos:] in scanner.starts
    if pos == len(buffer.text) or rest_may_start_one:
        return _at_end(buffer)
    found = buffer.match(scanner, pos)
    if found is None:
        return Verdict.DATA
    return Verdict.UNDECIDED if found[2] is None else found
