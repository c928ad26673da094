"""What a prompt is made from, read once from every public spelling, before anything is rendered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tagsmith.errors import RequestError, require_text
from tagsmith.message import Message
from tagsmith.render.contents import (
    read_documents,
    read_object,
    read_optional_text,
    read_text,
)
from tagsmith.render.conversation import message_list, read_conversation
from tagsmith.render.options import MarkerPolicy, SafetyMode, Switch, read_thinking_switch
from tagsmith.render.turns import Document, Turn
from tagsmith.request import Tool, read_request, read_tools
from tagsmith.request.plain import from_json, mapping, named, plain
from tagsmith.sources import SourceFinder, build_source_finder, build_source_map
from tagsmith.spec.models import FamilySpec
from tagsmith.wording import shortened

_CITING = {
    **dict.fromkeys(("enabled", "fast", "accurate"), Switch.ENABLED),
    **dict.fromkeys(("disabled", "off"), Switch.DISABLED),
}
"""Cohere's words for whether, and when, to cite."""
_FILLED = {"messages", "tools", "documents", "response_format", "add_generation_prompt"}
"""Variables of every template that no field may take the place of."""


@dataclass(frozen=True, slots=True)
class PromptTool:
    """A tool as a prompt shows it."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class PromptRequest:
    """A request for a prompt, checked. `sources` is None where the family does not cite."""

    turns: tuple[Turn, ...]
    tools: tuple[PromptTool, ...] = ()
    documents: tuple[Document, ...] = ()
    sources: SourceFinder | None = None
    response_schema: Mapping[str, Any] | None = None
    reasoning: Switch = Switch.AUTO
    citations: Switch = Switch.AUTO
    safety_mode: SafetyMode | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)
    special_tokens: Mapping[str, str] = field(default_factory=dict)
    markers: MarkerPolicy = MarkerPolicy.ESCAPE


def read_prompt_request(
    spec: FamilySpec,
    messages: Any,
    *,
    tools: Any = None,
    documents: Any = None,
    response_format: Any = None,
    reasoning: str = Switch.AUTO,
    citations: str = Switch.AUTO,
    safety_mode: str | None = None,
    template_fields: Mapping[str, Any] | None = None,
    special_tokens: Mapping[str, str] | None = None,
    markers: str = MarkerPolicy.ESCAPE,
    units: str = "code-points",
) -> PromptRequest:
    """Read what `Family.render` is given.

    Raises:
        RequestError: names the field, what is wrong with it and what is allowed.
    """
    given = message_list(messages)
    schema = read_request(response_format=response_format).response_schema
    safety = None if safety_mode is None else _safety_mode(safety_mode)
    return PromptRequest(
        turns=read_conversation(given, units=units),
        tools=_read_tools(tools),
        documents=read_documents(documents),
        sources=_sources(spec, given, documents),
        response_schema=None if schema is None else schema.unfold(),
        reasoning=named(Switch, reasoning, "reasoning"),
        citations=named(Switch, citations, "citations"),
        safety_mode=safety,
        fields=_read_fields(template_fields),
        special_tokens=_read_tokens(special_tokens),
        markers=named(MarkerPolicy, markers, "markers"),
    )


def _safety_mode(value: Any) -> SafetyMode:
    require_text("safety_mode", value)
    return named(SafetyMode, value.lower(), "safety_mode")


def _sources(spec: FamilySpec, messages: Sequence[Any], documents: Any) -> SourceFinder | None:
    if spec.citations is None:
        return None
    shapes = [
        message.to_openai() if isinstance(message, Message) else message for message in messages
    ]
    sources = build_source_map(spec.citations.key_map, documents=documents, messages=shapes)
    return build_source_finder(sources)


def _read_tools(tools: Any) -> tuple[PromptTool, ...]:
    known = read_tools(tools) or ()
    given = from_json(tools, "tools") if isinstance(tools, str) else tools
    return tuple(_tool(tool, plain(given[index]), index) for index, tool in enumerate(known))


def _tool(tool: Tool, given: Mapping[str, Any], index: int) -> PromptTool:
    function = plain(given.get("function")) or given
    description = read_optional_text(function.get("description"), f"tools[{index}].description")
    parameters = {} if tool.parameters is None else tool.parameters
    return PromptTool(tool.name, description, read_object(parameters, f"tools[{index}].parameters"))


def _read_fields(fields: Mapping[str, Any] | None) -> dict[str, Any]:
    found = {} if fields is None else read_object(fields, "template_fields")
    for name in found.keys() & _FILLED:
        raise RequestError(f"template_fields.{name}", "is the request's own to fill; leave it out")
    return found


def _read_tokens(tokens: Mapping[str, str] | None) -> dict[str, str]:
    found = {} if tokens is None else read_object(tokens, "special_tokens")
    return {name: read_text(text, f"special_tokens.{name}") for name, text in found.items()}


def read_body(body: Any) -> dict[str, Any]:
    """What `Family.render` takes, from the body of a chat request: Chat Completions or Cohere v2.

    Read are `messages`, `tools`, `documents`, `response_format`, `safety_mode`, `thinking`,
    `reasoning_effort`, `citation_options` and `chat_template_kwargs`; the rest of a body changes no
    prompt. A chat template is the server's to choose, and so are its special tokens.

    Raises:
        RequestError: the body is no object, holds no messages, or one of these has another shape.

    >>> read_body({"messages": [], "thinking": {"type": "disabled"}, "temperature": 0})
    {'messages': [], 'reasoning': 'disabled'}
    """
    given = mapping(body, "request", "an object")
    if "messages" not in given:
        raise RequestError("messages", "is missing; give a list of messages")
    names = ("messages", "tools", "documents", "response_format", "safety_mode")
    options = {name: given[name] for name in names if given.get(name) is not None}
    fields = given.get("chat_template_kwargs")
    template_fields = {} if fields is None else read_object(fields, "chat_template_kwargs")
    if given.get("reasoning_effort") is not None:
        template_fields.setdefault("reasoning_effort", given["reasoning_effort"])
    thinking = _member(given, "thinking", "type")
    citing = _member(given, "citation_options", "mode")
    if thinking is not None:
        options["reasoning"] = named(Switch, thinking, "thinking.type").value
    elif (told := _told(template_fields)) is not None:
        options["reasoning"] = told.value
    if citing is not None:
        options["citations"] = _citing(citing).value
    if template_fields:
        options["template_fields"] = template_fields
    return options


def _citing(mode: Any) -> Switch:
    found = _CITING.get(str(mode).lower())
    if found is None:
        shown = shortened(repr(mode))
        allowed = ", ".join(_CITING)
        raise RequestError("citation_options.mode", f"unknown value {shown}; allowed: {allowed}")
    return found


def _told(fields: Mapping[str, Any]) -> Switch | None:
    """What the variables of chat templates say of thinking."""
    if fields.get("reasoning_effort") == "none":
        return Switch.DISABLED
    return read_thinking_switch(fields)


def _member(body: Mapping[str, Any], name: str, key: str) -> Any:
    value = body.get(name)
    return None if value is None else read_object(value, name).get(key)
