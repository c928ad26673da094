"""Messages in the shapes that clients read: Chat Completions and Cohere v2, not streamed."""

from __future__ import annotations

from typing import Any

from tagsmith.events import Citation, Target
from tagsmith.message import Message, ToolCall


def to_openai(message: Message) -> dict[str, Any]:
    """A Chat Completions assistant message; `reasoning_content` and `tool_calls` only where there
    are any, citations beside them as Cohere-compatible servers give them."""
    body: dict[str, Any] = {"role": "assistant", "content": message.content}
    if message.reasoning is not None:
        body["reasoning_content"] = message.reasoning
    if message.tool_calls:
        body["tool_calls"] = [_call(call) for call in message.tool_calls]
    if message.citations:
        body["citations"] = [_citation(citation) for citation in message.citations]
    return body


def to_cohere(message: Message) -> dict[str, Any]:
    """A Cohere v2 assistant message: content blocks, tool calls, citations."""
    body: dict[str, Any] = {"role": "assistant"}
    blocks: list[dict[str, str]] = []
    if message.reasoning is not None:
        blocks.append({"type": "thinking", "thinking": message.reasoning})
    if message.content is not None:
        blocks.append({"type": "text", "text": message.content})
    if blocks:
        body["content"] = blocks
    if message.tool_calls:
        body["tool_calls"] = [_call(call) for call in message.tool_calls]
    if message.citations:
        kinds = [block["type"] for block in blocks]
        body["citations"] = [
            {**_citation(citation), "content_index": kinds.index(_BLOCK[citation.target])}
            if _BLOCK[citation.target] in kinds
            else _citation(citation)
            for citation in message.citations
        ]
    return body


_BLOCK = {Target.CONTENT: "text", Target.REASONING: "thinking"}
_KIND = {Target.CONTENT: "TEXT_CONTENT", Target.REASONING: "THINKING_CONTENT"}


def _call(call: ToolCall) -> dict[str, Any]:
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": call.arguments},
    }


def _citation(citation: Citation) -> dict[str, Any]:
    return {
        "start": citation.start,
        "end": citation.end,
        "text": citation.text,
        "sources": [dict(source) for source in citation.sources],
        "type": _KIND[citation.target],
    }
