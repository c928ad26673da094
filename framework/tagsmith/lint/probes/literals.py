"""Every literal that a family reads, with where its file gives it and what it is for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from tagsmith.engine.templates import Hole, split_template
from tagsmith.loading.nodes import Path
from tagsmith.spec.models import FamilySpec, MarkerPair, ToolCalls


class Use(Enum):
    """What a literal is for."""

    REGION = auto()
    """Opens or closes a region, in the spelling that models write."""
    SPELLING = auto()
    """Another spelling of such a marker, which is read alone."""
    TURN_START = auto()
    TURN_END = auto()
    HIDDEN = auto()
    TEXT = auto()
    """Part of a call, of a value or of a citation."""


@dataclass(frozen=True, slots=True)
class Literal:
    """A literal and its place in the family's file."""

    text: str
    path: Path
    use: Use


def literals_of(spec: FamilySpec) -> Iterator[Literal]:
    """Every literal of a family; one that stands at several places comes for each."""
    tokens, style = spec.tokens, spec.tag_style
    for key, texts, use in (
        ("turn_start", tokens.turn_start, Use.TURN_START),
        ("turn_end", tokens.turn_end, Use.TURN_END),
        ("hidden", tokens.hidden, Use.HIDDEN),
    ):
        yield from (Literal(text, ["tokens", key, i], use) for i, text in enumerate(texts))
    for name, region in (("reasoning", style.reasoning), ("tool_calls", style.tool_calls)):
        if region is not None:
            yield from _pair(region, ["tag_style", name], Use.REGION)
            for number, pair in enumerate(region.also):
                yield from _pair(pair, ["tag_style", name, "also", number], Use.SPELLING)
    for number, pair in enumerate(style.content):
        yield from _pair(pair, ["tag_style", "content", number], Use.REGION)
    if spec.tool_calls is not None:
        yield from _call_literals(spec.tool_calls)
    if spec.citations is not None:
        markup = spec.citations.markup
        path = ["citations", "markup"]
        yield Literal(markup.open, [*path, "open"], Use.TEXT)
        yield from (Literal(part, [*path, "close"], Use.TEXT) for part in markup.close_parts)


def _pair(pair: MarkerPair, path: Path, use: Use) -> Iterator[Literal]:
    yield Literal(pair.start, [*path, "start"], use)
    if pair.end is not None:
        yield Literal(pair.end, [*path, "end"], use)


def _call_literals(calls: ToolCalls) -> Iterator[Literal]:
    arguments = calls.arguments
    for path, forms in (
        (["tool_calls", "call"], calls.call),
        (["tool_calls", "arguments", "parameter"], arguments.parameter),
        (["tool_calls", "arguments", "item"], arguments.item),
    ):
        yield from _form_literals(path, forms or ())
    if arguments.quote is not None:
        yield Literal(arguments.quote, ["tool_calls", "arguments", "quote"], Use.TEXT)


def _form_literals(path: Path, forms: Sequence[str]) -> Iterator[Literal]:
    for number, form in enumerate(forms):
        for step in split_template(form):
            if not isinstance(step, Hole):
                yield Literal(step, [*path, number], Use.TEXT)
