"""The events a parser emits, in the order in which the output shows them.

Events are plain records. `ReasoningDelta`, `ContentDelta` and `ToolCallDelta` are fragments: only
their concatenation has a meaning, so two streams are compared after `join_events`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, ClassVar


class Target(StrEnum):
    """The text that a citation's offsets count in."""

    CONTENT = "content"
    REASONING = "reasoning"


class DiagnosticCode(StrEnum):
    """What was not as the family says. Each code has a line in docs/diagnostics.md."""

    MALFORMED_CALL = "malformed-call"
    TRUNCATED = "truncated"
    UNEXPECTED_CALL = "unexpected-call"
    UNKNOWN_TOOL = "unknown-tool"
    INVALID_ARGUMENTS = "invalid-arguments"
    DUPLICATE_ID = "duplicate-id"
    DUPLICATE_KEY = "duplicate-key"
    MISTYPED_ARGUMENT = "mistyped-argument"
    UNKNOWN_PARAMETER = "unknown-parameter"
    STRAY_MARKER = "stray-marker"
    UNCLOSED_CITATION = "unclosed-citation"
    MALFORMED_CITATION = "malformed-citation"
    UNRESOLVED_SOURCE = "unresolved-source"
    INCOMPLETE_CHARACTER = "incomplete-character"
    TOKENIZER_FAULT = "tokenizer-fault"
    ENGINE_FAULT = "engine-fault"
    ENGINE_HANDOVER = "engine-handover"
    ENGINE_DROP = "engine-drop"


@dataclass(slots=True)
class ReasoningDelta:
    """More reasoning text."""

    type: ClassVar[str] = "reasoning"
    text: str


@dataclass(slots=True)
class ContentDelta:
    """More content: what the user reads."""

    type: ClassVar[str] = "content"
    text: str


@dataclass(slots=True)
class ToolCallStart:
    """A tool call begins. `index` is its order in the output, from 0."""

    type: ClassVar[str] = "tool-call-start"
    index: int
    id: str
    name: str


@dataclass(slots=True)
class ToolCallDelta:
    """More of a call's arguments: a fragment of a JSON string, the model's own characters."""

    type: ClassVar[str] = "tool-call-delta"
    index: int
    arguments: str


@dataclass(slots=True)
class ToolCallEnd:
    """A tool call ends. `complete` is false when its arguments were never closed."""

    type: ClassVar[str] = "tool-call-end"
    index: int
    complete: bool


@dataclass(frozen=True, slots=True)
class Citation:
    """A cited span.

    `start` and `end` count code points of the text that `target` names, joined over its blocks.
    `positions` are (bucket, index) pairs as the markup gives them; `sources` is what the family's
    key map makes of them.
    """

    type: ClassVar[str] = "citation"
    start: int
    end: int
    text: str
    target: Target
    positions: tuple[tuple[int, int], ...]
    sources: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """Something was not as the family says. `offset` counts characters of the output."""

    type: ClassVar[str] = "diagnostic"
    code: DiagnosticCode
    message: str
    offset: int


Event = (
    ReasoningDelta
    | ContentDelta
    | ToolCallStart
    | ToolCallDelta
    | ToolCallEnd
    | Citation
    | Diagnostic
)


def event_to_dict(event: Event) -> dict[str, Any]:
    """The event as a JSON-ready mapping with its `type` first.

    >>> event_to_dict(ContentDelta("Hi"))
    {'type': 'content', 'text': 'Hi'}
    """
    return {"type": event.type, **asdict(event)}


def join_events(events: Iterable[Event]) -> list[Event]:
    """Join neighbouring fragments of one text, so that streams cut differently compare equal.

    >>> join_events([ContentDelta("a"), ContentDelta("b"), ReasoningDelta("c")])
    [ContentDelta(text='ab'), ReasoningDelta(text='c')]
    """
    runs: list[list[Event]] = []
    for event in events:
        if runs and _continues(runs[-1][-1], event):
            runs[-1].append(event)
        else:
            runs.append([event])
    return [_joined(run) for run in runs]


def _continues(last: Event, event: Event) -> bool:
    if isinstance(last, ToolCallDelta) and isinstance(event, ToolCallDelta):
        return last.index == event.index
    return isinstance(last, ReasoningDelta | ContentDelta) and type(last) is type(event)


def _joined(run: list[Event]) -> Event:
    first = run[0]
    if len(run) == 1:
        return first
    if isinstance(first, ToolCallDelta):
        return ToolCallDelta(
            first.index, "".join(e.arguments for e in run if isinstance(e, ToolCallDelta))
        )
    text = "".join(e.text for e in run if isinstance(e, ReasoningDelta | ContentDelta))
    return ReasoningDelta(text) if isinstance(first, ReasoningDelta) else ContentDelta(text)
