"""What a request of vLLM's asks, and how it is changed so that the engine gives it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

import vllm.envs as envs
from openai.types.responses import ToolChoiceCustom
from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
from vllm.entrypoints.openai.responses.protocol import ResponsesRequest
from vllm.exceptions import VLLMValidationError
from vllm.sampling_params import SamplingParams, StructuredOutputsParams
from vllm.tool_parsers.tool_strict_level import ToolStrictLevel
from vllm.tool_parsers.utils import get_function_tools

from tagsmith.errors import RequestError
from tagsmith.family import Family
from tagsmith.guidance import (
    Asked,
    Unenforced,
    fields_asked,
    guiding_tag,
    strict_fields,
)
from tagsmith.integrations.stops import may_stop_engine
from tagsmith.render.options import Switch, read_thinking_switch
from tagsmith.request import ReasoningMode, Strictness
from tagsmith.request.plain import from_json, plain
from tagsmith.serving import Serving

Served: TypeAlias = ChatCompletionRequest | ResponsesRequest

_STOP = "tagsmith_stop"
"""Where a request keeps the stop strings that the engine no longer sees."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """What a parser knows of a request besides the request itself.

    `facts` are those of the family. `prompt` is the end of the prompt as text, None where vLLM did
    not tell it. `template_fields` are the variables of the chat template. `strict_level` is the
    operator's floor, `may_call` whether a tool parser is named.
    """

    family: Family
    facts: Serving
    prompt: str | None
    template_fields: Mapping[str, Any]
    strict_level: ToolStrictLevel | None
    may_call: bool


def parser_options(request: Served, told: Conversation) -> dict[str, Any]:
    """What `Family.parser` is to know of a request, but for the tokenizer."""
    tools = _tools(request)
    options: dict[str, Any] = {
        "tools": tools,
        "tool_choice": _choice(request) if tools and told.may_call else "none",
        "prompt": told.prompt,
        "stop": stop_strings(request),
    }
    key = told.facts.source_map_key
    if key is None:
        return options
    ready = told.template_fields.get(key)
    if isinstance(ready, Mapping):
        options["source_map"] = {position: plain(source) for position, source in ready.items()}
    else:
        # vLLM's own field takes documents of strings alone; the template takes any.
        documents = told.template_fields.get("documents")
        if isinstance(request, ChatCompletionRequest):
            options["messages"] = request.messages
            documents = documents or request.documents
        options["documents"] = documents
    return options


class _Kept(tuple[str, ...]):
    """Stop strings that a request keeps; of a type that no client can send."""


def stop_strings(request: Served) -> Sequence[str]:
    """The user's stop strings, also where they were taken from the engine."""
    kept = (request.model_extra or {}).get(_STOP)
    if isinstance(kept, _Kept):
        return kept
    return (request.stop,) if isinstance(request.stop, str) else tuple(request.stop or ())


def adjust(request: Served, told: Conversation, stop_ids: Sequence[int]) -> Served:
    """Change a request so that the parser sees what it needs, and the engine holds what is asked.

    Raises:
        RequestError: the request asks for what no grammar holds, or a field of it is wrong.
    """
    request.skip_special_tokens = False
    request.spaces_between_special_tokens = False
    if not request.ignore_eos:
        request.stop_token_ids = list(dict.fromkeys([*(request.stop_token_ids or ()), *stop_ids]))
    _take_stop_strings(request, told)
    own = request.extract_structured_outputs()
    if own is None or own.structural_tag is None:
        _constrain(request, told, own)
    return request


def refusal(error: RequestError, request: Served) -> VLLMValidationError:
    """The same as vLLM's own error, with the parameter named as this API names it."""
    names = {"source_map": "chat_template_kwargs"}
    if request.structured_outputs is not None:
        names["response_format"] = "structured_outputs"
    elif isinstance(request, ResponsesRequest):
        names["response_format"] = "text.format"
    parameter = names.get(error.field, error.field)
    reason = str(error).removeprefix(f"{error.field}: ")
    return VLLMValidationError(f"{parameter}: {reason}", parameter=parameter)


