"""The requests that the grammar probe makes of a family: its tools, and every kind of request."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from tagsmith.errors import RequestError
from tagsmith.family import Family
from tagsmith.grammar import StructuralTag
from tagsmith.request import ReasoningMode, read_request
from tagsmith.spec.policies import InitialRegion

ToolDict = dict[str, Any]
HOSTILE_NAMES = ("root", "tool", "ws", "basic_string", "2fa_check", "a-b.c/d", "查天气")
"""Names that are words of the grammar itself, begin as no name does, or hold odd signs."""
_PLAIN_TOOLS: tuple[ToolDict, ...] = (
    {
        "name": "get_weather",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string"},
                "days": {"type": "integer"},
                "units": {"type": "string", "enum": ["celsius", "fahrenheit"]},
                "sure": {"type": ["boolean", "null"]},
                "places": {"type": "array", "items": {"type": "string"}},
                "near": {"type": "object", "properties": {"lat": {"type": "number"}}},
            },
            "required": ["city"],
        },
    },
    {"name": "now"},
)
_ANSWER = {
    "type": "object",
    "properties": {"answer": {"type": "string"}, "sure": {"type": "boolean"}},
    "required": ["answer"],
}
_FORMATS: tuple[dict[str, Any] | None, ...] = (
    None,
    {"type": "json_object"},
    {"type": "json_schema", "json_schema": {"name": "answer", "schema": _ANSWER}},
)

_EACH = 4
"""Which of the hostile tools every kind of request has: each of so many."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One request of a family, and its structural tag."""

    tag: StructuralTag = field(repr=False)
    tools: Sequence[ToolDict]
    tool_choice: Any
    parallel_tool_calls: bool
    response_format: dict[str, Any] | None
    reasoning: ReasoningMode

    def __str__(self) -> str:
        """The request in the words of the command line."""
        choice = self.tool_choice
        parts = [f"tool choice {choice if isinstance(choice, str) else 'of one tool'}"]
        if not self.parallel_tool_calls:
            parts.append("one call at most")
        if self.response_format is not None:
            parts.append(f"response format {self.response_format['type']}")
        return ", ".join([*parts, f"reasoning {self.reasoning}"])

    @property
    def may_call(self) -> bool:
        """Whether a call will do."""
        return bool(self.tools) and self.tool_choice != "none"

    @property
    def needs_call(self) -> bool:
        """Whether nothing but a call will do."""
        return self.may_call and self.tool_choice != "auto"

    def of(self, family: Family) -> Asked:
        """The same request of another family. Raises `RequestError` where it cannot serve it."""
        return ask(
            family,
            self.tools,
            self.tool_choice,
            self.parallel_tool_calls,
            self.response_format,
            self.reasoning,
        )

    @property
    def schema(self) -> dict[str, Any] | None:
        """What an answer must keep to, if anything."""
        if self.response_format is None:
            return None
        return _ANSWER if "json_schema" in self.response_format else {"type": "object"}

    def prompt(self, family: Family, text: str) -> str:
        """The end of a prompt that goes with the request, and with what the output does of it."""
        prompt = (family.spec.tokens.turn_start or ("",))[0]
        markers = family.spec.tag_style.reasoning
        if markers is None:
            return prompt
        if self.reasoning is ReasoningMode.AUTO and (
            text.lstrip().startswith(markers.start)
            or family.spec.initial_region is InitialRegion.CONTENT
        ):
            return prompt
        if self.reasoning is ReasoningMode.DISABLED and family.spec.tokens.header is not None:
            return prompt
        closer = "" if self.reasoning is ReasoningMode.ENABLED else markers.end or ""
        return prompt + markers.start + closer


def requests_of(family: Family) -> list[Asked]:
    """Every kind of request that the family can serve, but those whose tag another has too.

    What the family refuses by name is left out: it writes no calls, has no reasoning region, or
    its encoding has no grammar.
    """
    hostile = islice(hostile_tools(), 0, None, _EACH)
    tools = tuple(writable_tools(family, (*_PLAIN_TOOLS, *hostile)))
    choices: tuple[Any, ...] = ("none",)
    if tools:
        one = {"type": "function", "function": {"name": tools[0]["name"]}}
        choices = ("auto", "none", "required", one)
    found: dict[StructuralTag, Asked] = {}
    for kind in itertools.product(choices, (True, False), _FORMATS, ReasoningMode):
        with suppress(RequestError):
            asked = ask(family, tools, *kind)
            found.setdefault(asked.tag, asked)
    return list(found.values())


def ask(
    family: Family,
    tools: Sequence[ToolDict],
    tool_choice: Any,
    parallel_tool_calls: bool = True,
    response_format: dict[str, Any] | None = None,
    reasoning: ReasoningMode = ReasoningMode.GATED,
) -> Asked:
    """One request. Raises `RequestError` where the family cannot serve it."""
    request = read_request(
        tools=tools,
        tool_choice=tool_choice,
        response_format=response_format,
        parallel_tool_calls=parallel_tool_calls,
        reasoning=reasoning,
    )
    tag = family.shared_structural_tag(request)
    return Asked(tag, tools, tool_choice, parallel_tool_calls, response_format, reasoning)


def writable_tools(family: Family, tools: Iterable[ToolDict]) -> Iterator[ToolDict]:
    """Those of the tools that the family can call, names and parameters."""
    for tool in tools:
        with suppress(RequestError):
            ask(family, [tool], "required")
            yield tool


def hostile_tools() -> Iterator[ToolDict]:
    """For each hostile name, a tool that has it and one whose parameter has it."""
    for name in HOSTILE_NAMES:
        yield {"name": name, "parameters": _one_string("value")}
    for number, name in enumerate(HOSTILE_NAMES):
        yield {"name": f"probe_{number}", "parameters": _one_string(name)}


def _one_string(name: str) -> dict[str, Any]:
    return {"type": "object", "properties": {name: {"type": "string"}}, "required": [name]}
