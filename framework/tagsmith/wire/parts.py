"""The parts that several shapes have in common. Whatever is returned is the caller's own."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

from tagsmith.events import Citation, Target
from tagsmith.message import ToolCall
from tagsmith.wire.cited_text import CitedText, Place
from tagsmith.wire.options import OffsetUnit

KINDS = {Target.CONTENT: "TEXT_CONTENT", Target.REASONING: "THINKING_CONTENT"}
"""What Cohere v2 calls the text that a citation belongs to."""


def call_fields(id: str, name: str, arguments: str) -> dict[str, Any]:  # noqa: A002
    """A tool call, as both chat APIs write it.

    >>> call_fields("0", "f", "{}")["function"]
    {'name': 'f', 'arguments': '{}'}
    """
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def calls_fields(calls: tuple[ToolCall, ...]) -> list[dict[str, Any]]:
    """The tool calls of a message."""
    return [call_fields(call.id, call.name, call.arguments) for call in calls]


def source_fields(citation: Citation) -> list[dict[str, Any]]:
    """A citation's sources without what they do not have: a source may lack an id and is shown.

    >>> source_fields(Citation(0, 1, "a", Target.CONTENT, (), ({"type": "tool", "id": None},)))
    [{'type': 'tool'}]
    """
    shown = (
        {key: _copy(value) for key, value in source.items() if value is not None}
        for source in citation.sources
    )
    return [source for source in shown if source]


def _copy(value: Any) -> Any:
    """A copy of a JSON value; a number that JSON does not have is null, as in JavaScript."""
    if isinstance(value, Mapping):
        return {key: _copy(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_copy(inner) for inner in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def citation_fields(citation: Citation, place: Place) -> dict[str, Any]:
    """A citation at its place, with the key names of Cohere v2."""
    return {
        "start": place.start,
        "end": place.end,
        "text": place.text,
        "sources": source_fields(citation),
        "type": KINDS[citation.target],
    }


def cited_texts(unit: OffsetUnit) -> dict[Target, CitedText]:
    """The two texts of a message, nothing in them yet."""
    return {target: CitedText(unit) for target in Target}
