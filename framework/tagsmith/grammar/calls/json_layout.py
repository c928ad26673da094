"""The `json` layout: calls as objects with a name and arguments, one or in a list."""

from __future__ import annotations

import json

from tagsmith.grammar.arguments.encodings import json_writer
from tagsmith.grammar.arguments.written import ArgumentsWriter
from tagsmith.grammar.formats import (
    SPACE,
    Format,
    const,
    either,
    literal,
    optional,
    regex,
    separated,
    sequence,
)
from tagsmith.request import CallableTool, Request, ToolChoiceMode
from tagsmith.spec.models import FamilySpec, ToolCalls
from tagsmith.spec.policies import Container

_FENCE = "```"


def json_region(spec: FamilySpec, calls: ToolCalls, request: Request) -> Format:
    """What stands in a region of calls: one object, or a list of one call or more."""
    markers = spec.tag_style.tool_calls
    call = _json_call(calls, _tools(calls, request), json_writer(spec, calls))
    is_closed = markers is not None and markers.end is not None
    if calls.container is Container.ARRAY:
        items = separated(call, ",", at_most_one=not request.parallel_tool_calls)
        content = sequence(regex(SPACE + literal("[")), items, regex(literal("]") + SPACE))
    elif is_closed:
        content = call
    else:
        content = separated(call, ";", at_most_one=not request.parallel_tool_calls)
    fenced = markers is not None and not is_closed and markers.start.count(_FENCE) % 2
    return sequence(content, optional(const(_FENCE))) if fenced else content


def _tools(calls: ToolCalls, request: Request) -> tuple[CallableTool, ...]:
    """The tools, and where none has to be called, what is called to say that none is."""
    if request.mode is not ToolChoiceMode.AUTO or request.response_schema is not None:
        return request.tools
    pseudo = (CallableTool(name, parameters=None, strict=True) for name in calls.pseudo_tools)
    return (*request.tools, *pseudo)


def _json_call(calls: ToolCalls, tools: tuple[CallableTool, ...], write: ArgumentsWriter) -> Format:
    keys = calls.keys
    before = SPACE + literal("{") + SPACE
    if keys.id is not None:
        before += f'{_key(keys.id)}"(?:{calls.id.pattern})"{SPACE},{SPACE}'
    between = f"{SPACE},{SPACE}{_key(keys.arguments[0])}"
    named = [sequence(_string(tool.name), regex(between), *write(tool).pieces) for tool in tools]
    return sequence(
        regex(before + _key(keys.name[0])), either(named), regex(SPACE + literal("}") + SPACE)
    )


def _key(key: str) -> str:
    return f"{literal(_string(key))}{SPACE}:{SPACE}"


def _string(text: str) -> str:
    # The parser decodes a name's escapes, so a quote, a backslash or a line end is spelled as JSON
    # spells it, and everything else as it is.
    return json.dumps(text, ensure_ascii=False)
