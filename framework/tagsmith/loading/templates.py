"""Whether the templates of calls, parameters and items can be read, form by form and together."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from tagsmith.codes import Code
from tagsmith.engine.templates import Hole, split_template
from tagsmith.loading.subject import Finding, Listed
from tagsmith.wording import did_you_mean, shortened

_ANY_HOLE = re.compile(r"\{[ \t]*([A-Za-z0-9_-]+)[ \t]*\}")


@dataclass(frozen=True, slots=True)
class Kind:
    """What a template is one of, and which holes it has.

    `needed` are sets of holes of which each form has one at least, `first` those that stand before
    `last`. `no_gap` are pairs of holes that may stand side by side.
    """

    name: str
    holes: tuple[Hole, ...]
    needed: tuple[frozenset[Hole], ...]
    last: Hole
    first: frozenset[Hole] = frozenset()
    no_gap: frozenset[tuple[Hole, Hole]] = frozenset()
    open_end: frozenset[Hole] = frozenset()
    """The holes that need nothing after them."""


PARAMETER = Kind(
    name="a parameter",
    holes=(Hole.KEY, Hole.VALUE, Hole.TYPE),
    needed=(frozenset({Hole.KEY}), frozenset({Hole.VALUE})),
    last=Hole.VALUE,
    first=frozenset({Hole.KEY, Hole.TYPE}),
)
ITEM = Kind(
    name="an item",
    holes=(Hole.VALUE, Hole.TYPE),
    needed=(frozenset({Hole.VALUE}),),
    last=Hole.VALUE,
    first=frozenset({Hole.TYPE}),
)


def call_kind(*, id_has_name: bool, arguments_show: bool, arguments_end: bool) -> Kind:
    """What a call's template is.

    Args:
        id_has_name: whether an id carries the name.
        arguments_show: whether what arguments begin with tells where a name ends.
        arguments_end: whether arguments end without a literal after them.
    """
    named = frozenset({Hole.NAME, Hole.ID} if id_has_name else {Hole.NAME})
    beside = {(Hole.NAME, Hole.ARGUMENTS), (Hole.ID, Hole.ARGUMENTS)} if arguments_show else ()
    return Kind(
        name="a call",
        holes=(Hole.NAME, Hole.ID, Hole.ARGUMENTS, Hole.IGNORED),
        needed=(named, frozenset({Hole.ARGUMENTS})),
        last=Hole.ARGUMENTS,
        first=frozenset({Hole.NAME, Hole.ID}),
        no_gap=frozenset(beside),
        open_end=frozenset({Hole.ARGUMENTS} if arguments_end else ()),
    )


def check_template(kind: Kind, forms: Sequence[Listed]) -> Iterator[Finding]:
    """What keeps the forms of one template from being read."""
    # A call without arguments may have a form of its own; the first is the one that is written.
    later = replace(kind, needed=tuple(n for n in kind.needed if n != {Hole.ARGUMENTS}))
    kinds = [kind, *[later] * len(forms)]
    pairs = zip(kinds, forms, strict=False)
    found = [finding for one, form in pairs for finding in _check_form(one, form)]
    yield from found or _disagreements(forms)


def _check_form(kind: Kind, form: Listed) -> Iterator[Finding]:
    steps = split_template(form.text)
    for check in _FORM_CHECKS:
        for code, what in check(kind, steps, form.text):
            yield Finding(code, form.path, f"{form.name}: {what}")


_Told = Iterator[tuple[Code, str]]
_Steps = Sequence[str | Hole]


def _begins(kind: Kind, steps: _Steps, text: str) -> _Told:
    if not steps or isinstance(steps[0], Hole):
        what = f"{kind.name} has to begin with a text, as nothing else tells that it begins; write"
        yield Code.NO_OPENER, f"{what} before the first hole what the model writes there"


def _known_holes(kind: Kind, steps: _Steps, text: str) -> _Told:
    allowed = [_shown(hole) for hole in kind.holes]
    for match in _ANY_HOLE.finditer(text):
        if match.group() in allowed:
            continue
        near = did_you_mean(match[1].lower(), kind.holes)
        hint = f" did you mean '{{{near}}}'?" if near else ""
        what = f"'{shortened(match.group())}' is no hole of {kind.name};{hint}"
        yield Code.UNKNOWN_HOLE, f"{what} allowed: {', '.join(allowed)}"


def _needed_holes(kind: Kind, steps: _Steps, text: str) -> _Told:
    for choice in kind.needed:
        if choice.isdisjoint(steps):
            wanted = " or ".join(_shown(hole) for hole in kind.holes if hole in choice)
            what = f"{kind.name} has to have {wanted}; put it where the model writes that"
            if choice == {Hole.NAME}:
                what += "; an {id} can stand for it where tool_calls.id.format has the name in it"
            yield Code.MISSING_HOLE, what


def _once(kind: Kind, steps: _Steps, text: str) -> _Told:
    for hole in kind.holes:
        if hole is not Hole.IGNORED and steps.count(hole) > 1:
            yield Code.REPEATED_HOLE, f"{_shown(hole)} stands in it twice; keep one"


def _apart(kind: Kind, steps: _Steps, text: str) -> _Told:
    for one, other in pairwise(steps):
        if not (isinstance(one, Hole) and isinstance(other, Hole)):
            continue
        if (one, other) not in kind.no_gap:
            what = f"nothing tells where {_shown(one)} ends and {_shown(other)} begins; write"
            yield Code.HOLES_SIDE_BY_SIDE, f"{what} between them what the model writes there"


def _ended(kind: Kind, steps: _Steps, text: str) -> _Told:
    last = steps[-1] if steps else ""
    if isinstance(last, Hole) and last in kind.holes and last not in kind.open_end:
        what = f"nothing tells where {_shown(last)} ends; write after it what the model writes"
        yield Code.HOLE_NOT_CLOSED, f"{what} there, other than blanks"


def _in_order(kind: Kind, steps: _Steps, text: str) -> _Told:
    if kind.last not in steps:
        return
    after = steps[steps.index(kind.last) :]
    for hole in kind.holes:
        if hole in kind.first and hole in after and steps.count(hole) == 1:
            what = f"{_shown(hole)} stands after {_shown(kind.last)}, which is read as it arrives"
            yield Code.HOLE_TOO_LATE, f"{what}; only a form with {_shown(hole)} first can be read"


_FORM_CHECKS: tuple[Callable[[Kind, _Steps, str], _Told], ...] = (
    _begins,
    _known_holes,
    _needed_holes,
    _once,
    _apart,
    _ended,
    _in_order,
)


@dataclass(slots=True, eq=False)
class _Place:
    """A place that forms share: what comes next in each, and which form said so first."""

    words: dict[str, _Place] = field(default_factory=dict)
    hole: Hole | None = None
    newlines: tuple[bool, bool] = (False, False)
    after: _Place | None = None
    goes_on: Listed | None = None
    hole_of: Listed | None = None
    ends: Listed | None = None


def _disagreements(forms: Sequence[Listed]) -> Iterator[Finding]:
    """Forms are read as one: where they part, a literal has to tell which it is."""
    start = _Place()
    for form in forms:
        what = _lay(start, form)
        if what:
            yield Finding(Code.FORMS_DISAGREE, form.path, f"{form.name}: {what}")


def _lay(place: _Place, form: Listed) -> str:
    """Lay a form over those before it; returns where it does not agree with one."""
    newlines = _newlines_beside(form.text)
    for step in split_template(form.text):
        if place.ends is not None:
            return _both("goes on", place.ends, "is whole", "give that one more text at its end")
        place.goes_on = place.goes_on or form
        if not isinstance(step, Hole):
            place = place.words.setdefault(step, _Place())
            continue
        if place.after is None:
            place.hole, place.hole_of, place.after = step, form, _Place()
            place.newlines = newlines
        first = place.hole_of or form
        if place.hole is not None and place.hole is not step:
            mend = "write before one of them a text that the other does not have"
            return _both(f"has {_shown(step)}", first, f"has {_shown(place.hole)}", mend)
        if step is Hole.VALUE and place.newlines != newlines:
            mend = "write the same newlines beside {value} in both"
            return _both("has other newlines beside {value}", first, "has its own", mend)
        place = place.after
    if place.goes_on is not None:
        return _both("is whole", place.goes_on, "goes on", "give this one more text at its end")
    place.ends = place.ends or form
    return ""


def _both(this: str, other: Listed, that: str, mend: str) -> str:
    return f"it {this} where {other.name} {that}, and nothing tells the two apart; {mend}"


def _newlines_beside(form: str) -> tuple[bool, bool]:
    before, _, after = form.partition(_shown(Hole.VALUE))
    return before.endswith("\n"), after.startswith("\n")


def _shown(hole: str) -> str:
    return f"{{{hole}}}"
