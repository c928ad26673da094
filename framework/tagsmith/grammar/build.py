"""From a family and a request to the structural tag that holds the output to both."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tagsmith.errors import RequestError
from tagsmith.grammar.calls import calls_tag
from tagsmith.grammar.formats import (
    SPACE,
    Format,
    any_text,
    either,
    exactly_one,
    free_text,
    json_schema,
    optional,
    regex,
    sequence,
    tag,
)
from tagsmith.grammar.limits import Limitation
from tagsmith.grammar.schemas import ready_document, ready_parameters
from tagsmith.request import JsonSchema, ReasoningMode, Request, ToolChoiceMode, Unenforceable
from tagsmith.spec.models import FamilySpec, MarkerPair
from tagsmith.spec.policies import Container


def build_structural_tag(spec: FamilySpec, request: Request) -> dict[str, Any]:
    """Build the structural tag of a request in a family's own format.

    The tag is plain JSON, shares nothing with the request, and is built without xgrammar.

    Args:
        spec: The family.
        request: What the output must keep to, from `read_request`.

    Raises:
        RequestError: the family has no way to write what is asked, or a schema asks what no
            grammar holds while `unenforceable` is `error`.

    >>> from tagsmith.request import read_request
    >>> tag = build_structural_tag(FamilySpec(tagsmith=1, id="plain"), read_request())
    >>> tag["format"]["type"]
    'any_text'
    """
    if request.unenforceable is Unenforceable.ERROR:
        for field, limit in _limits(request):
            raise RequestError(
                field, f'{limit}; change the schema, or say unenforceable="report" to go without'
            )
    return {"type": "structural_tag", "format": _turn(spec, request)}


def list_limitations(request: Request) -> tuple[str, ...]:
    """What the schemas of a request ask and its structural tag does not hold, one line each.

    >>> from tagsmith.request import read_request
    >>> unique = {"type": "array", "uniqueItems": True}
    >>> answer = {"type": "json_schema", "schema": unique}
    >>> list_limitations(read_request(response_format=answer, unenforceable="report"))
    ('response_format: uniqueItems: the grammar cannot compare items',)
    """
    return tuple(f"{field}: {limit}" for field, limit in _limits(request))


def _limits(request: Request) -> Iterator[tuple[str, Limitation | str]]:
    for tool in request.tools:
        if tool.strict and tool.parameters is not None:
            for limit in ready_parameters(tool.parameters).limits:
                yield "tools", f"tool {tool.name!r}: parameters.{limit}"
    if request.response_schema is not None and request.mode is not ToolChoiceMode.REQUIRED:
        for limit in ready_document(request.response_schema).limits:
            yield "response_format", limit


def _turn(spec: FamilySpec, request: Request) -> Format:
    """The whole of what the grammar sees: reasoning where it comes under it, then the rest."""
    rest = _answer(spec, request)
    markers = spec.tag_style.reasoning
    if request.reasoning in (ReasoningMode.GATED, ReasoningMode.DISABLED):
        return rest
    if markers is None:
        if request.reasoning is ReasoningMode.ENABLED:
            raise RequestError(
                "reasoning", f"family {spec.id} has no reasoning region; say gated or disabled"
            )
        return rest
    end = markers.end or ""
    thoughts = any_text(_all_markers(spec, but=end))
    if request.reasoning is ReasoningMode.ENABLED:
        return sequence(tag("", thoughts, end), regex(SPACE), rest)
    block = sequence(tag(markers.start, thoughts, end), regex(SPACE))
    return sequence(optional(block), rest)


def _answer(spec: FamilySpec, request: Request) -> Format:
    """Calls, an answer, or both, as the tool choice and the response format say."""
    calls = [calls_tag(spec, request)] if request.tools else []
    if request.mode is ToolChoiceMode.REQUIRED:
        return _calls_only(spec, request, calls[0])
    if request.response_schema is None:
        return _free_answer(spec, request, calls)
    schema = request.response_schema
    wrapped = [
        tag(pair.start, _document(spec, schema), pair.end or "") for pair in spec.tag_style.content
    ]
    if wrapped and not (calls and _one_call_a_region(spec)):
        return exactly_one([*wrapped, *calls])
    answer = exactly_one(wrapped) if wrapped else _document(spec, schema)
    return either([answer, *(_calls_only(spec, request, region) for region in calls)])


def _calls_only(spec: FamilySpec, request: Request, calls: Format) -> Format:
    if _one_call_a_region(spec) and request.parallel_tool_calls:
        return {"type": "plus", "content": calls}
    return exactly_one([calls])


def _one_call_a_region(spec: FamilySpec) -> bool:
    return spec.tool_calls is not None and spec.tool_calls.container is Container.OBJECT


def _free_answer(spec: FamilySpec, request: Request, calls: list[Format]) -> Format:
    """Text, bare or in the family's wrappers, and calls where there are tools.

    Wherever the wrappers' markers stand in text, the parser reads content; no other marker may.
    """
    wrappers = [text for pair in spec.tag_style.content for text in _literals(pair)]
    stray = [text for text in _all_markers(spec) if text not in wrappers]
    if calls and request.parallel_tool_calls:
        return free_text(calls, stray)
    return sequence(any_text(stray), optional(calls[0])) if calls else any_text(stray)


def _document(spec: FamilySpec, schema: JsonSchema) -> Format:
    """One JSON document. No marker may stand in its strings: in content a marker is a marker.

    xgrammar gives up lengths where it excludes text, and names that hold it; the schema goes
    first.
    """
    ready = ready_document(schema)
    value = ready.unfold()
    forbidden = [*_all_markers(spec), *spec.tokens.hidden, *_citation_markup(spec)]
    spelled = repr(value)
    if ready.has_lengths or any(text in spelled for text in forbidden):
        forbidden = []
    return json_schema(value, forbidden)


def _citation_markup(spec: FamilySpec) -> list[str]:
    if spec.citations is None:
        return []
    markup = spec.citations.markup
    return [markup.open, markup.close_parts[0]]


def _all_markers(spec: FamilySpec, but: str = "") -> list[str]:
    """Every marker of the family's regions, without those that one literal holds."""
    style = spec.tag_style
    pairs = [*style.content]
    for markers in (style.reasoning, style.tool_calls):
        pairs += [] if markers is None else markers.pairs
    literals = [text for pair in pairs for text in _literals(pair)]
    return [text for text in dict.fromkeys(literals) if text not in but]


def _literals(pair: MarkerPair) -> list[str]:
    return [pair.start] if pair.end is None else [pair.start, pair.end]
