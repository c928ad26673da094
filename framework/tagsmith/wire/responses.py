"""Messages as items of OpenAI's Responses API (`POST /v1/responses`), not streamed."""

from __future__ import annotations

from typing import Any

from tagsmith.events import Target
from tagsmith.message import Message
from tagsmith.request.plain import named
from tagsmith.wire.finish import CallCount, chat_finish_reason
from tagsmith.wire.options import OffsetUnit, Usage
from tagsmith.wire.parts import citation_fields, cited_texts

Item = dict[str, Any]

CUT_REASONS = {
    "length": "max_output_tokens",
    "content_filter": "content_filter",
    "error": None,
}
"""The reasons that leave a response, and its last item, incomplete: what the API calls them."""


def response_items(
    message: Message,
    *,
    id: str,  # noqa: A002
    units: OffsetUnit | str = OffsetUnit.CODE_POINTS,
) -> list[Item]:
    """The output items of a message: reasoning, an assistant message, function calls, if any.

    A call that was cut off is incomplete; so is the last text of a response that was.
    Citations stand in `citations` of their text, with Cohere's keys: `annotations` has no kind
    for them.

    Args:
        message: What the model said.
        id: The response's; the items' are made of it.
        units: What the offsets of citations count, from the start of their text.

    Raises `RequestError` for an option's unknown value.

    >>> [item["type"] for item in response_items(Message(reasoning="hm", content="Hi"), id="a")]
    ['reasoning', 'message']
    """
    texts = cited_texts(named(OffsetUnit, units, "units"))
    reason = chat_finish_reason(message.finish_reason, CallCount.of(message.tool_calls))
    items: list[Item] = []
    taken: set[str] = set()
    for target, text in ((Target.REASONING, message.reasoning), (Target.CONTENT, message.content)):
        if not text:
            continue
        texts[target].add(text)
        citations = [
            citation_fields(citation, place)
            for citation in message.citations
            if citation.target is target
            for place in texts[target].places(citation)
        ]
        items.append(text_item(target, id, len(items)))
        fill_text(items[-1], text, citations, "completed")
    if items and not message.tool_calls and reason in CUT_REASONS:
        items[-1]["status"] = "incomplete"
    for call in message.tool_calls:
        status = "completed" if call.complete else "incomplete"
        item = call_item(call.id, call.name, id, len(items), taken)
        items.append({**item, "arguments": call.arguments, "status": status})
    return items


def response(
    message: Message,
    *,
    id: str,  # noqa: A002
    model: str,
    created: int,
    usage: Usage | None = None,
    units: OffsetUnit | str = OffsetUnit.CODE_POINTS,
) -> dict[str, Any]:
    """A whole response; it is incomplete where the output, or a call in it, was cut off.

    What it repeats of the request (`tools`, `tool_choice`, `instructions`, ...) has the API's
    defaults; a server that knows better replaces it.

    Args:
        message: What the model said.
        id: The response's.
        model: The name the client asked for.
        created: Seconds since 1970.
        usage: Tokens; without it, `usage` is None.
        units: What the offsets of citations count.

    Raises `RequestError` for an option's unknown value.

    >>> cut = Message(content="Hi", finish_reason="length")
    >>> response(cut, id="resp_1", model="m", created=0)["incomplete_details"]
    {'reason': 'max_output_tokens'}
    """
    reason = chat_finish_reason(message.finish_reason, CallCount.of(message.tool_calls))
    body = response_body(id, model, created, response_items(message, id=id, units=units))
    return end_response(body, reason, usage)


def response_body(id: str, model: str, created: int, output: list[Item]) -> dict[str, Any]:  # noqa: A002
    """A response in progress, with this output so far."""
    return {
        "id": id,
        "object": "response",
        "created_at": created,
        "status": "in_progress",
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "model": model,
        "output": output,
        "parallel_tool_calls": True,
        "temperature": None,
        "tool_choice": "auto",
        "tools": [],
        "top_p": None,
        "usage": None,
    }


def end_response(body: dict[str, Any], reason: str, usage: Usage | None) -> dict[str, Any]:
    """The response ended for this reason, a word of `chat_finish_reason`."""
    counts = None if usage is None else response_usage(usage)
    if reason == "error":
        error = {"code": "server_error", "message": "the generation failed"}
        return {**body, "status": "failed", "error": error, "usage": counts}
    if reason in CUT_REASONS:
        details = {"reason": CUT_REASONS[reason]}
        return {**body, "status": "incomplete", "incomplete_details": details, "usage": counts}
    return {**body, "status": "completed", "usage": counts}


def response_usage(usage: Usage) -> dict[str, Any]:
    """The `usage` object; what nobody counted is 0, for the API has no other way to say so.

    >>> response_usage(Usage(5, 2))["total_tokens"]
    7
    """
    return {
        "input_tokens": usage.prompt_tokens,
        "input_tokens_details": {
            "cached_tokens": usage.cached_tokens or 0,
            "cache_write_tokens": 0,
        },
        "output_tokens": usage.completion_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": usage.prompt_tokens + usage.completion_tokens,
    }


def text_item(target: Target, id: str, index: int) -> Item:  # noqa: A002
    """The item of this index of a response, for reasoning or content; no text in it yet."""
    if target is Target.REASONING:
        return {
            "id": f"rs_{id}_{index}",
            "type": "reasoning",
            "summary": [],
            "content": [],
            "status": "in_progress",
        }
    return {
        "id": f"msg_{id}_{index}",
        "type": "message",
        "role": "assistant",
        "content": [],
        "status": "in_progress",
    }


def text_part(item: Item, text: str) -> dict[str, Any]:
    """The one part of an item of text."""
    if item["type"] == "reasoning":
        return {"type": "reasoning_text", "text": text}
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def fill_text(item: Item, text: str, citations: list[dict[str, Any]], status: str) -> None:
    """The item is done: its text, and what is cited in it."""
    part = text_part(item, text)
    item["content"] = [{**part, "citations": citations} if citations else part]
    item["status"] = status


def call_item(call_id: str, name: str, id: str, index: int, taken: set[str]) -> Item:  # noqa: A002
    """The item of this index of a response, for a call; no arguments in it yet.

    The API tells calls apart by `call_id` alone: for one that is `taken`, another is made of the
    number of calls so far. What the call gets is added to those.
    """
    if call_id in taken:
        call_id = f"call_{id}_{len(taken)}"
    taken.add(call_id)
    return {
        "id": f"fc_{id}_{index}",
        "type": "function_call",
        "call_id": call_id,
        "name": name,
        "arguments": "",
        "status": "in_progress",
    }
