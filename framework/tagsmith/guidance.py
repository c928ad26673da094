"""Which structural tag a request goes with, for every server alike.

A server reads its API into `Asked`. `fields_asked` names what only a grammar holds, `guiding_tag`
makes the tag, and refuses what the request wants held and no grammar can.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from tagsmith.errors import RequestError
from tagsmith.family import Family
from tagsmith.grammar import StructuralTag, list_limitations
from tagsmith.request import (
    ReasoningMode,
    Strictness,
    ToolChoiceMode,
    Unenforceable,
    read_request,
    read_tool_choice,
    read_tools,
)


class Unenforced(StrEnum):
    """What becomes of a request that needs a grammar and cannot have it in full.

    `refuse` makes it an error (the gateway answers 400); `report` serves it and says so (the
    gateway in the header `x-tagsmith-unenforced`).
    """

    REFUSE = "refuse"
    REPORT = "report"


@dataclass(frozen=True, slots=True)
class Asked:
    """What a request asks that a grammar may hold.

    Parameters: `tools`, `tool_choice`, `response_format` and `parallel_tool_calls` as in a chat
    request. `strict` is `all` where every tool is to be held to its schema. `held` are the fields,
    of `tools` and `response_format`, whose schemas the request wants held strictly.
    """

    tools: Sequence[Any] | None = None
    tool_choice: Any = None
    response_format: Any = None
    parallel_tool_calls: bool | None = None
    strict: Strictness = Strictness.PER_TOOL
    held: frozenset[str] = frozenset()


def strict_fields(tools: Sequence[Any] | None, response_format: Any) -> frozenset[str]:
    """The fields of a request in the Chat Completions shape that say `strict: true`.

    >>> strict_fields([{"function": {"name": "now", "strict": True}}], None)
    frozenset({'tools'})
    """
    held = set()
    if any(tool.strict is True for tool in read_tools(tools) or ()):
        held.add("tools")
    schema = response_format.get("json_schema") if isinstance(response_format, Mapping) else None
    if isinstance(schema, Mapping) and schema.get("strict") is True:
        held.add("response_format")
    return frozenset(held)


def fields_asked(asked: Asked) -> list[str]:
    """The fields that ask for what only a grammar holds; checked, whether or not there is one.

    Raises:
        RequestError: a field is wrong.

    >>> fields_asked(Asked(tools=[{"name": "now"}], tool_choice="required"))
    ['tool_choice']
    """
    tools = read_tools(asked.tools) or ()
    choice = read_tool_choice(asked.tool_choice, tools)
    request = read_request(
        response_format=asked.response_format, unenforceable=Unenforceable.REPORT
    )
    may_call = bool(tools) and choice.mode is not ToolChoiceMode.NONE
    needed = {
        "tool_choice": choice.mode is ToolChoiceMode.REQUIRED or choice.names is not None,
        "response_format": request.response_schema is not None,
        "tools": may_call and "tools" in asked.held,
        "parallel_tool_calls": may_call and asked.parallel_tool_calls is False,
    }
    return [field for field, is_needed in needed.items() if is_needed]


def guiding_tag(
    family: Family, asked: Asked, reasoning: ReasoningMode, unenforced: Unenforced
) -> StructuralTag:
    """The tag of a request; its `limitations` say what it does not hold.

    Parameters: `reasoning` is where the grammar meets it, see `Family.reasoning_mode`.
    `unenforced` says what becomes of a request that wants a schema held that no grammar holds in
    full.

    Raises:
        RequestError: a field is wrong, or the request is refused.

    >>> import tagsmith
    >>> asked = Asked(tools=[{"name": "now"}], tool_choice="required")
    >>> family = tagsmith.get_family("Cohere2ForCausalLM")
    >>> guiding_tag(family, asked, ReasoningMode.AUTO, Unenforced.REFUSE).limitations
    ()
    """
    fields: dict[str, Any] = {
        "response_format": asked.response_format,
        "parallel_tool_calls": asked.parallel_tool_calls,
        "strict": asked.strict,
        "reasoning": reasoning,
        "unenforceable": Unenforceable.REPORT,
    }
    request = read_request(tools=asked.tools, tool_choice=asked.tool_choice, **fields)
    tag = family.shared_structural_tag(request)
    if tag.limitations and unenforced is Unenforced.REFUSE:
        strict = read_request(tools=_strict_tools(asked), **fields)
        for limit in list_limitations(family.spec, strict):
            field, _, reason = limit.partition(": ")
            if field in asked.held:
                raise RequestError(field, reason)
    return tag


def _strict_tools(asked: Asked) -> Sequence[Any]:
    """The tools whose schemas the request wants held."""
    if asked.strict is Strictness.ALL:
        return asked.tools or []
    tools = zip(asked.tools or (), read_tools(asked.tools) or (), strict=True)
    return [given for given, tool in tools if tool.strict is True]
