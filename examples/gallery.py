"""Prints docs/families.md: each built-in family, what it serves, its markers, and an output of it.

python examples/gallery.py > docs/families.md
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from policies import code, policies
from reference import values_at

import tagsmith
from tagsmith.authoring.golden import golden_cases
from tagsmith.spec.models import Citations, FamilySpec, MarkerPair, Markers, ToolCalls
from tagsmith.spec.policies import CallLayout

HEAD = """\
# The built-in families

Each is one YAML file in `families/`, with its golden cases beside it; the file says where its truth
comes from. The output shown is written from the file, without what ends the turn, and under it
stands the message that the family makes of it: a call is its id, its name and its arguments.

`python examples/gallery.py` makes this page."""

SHOWN = ("a-call-after-thinking", "one-call", "answer")
"""The case that a family's output is of: the first that it has."""


def gallery() -> str:
    """The whole page."""
    registry = tagsmith.load_registry()
    families = [registry.get(name) for name in sorted(registry.ids())]
    return "\n\n".join([HEAD, table(families), *map(section, families)]) + "\n"


def table(families: Iterable[tagsmith.Family]) -> str:
    """What each family serves."""
    lines = ["| family | architectures and models |", "|---|---|"]
    for family in families:
        match = family.spec.match
        serves = ", ".join(map(code, (*match.architectures, *match.models)))
        anchor = family.id.replace(".", "")
        lines.append(f"| [{family.id}](#{anchor}) | {serves or 'by its id alone'} |")
    return "\n".join(lines)


def section(family: tagsmith.Family) -> str:
    """One family's part of the page."""
    spec = family.spec
    case = shown_case(family)
    text = shown_text(spec, case)
    message = family.parse(text, tools=case.get("tools"))
    parts = [f"## {spec.id}", title(spec), "\n".join(f"- {fact}" for fact in facts(spec))]
    return "\n\n".join([*parts, block(text), block("\n".join(lines_of(message)))])


def shown_case(family: tagsmith.Family) -> dict[str, Any]:
    """The output of a family that the page shows, as a golden case."""
    cases = {case["id"]: case for case in golden_cases(family)}
    return next(cases[name] for name in SHOWN if name in cases)


def shown_text(spec: FamilySpec, case: Mapping[str, Any]) -> str:
    """The output of a case without what ends the turn: servers take it away."""
    end = spec.tokens.turn_end[0] if spec.tokens.turn_end else ""
    return str(case["text"]).removesuffix(end)


def title(spec: FamilySpec) -> str:
    """What people call the family, and what it is made from."""
    extends = (
        f", extends [{spec.extends}](#{spec.extends.replace('.', '')})" if spec.extends else ""
    )
    return f"{spec.title or spec.id}{extends}."


def facts(spec: FamilySpec) -> Iterator[str]:
    """The markers and the layout."""
    yield f"before any marker: {spec.initial_region}"
    style = spec.tag_style
    if style.reasoning is not None:
        yield f"reasoning: {spellings(style.reasoning)}"
    yield f"content: {pairs(*style.content) or 'without markers'}"
    if spec.tool_calls is not None:
        region = style.tool_calls
        where = "without markers" if region is None else spellings(region)
        yield f"tool calls: {where}; {layout(spec.tool_calls)}"
    if spec.citations is not None:
        yield f"citations: {citation(spec.citations)}"
    tokens = spec.tokens
    if tokens.turn_start:
        yield f"the turn begins: {', '.join(map(code, tokens.turn_start))}"
    if tokens.turn_end:
        yield f"the turn ends: {', '.join(map(code, tokens.turn_end))}"
    chosen = ", ".join(code(f"{path}: {value}") for path, value in choices(spec))
    if chosen:
        yield f"[policies](policies.md): {chosen}"
    if spec.melody is not None:
        yield f"preset of cohere-melody: {spec.melody.preset}"


def choices(spec: FamilySpec) -> Iterator[tuple[str, str]]:
    """The policies of a family that are not the default; where it begins has a line of its own."""
    said = spec.model_dump(mode="json")
    for policy in policies():
        if policy.path == "initial_region":
            continue
        for value in values_at(policy.path, said):
            if value != policy.default:
                yield policy.path, value


def layout(calls: ToolCalls) -> str:
    """How calls are written."""
    if calls.layout is not CallLayout.TEMPLATE:
        return f"layout {calls.layout}"
    return f"layout {calls.layout}, arguments {calls.arguments.encoding}"


def citation(citations: Citations) -> str:
    """The markup of citations."""
    return f"{code(citations.markup.open)} … {code(citations.markup.close)}"


def spellings(markers: Markers) -> str:
    """The markers of a region, with those that are read and never written."""
    others = pairs(*markers.also)
    return pairs(markers) + (f", also {others}" if others else "")


def pairs(*found: MarkerPair) -> str:
    """Pairs of markers; one without a closer is its opener alone."""
    return ", ".join(" … ".join(code(m) for m in (p.start, p.end) if m) for p in found)


def lines_of(message: tagsmith.Message) -> Iterator[str]:
    """A message, each part on a line."""
    if message.reasoning is not None:
        yield f"reasoning  {message.reasoning}"
    if message.content is not None:
        yield f"content    {message.content}"
    for call in message.tool_calls:
        yield f"tool call  {call.id}  {call.name}  {call.arguments}"


def block(text: str) -> str:
    """Text as a block; a fence in it is kept from ending the block."""
    fence = "````" if "```" in text else "```"
    return f"{fence}text\n{text.strip(chr(10))}\n{fence}"


if __name__ == "__main__":
    print(gallery(), end="")
