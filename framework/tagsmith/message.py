"""The message that a parser's events add up to."""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from tagsmith.events import (
    Citation,
    ContentDelta,
    Diagnostic,
    Event,
    ReasoningDelta,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
)

if TYPE_CHECKING:
    from tagsmith.wire.options import OffsetUnit, ReasoningField, ThoughtForm


_Reason = TypeVar("_Reason", str, str | None)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One tool call. `arguments` is a JSON string in the model's own characters, cut short when
    `complete` is false."""

    index: int
    id: str
    name: str
    arguments: str
    complete: bool


@dataclass(frozen=True, slots=True)
class Message:
    """What the model said: `reasoning` and `content` are None where there is none.

    `finish_reason` is the reason the parser was given, told apart as clients expect: "tool_calls"
    when the turn stopped after complete calls, "length" when a call was cut off. `stop` is the
    user's stop string that ended the content.
    """

    reasoning: str | None = None
    content: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    citations: tuple[Citation, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    finish_reason: str | None = None
    stop: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Everything, as JSON-ready values.

        >>> Message(content="Hi").to_dict()["content"]
        'Hi'
        """
        return {
            "reasoning": self.reasoning,
            "content": self.content,
            "tool_calls": tuple(map(_call_fields, self.tool_calls)),
            "citations": tuple(map(_citation_fields, self.citations)),
            "diagnostics": tuple(map(_diagnostic_fields, self.diagnostics)),
            "finish_reason": self.finish_reason,
            "stop": self.stop,
        }

    def to_openai(
        self,
        *,
        reasoning_field: ReasoningField | str = "reasoning_content",
        units: OffsetUnit | str = "code-points",
    ) -> dict[str, Any]:
        """The message in the Chat Completions shape; see `tagsmith.wire.chat_message`.

        >>> Message(content="Hi", finish_reason="stop").to_openai()
        {'role': 'assistant', 'content': 'Hi'}
        """
        from tagsmith.wire.chat import chat_message

        return chat_message(self, reasoning_field=reasoning_field, units=units)

    def to_cohere(
        self,
        *,
        thoughts: ThoughtForm | str = "thinking",
        units: OffsetUnit | str = "code-points",
    ) -> dict[str, Any]:
        """The message in the Cohere v2 shape; see `tagsmith.wire.cohere_message`.

        >>> Message(content="Hi", finish_reason="stop").to_cohere()
        {'role': 'assistant', 'content': [{'type': 'text', 'text': 'Hi'}]}
        """
        from tagsmith.wire.cohere import cohere_message

        return cohere_message(self, thoughts=thoughts, units=units)


# What `dataclasses.asdict` would give, at a tenth of its cost.
def _call_fields(call: ToolCall) -> dict[str, Any]:
    return {
        "index": call.index,
        "id": call.id,
        "name": call.name,
        "arguments": call.arguments,
        "complete": call.complete,
    }


def _citation_fields(citation: Citation) -> dict[str, Any]:
    return {
        "start": citation.start,
        "end": citation.end,
        "text": citation.text,
        "target": citation.target,
        "positions": citation.positions,
        "sources": deepcopy(citation.sources),
    }


def _diagnostic_fields(diagnostic: Diagnostic) -> dict[str, Any]:
    return {
        "code": diagnostic.code,
        "message": diagnostic.message,
        "offset": diagnostic.offset,
    }


@dataclass(slots=True)
class _Call:
    start: ToolCallStart
    fragments: list[str] = field(default_factory=list)
    complete: bool = False

    def frozen(self) -> ToolCall:
        start = self.start
        return ToolCall(start.index, start.id, start.name, "".join(self.fragments), self.complete)


class MessageBuilder:
    """Adds events up to a message.

    >>> builder = MessageBuilder()
    >>> builder.add([ContentDelta("a"), ContentDelta("b")])
    >>> builder.message().content
    'ab'
    """

    __slots__ = ("_calls", "_citations", "_content", "_diagnostics", "_reasoning")

    def __init__(self) -> None:
        self._reasoning: list[str] = []
        self._content: list[str] = []
        self._calls: list[_Call] = []
        self._citations: list[Citation] = []
        self._diagnostics: list[Diagnostic] = []

    def add(self, events: Iterable[Event]) -> None:
        """Take the next events, in order."""
        for event in events:
            if isinstance(event, ContentDelta):
                self._content.append(event.text)
            elif isinstance(event, ReasoningDelta):
                self._reasoning.append(event.text)
            elif isinstance(event, ToolCallDelta):
                self._calls[event.index].fragments.append(event.arguments)
            elif isinstance(event, ToolCallStart):
                self._calls.append(_Call(event))
            elif isinstance(event, ToolCallEnd):
                self._calls[event.index].complete = event.complete
            elif isinstance(event, Citation):
                self._citations.append(event)
            else:
                self._diagnostics.append(event)

    def message(self, finish_reason: str | None = None, stop: str | None = None) -> Message:
        """The message so far."""
        calls = tuple(call.frozen() for call in self._calls)
        whole = sum(call.complete for call in calls)
        return Message(
            reasoning="".join(self._reasoning) or None,
            content="".join(self._content) or None,
            tool_calls=calls,
            citations=tuple(self._citations),
            diagnostics=tuple(self._diagnostics),
            finish_reason=told_finish_reason(finish_reason, begun=len(calls), whole=whole),
            stop=stop,
        )


def told_finish_reason(reason: _Reason, *, begun: int, whole: int) -> _Reason | str:
    """The reason as clients expect it, where so many calls were begun and so many are whole.

    A turn that stopped after complete calls ended for them; one that stopped in a call was cut
    off, whatever the server says. Every other reason stays.

    >>> told_finish_reason("stop", begun=2, whole=2), told_finish_reason("stop", begun=2, whole=1)
    ('tool_calls', 'length')
    """
    if begun and reason in ("stop", "tool_calls"):
        return "tool_calls" if begun == whole else "length"
    return reason
