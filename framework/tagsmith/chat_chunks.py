"""A streamed answer in the shape that clients read: Chat Completions chunks."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Any

from tagsmith.events import (
    ContentDelta,
    Event,
    ReasoningDelta,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
)

Chunk = dict[str, Any]


class ReasoningField(StrEnum):
    """The key under which clients look for reasoning; servers differ."""

    REASONING_CONTENT = "reasoning_content"
    REASONING = "reasoning"


class ChatChunks:
    """Makes chunks of the events of one generation: one choice of one answer.

    The first chunk says whose turn it is, the last why it ended. A tool call's first chunk has its
    id and name, later ones more of its arguments. Citations and diagnostics make no chunk. Every
    chunk is the caller's own: no two share a part that can be changed.

    Parameters: `id`, `model` and `created` (seconds since 1970) are those of the answer, `index`
    is the choice's.

    >>> chunks = ChatChunks(id="chatcmpl-1", model="m", created=0)
    >>> [chunk["choices"][0]["delta"] for chunk in chunks.feed([ContentDelta("Hi")])]
    [{'role': 'assistant', 'content': 'Hi'}]
    >>> chunks.finish("stop")[0]["choices"]
    [{'index': 0, 'delta': {}, 'finish_reason': 'stop'}]
    """

    __slots__ = (
        "_calls",
        "_created",
        "_id",
        "_index",
        "_model",
        "_reasoning_field",
        "_started",
        "_whole_calls",
    )

    def __init__(
        self,
        *,
        id: str,  # noqa: A002
        model: str,
        created: int,
        index: int = 0,
        reasoning_field: ReasoningField = ReasoningField.REASONING_CONTENT,
    ) -> None:
        self._id = id
        self._model = model
        self._created = created
        self._index = index
        self._reasoning_field = reasoning_field.value
        self._started = False
        self._calls = self._whole_calls = 0

    def feed(self, events: Iterable[Event]) -> list[Chunk]:
        """The chunks of the next events, in order."""
        chunks = []
        for event in events:
            if isinstance(event, ContentDelta):
                chunks.append(self._chunk({"content": event.text}))
            elif isinstance(event, ReasoningDelta):
                chunks.append(self._chunk({self._reasoning_field: event.text}))
            elif isinstance(event, ToolCallDelta):
                more = {"index": event.index, "function": {"arguments": event.arguments}}
                chunks.append(self._chunk({"tool_calls": [more]}))
            elif isinstance(event, ToolCallStart):
                self._calls += 1
                chunks.append(self._chunk({"tool_calls": [_first_of_call(event)]}))
            elif isinstance(event, ToolCallEnd):
                self._whole_calls += event.complete
        return chunks

    def finish(self, reason: str = "stop") -> list[Chunk]:
        """The last chunk, to be asked for after the events of `Parser.finish` were fed.

        Its reason is told apart as in `Message`: "tool_calls" when the turn stopped after complete
        calls, "length" when a call was cut off.
        """
        if reason == "stop" and self._calls:
            reason = "tool_calls" if self._calls == self._whole_calls else "length"
        return [self._chunk({}, reason)]

    def _chunk(self, delta: dict[str, Any], finish_reason: str | None = None) -> Chunk:
        if not self._started:
            self._started = True
            delta = {"role": "assistant", **delta}
        return {
            "id": self._id,
            "object": "chat.completion.chunk",
            "created": self._created,
            "model": self._model,
            "choices": [{"index": self._index, "delta": delta, "finish_reason": finish_reason}],
        }


def _first_of_call(event: ToolCallStart) -> dict[str, Any]:
    return {
        "index": event.index,
        "id": event.id,
        "type": "function",
        "function": {"name": event.name, "arguments": ""},
    }