def _take_stop_strings(request: Served, told: Conversation) -> None:
    """They count in content alone; the engine keeps them where it cannot stop elsewhere."""
    stops = stop_strings(request)
    if not stops or isinstance(stops, _Kept):
        return
    may_call = told.may_call and bool(request.tools) and request.tool_choice != "none"
    may_reason = told.prompt is None or _mode(request, told) is not ReasoningMode.DISABLED
    setattr(request, _STOP, _Kept(stops))
    if not may_stop_engine(told.family, stops, may_call=may_call, may_reason=may_reason):
        request.stop = []


def _constrain(request: Served, told: Conversation, own: StructuredOutputsParams | None) -> None:
    asked = _asked(request, told, own)
    needs = fields_asked(asked)
    tools_held = bool(asked.tools) and asked.tool_choice != "none"
    by_schema = own is None or own.json is not None or own.json_object
    if not needs and not (tools_held and envs.VLLM_ENFORCE_STRICT_TOOL_CALLING):
        return
    # A regular expression, a choice or a grammar of the user's own stands, unless a call is forced.
    if not by_schema and "tool_choice" not in needs:
        return
    mode = ReasoningMode.GATED if told.prompt is None else _mode(request, told)
    tag = guiding_tag(told.family, asked, mode, Unenforced.REFUSE)
    if not _is_taken(tag.text):
        if needs:
            raise RequestError(needs[0], "the xgrammar of this vLLM knows no grammar that holds it")
        return
    _set_tag(request, tag.text)
    # Then the grammar sees the whole output, and the engine need not look for the end of reasoning.
    request._grammar_from_parser = mode is not ReasoningMode.GATED


@lru_cache(maxsize=256)
def _is_taken(tag: str) -> bool:
    """Whether vLLM takes this tag: its xgrammar may not know all that the tag says."""
    from vllm.v1.structured_output.backend_xgrammar import validate_xgrammar_grammar

    params = SamplingParams(structured_outputs=StructuredOutputsParams(structural_tag=tag))
    try:
        validate_xgrammar_grammar(params)
    except VLLMValidationError:
        return False
    return True


def _set_tag(request: Served, tag: str) -> None:
    params = StructuredOutputsParams(structural_tag=tag)
    if isinstance(request, ChatCompletionRequest):
        request.structured_outputs = params
        request.response_format = None
    else:
        request._parser_structured_outputs = params


def _mode(request: Served, told: Conversation) -> ReasoningMode:
    wanted = read_thinking_switch(told.template_fields)
    return told.family.reasoning_mode(told.prompt or "", wanted or Switch.AUTO)


def _asked(request: Served, told: Conversation, own: StructuredOutputsParams | None) -> Asked:
    tools = _tools(request) if told.may_call else None
    response_format = _response_format(request, own)
    strict_level = told.strict_level or ToolStrictLevel.AUTO
    return Asked(
        tools=tools,
        tool_choice=_choice(request) if tools else "none",
        response_format=response_format,
        parallel_tool_calls=request.parallel_tool_calls,
        strict=Strictness.ALL if strict_level >= ToolStrictLevel.PARAMETER else Strictness.PER_TOOL,
        held=strict_fields(tools, response_format),
    )


def _tools(request: Served) -> list[Any] | None:
    """The tools that the model is shown: of the Responses API, those that are functions."""
    return [tool.model_dump() for tool in get_function_tools(request.tools or ())] or None


def _choice(request: Served) -> Any:
    """The tool choice. vLLM gives a Chat Completions request that says null no calls back, and
    shows the model a custom tool as a function."""
    choice = request.tool_choice
    if choice is None:
        return "none"
    if isinstance(choice, ToolChoiceCustom):
        return {"type": "function", "name": choice.name}
    return plain(choice)


def _response_format(request: Served, own: StructuredOutputsParams | None) -> Any:
    """The schema that the answer has to keep, whichever field gives it."""
    if own is None or (own.json is None and not own.json_object):
        return None
    if own.json_object:
        return {"type": "json_object"}
    schema = from_json(own.json, "response_format") if isinstance(own.json, str) else own.json
    return {"type": "json_schema", "json_schema": {"schema": schema, "strict": _strict(request)}}


def _strict(request: Served) -> bool:
    """Whether the schema is to be held in full: so it is for those who give it as a constraint."""
    if request.structured_outputs is not None:
        return True
    if isinstance(request, ChatCompletionRequest):
        given = plain(request.response_format) or {}
        return (given.get("json_schema") or {}).get("strict") is True
    return bool(request.text and getattr(request.text.format, "strict", None))
