"""From a parser's events to vLLM's delta messages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from vllm.entrypoints.cohere.cohere_chat_message import (
    Citation,
    CitationSource,
    CohereDeltaMessage,
)
from vllm.entrypoints.generate.base.protocol import (
    DeltaFunctionCall,
    DeltaMessage,
    DeltaToolCall,
)
from vllm.renderers.chat_utils import make_tool_call_id

from tagsmith import events
from tagsmith.serving import CallIds

_KINDS = {
    events.Target.CONTENT: "TEXT_CONTENT",
    events.Target.REASONING: "THINKING_CONTENT",
}


def delta_message(step: Iterable[events.Event], ids: CallIds) -> DeltaMessage | None:
    """One delta message of all that a step told; None where it told nothing.

    Fragments of a text, and of a call's arguments, are joined. Citations make it the message of
    vLLM's Cohere API, which others can read as well.
    """
    texts: dict[str, list[str]] = {}
    calls: dict[int, DeltaToolCall] = {}
    citations = []
    for event in step:
        if isinstance(event, events.ContentDelta):
            texts.setdefault("content", []).append(event.text)
        elif isinstance(event, events.ReasoningDelta):
            texts.setdefault("reasoning", []).append(event.text)
        elif isinstance(event, events.ToolCallStart):
            calls[event.index] = DeltaToolCall(
                index=event.index,
                id=call_id(event.id, ids),
                type="function",
                function=DeltaFunctionCall(name=event.name, arguments=""),
            )
        elif isinstance(event, events.ToolCallDelta):
            _add_arguments(calls, event)
        elif isinstance(event, events.Citation):
            citations.append(citation(event))
    fields: dict[str, Any] = {name: "".join(parts) for name, parts in texts.items()}
    if calls:
        fields["tool_calls"] = list(calls.values())
    if citations:
        return CohereDeltaMessage(citations=citations, **fields)
    return DeltaMessage(**fields) if fields else None


def call_id(given: str, ids: CallIds) -> str:
    """The id that a client is told: the model's own, or one that no other call has."""
    return given if ids is CallIds.MODEL else str(make_tool_call_id())


def citation(event: events.Citation) -> Citation:
    """A citation in the shape that vLLM's Cohere API takes."""
    return Citation(
        start=event.start,
        end=event.end,
        text=event.text,
        sources=[CitationSource(**source) for source in event.sources],
        type=_KINDS[event.target],
    )


def _add_arguments(calls: dict[int, DeltaToolCall], event: events.ToolCallDelta) -> None:
    known = calls.get(event.index)
    if known is None:
        more = DeltaFunctionCall(arguments=event.arguments)
        calls[event.index] = DeltaToolCall(index=event.index, function=more)
    elif known.function is not None:
        known.function.arguments = (known.function.arguments or "") + event.arguments
