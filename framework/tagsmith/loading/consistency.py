"""Whether the parts of one family fit together, beyond the shape of each."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum, auto

from tagsmith.codes import Code
from tagsmith.loading.files import SUFFIXES
from tagsmith.loading.nodes import Path, dotted
from tagsmith.spec.models import FamilySpec, MarkerPair, Markers
from tagsmith.spec.policies import CallLayout, EngineName, Unmarked


class _Role(Enum):
    """What a marker does."""

    OPENER = auto()
    CLOSER = auto()
    CITATION = auto()
    TURN_START = auto()
    TURN_END = auto()
    HIDDEN = auto()


_MAY_SHARE = {
    frozenset((_Role.CLOSER,)),
    frozenset((_Role.CLOSER, _Role.TURN_END)),
    frozenset((_Role.TURN_START, _Role.HIDDEN)),
    frozenset((_Role.TURN_END, _Role.HIDDEN)),
}
"""Roles that one marker may have together; no other two."""

_JSON_SIGNS = '[]{},:"'
_POSITION_SIGNS = f"[],:{string.digits}"


@dataclass(frozen=True, slots=True)
class _Marked:
    """A marker, its role, and where it stands."""

    path: Path
    marker: str
    role: _Role


@dataclass(frozen=True, slots=True)
class Finding:
    """Parts that do not fit together, and the path of the part to mend."""

    code: Code
    path: Path
    message: str


def findings(spec: FamilySpec, ignored: frozenset[str]) -> list[Finding]:
    """What does not fit together. A check that needs an ignored section is left out."""
    return [
        finding
        for sections, check in _CHECKS
        if ignored.isdisjoint(sections)
        for finding in check(spec)
    ]


def _id_is_no_path(spec: FamilySpec) -> Iterator[Finding]:
    if spec.id.endswith(SUFFIXES):
        what = f"id: '{spec.id}' would be a path where another family extends it; drop the ending"
        yield Finding(Code.PATTERN, ("id",), what)


def _calls_and_markers(spec: FamilySpec) -> Iterator[Finding]:
    calls = spec.tool_calls
    unmarked = calls is not None and calls.unmarked is Unmarked.NEVER
    if calls and unmarked and calls.layout is not CallLayout.TEMPLATE and not spec.tag_style.tool_calls:
        what = "tool_calls is given, but tag_style.tool_calls is not; give both or neither"
        yield Finding(Code.CALLS_WITHOUT_MARKERS, ("tool_calls",), what)
    if spec.tag_style.tool_calls and not spec.tool_calls:
        what = "tag_style.tool_calls is given, but tool_calls is not; give both or neither"
        yield Finding(Code.MARKERS_WITHOUT_CALLS, ("tag_style", "tool_calls"), what)


def _melody_preset(spec: FamilySpec) -> Iterator[Finding]:
    if spec.engine is EngineName.MELODY and spec.melody is None:
        what = "engine: melody needs to know its preset; write 'melody: {preset: ...}'"
        yield Finding(Code.MELODY_WITHOUT_PRESET, ("engine",), what)


def _id_pattern(spec: FamilySpec) -> Iterator[Finding]:
    if spec.tool_calls is None:
        return
    try:
        re.compile(spec.tool_calls.id.pattern)
    except (re.error, RecursionError, OverflowError) as error:
        what = f"tool_calls.id.pattern is not a regular expression ({error})"
        yield Finding(Code.INVALID_REGEX, ("tool_calls", "id", "pattern"), what)


def _roles(spec: FamilySpec) -> Iterator[Finding]:
    held: dict[str, list[_Marked]] = {}
    for marked in _marked(spec):
        holders = held.setdefault(marked.marker, [])
        for holder in holders:
            if frozenset((holder.role, marked.role)) not in _MAY_SHARE:
                yield _clash(holder, marked)
                break
        holders.append(marked)


def _marked(spec: FamilySpec) -> Iterator[_Marked]:
    for path, pair in _regions(spec):
        yield _Marked((*path, "start"), pair.start, _Role.OPENER)
        if pair.end is not None:
            yield _Marked((*path, "end"), pair.end, _Role.CLOSER)
    if spec.citations:
        path = ("citations", "markup", "open")
        yield _Marked(path, spec.citations.markup.open, _Role.CITATION)
    for index, marker in enumerate(spec.tokens.turn_start):
        yield _Marked(("tokens", "turn_start", index), marker, _Role.TURN_START)
    for index, marker in enumerate(spec.tokens.turn_end):
        yield _Marked(("tokens", "turn_end", index), marker, _Role.TURN_END)
    for index, marker in enumerate(spec.tokens.hidden):
        yield _Marked(("tokens", "hidden", index), marker, _Role.HIDDEN)


def _regions(spec: FamilySpec) -> Iterator[tuple[Path, MarkerPair]]:
    style = spec.tag_style
    if style.reasoning:
        yield from _spellings(("tag_style", "reasoning"), style.reasoning)
    for index, pair in enumerate(style.content):
        yield ("tag_style", "content", index), pair
    if style.tool_calls:
        yield from _spellings(("tag_style", "tool_calls"), style.tool_calls)


def _spellings(path: Path, markers: Markers) -> Iterator[tuple[Path, MarkerPair]]:
    yield path, markers
    for index, pair in enumerate(markers.also):
        yield (*path, "also", index), pair


def _usable(spec: FamilySpec) -> Iterator[Finding]:
    for path, marker in _literals(spec):
        if _made_of(_JSON_SIGNS, marker):
            around = "JSON is written with"
        elif spec.citations and _made_of(_POSITION_SIGNS, marker):
            around = "the positions of citations are written with"
        else:
            continue
        what = f"{dotted(path)}: {marker!r} is nothing but signs that {around}; use a marker"
        yield Finding(Code.UNUSABLE_MARKER, path, f"{what} that stands out")


def _made_of(signs: str, marker: str) -> bool:
    return all(char in signs or char.isspace() for char in marker)


def _literals(spec: FamilySpec) -> Iterator[tuple[Path, str]]:
    """Every text that a parser looks for, and where it stands."""
    yield from ((marked.path, marked.marker) for marked in _marked(spec))
    if spec.citations:
        for part in spec.citations.markup.close_parts:
            yield ("citations", "markup", "close"), part


def _clash(holder: _Marked, marked: _Marked) -> Finding:
    first = dotted(holder.path)
    if holder.role is marked.role is _Role.OPENER:
        what = f"'{marked.marker}' is {first} already; each region needs an opener of its own"
        return Finding(Code.SAME_OPENER, marked.path, what)
    if holder.path[:-1] == marked.path[:-1] and marked.role is _Role.CLOSER:
        what = f"'{marked.marker}' opens and closes one region; a region needs two markers"
        return Finding(Code.OPENER_IS_CLOSER, marked.path, what)
    what = f"'{marked.marker}' is {first} already; a marker has one role"
    return Finding(Code.DUPLICATE_MARKER, marked.path, what)


def _entries(spec: FamilySpec) -> Iterator[Finding]:
    for key in ("architectures", "models", "tokens"):
        entries = getattr(spec.match, key)
        for index, entry in enumerate(entries):
            if entry in entries[:index]:
                what = f"'{entry}' stands in match.{key} already; keep one"
                yield Finding(Code.DUPLICATE_ENTRY, ("match", key, index), what)


_CHECKS: tuple[tuple[tuple[str, ...], Callable[[FamilySpec], Iterator[Finding]]], ...] = (
    (("tool_calls", "tag_style"), _calls_and_markers),
    (("engine", "melody"), _melody_preset),
    ((), _id_is_no_path),
    ((), _id_pattern),
    ((), _roles),
    ((), _usable),
    ((), _entries),
)
"""Each check with the sections whose absence it would take for a fault."""
