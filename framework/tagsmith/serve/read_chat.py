"""Read the body of a Chat Completions request.

Source: the OpenAI API reference, `POST /v1/chat/completions`, and the fields that vLLM and SGLang
add to it (`documents`, `chat_template_kwargs`, `top_k`, `min_p`, `repetition_penalty`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tagsmith.errors import RequestError
from tagsmith.guidance import strict_fields
from tagsmith.render.options import Switch, read_thinking_switch
from tagsmith.serve.fields import Fields, given
from tagsmith.serve.generation import Generation
from tagsmith.serve.read_shared import read_citations, read_messages, read_model
from tagsmith.serve.settings import Limits

TAKEN = [
    "model",
    "messages",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "response_format",
    "documents",
    "stop",
    "stream",
    "stream_options",
    "n",
    "temperature",
    "top_p",
    "top_k",
    "min_p",
    "seed",
    "frequency_penalty",
    "presence_penalty",
    "repetition_penalty",
    "logit_bias",
    "max_tokens",
    "max_completion_tokens",
    "reasoning_effort",
    "chat_template_kwargs",
    "citation_options",
]
"""Fields that are served."""

IGNORED = [
    "user",
    "metadata",
    "store",
    "service_tier",
    "safety_identifier",
    "prompt_cache_key",
    "prompt_cache_retention",
]
"""Fields that change nothing about the answer."""

REFUSED: dict[str, tuple[Any, ...]] = {
    "audio": (),
    "modalities": (["text"],),
    "functions": ([],),
    "function_call": ("none", "auto"),
    "logprobs": (False,),
    "top_logprobs": (0,),
    "prediction": (),
    "web_search_options": (),
    "verbosity": (),
    "moderation": (),
    "best_of": (1,),
    "echo": (False,),
    "add_generation_prompt": (True,),
    "continue_final_message": (False,),
}
"""Fields whose neglect would change the answer, each with the values that ask for nothing."""

NAMES = {"prompt": "messages", "template_fields": "chat_template_kwargs"}
"""What this API calls fields by, where it differs."""

_EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
_RESERVED = {"messages", "tools", "documents", "add_generation_prompt", "continue_final_message"}
_INT64 = 1 << 63


def read_chat(body: Mapping[str, Any], limits: Limits) -> Generation:
    """What a Chat Completions request asks for.

    Raises:
        RequestError: a field is wrong, unknown, or not supported; the error names it.

    >>> body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "n": 2}
    >>> read_chat(body, Limits()).choices
    2
    """
    fields = Fields(body)
    fields.refuse(REFUSED, [*TAKEN, *IGNORED])
    model = read_model(fields)
    stream = fields.flag("stream") is True
    tools, response_format = fields.listed("tools"), fields.value("response_format")
    extra = fields.mapping("chat_template_kwargs") or {}
    fields.inner("chat_template_kwargs").refuse(dict.fromkeys(_RESERVED, ()), extra)
    effort = fields.text("reasoning_effort", _EFFORTS)
    return Generation(
        model=model,
        messages=read_messages(fields),
        tools=tools,
        tool_choice=fields.value("tool_choice"),
        parallel_tool_calls=fields.flag("parallel_tool_calls"),
        response_format=response_format,
        documents=fields.listed("documents"),
        stop=_read_stop(fields),
        sampling=_read_sampling(fields, limits),
        max_tokens=_read_limit(fields),
        stream=stream,
        include_usage=_read_stream_options(fields) and stream,
        reasoning=_read_reasoning(effort, extra),
        citations=read_citations(fields),
        held=strict_fields(tools, response_format),
        template_fields={**given(reasoning_effort=effort), **extra},
    )


def _read_limit(fields: Fields) -> int | None:
    older, newer = (fields.whole(name, 1) for name in ("max_tokens", "max_completion_tokens"))
    return older if newer is None else newer


def _read_stream_options(fields: Fields) -> bool:
    """Whether usage is asked for. Padding against those who measure frames is never sent."""
    options = fields.inner("stream_options")
    refused = {"continuous_usage_stats": (False,)}
    options.refuse(refused, ["include_usage", "include_obfuscation"])
    return options.flag("include_usage") is True


def _read_stop(fields: Fields) -> tuple[str, ...]:
    if isinstance(fields.value("stop"), str):
        return (fields.value("stop"),)
    return tuple(fields.listed("stop") or ())


def _read_sampling(fields: Fields, limits: Limits) -> dict[str, Any]:
    return given(
        temperature=fields.number("temperature", 0, 2),
        top_p=fields.number("top_p", 0, 1),
        # Servers say "all tokens" by 0 or by -1.
        top_k=None if (top_k := fields.whole("top_k", -1)) is None else max(top_k, 0),
        min_p=fields.number("min_p", 0, 1),
        seed=fields.whole("seed", -_INT64, _INT64 - 1),
        frequency_penalty=fields.number("frequency_penalty", -2, 2),
        presence_penalty=fields.number("presence_penalty", -2, 2),
        repetition_penalty=fields.number("repetition_penalty", 0.01, 10),
        logit_bias=_read_bias(fields.mapping("logit_bias")),
        n=fields.whole("n", 1, limits.max_choices),
    )


def _read_bias(bias: dict[str, Any] | None) -> dict[str, Any] | None:
    for token, value in (bias or {}).items():
        if not (token.isascii() and token.isdigit()):
            raise RequestError("logit_bias", "must have token ids as keys")
        Fields({"logit_bias": value}).number("logit_bias", -100, 100)
    return bias


def _read_reasoning(effort: str | None, extra: Mapping[str, Any]) -> Switch:
    told = read_thinking_switch(extra)
    if told is not None:
        return told
    if effort is None:
        return Switch.AUTO
    return Switch.DISABLED if effort == "none" else Switch.ENABLED
