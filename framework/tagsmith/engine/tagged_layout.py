"""The `tagged` argument encoding of one family, compiled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tagsmith.engine.scanner import Scanner, scanner_of
from tagsmith.engine.templates import (
    Hole,
    Place,
    call_closers,
    call_openers,
    compile_template,
    openers,
    split_template,
    words_after,
)
from tagsmith.engine.value_types import ANYTHING, TEXT, JsonType, Types
from tagsmith.spec.models import Arguments, FamilySpec, ToolCalls
from tagsmith.spec.policies import Untyped, ValueForm


@dataclass(frozen=True, slots=True)
class TaggedLayout:
    """How one family writes parameters.

    `forms` are what a `{type}` hole may say. `around` finds what may stand behind a call: the end
    of the region, among `region_ends`, the end of the turn, or the next call. `call` and
    `call_closers` tell a call that a value quotes. `ends` are literals that may end any value.
    """

    calls: ToolCalls
    parameter: Place
    item: Place
    forms: Mapping[str, ValueForm]
    value_closers: frozenset[str]
    turn_ends: frozenset[str]
    around: Scanner
    region_ends: frozenset[str]
    literals: frozenset[str]
    call: Place
    call_closers: frozenset[str]
    ends: frozenset[str]

    def written(self, wire_type: str, types: Types | None) -> tuple[ValueForm, Types]:
        """How a value is written, and which types it may have.

        `wire_type` is what the output says of it, `types` those that the tool's schema admits.
        """
        if self.forms:
            return self.forms.get(wire_type, ValueForm.RAW), TEXT
        arguments = self.calls.arguments
        if types is None:
            types = TEXT if arguments.untyped is Untyped.STRING else ANYTHING
        is_text = JsonType.STRING in types
        form = arguments.values.string if is_text else arguments.values.other
        if form is ValueForm.RAW and not is_text:
            return form, TEXT
        return (form if is_text else ValueForm.RAW), types

    def boundary(self, after: Place) -> Scanner:
        """Finds what may stand between parameters, when `after` is the place behind them."""
        own = frozenset(self.parameter.words) | frozenset(self.item.words)
        return scanner_of(own | self.value_closers | after.scanner.literals)


def compile_tagged(spec: FamilySpec, beyond: frozenset[str]) -> TaggedLayout:
    """Compile the templates of parameters and items, and what follows them."""
    calls = spec.tool_calls
    assert calls is not None, "a family with an encoding has calls"
    written = calls.arguments
    parameters, items = written.parameter or (), written.item or ()
    closers = words_after([*parameters, *items], Hole.VALUE)
    forms = _wire_forms(written)
    steps = [step for form in (*parameters, *items) for step in split_template(form)]
    words = [step for step in steps if not isinstance(step, Hole)]
    nested = not {ValueForm.MAPPING, ValueForm.LIST}.isdisjoint(forms.values())
    follow = openers(parameters) | openers(items) | words_after(calls.call or (), Hole.ARGUMENTS)
    follow |= closers if nested else frozenset()
    regions = () if spec.tag_style.tool_calls is None else spec.tag_style.tool_calls.pairs
    region_starts = frozenset(pair.start for pair in regions)
    region_ends = frozenset(pair.end for pair in regions if pair.end is not None)
    turn_ends = frozenset(spec.tokens.turn_end)
    of_calls = call_openers(calls) | call_closers(calls)
    return TaggedLayout(
        calls=calls,
        parameter=compile_template(parameters, follow=follow, beyond=beyond),
        item=compile_template(items, follow=follow, beyond=beyond),
        forms=forms,
        value_closers=closers,
        turn_ends=turn_ends,
        around=scanner_of(turn_ends | region_starts | region_ends | call_openers(calls)),
        region_ends=region_ends,
        call=compile_template(calls.call or (), starts=openers(parameters), beyond=beyond),
        call_closers=call_closers(calls),
        ends=turn_ends | region_ends | openers(parameters) | of_calls,
        literals=frozenset(word for word in words if any(map(str.isalnum, word))),
    )


def _wire_forms(written: Arguments) -> dict[str, ValueForm]:
    types = written.types
    if types is None:
        return {}
    forms = dict.fromkeys(types.string, ValueForm.RAW)
    forms |= dict.fromkeys(types.other, ValueForm.JSON)
    forms |= dict.fromkeys(types.mapping or (), ValueForm.MAPPING)
    return forms | dict.fromkeys(types.list or (), ValueForm.LIST)
