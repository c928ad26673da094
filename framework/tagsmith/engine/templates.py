"""Templates of calls and parameters, such as `<function={name}>{arguments}</function>`, compiled.

All forms of a template are one tree: what they have in common is read once, and the literal where
they part decides. Newlines in a template are soft: any blanks, or none, are read there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import pairwise

from tagsmith.engine.scanner import Scanner, scanner_of
from tagsmith.spec.models import FamilySpec, ToolCalls


class Hole(StrEnum):
    """What stands in a template between its literals."""

    NAME = "name"
    ID = "id"
    ARGUMENTS = "arguments"
    IGNORED = "ignored"
    KEY = "key"
    TYPE = "type"
    VALUE = "value"


SOFT_NEWLINE = "\n"
"""The step of a template where any blanks, or none, may stand."""

_HOLES = re.compile(r"\{(" + "|".join(Hole) + r")\}")
_SOFT = re.compile(r"[ \t]*\n[ \t\n]*")


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a template: what may come here.

    `words` lead on by a literal, `hole` by what fills it; `ends` says that the template may be
    whole here. `own` finds the words, `scanner` all literals that may come here, also those beyond
    the template; `leads` are those that lead on within it. `lead` and `tail` are the newlines that
    the template writes beside a `{value}`.
    """

    words: Mapping[str, Place]
    hole: Hole | None
    after: Place | None
    ends: bool
    own: Scanner
    scanner: Scanner
    leads: frozenset[str]
    lead: str = ""
    tail: str = ""

    @property
    def past_hole(self) -> Place:
        """The place after the hole."""
        assert self.after is not None, "a place with a hole has one after it"
        return self.after


def template_steps(form: str) -> list[str | Hole]:
    r"""The literals and holes of a form, in order; a soft newline is a step of its own.

    >>> template_steps("<f={name}>\n{arguments}</f>")
    ['<f=', <Hole.NAME: 'name'>, '>', '\n', <Hole.ARGUMENTS: 'arguments'>, '</f>']
    """
    steps: list[str | Hole] = []
    for index, part in enumerate(_HOLES.split(form)):
        if index % 2:
            steps.append(Hole(part))
            continue
        for place, word in enumerate(_SOFT.split(part)):
            steps += [SOFT_NEWLINE] if place else []
            steps += [word] if word.strip() else []
    return steps


def split_template(form: str) -> list[str | Hole]:
    r"""The literals and holes of a form, in order; a newline in a literal parts it.

    >>> split_template("<f={name}>\n{arguments}</f>")
    ['<f=', <Hole.NAME: 'name'>, '>', <Hole.ARGUMENTS: 'arguments'>, '</f>']
    """
    return [step for step in template_steps(form) if step != SOFT_NEWLINE]


def call_openers(calls: ToolCalls) -> frozenset[str]:
    """The literals that a call of this layout begins with."""
    return openers(calls.call or ())


def call_closers(calls: ToolCalls) -> frozenset[str]:
    """The literals that a call of this layout ends with, where there is one after its last hole."""
    last = (split_template(form)[-1] for form in calls.call or ())
    return frozenset(step for step in last if not isinstance(step, Hole))


def holds_token(spec: FamilySpec, literal: str) -> bool:
    """Whether a literal of a call holds what the family names as a token of its own."""
    tokens, style = spec.tokens, spec.tag_style
    named = [*tokens.hidden, *tokens.turn_start, *tokens.turn_end]
    if style.tool_calls is not None:
        named += [pair.start for pair in style.tool_calls.pairs]
    return any(token in literal for token in named)


def openers(forms: Iterable[str]) -> frozenset[str]:
    """The literals that these forms begin with."""
    first = (split_template(form)[0] for form in forms)
    return frozenset(step for step in first if not isinstance(step, Hole))


def words_after(forms: Iterable[str], hole: Hole) -> frozenset[str]:
    """The literals that may come right after a hole."""
    found: set[str] = set()
    for form in forms:
        steps = split_template(form)
        found.update(b for a, b in pairwise(steps) if a is hole and not isinstance(b, Hole))
    return frozenset(found)


def compile_template(
    forms: Iterable[str],
    *,
    starts: frozenset[str] = frozenset(),
    follow: frozenset[str] = frozenset(),
    beyond: frozenset[str] = frozenset(),
) -> Place:
    """Compile the forms of one template.

    Args:
        forms: the forms.
        starts: what arguments may begin with.
        follow: what may follow the whole template.
        beyond: what may come anywhere and ends the template where it is not part of it.
    """
    tree = _Tree()
    for form in forms:
        tree.add(form)
    return tree.place(starts, follow, beyond)


@dataclass(slots=True, eq=False)
class _Tree:
    """The forms as they are put together."""

    words: dict[str, _Tree] = field(default_factory=dict)
    hole: Hole | None = None
    after: _Tree | None = None
    ends: bool = False
    lead: str = ""
    tail: str = ""

    def add(self, form: str) -> None:
        at = self
        for step in split_template(form):
            if not isinstance(step, Hole):
                at = at.words.setdefault(step, _Tree())
                continue
            if at.after is None:
                at.hole, at.after = step, _Tree()
            if step is Hole.VALUE:
                at.lead, at.tail = _newlines_beside(form)
            at = at.after
        at.ends = True

    def place(
        self, starts: frozenset[str], follow: frozenset[str], beyond: frozenset[str]
    ) -> Place:
        leads = frozenset(self._leads(starts))
        # What leads on within the template is that, and not the start of a longer marker.
        beyond_here = frozenset(m for m in beyond if not m.startswith(tuple(leads)))
        end = follow if self._may_end else frozenset[str]()
        return Place(
            words={word: tree.place(starts, follow, beyond) for word, tree in self.words.items()},
            hole=self.hole,
            after=None if self.after is None else self.after.place(starts, follow, beyond),
            ends=self.ends,
            own=scanner_of(frozenset(self.words)),
            scanner=scanner_of(beyond_here | leads | end),
            leads=leads,
            lead=self.lead,
            tail=self.tail,
        )

    def _leads(self, starts: frozenset[str]) -> Iterator[str]:
        yield from self.words
        if self.hole is Hole.ARGUMENTS and self.after is not None:
            yield from starts
            yield from self.after._leads(starts)

    @property
    def _may_end(self) -> bool:
        past = self.after if self.hole is Hole.ARGUMENTS else None
        return self.ends or (past is not None and past._may_end)


def _newlines_beside(form: str) -> tuple[str, str]:
    before, _, after = form.partition("{" + Hole.VALUE + "}")
    return "\n" * before.endswith("\n"), "\n" * after.startswith("\n")
