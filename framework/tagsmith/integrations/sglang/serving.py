"""The hooks into SGLang's handlers of requests. Each is for a served pair alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sglang.srt.function_call.function_call_parser import FunctionCallParser
from sglang.srt.parser.reasoning_parser import ReasoningParser

from tagsmith.errors import TagsmithError
from tagsmith.family import Family
from tagsmith.integrations.prompts import end_of_prompt
from tagsmith.integrations.sglang.output import OutputAdapter
from tagsmith.integrations.sglang.requests import (
    Plan,
    read_choice,
    read_tools,
    reasoning_of,
    with_tags_elsewhere,
)
from tagsmith.request import ReasoningMode
from tagsmith.tokenizers import marker_ids

_KEPT = "_tagsmith_output"
"""Where a handler keeps its output adapter."""
_CONSTRAINT = "tagsmith"
"""How a plan goes by the name of a constraint, from the prompt to the sampling parameters."""


def pair_up(_: None, handler: Any, *args: Any, **options: Any) -> None:
    """After a handler was made: find the family, or fail, so that the server does not start.

    Raises:
        ValueError: the parsers do not go together, or there is no family for the model.
    """
    named = [
        (FunctionCallParser.ToolCallParserEnum, "--tool-call-parser", handler.tool_call_parser),
        (ReasoningParser.DetectorMap, "--reasoning-parser", handler.reasoning_parser),
    ]
    given = [
        (getattr(kinds.get(name), "adapter", None), f"{option} {name}")
        for kinds, option, name in named
        if name
    ]
    adapter = next((adapter for adapter, _ in given if adapter), None)
    if adapter is None:
        return
    if any(other != adapter for other, _ in given):
        told = " and ".join(told for _, told in given)
        raise ValueError(f"{told} cannot be combined; name the same one of Tagsmith's for both")
    manager = handler.tokenizer_manager
    architectures = getattr(manager.model_config.hf_config, "architectures", None) or ()
    family = adapter.family(manager.tokenizer, architectures, manager.model_path)
    try:
        setattr(handler, _KEPT, OutputAdapter(family, handler))
    except TagsmithError as error:
        raise ValueError(f"{adapter.name}: {error}") from error


def output_adapter(original: Callable[..., Any], handler: Any) -> Any:
    """Around `_encoding_output`: what reads the outputs of this handler."""
    return getattr(handler, _KEPT, None) or original(handler)


def process_messages(
    original: Callable[..., Any], handler: Any, request: Any, *args: Any, **options: Any
) -> Any:
    """Around `_process_messages`: once the prompt is there, plan the rest of the request.

    Raises:
        ValueError: the request is wrong.
    """
    kept: OutputAdapter | None = getattr(handler, _KEPT, None)
    if kept is None:
        return original(handler, request, *args, **options)
    request.skip_special_tokens = False
    with with_tags_elsewhere():
        result = original(handler, request, *args, **options)
    try:
        kept.check(request)
        plan = _plan(kept.family, handler, request, result)
        result.stop = plan.engine_stops(result.stop, request.stop)
    except TagsmithError as error:
        raise ValueError(str(error)) from error
    result.tool_call_constraint = (_CONSTRAINT, plan)
    result.skip_special_tokens = False
    result.require_reasoning = plan.mode is ReasoningMode.ENABLED
    return result


def to_sampling_params(
    original: Callable[..., Any], request: Any, *args: Any, **options: Any
) -> Any:
    """Around `to_sampling_params` of a request: carry out its plan.

    Raises:
        ValueError: the request is wrong, or asks for what no grammar holds.
    """
    constraint = options.get("tool_call_constraint")
    if constraint is None or constraint[0] != _CONSTRAINT:
        return original(request, *args, **options)
    params = original(request, *args, **{**options, "tool_call_constraint": None})
    try:
        constraint[1].apply(request, params)
    except TagsmithError as error:
        raise ValueError(str(error)) from error
    return params


def _plan(family: Family, handler: Any, request: Any, result: Any) -> Plan:
    may_call = handler._tool_call_parsing_active(request)
    tokenizer = handler.tokenizer_manager.tokenizer
    prompt = result.prompt_ids or result.prompt
    if not isinstance(prompt, str):
        prompt = end_of_prompt(tokenizer, prompt, family.serving.turn_start)
    return Plan(
        family=family,
        prompt=prompt,
        tools=read_tools(handler._effective_tools(request)) if may_call else None,
        tool_choice=read_choice(request.tool_choice) if may_call else "none",
        parallel_tool_calls=request.parallel_tool_calls,
        mode=reasoning_of(family, prompt, request.chat_template_kwargs or {}),
        stop_ids=list(marker_ids(tokenizer, family.serving.stop_tokens)),
        backend=handler.tokenizer_manager.config_value("grammar_backend"),
    )
