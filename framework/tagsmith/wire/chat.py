"""Messages in the Chat Completions shape, not streamed.

The shape is that of OpenAI's API reference, `POST /v1/chat/completions`. What it has no place for
stands beside it under the keys that servers use: reasoning, and citations with Cohere's own keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tagsmith.events import Target
from tagsmith.message import Message
from tagsmith.request.plain import named
from tagsmith.wire.finish import CallCount, chat_finish_reason
from tagsmith.wire.options import OffsetUnit, ReasoningField, Usage
from tagsmith.wire.parts import calls_fields, citation_fields, cited_texts


def chat_message(
    message: Message,
    *,
    reasoning_field: ReasoningField | str = ReasoningField.REASONING_CONTENT,
    units: OffsetUnit | str = OffsetUnit.CODE_POINTS,
) -> dict[str, Any]:
    """An assistant message; its content is None where there is none.

    Reasoning, `tool_calls` and `citations` are there only where there are any.

    Args:
        message: What the model said.
        reasoning_field: The key for reasoning.
        units: What the offsets of citations count, from the start of the content or reasoning.

    Raises `RequestError` for an option's unknown value.

    >>> chat_message(Message(reasoning="hm", content="Hi"), reasoning_field="reasoning")
    {'role': 'assistant', 'content': 'Hi', 'reasoning': 'hm'}
    """
    reasoning_key = named(ReasoningField, reasoning_field, "reasoning_field").value
    texts = cited_texts(named(OffsetUnit, units, "units"))
    texts[Target.CONTENT].add(message.content or "")
    texts[Target.REASONING].add(message.reasoning or "")
    body: dict[str, Any] = {"role": "assistant", "content": message.content}
    if message.reasoning:
        body[reasoning_key] = message.reasoning
    if message.tool_calls:
        body["tool_calls"] = calls_fields(message.tool_calls)
    if message.citations:
        body["citations"] = [
            citation_fields(citation, place)
            for citation in message.citations
            for place in texts[citation.target].places(citation)
        ]
    return body


def chat_completion(
    messages: Sequence[Message],
    *,
    id: str,  # noqa: A002
    model: str,
    created: int,
    usage: Usage | None = None,
    reasoning_field: ReasoningField | str = ReasoningField.REASONING_CONTENT,
    units: OffsetUnit | str = OffsetUnit.CODE_POINTS,
) -> dict[str, Any]:
    """A whole answer, one choice for each message.

    Beside what `chat_message` gives, the API's message has a `refusal`, here always null.

    Args:
        messages: The choices, in order of their index.
        id: The answer's.
        model: The name the client asked for.
        created: Seconds since 1970.
        usage: Tokens of all choices together; without it the answer does not say.
        reasoning_field: The key for reasoning.
        units: What the offsets of citations count.

    Raises `RequestError` for an option's unknown value.

    >>> done = Message(content="Hi", finish_reason="stop")
    >>> chat_completion([done], id="chatcmpl-1", model="m", created=0)["choices"][0]["index"]
    0
    """
    choices = [
        {
            "index": index,
            "message": {
                **chat_message(message, reasoning_field=reasoning_field, units=units),
                "refusal": None,
            },
            "logprobs": None,
            "finish_reason": chat_finish_reason(
                message.finish_reason, CallCount.of(message.tool_calls)
            ),
        }
        for index, message in enumerate(messages)
    ]
    body = {
        "id": id,
        "object": "chat.completion",
        "created": created,
        "model": model,
        "choices": choices,
    }
    return body if usage is None else {**body, "usage": chat_usage(usage)}


def chat_usage(usage: Usage) -> dict[str, Any]:
    """The `usage` object of a completion and of a stream's last chunk.

    >>> chat_usage(Usage(5, 2))
    {'prompt_tokens': 5, 'completion_tokens': 2, 'total_tokens': 7}
    """
    counts: dict[str, Any] = {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.prompt_tokens + usage.completion_tokens,
    }
    if usage.cached_tokens is not None:
        counts["prompt_tokens_details"] = {"cached_tokens": usage.cached_tokens}
    return counts
