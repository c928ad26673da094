"""The tools of a request, in every public spelling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tagsmith.errors import RequestError
from tagsmith.request.models import Tool
from tagsmith.request.plain import from_json, mapping, plain
from tagsmith.wording import shortened

FIELD = "tools"
_PARAMETERS = ("parameters", "input_schema", "inputSchema")


def read_tools(tools: Any) -> tuple[Tool, ...] | None:
    """Read tools in any public spelling; cheap, because schemas are not looked into.

    Args:
        tools: A list, or its JSON text, of Chat Completions or Cohere v2 tools
            (`{"type": "function", "function": {...}}`), of Responses tools
            (`{"type": "function", "name": ..., "parameters": ...}`), of bare
            `{"name": ..., "parameters": ...}` (or `input_schema`), or of pydantic objects of these
            shapes. None means that the request did not say.

    Raises:
        RequestError: the value is no list, or a tool has no usable name, or two have the same.

    >>> read_tools([{"name": "now"}])
    (Tool(name='now', parameters=None, strict=None),)
    """
    if tools is None:
        return None
    if isinstance(tools, str):
        tools = from_json(tools, FIELD)
    if not isinstance(tools, Sequence) or isinstance(tools, str | bytes | bytearray):
        raise RequestError(
            FIELD,
            f"expected a list of tools, not {type(tools).__name__}; put a single one in [...]",
        )
    read = tuple(_read_tool(tool, index) for index, tool in enumerate(tools))
    seen: set[str] = set()
    for tool in read:
        if tool.name in seen:
            name = shortened(repr(tool.name))
            raise RequestError(FIELD, f"two tools are named {name}; give each its own name")
        seen.add(tool.name)
    return read


def _read_tool(tool: Any, index: int) -> Tool:
    outer = mapping(tool, FIELD, f"an object as tool {index}")
    _check_kind(outer, index)
    inner = outer.get("function")
    function = outer if inner is None else mapping(inner, FIELD, f"an object as tool {index}")
    strict = function.get("strict")
    if strict is None:
        strict = outer.get("strict")
    if strict is not None and not isinstance(strict, bool):
        shown = shortened(repr(strict))
        raise RequestError(FIELD, f"tool {index}: strict is {shown}; allowed: true, false")
    return Tool(_name(function, index), _parameters(function), strict)


def _check_kind(tool: Mapping[str, Any], index: int) -> None:
    """Refuse tools that are not called with a JSON object: the engine runs them, or they take text.

    "custom" is a function where it has a schema, and free text where it has none.
    """
    kind = tool.get("type") or "function"
    if kind == "function" or (kind == "custom" and any(key in tool for key in _PARAMETERS)):
        return
    raise RequestError(
        FIELD,
        f"tool {index} is of type {shortened(repr(kind))}, which is no function; give function "
        "tools alone",
    )


def _name(function: Mapping[str, Any], index: int) -> str:
    name = function.get("name")
    if not isinstance(name, str) or not name:
        raise RequestError(FIELD, f"tool {index} has no name; give a function tool with a name")
    try:
        name.encode()
    except UnicodeEncodeError:
        raise RequestError(
            FIELD,
            f"tool {index}: the name {shortened(repr(name))} is no valid Unicode; give another",
        ) from None
    return name


def _parameters(function: Mapping[str, Any]) -> Any:
    if function.get("parameter_definitions"):
        raise RequestError(FIELD, "parameter_definitions are no JSON Schema; give parameters")
    for key in _PARAMETERS:
        if function.get(key) is not None:
            return plain(function[key])
    return None
