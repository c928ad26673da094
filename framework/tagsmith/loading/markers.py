"""Whether each marker has one role, and stands out from what is written around it."""

from __future__ import annotations

import string
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum, auto

from tagsmith.codes import Code
from tagsmith.engine.tables import calls_stand_anywhere
from tagsmith.engine.templates import Hole, split_template
from tagsmith.loading.nodes import Path, dotted
from tagsmith.loading.subject import Finding, Subject
from tagsmith.spec.models import MarkerPair, Markers
from tagsmith.spec.policies import CallLayout


class Role(Enum):
    """What a marker does. `CITATION_CLOSER` is what stands before the positions."""

    OPENER = auto()
    CLOSER = auto()
    CALL_OPENER = auto()
    CALL_CLOSER = auto()
    CITATION = auto()
    CITATION_CLOSER = auto()
    TURN_START = auto()
    TURN_END = auto()
    HIDDEN = auto()


_MAY_SHARE = {
    frozenset((Role.CLOSER,)),
    frozenset((Role.CLOSER, Role.TURN_END)),
    frozenset((Role.CALL_CLOSER, Role.CLOSER)),
    frozenset((Role.CALL_CLOSER, Role.TURN_END)),
    frozenset((Role.CALL_CLOSER, Role.HIDDEN)),
    frozenset((Role.CALL_OPENER, Role.HIDDEN)),
    frozenset((Role.TURN_START, Role.HIDDEN)),
    frozenset((Role.TURN_END, Role.HIDDEN)),
}
"""Roles that one marker may have together; no other two."""

_JSON_SIGNS = '[]{},:"'
_POSITION_SIGNS = f"[],:{string.digits}"


@dataclass(frozen=True, slots=True)
class Marked:
    """A marker, its role, and where it stands."""

    path: Path
    marker: str
    role: Role

    @property
    def name(self) -> str:
        """How a message calls the place."""
        return _IN_CALL.get(self.role, "{}").format(dotted(self.path))


def one_role_each(subject: Subject) -> Iterator[Finding]:
    """No marker has two roles that do not go together."""
    held: dict[str, list[Marked]] = {}
    for marked in every_marker(subject):
        holders = held.setdefault(marked.marker, [])
        for holder in holders:
            if frozenset((holder.role, marked.role)) not in _MAY_SHARE:
                yield _clash(holder, marked)
                break
        holders.append(marked)


def calls_in_their_region(subject: Subject) -> Iterator[Finding]:
    """The markers of the tool-call region are not written again in each call."""
    around = _around_calls(subject)
    for call in _call_literals(subject):
        for marker in around:
            if marker in call.marker:
                is_it = "is" if marker == call.marker else f"has '{marker}' in it, which is"
                what = (
                    f"{dotted(call.path)}: '{call.marker}' {is_it} {around[marker]} already, which "
                    "stands around all calls; remove it from the call, or remove "
                    "tag_style.tool_calls if each call has it"
                )
                yield Finding(Code.DUPLICATE_MARKER, call.path, what)
                break


def markers_stand_out(subject: Subject) -> Iterator[Finding]:
    """No marker is made of nothing but the signs that are written around it."""
    for path, marker in _literals(subject):
        if _made_of(_JSON_SIGNS, marker):
            around = "JSON is written with"
        elif subject.spec.citations and _made_of(_POSITION_SIGNS, marker):
            around = "the positions of citations are written with"
        else:
            continue
        what = f"{dotted(path)}: {marker!r} is nothing but signs that {around}; use a marker"
        yield Finding(Code.UNUSABLE_MARKER, path, f"{what} that stands out")


def header_is_marked(subject: Subject) -> Iterator[Finding]:
    """What begins a header is hidden, and what ends it is a marker."""
    header = subject.spec.tokens.header
    if header is None:
        return
    known = {marked.marker: marked.role for marked in every_marker(subject)}
    for start in subject.listed(("tokens", "header", "start"), header.start):
        if known.get(start.text) not in _HIDDEN:
            what = f"{start.name}: no header goes on after '{start.text}', which is not hidden; add"
            yield Finding(Code.HEADER, start.path, f"{what} it to tokens.hidden, or remove it here")
    if header.end not in known:
        what = f"tokens.header.end: '{header.end}' is no marker, so that nothing ends the header; "
        yield Finding(Code.HEADER, ("tokens", "header", "end"), f"{what}add it to tokens.hidden")


