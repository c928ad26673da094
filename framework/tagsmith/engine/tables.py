"""A family's literals as lookup tables: compiled once, shared by every parser of the family."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, IntEnum, auto

from tagsmith.engine.reader import Opened
from tagsmith.engine.scanner import Scanner, build_scanner
from tagsmith.engine.templates import call_closers, call_openers, holds_token
from tagsmith.spec.models import FamilySpec, MarkerPair
from tagsmith.spec.policies import CallLayout, OnOutsideRegion


class Region(IntEnum):
    """Where the output stands. `OUTSIDE` is text that no marker has opened."""

    OUTSIDE = auto()
    REASONING = auto()
    CONTENT = auto()
    CALLS = auto()


class Role(Enum):
    """What a literal does when it is structure."""

    OPEN = auto()
    CLOSE = auto()
    CALL = auto()
    """Opens a region of calls, and is the first literal of the call as well."""
    HIDDEN = auto()
    CITATION_OPEN = auto()
    CITATION_CLOSE = auto()


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a literal does, and to which regions."""

    role: Role
    opens: Region | None = None
    opened: Opened = Opened.MARKER
    closes: frozenset[Region] = frozenset()


HIDDEN = Meaning(Role.HIDDEN)


@dataclass(frozen=True, slots=True)
class Tables:
    """The literals of one family by what they do, and the scanners that find them.

    `text` finds all of them, `calls` those that count in a tool-call region: no citation markup.
    """

    meanings: Mapping[str, Meaning]
    text: Scanner
    calls: Scanner
    close_suffix: str


def marker_meanings(spec: FamilySpec) -> dict[str, Meaning]:
    """Every marker that may be a token of its own, or hold some, with what it does."""
    meanings = dict.fromkeys(spec.tokens.hidden, HIDDEN)
    meanings |= dict.fromkeys([*spec.tokens.turn_start, *spec.tokens.turn_end], HIDDEN)
    for region, pair in _pairs(spec):
        opened = Opened.MARKER_ALONE if pair.end is None else Opened.MARKER
        meanings[pair.start] = Meaning(Role.OPEN, region, opened)
        if pair.end is not None:
            _closes(meanings, pair.end, region)
    if calls_stand_anywhere(spec) and spec.tool_calls is not None:
        # A closer that is plain text, such as `</function>`, is one within a call alone.
        for closer in call_closers(spec.tool_calls):
            if holds_token(spec, closer):
                _closes(meanings, closer, Region.CALLS)
        opener = Meaning(Role.CALL, Region.CALLS, Opened.CALL)
        meanings |= dict.fromkeys(call_openers(spec.tool_calls), opener)
    return meanings


def calls_stand_anywhere(spec: FamilySpec) -> bool:
    """Whether the opener of a call is one wherever it stands."""
    calls = spec.tool_calls
    if calls is None or calls.layout is not CallLayout.TEMPLATE:
        return False
    return spec.tag_style.tool_calls is None or calls.on_outside_region is OnOutsideRegion.CALL


def build_tables(spec: FamilySpec) -> Tables:
    """Compile a family's tag style, call templates and citation markup."""
    meanings = marker_meanings(spec)
    calls = build_scanner(meanings)
    suffix = ""
    if spec.citations is not None:
        prefix, suffix = spec.citations.markup.close_parts
        meanings[spec.citations.markup.open] = Meaning(Role.CITATION_OPEN)
        meanings[prefix] = Meaning(Role.CITATION_CLOSE)
    return Tables(meanings, build_scanner(meanings), calls, suffix)


def _pairs(spec: FamilySpec) -> Iterator[tuple[Region, MarkerPair]]:
    style = spec.tag_style
    if style.reasoning is not None:
        yield from ((Region.REASONING, pair) for pair in style.reasoning.pairs)
    yield from ((Region.CONTENT, pair) for pair in style.content)
    if style.tool_calls is not None:
        yield from ((Region.CALLS, pair) for pair in style.tool_calls.pairs)


def _closes(meanings: dict[str, Meaning], marker: str, region: Region) -> None:
    """One closer may answer several openers."""
    known = meanings.get(marker, HIDDEN)
    if known.role is not Role.OPEN:
        meanings[marker] = Meaning(Role.CLOSE, closes=known.closes | {region})
