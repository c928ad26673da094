"""From a family and a request to the structural tag that holds the output to both."""

from __future__ import annotations

import marshal
from collections.abc import Iterator
from typing import Any

from tagsmith.errors import RequestError
from tagsmith.grammar.calls.forms import CallForms, call_forms, call_limits
from tagsmith.grammar.formats import (
    Format,
    blanks,
    either,
    exactly_one,
    optional,
    sequence,
    tag,
)
from tagsmith.grammar.schemas.guarded import guarded_json
from tagsmith.grammar.schemas.limits import Limitation
from tagsmith.grammar.schemas.ready import ready_document
from tagsmith.grammar.text import (
    answer_text,
    forbidden_in_documents,
    thoughts,
    wrapped,
)
from tagsmith.grammar.turns import is_padded
from tagsmith.request import JsonSchema, ReasoningMode, Request, ToolChoiceMode, Unenforceable
from tagsmith.spec.models import FamilySpec


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
    own: dict[str, Any] = marshal.loads(marshal.dumps(write_tag(spec, request)))
    return own


def write_tag(spec: FamilySpec, request: Request) -> dict[str, Any]:
    """The same, but that the arguments of calls are kept for other requests: to be copied.

    Raises:
        RequestError: as `build_structural_tag`.
    """
    if request.unenforceable is Unenforceable.ERROR:
        for field, limit in _limits(spec, request):
            raise RequestError(
                field, f'{limit}; change the schema, or say unenforceable="report" to go without'
            )
    return {"type": "structural_tag", "format": _turn(spec, request)}


def list_limitations(spec: FamilySpec, request: Request) -> tuple[str, ...]:
    """What the schemas of a request ask and its structural tag does not hold, one line each.

    >>> from tagsmith.request import read_request
    >>> unique = {"type": "array", "uniqueItems": True}
    >>> answer = {"type": "json_schema", "schema": unique}
    >>> request = read_request(response_format=answer, unenforceable="report")
    >>> list_limitations(FamilySpec(tagsmith=1, id="plain"), request)
    ('response_format: uniqueItems: the grammar cannot compare items',)
    """
    return tuple(f"{field}: {limit}" for field, limit in _limits(spec, request))


def _limits(spec: FamilySpec, request: Request) -> Iterator[tuple[str, Limitation | str]]:
    for name, limit in call_limits(spec, request):
        yield "tools", f"tool {name!r}: parameters.{limit}"
    if request.response_schema is not None and request.mode is not ToolChoiceMode.REQUIRED:
        for limit in ready_document(request.response_schema).limits:
            yield "response_format", limit


def _turn(spec: FamilySpec, request: Request) -> Format:
    """The whole of what the grammar sees: reasoning where it comes under it, then the rest."""
    calls = call_forms(spec, request)
    if request.reasoning in (ReasoningMode.GATED, ReasoningMode.DISABLED):
        return _answer(spec, request, calls)
    markers = spec.tag_style.reasoning
    if markers is None:
        if request.reasoning is ReasoningMode.ENABLED:
            raise RequestError(
                "reasoning", f"family {spec.id} has no reasoning region; say gated or disabled"
            )
        return _answer(spec, request, calls)
    end = markers.end or ""
    opened = sequence(tag("", thoughts(spec, end), end), blanks())
    answer = _answer(spec, request, calls)
    if request.reasoning is ReasoningMode.ENABLED:
        return sequence(opened, answer)
    return sequence(optional(sequence(blanks(), markers.start, opened)), answer)


def _answer(spec: FamilySpec, request: Request, calls: CallForms) -> Format:
    """Calls, an answer, or both, as the tool choice and the response format say."""
    if request.mode is ToolChoiceMode.REQUIRED:
        return calls.only(request)
    if request.response_schema is None:
        return answer_text(spec, request, calls)
    document = _document(spec, request.response_schema)
    answers = [one for pair in spec.tag_style.content for one in wrapped(spec, pair, document)]
    if answers and calls.tag is not None:
        return exactly_one([*answers, calls.tag])
    answer = exactly_one(answers) if answers else document
    if is_padded(spec):
        answer = sequence(blanks(), answer, blanks())
    return either([answer, calls.only(request)]) if request.tools else answer


def _document(spec: FamilySpec, schema: JsonSchema) -> Format:
    """One JSON document. No marker may stand in its strings: in content a marker is a marker."""
    return guarded_json(ready_document(schema).unfold(), forbidden_in_documents(spec))