def every_marker(subject: Subject) -> Iterator[Marked]:
    """Every marker that counts wherever it stands, at each place that it is given."""
    spec = subject.spec
    for path, pair in _regions(subject):
        yield Marked((*path, "start"), pair.start, Role.OPENER)
        if pair.end is not None:
            yield Marked((*path, "end"), pair.end, Role.CLOSER)
    if calls_stand_anywhere(spec):
        around = _around_calls(subject)
        yield from (call for call in _call_literals(subject) if call.marker not in around)
    if spec.citations:
        markup = ("citations", "markup")
        yield Marked((*markup, "open"), spec.citations.markup.open, Role.CITATION)
        before = spec.citations.markup.close_parts[0]
        yield Marked((*markup, "close"), before, Role.CITATION_CLOSER)
    for start in subject.listed(("tokens", "turn_start"), spec.tokens.turn_start):
        yield Marked(start.path, start.text, Role.TURN_START)
    for end in subject.listed(("tokens", "turn_end"), spec.tokens.turn_end):
        yield Marked(end.path, end.text, Role.TURN_END)
    for index, marker in enumerate(spec.tokens.hidden):
        yield Marked(("tokens", "hidden", index), marker, Role.HIDDEN)


def _regions(subject: Subject) -> Iterator[tuple[Path, MarkerPair]]:
    style = subject.spec.tag_style
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


def _around_calls(subject: Subject) -> dict[str, str]:
    """The markers of the tool-call region, and the name of each."""
    markers = subject.spec.tag_style.tool_calls
    around: dict[str, str] = {}
    if markers is not None:
        for path, pair in _spellings(("tag_style", "tool_calls"), markers):
            around[pair.start] = dotted((*path, "start"))
            if pair.end is not None:
                around[pair.end] = dotted((*path, "end"))
    return around


def _call_literals(subject: Subject) -> Iterator[Marked]:
    """What calls begin and end with: each literal once, at the first form that has it."""
    calls = subject.spec.tool_calls
    if calls is None or calls.layout is not CallLayout.TEMPLATE:
        return
    found: dict[tuple[str, Role], Marked] = {}
    for form in subject.listed(("tool_calls", "call"), calls.call):
        steps = split_template(form.text)
        for step, role in [(steps[:1], Role.CALL_OPENER), (steps[1:][-1:], Role.CALL_CLOSER)]:
            for literal in step:
                if not isinstance(literal, Hole):
                    found.setdefault((literal, role), Marked(form.path, literal, role))
    yield from found.values()


def _made_of(signs: str, marker: str) -> bool:
    return all(char in signs or char.isspace() for char in marker)


def _literals(subject: Subject) -> Iterator[tuple[Path, str]]:
    """Every text that a parser looks for, and where it stands."""
    yield from ((marked.path, marked.marker) for marked in every_marker(subject))
    if subject.spec.citations:
        yield ("citations", "markup", "close"), subject.spec.citations.markup.close_parts[1]


def _clash(holder: Marked, marked: Marked) -> Finding:
    first = holder.name
    if holder.role is marked.role is Role.OPENER:
        what = f"'{marked.marker}' is {first} already; each region needs an opener of its own"
        return Finding(Code.SAME_OPENER, marked.path, what)
    if holder.path[:-1] == marked.path[:-1] and marked.role in _CLOSING:
        thing = "cited span" if marked.role is Role.CITATION_CLOSER else "region"
        what = f"'{marked.marker}' opens and closes one {thing}; a {thing} needs two markers"
        return Finding(Code.OPENER_IS_CLOSER, marked.path, what)
    what = f"'{marked.marker}' is {first} already; a marker has one role"
    return Finding(Code.DUPLICATE_MARKER, marked.path, what)


_HIDDEN = (Role.HIDDEN, Role.TURN_START, Role.TURN_END)
_CLOSING = (Role.CLOSER, Role.CITATION_CLOSER)
_IN_CALL = {
    Role.CALL_OPENER: "what {} begins with",
    Role.CALL_CLOSER: "what {} ends with",
    Role.CITATION_CLOSER: "what {} begins with",
}

CHECKS: tuple[Callable[[Subject], Iterator[Finding]], ...] = (
    one_role_each,
    calls_in_their_region,
    markers_stand_out,
    header_is_marked,
)
"""What is asked of markers, whatever else is wrong with the file."""
