"""Read a whole request: every field checked, and what one field says of another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tagsmith.errors import RequestError
from tagsmith.request.choice import FIELD as TOOL_CHOICE
from tagsmith.request.choice import read_tool_choice
from tagsmith.request.models import (
    CallableTool,
    ReasoningMode,
    Request,
    Strictness,
    Tool,
    ToolChoice,
    ToolChoiceMode,
    Unenforceable,
)
from tagsmith.request.plain import from_json, mapping, named, plain
from tagsmith.request.schema_check import check_parameters, check_schema
from tagsmith.request.schemas import JsonSchema
from tagsmith.request.tools import FIELD as TOOLS
from tagsmith.request.tools import read_tools

RESPONSE_FORMAT = "response_format"
_FORMATS = "allowed: text, json_object, json_schema"
_WRAPPER_KEYS = {"name", "description", "strict", "schema"}
_ANY_OBJECT = {"type": "object"}


def read_request(
    *,
    tools: Any = None,
    tool_choice: Any = None,
    response_format: Any = None,
    parallel_tool_calls: bool | None = None,
    strict: Strictness | str = Strictness.PER_TOOL,
    reasoning: ReasoningMode | str = ReasoningMode.GATED,
    unenforceable: Unenforceable | str = Unenforceable.ERROR,
) -> Request:
    """Read what a request asks of the output.

    Args:
        tools: See `read_tools`.
        tool_choice: See `read_tool_choice`.
        response_format: None, `{"type": "text"}`, `{"type": "json_object"}` (Cohere's schema
            inside it too), or `{"type": "json_schema", ...}` with the schema under `json_schema`,
            under `json_schema.schema`, or under `schema`.
        parallel_tool_calls: False allows one call at most; None means True.
        strict: `per-tool` holds a tool to its schema unless the tool says `strict: false`; `all`
            holds every tool, whatever it says.
        reasoning: Where the grammar meets reasoning, see `ReasoningMode`.
        unenforceable: What becomes of a schema that a grammar cannot hold in full.

    Raises:
        RequestError: names the field, what is wrong with it and what is allowed.

    >>> read_request(tools=[{"name": "now"}], tool_choice="required").tools[0].name
    'now'
    """
    given = read_tools(tools)
    choice = read_tool_choice(tool_choice, given or ())
    always_strict = named(Strictness, strict, "strict") is Strictness.ALL
    callable_tools = tuple(_callable(tool, always_strict) for tool in _chosen(given or (), choice))
    if not isinstance(parallel_tool_calls, bool | None):
        raise RequestError(
            "parallel_tool_calls",
            f"unknown value {parallel_tool_calls!r}; allowed: true, false",
        )
    return Request(
        tools=callable_tools,
        mode=choice.mode if callable_tools else ToolChoiceMode.NONE,
        parallel_tool_calls=parallel_tool_calls is not False,
        response_schema=_read_response_format(response_format),
        reasoning=named(ReasoningMode, reasoning, "reasoning"),
        unenforceable=named(Unenforceable, unenforceable, "unenforceable"),
    )


def _chosen(tools: tuple[Tool, ...], choice: ToolChoice) -> tuple[Tool, ...]:
    if choice.mode is ToolChoiceMode.NONE:
        return ()
    chosen = tools
    if choice.names is not None:
        chosen = tuple(tool for tool in tools if tool.name in choice.names)
    if choice.mode is ToolChoiceMode.REQUIRED and not chosen:
        raise RequestError(
            TOOL_CHOICE, "a call is required and there is no tool to call; give tools, or say auto"
        )
    return chosen


def _callable(tool: Tool, always_strict: bool) -> CallableTool:
    parameters = None
    if tool.parameters is not None:
        where = f"tool {tool.name!r}: parameters"
        parameters = JsonSchema.freeze(tool.parameters, TOOLS, where)
        check_parameters(parameters, TOOLS, where)
    return CallableTool(tool.name, parameters, strict=always_strict or tool.strict is not False)


def _read_response_format(value: Any) -> JsonSchema | None:
    if value is None:
        return None
    if isinstance(value, str):
        value = from_json(value, RESPONSE_FORMAT)
    given = mapping(value, RESPONSE_FORMAT, f"an object with a type ({_FORMATS})")
    kind = given.get("type")
    if kind == "text":
        return None
    if kind == "json_object":
        found = _schema_of(given)
        schema = _ANY_OBJECT if found is None else found
    elif kind == "json_schema":
        schema = _schema_of(given)
        if schema is None:
            raise RequestError(
                RESPONSE_FORMAT, "json_schema holds no schema; give one under json_schema.schema"
            )
    else:
        raise RequestError(RESPONSE_FORMAT, f"unknown type {kind!r}; {_FORMATS}")
    frozen = JsonSchema.freeze(schema, RESPONSE_FORMAT, "the schema")
    check_schema(frozen, RESPONSE_FORMAT, "schema")
    return frozen


def _schema_of(given: Mapping[str, Any]) -> Any:
    # A JSON Schema has no keyword "schema": where that key stands, it holds the schema.
    inner = plain(given.get("json_schema"))
    body = given if inner is None else inner
    if isinstance(body, Mapping):
        if body.get("schema") is not None:
            return plain(body["schema"])
        if body is given or body.keys() <= _WRAPPER_KEYS:
            return None
    return inner
