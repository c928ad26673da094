"""Read the body of a Cohere v2 chat request.

Source: the Cohere API reference, `POST /v2/chat`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tagsmith.errors import RequestError
from tagsmith.render import Switch
from tagsmith.request import Strictness
from tagsmith.serve.fields import Fields, given
from tagsmith.serve.generation import Generation
from tagsmith.serve.read_shared import read_citations, read_messages, read_model
from tagsmith.serve.settings import Limits

TAKEN = [
    "model",
    "messages",
    "tools",
    "tool_choice",
    "strict_tools",
    "response_format",
    "documents",
    "citation_options",
    "safety_mode",
    "stop_sequences",
    "stream",
    "temperature",
    "p",
    "k",
    "seed",
    "frequency_penalty",
    "presence_penalty",
    "max_tokens",
    "thinking",
]
"""Fields that are served."""

IGNORED = ["priority"]
"""Fields that change nothing about the answer."""

REFUSED: dict[str, tuple[Any, ...]] = {"logprobs": (False,), "raw_prompting": (False,)}
"""Fields whose neglect would change the answer, each with the values that ask for nothing."""

NAMES = {
    "stop": "stop_sequences",
    "reasoning": "thinking",
    "citations": "citation_options",
    "prompt": "messages",
    "top_p": "p",
    "top_k": "k",
}
"""What this API calls fields by, where it differs."""

_SAFETY_MODES = ("CONTEXTUAL", "STRICT", "OFF")
_THINKING = {"enabled": Switch.ENABLED, "disabled": Switch.DISABLED}
_MAX_SEED = (1 << 64) - 1


def read_cohere(body: Mapping[str, Any], _: Limits) -> Generation:
    """What a Cohere v2 chat request asks for. None of the limits is one of its fields.

    Raises:
        RequestError: a field is wrong, unknown, or not supported; the error names it.

    >>> body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "p": 0.5}
    >>> read_cohere(body, Limits()).sampling
    {'top_p': 0.5}
    """
    fields = Fields(body)
    fields.refuse(REFUSED, [*TAKEN, *IGNORED])
    model = read_model(fields)
    strict = fields.flag("strict_tools") is True
    response_format = fields.value("response_format")
    held = {"tools"} if strict else set()
    return Generation(
        model=model,
        messages=read_messages(fields),
        tools=fields.listed("tools"),
        tool_choice=fields.text("tool_choice", ("REQUIRED", "NONE")),
        response_format=response_format,
        documents=fields.listed("documents"),
        stop=tuple(fields.listed("stop_sequences") or ()),
        sampling=_read_sampling(fields),
        max_tokens=fields.whole("max_tokens", 1),
        stream=fields.flag("stream") is True,
        include_usage=True,
        reasoning=_read_thinking(fields),
        citations=read_citations(fields),
        safety_mode=fields.text("safety_mode", _SAFETY_MODES),
        strict_tools=Strictness.ALL if strict else Strictness.PER_TOOL,
        # This API promises that JSON keeps to its schema.
        held=frozenset(held | ({"response_format"} if response_format is not None else set())),
    )


def _read_sampling(fields: Fields) -> dict[str, Any]:
    return given(
        temperature=fields.number("temperature", 0, 2),
        top_p=fields.number("p", 0, 1),
        top_k=fields.whole("k", 0, 500),
        seed=fields.whole("seed", 0, _MAX_SEED),
        frequency_penalty=fields.number("frequency_penalty", 0, 2),
        presence_penalty=fields.number("presence_penalty", 0, 2),
    )


def _read_thinking(fields: Fields) -> Switch:
    if "thinking" not in fields:
        return Switch.AUTO
    thinking = fields.inner("thinking")
    thinking.refuse({"token_budget": ()}, ["type"])
    kind = thinking.text("type", _THINKING)
    if kind is None:
        raise RequestError("thinking", "has no type; allowed: enabled, disabled")
    return _THINKING[kind]
