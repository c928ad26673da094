"""How a family's tool calls are written, as a format; one writer for each call layout."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tagsmith.errors import RequestError
from tagsmith.grammar.formats import (
    SPACE,
    Format,
    const,
    either,
    json_schema,
    literal,
    regex,
    sequence,
    tag,
)
from tagsmith.grammar.schemas import NO_PARAMETERS, ready_parameters
from tagsmith.request import CallableTool, Request
from tagsmith.spec.models import FamilySpec, ToolCalls
from tagsmith.spec.policies import CallLayout, Container


def calls_tag(spec: FamilySpec, request: Request) -> Format:
    """The tag of one tool-call region: from its opener to its closer, with whole calls inside.

    Raises:
        RequestError: the family writes no calls, or in a layout that has no grammar.
    """
    calls, markers = spec.tool_calls, spec.tag_style.tool_calls
    if calls is None:
        raise RequestError("tools", f"family {spec.id} writes no tool calls; send no tools")
    writer = _WRITERS.get(calls.layout)
    if writer is None or markers is None:
        raise RequestError(
            "tools", f"family {spec.id}: the call layout {calls.layout} has no grammar"
        )
    if markers.end is None:
        raise RequestError(
            "tools", f"family {spec.id}: a region of calls that no marker closes has no grammar"
        )
    return tag(markers.start, writer(calls, request), markers.end)


def _json_calls(calls: ToolCalls, request: Request) -> Format:
    call = _json_call(calls, request.tools)
    if calls.container is Container.OBJECT:
        return call
    items = {
        "type": "tags_with_separator",
        "tags": [tag("", call, "")],
        "separator": ",",
        "at_least_one": True,
        "stop_after_first": not request.parallel_tool_calls,
    }
    return sequence(const("["), items, const("]"))


def _json_call(calls: ToolCalls, tools: tuple[CallableTool, ...]) -> Format:
    keys = calls.keys
    before = SPACE + literal("{") + SPACE
    if keys.id is not None:
        before += f'{_key(keys.id)}"(?:{calls.id.pattern})"{SPACE},{SPACE}'
    between = regex(f"{SPACE},{SPACE}{_key(keys.arguments[0])}")
    named = either([_json_tool(tool, between) for tool in tools])
    return sequence(regex(before + _key(keys.name[0])), named, regex(SPACE + literal("}") + SPACE))


def _key(key: str) -> str:
    return f"{literal(_json_string(key))}{SPACE}:{SPACE}"


def _json_tool(tool: CallableTool, between: Format) -> Format:
    return sequence(
        const(_json_string(tool.name)), dict(between), json_schema(_arguments_schema(tool))
    )


def _arguments_schema(tool: CallableTool) -> Any:
    if not tool.strict:
        return {"type": "object"}
    if tool.parameters is None:
        return {**NO_PARAMETERS, "properties": {}}
    return ready_parameters(tool.parameters).unfold()


def _json_string(text: str) -> str:
    # The parser decodes a name's escapes, so a quote, a backslash or a line end is spelled as JSON
    # spells it, and everything else as it is.
    return json.dumps(text, ensure_ascii=False)


_WRITERS: dict[CallLayout, Callable[[ToolCalls, Request], Format]] = {CallLayout.JSON: _json_calls}
