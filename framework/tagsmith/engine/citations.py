"""Reading citation markup: the positions inside a closing tag, and where the tag ends."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto

from tagsmith.events import Citation, Diagnostic, DiagnosticCode, Event, Target
from tagsmith.sources import Position, SourceMap

MAX_CITATION_DEPTH = 64
"""Spans nested deeper than this are shown as text without a citation."""

_ALPHABET = "[0-9:\\[\\], ]"
_LIST = re.compile(r" *[0-9]{1,19} *: *\[ *[0-9]{1,19} *(?:, *[0-9]{1,19} *)*\] *")
_NUMBER = re.compile("[0-9]+")
MAX_POSITIONS = 1024
"""The longest list of positions, in characters."""


@dataclass(slots=True)
class OpenCitation:
    """A cited span that has begun: `start` in code points of its text, `emitted` what of the text
    was shown by then, `piece` the first shown piece after that."""

    start: int
    emitted: int
    piece: int


class CloseKind(Enum):
    """What a closing tag's body turned out to be."""

    POSITIONS = auto()
    MALFORMED = auto()
    TEXT = auto()
    UNDECIDED = auto()


@dataclass(frozen=True, slots=True)
class CloseTag:
    """A closing tag as read: its kind, where it ends, and its positions."""

    kind: CloseKind
    end: int
    positions: tuple[Position, ...] = ()


@dataclass(frozen=True, slots=True)
class CloseReader:
    """Reads what follows the fixed start of a closing tag.

    A body is markup when the tag ends within `slack` characters, so that text which merely looks
    like a tag is never held back longer than a marker is. Where a span is open, it is markup too
    when it runs on beyond that in characters of which only positions are made, up to `longest`,
    whether the tag ends or not.

    >>> reader = build_close_reader(">", slack=16, longest=1024)
    >>> reader.read("0:[1,2]> b", 0, final=False).positions
    ((0, 1), (0, 2))
    >>> [reader.read(body, 0, final=True).kind.name for body in ("x>", "no tag here", "0:[1")]
    ['MALFORMED', 'TEXT', 'TEXT']
    """

    slack: int
    run: re.Pattern[str]
    positions: re.Pattern[str]
    partial_positions: re.Pattern[str]
    other: re.Pattern[str]
    partial_other: re.Pattern[str]

    def read(self, text: str, pos: int, *, final: bool) -> CloseTag:
        """Read a closing tag's body at `pos`."""
        match = self.positions.match(text, pos)
        if match is not None:
            positions = read_positions(match.group(1))
            kind = CloseKind.POSITIONS if positions else CloseKind.MALFORMED
            return CloseTag(kind, match.end(), positions)
        match = self.other.match(text, pos)
        if match is not None:
            return CloseTag(CloseKind.MALFORMED, match.end())
        partial = self.partial_positions.match(text, pos) or self.partial_other.match(text, pos)
        if partial and not final:
            return CloseTag(CloseKind.UNDECIDED, pos)
        run = self.run.match(text, pos)
        if run is not None and run.end() - pos > self.slack:
            return CloseTag(CloseKind.MALFORMED, run.end())
        return CloseTag(CloseKind.TEXT, pos)


def build_close_reader(suffix: str, *, slack: int, longest: int) -> CloseReader:
    """A reader for closing tags that end in `suffix`."""
    end = re.escape(suffix)
    started = "|".join(re.escape(suffix[:n]) for n in range(len(suffix) - 1, 0, -1))
    cut = f"(?:{started})?\\Z" if started else "\\Z"
    body = f"{_ALPHABET}{{0,{longest}}}"
    other = f"[^<>\\n]{{0,{slack}}}?"
    return CloseReader(
        slack=slack,
        run=re.compile(body),
        positions=re.compile(f"({body}){end}"),
        partial_positions=re.compile(f"{body}{cut}"),
        other=re.compile(f"{other}{end}"),
        partial_other=re.compile(f"{other}{cut}"),
    )


def read_positions(body: str) -> tuple[Position, ...]:
    """The (bucket, index) pairs of a list such as `0:[1,2],1:[0]`; none when it is not one.

    >>> read_positions("0:[1,2], 1:[0]"), read_positions("0:[]"), read_positions("x")
    (((0, 1), (0, 2), (1, 0)), (), ())
    """
    pairs: list[Position] = []
    pos = 0
    while True:
        match = _LIST.match(body, pos)
        if match is None:
            return ()
        bucket, *indexes = map(int, _NUMBER.findall(match.group()))
        pairs += [(bucket, index) for index in indexes]
        pos = match.end()
        if pos == len(body):
            return tuple(pairs)
        if body[pos] != ",":
            return ()
        pos += 1


def citation_events(
    span: tuple[int, int, str],
    target: Target,
    positions: tuple[Position, ...],
    sources: SourceMap | None,
    offset: int,
) -> list[Event]:
    """The citation of a closed span, and a diagnostic when a position resolves to nothing."""
    start, end, text = span
    if sources is None:
        return [Citation(start, end, text, target, positions)]
    found, missing = sources.resolve(positions)
    events: list[Event] = [Citation(start, end, text, target, positions, tuple(found))]
    if missing:
        places = ", ".join(f"{bucket}:[{index}]" for bucket, index in missing[:8])
        events.append(
            Diagnostic(
                DiagnosticCode.UNRESOLVED_SOURCE,
                f"no document or tool result stands at {places}",
                offset,
            )
        )
    return events
