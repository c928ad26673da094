"""The `template` call layout of one family, compiled."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from tagsmith.engine.arguments import ArgumentsProgram, Encoding
from tagsmith.engine.scanner import Scanner, scanner_of
from tagsmith.engine.templates import (
    Hole,
    Place,
    call_closers,
    call_openers,
    compile_template,
    holds_token,
    split_template,
)
from tagsmith.errors import TagsmithError
from tagsmith.spec.models import FamilySpec


@dataclass(frozen=True, slots=True)
class TemplateLayout:
    """A family's call templates, compiled.

    `region_markers` are the markers without those of calls, `hidden` those that are never shown,
    though they may be part of a call; `marked` are the literals of calls with a token in them.
    `ids` reads an id that carries the name.
    """

    root: Place
    markers: Scanner
    region_markers: Scanner
    hidden: frozenset[str]
    marked: frozenset[str]
    has_closers: bool
    arguments: ArgumentsProgram
    writes_ids: bool
    ids: re.Pattern[str] | None
    turn_ends: frozenset[str]

    def past_ignored(self, after: Place) -> Scanner:
        """Finds what ends text that is ignored: what comes after it, or a marker that is shown."""
        return scanner_of(after.leads | (self.markers.literals - self.hidden))

    def past_name(self, after: Place) -> Scanner:
        """Finds what ends a name: what comes after it, a marker, or a part of arguments."""
        return scanner_of(after.scanner.literals | self.arguments.literals)


def compile_template_layout(
    spec: FamilySpec, markers: Scanner, encodings: Mapping[str, Encoding]
) -> TemplateLayout:
    """Compile the templates of a family's calls; `markers` finds what ends a region."""
    calls = spec.tool_calls
    assert calls is not None, "a template layout has calls"
    assert calls.call is not None, "and templates of them"
    beyond = markers.literals | call_openers(calls)
    hidden = frozenset(spec.tokens.hidden)
    words = {step for form in calls.call for step in split_template(form)}
    of_calls = call_openers(calls) | call_closers(calls)
    encoding = encodings.get(calls.arguments.encoding)
    if encoding is None:
        name, known = calls.arguments.encoding, ", ".join(encodings)
        raise TagsmithError(f"{spec.id}: no argument encoding {name!r}; there are {known}")
    arguments = encoding(spec, beyond)
    return TemplateLayout(
        root=compile_template(calls.call, starts=arguments.starts, beyond=beyond),
        markers=markers,
        region_markers=scanner_of(markers.literals - of_calls | hidden),
        hidden=hidden,
        has_closers=bool(call_closers(calls)),
        marked=frozenset(word for word in words if holds_token(spec, word)),
        arguments=arguments,
        writes_ids=any(Hole.ID in split_template(form) for form in calls.call),
        ids=None if calls.id.format is None else _id_pattern(calls.id.format),
        turn_ends=frozenset(spec.tokens.turn_end),
    )


def _id_pattern(form: str) -> re.Pattern[str]:
    """What reads `functions.{name}:{index}`, also where what stands around the name is missing."""
    before, _, rest = form.partition("{name}")
    between, _, after = rest.partition("{index}")
    index = f"(?P<index>{re.escape(between)}[0-9]+{re.escape(after)})"
    return re.compile(f"(?:{re.escape(before)})?(?P<name>.+?){index}?", re.DOTALL)
