"""Messages in the Cohere v2 shape, not streamed, after the reference of `POST /v2/chat`."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from tagsmith.events import Citation, Target
from tagsmith.message import Message
from tagsmith.request.plain import named
from tagsmith.wire.cited_text import CitedText
from tagsmith.wire.finish import CallCount, cohere_finish_reason
from tagsmith.wire.options import OffsetUnit, ThoughtForm, Usage
from tagsmith.wire.parts import calls_fields, citation_fields, cited_texts


def cohere_message(
    message: Message,
    *,
    thoughts: ThoughtForm | str = ThoughtForm.THINKING,
    units: OffsetUnit | str = OffsetUnit.CODE_POINTS,
) -> dict[str, Any]:
    """An assistant message: content blocks, tool plan, tool calls and citations, if any.

    Args:
        message: What the model said.
        thoughts: How reasoning is told. As a tool plan it is one only where calls follow; an
            answer without calls shows it in a thinking block.
        units: What the offsets of citations count, from the start of their block.

    Raises `RequestError` for an option's unknown value.

    >>> cohere_message(Message(reasoning="hm", content="Hi"))["content"]
    [{'type': 'thinking', 'thinking': 'hm'}, {'type': 'text', 'text': 'Hi'}]
    """
    thoughts = named(ThoughtForm, thoughts, "thoughts")
    texts = cited_texts(named(OffsetUnit, units, "units"))
    body: dict[str, Any] = {"role": "assistant"}
    blocks: list[dict[str, str]] = []
    if message.reasoning:
        if thoughts is ThoughtForm.TOOL_PLAN and message.tool_calls:
            body["tool_plan"] = message.reasoning
        else:
            texts[Target.REASONING].begin(len(blocks))
            blocks.append({"type": "thinking", "thinking": message.reasoning})
        texts[Target.REASONING].add(message.reasoning)
    if message.content:
        texts[Target.CONTENT].begin(len(blocks))
        texts[Target.CONTENT].add(message.content)
        blocks.append({"type": "text", "text": message.content})
    if blocks:
        body["content"] = blocks
    if message.tool_calls:
        body["tool_calls"] = calls_fields(message.tool_calls)
    citations = [
        cited
        for citation in message.citations
        for cited in cohere_citations(citation, texts[citation.target], thoughts)
    ]
    return {**body, "citations": citations} if citations else body


def cohere_response(
    message: Message,
    *,
    id: str | None,  # noqa: A002
    usage: Usage | None = None,
    thoughts: ThoughtForm | str = ThoughtForm.THINKING,
    units: OffsetUnit | str = OffsetUnit.CODE_POINTS,
) -> dict[str, Any]:
    """A whole answer: the message, why it ended, and its usage where that is known.

    Args:
        message: What the model said.
        id: The answer's; where there is none, one is made.
        usage: Tokens; without it the answer does not say.
        thoughts: How reasoning is told; see `cohere_message`.
        units: What the offsets of citations count.

    Raises `RequestError` for an option's unknown value.

    >>> cohere_response(Message(content="Hi", finish_reason="length"), id="a")["finish_reason"]
    'MAX_TOKENS'
    """
    body = {
        "id": id or f"chat_{uuid4().hex}",
        "finish_reason": cohere_finish_reason(
            message.finish_reason, CallCount.of(message.tool_calls), stop=message.stop
        ),
        "message": cohere_message(message, thoughts=thoughts, units=units),
    }
    return body if usage is None else {**body, "usage": cohere_usage(usage)}


def cohere_citations(
    citation: Citation, text: CitedText, thoughts: ThoughtForm
) -> list[dict[str, Any]]:
    """A citation as Cohere v2 writes it: none without a source, one for each block it stands in.

    Args:
        citation: As the parser gives it.
        text: The text it belongs to, up to the citation's end at least.
        thoughts: Under `tool-plan`, what is cited in reasoning is cited in the plan.
    """
    cited = []
    for place in text.places(citation):
        fields = citation_fields(citation, place)
        if not fields["sources"]:
            continue
        if place.block is not None:
            fields["content_index"] = place.block
        if citation.target is Target.REASONING and thoughts is ThoughtForm.TOOL_PLAN:
            fields["type"] = "PLAN"
        cited.append(fields)
    return cited


def cohere_usage(usage: Usage) -> dict[str, Any]:
    """The `usage` object of an answer and of a stream's end.

    >>> cohere_usage(Usage(5, 2))["tokens"]
    {'input_tokens': 5, 'output_tokens': 2}
    """
    counts: dict[str, Any] = {
        name: {"input_tokens": usage.prompt_tokens, "output_tokens": usage.completion_tokens}
        for name in ("billed_units", "tokens")
    }
    if usage.cached_tokens is not None:
        counts["cached_tokens"] = usage.cached_tokens
    return counts
