"""Rules of markers that hold each other: where that changes what a text means."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tagsmith.lint.rules import Finding, LintSubject, Rule
from tagsmith.loading.markers import Marked, Role, every_marker
from tagsmith.loading.subject import Subject
from tagsmith.wording import shortened

_CHANGES_NOTHING = frozenset({Role.HIDDEN, Role.TURN_START, Role.TURN_END})


@dataclass(frozen=True, slots=True)
class _Literal:
    """A marker with each of its places."""

    text: str
    places: tuple[Marked, ...]

    @property
    def written(self) -> Marked | None:
        """The first place that says what the model writes, and not what is read as well."""
        return next((place for place in self.places if not _is_further(place)), None)

    @property
    def changes_nothing(self) -> bool:
        return all(place.role in _CHANGES_NOTHING for place in self.places)

    @property
    def effects(self) -> frozenset[tuple[str, str]]:
        """What it opens and closes."""
        return frozenset(
            _effect(place) for place in self.places if place.role not in _CHANGES_NOTHING
        )


def begins_another(subject: LintSubject) -> Iterator[Finding]:
    """A marker that a longer one, which does something else, begins with."""
    for short, place, long in _held(subject):
        if long.text.startswith(short.text):
            what = (
                f"{_said(long)} begins with {_said(short, place)}: the longer counts, so that text "
                "after the shorter one may change what it does; give one of them another spelling"
            )
            yield Finding(what, subject.locate(long.places[0].path))


def stands_in_another(subject: LintSubject) -> Iterator[Finding]:
    """A marker that stands inside another, or shares its blanks with the next."""
    for short, place, long in _held(subject):
        if not long.text.startswith(short.text):
            what = (
                f"{_said(short, place)} stands inside of {_said(long)}: what comes before it there "
                "changes what it does; give one of them another spelling"
            )
            yield Finding(what, subject.locate(long.places[0].path))
    yield from _cut_by_turn_end(subject)
    yield from _shared_blanks(subject)


def _cut_by_turn_end(subject: LintSubject) -> Iterator[Finding]:
    longs = [long for long in _literals(subject) if not long.changes_nothing]
    for end, place in _of_role(subject, Role.TURN_END):
        for long in longs:
            if end.text in long.text and not long.text.endswith(end.text):
                what = (
                    f"{_said(end, place)} stands inside of {_said(long)}: generation stops there, "
                    "and the longer marker is never whole; end it there, or remove the turn's end"
                )
                yield Finding(what, subject.locate(long.places[0].path))


def _shared_blanks(subject: LintSubject) -> Iterator[Finding]:
    literals = _literals(subject)
    begun = [one for one in literals if one.text[:1].isspace() and not one.changes_nothing]
    for first in literals if begun else ():
        blanks = first.text[len(first.text.rstrip()) :]
        for next_one in begun if blanks else ():
            shared = any(next_one.text.startswith(blanks[-n:]) for n in range(1, len(blanks) + 1))
            if shared and next_one.text != first.text:
                what = (
                    f"{_said(next_one)} begins with blanks that {_said(first)} ends with: where "
                    "they stand once, it is not found; leave them out of one of the two"
                )
                yield Finding(what, subject.locate(next_one.places[0].path))


def _held(subject: LintSubject) -> Iterator[tuple[_Literal, Marked, _Literal]]:
    """Each marker that stands in another one and does not do the same, with where it is written."""
    literals = _literals(subject)
    shorts = {
        short.text: (short, place)
        for short in literals
        if (place := short.written) is not None and not short.changes_nothing
    }
    lengths = {len(text) for text in shorts}
    for long in literals:
        for text in _parts(long.text, lengths) & shorts.keys():
            short, place = shorts[text]
            if short.effects != long.effects:
                yield short, place, long


def _parts(text: str, lengths: set[int]) -> set[str]:
    """What stands in a text, and is not all of it, in these lengths."""
    shorter = [length for length in lengths if length < len(text)]
    return {text[at : at + n] for n in shorter for at in range(len(text) - n + 1)}


def _literals(subject: LintSubject) -> list[_Literal]:
    parts = Subject(subject.spec, subject.positions, subject.encodings)
    found: dict[str, list[Marked]] = {}
    for marked in every_marker(parts):
        found.setdefault(marked.marker, []).append(marked)
    return [_Literal(text, tuple(places)) for text, places in found.items()]


def _of_role(subject: LintSubject, role: Role) -> Iterator[tuple[_Literal, Marked]]:
    for literal in _literals(subject):
        for place in literal.places:
            if place.role is role:
                yield literal, place


def _is_further(place: Marked) -> bool:
    """Whether it is another spelling, or a further form of a call."""
    in_call = tuple(place.path[:2]) == ("tool_calls", "call")
    return "also" in place.path or (in_call and place.path[-1] not in ("call", 0))


def _effect(place: Marked) -> tuple[str, str]:
    if place.role in (Role.CALL_OPENER, Role.CALL_CLOSER):
        region = "tool_calls"
    else:
        region = str(place.path[1])
    opens = place.role in (Role.OPENER, Role.CALL_OPENER, Role.CITATION)
    return ("opens" if opens else "closes"), region


def _said(literal: _Literal, place: Marked | None = None) -> str:
    return f"{shortened(literal.text)!r} ({(place or literal.places[0]).name})"


RULES = (
    Rule(
        "TS802",
        "marker-prefix",
        "A marker that begins a longer one which does something else.",
        begins_another,
    ),
    Rule(
        "TS803",
        "marker-inside",
        "A marker that stands inside another, or shares its blanks with the next.",
        stands_in_another,
    ),
)
