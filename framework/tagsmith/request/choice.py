"""The `tool_choice` of a request, in every public spelling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tagsmith.errors import RequestError
from tagsmith.request.models import Tool, ToolChoice, ToolChoiceMode
from tagsmith.request.plain import mapping, plain
from tagsmith.wording import one_line, shortened

FIELD = "tool_choice"
_LISTED = 400
_MODES = {mode.value: mode for mode in ToolChoiceMode} | {"any": ToolChoiceMode.REQUIRED}
_ALLOWED = (
    'allowed: "auto", "none", "required", {"type": "function", "function": {"name": ...}}, '
    '{"type": "allowed_tools", "mode": "auto" or "required", "tools": [...]}'
)


def read_tool_choice(choice: Any, tools: tuple[Tool, ...] | None) -> ToolChoice:
    """Read `tool_choice` in any public spelling.

    Args:
        choice: None or "auto", "none", "required" (Cohere's capitals and "any" too), one named
            function, or allowed tools with a mode.
        tools: The tools that may be named; None when the request did not say.

    Raises:
        RequestError: the value is none of these, or it names a tool that does not exist.

    >>> read_tool_choice({"type": "function", "name": "now"}, None)
    ToolChoice(mode=<ToolChoiceMode.REQUIRED: 'required'>, names=('now',))
    """
    choice = plain(choice)
    if choice is None:
        return ToolChoice()
    if isinstance(choice, str):
        return ToolChoice(_mode(choice))
    if not isinstance(choice, Mapping):
        raise RequestError(FIELD, f"unknown value {shortened(repr(choice))}; {_ALLOWED}")
    if choice.get("disable_parallel_tool_use"):
        raise RequestError(FIELD, "say parallel_tool_calls=False, not disable_parallel_tool_use")
    kind = choice.get("type")
    if kind == "allowed_tools":
        read = _allowed_tools(choice)
    elif kind in ("function", "tool"):
        read = ToolChoice(ToolChoiceMode.REQUIRED, (_function_name(choice),))
    else:
        read = ToolChoice(_mode(kind))
    _check_names(read, tools)
    return read


def _mode(value: Any) -> ToolChoiceMode:
    mode = _MODES.get(value.lower()) if isinstance(value, str) else None
    if mode is None:
        raise RequestError(FIELD, f"unknown value {shortened(repr(value))}; {_ALLOWED}")
    return mode


def _allowed_tools(choice: Mapping[str, Any]) -> ToolChoice:
    inner = choice.get("allowed_tools")
    body = choice if inner is None else mapping(inner, FIELD, "an object as allowed_tools")
    mode = _mode(body.get("mode", "auto"))
    tools = body.get("tools")
    if mode is ToolChoiceMode.NONE:
        raise RequestError(FIELD, 'allowed_tools: the mode is "none"; allowed: "auto", "required"')
    if not isinstance(tools, Sequence) or isinstance(tools, str | bytes):
        raise RequestError(FIELD, "allowed_tools: tools is no list; list the tools allowed")
    listed = (mapping(tool, FIELD, "an object as an allowed tool") for tool in tools)
    return ToolChoice(mode, tuple(dict.fromkeys(_function_name(tool) for tool in listed)))


def _function_name(choice: Mapping[str, Any]) -> str:
    inner = choice.get("function")
    function = choice if inner is None else mapping(inner, FIELD, "an object as function")
    name = function.get("name")
    if not isinstance(name, str) or not name:
        raise RequestError(FIELD, "a function is asked for without its name; give the tool's name")
    return name


def _check_names(choice: ToolChoice, tools: tuple[Tool, ...] | None) -> None:
    if tools is None or choice.names is None:
        return
    known = {tool.name: None for tool in tools}
    for name in choice.names:
        if name not in known:
            listed = one_line(shortened(", ".join(known), _LISTED)) or "none"
            wrong = shortened(repr(name))
            raise RequestError(FIELD, f"no tool is named {wrong}; the tools are: {listed}")
