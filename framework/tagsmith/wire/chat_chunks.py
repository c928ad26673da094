"""A streamed answer in the Chat Completions shape: chunks, as OpenAI's API reference has them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tagsmith.events import (
    Citation,
    ContentDelta,
    Event,
    ReasoningDelta,
    Target,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
)
from tagsmith.request.plain import named
from tagsmith.wire.chat import chat_usage
from tagsmith.wire.finish import CallCount, chat_finish_reason
from tagsmith.wire.options import CitationOrder, OffsetUnit, ReasoningField, StreamUsage, Usage
from tagsmith.wire.parts import call_fields, citation_fields, cited_texts

Chunk = dict[str, Any]


class ChatChunks:
    """Makes chunks of the events of one generation: one choice of one answer.

    The first chunk says whose turn it is, the last why it ended. A tool call's first chunk has its
    id and name, later ones more of its arguments. A citation stands in `delta.citations` as in the
    message, with its `index` among them, without which the official SDK would not join the lists.
    Diagnostics make no chunk. Every chunk is the caller's own: no two share a part that can be
    changed.

    Args:
        id: The answer's, the same in every chunk.
        model: The name the client asked for.
        created: Seconds since 1970.
        index: The choice's.
        reasoning_field: The key for reasoning.
        citations: When citations are told: as each span closes, with the last chunks, or never.
        units: What the offsets of citations count, from the start of the content or reasoning.
        usage: Whether a `usage_chunk` follows the last chunk.

    Raises `RequestError` for an option's unknown value.

    >>> chunks = ChatChunks(id="chatcmpl-1", model="m", created=0)
    >>> [chunk["choices"][0]["delta"] for chunk in chunks.feed([ContentDelta("Hi")])]
    [{'role': 'assistant', 'content': 'Hi'}]
    >>> chunks.finish("stop")[0]["choices"]
    [{'index': 0, 'delta': {}, 'finish_reason': 'stop'}]
    """

    __slots__ = (
        "_calls",
        "_content",
        "_created",
        "_ended",
        "_id",
        "_index",
        "_later",
        "_model",
        "_order",
        "_reasoning",
        "_reasoning_field",
        "_started",
        "_told",
        "_usage",
    )

    def __init__(
        self,
        *,
        id: str,  # noqa: A002
        model: str,
        created: int,
        index: int = 0,
        reasoning_field: ReasoningField | str = ReasoningField.REASONING_CONTENT,
        citations: CitationOrder | str = CitationOrder.FAST,
        units: OffsetUnit | str = OffsetUnit.CODE_POINTS,
        usage: StreamUsage | str = StreamUsage.NONE,
    ) -> None:
        self._id = id
        self._model = model
        self._created = created
        self._index = index
        self._reasoning_field = named(ReasoningField, reasoning_field, "reasoning_field").value
        self._order = named(CitationOrder, citations, "citations")
        follows = named(StreamUsage, usage, "usage") is StreamUsage.LAST
        self._usage = {"usage": None} if follows else {}
        texts = cited_texts(named(OffsetUnit, units, "units"))
        self._content, self._reasoning = texts[Target.CONTENT], texts[Target.REASONING]
        self._started = self._ended = False
        self._calls = CallCount()
        self._told = 0
        self._later: list[dict[str, Any]] = []

    def start(self) -> list[Chunk]:
        """A chunk that says whose turn it is. Where it was not asked for, the first other one does.

        A stream of several choices begins with the start of each, in order: the official SDK puts a
        choice where it is first seen.
        """
        return [] if self._started else [self._chunk({})]

    def feed(self, events: Iterable[Event]) -> list[Chunk]:
        """The chunks of the next events, in order."""
        chunks = []
        for event in events:
            if isinstance(event, ContentDelta):
                self._content.add(event.text)
                chunks.append(self._chunk({"content": event.text}))
            elif isinstance(event, ReasoningDelta):
                self._reasoning.add(event.text)
                chunks.append(self._chunk({self._reasoning_field: event.text}))
            elif isinstance(event, ToolCallDelta):
                more = {"index": event.index, "function": {"arguments": event.arguments}}
                chunks.append(self._chunk({"tool_calls": [more]}))
            elif isinstance(event, ToolCallStart):
                self._calls.begun += 1
                first = {"index": event.index, **call_fields(event.id, event.name, "")}
                chunks.append(self._chunk({"tool_calls": [first]}))
            elif isinstance(event, ToolCallEnd):
                self._calls.whole += event.complete
            elif isinstance(event, Citation) and self._order is not CitationOrder.OFF:
                self._later += self._cited(event)
                if self._order is CitationOrder.FAST:
                    chunks += self._citations()
        return chunks

    def finish(self, reason: str | None = "stop") -> list[Chunk]:
        """The last chunks, to be asked for after the events of `Parser.finish` were fed. Again,
        there are none.

        The reason may be a server's own word. It is told apart as in `Message`: "tool_calls" when
        the turn stopped after complete calls, "length" when a call was cut off.
        """
        if self._ended:
            return []
        self._ended = True
        return [*self._citations(), self._chunk({}, chat_finish_reason(reason, self._calls))]

    def _cited(self, citation: Citation) -> list[dict[str, Any]]:
        text = self._content if citation.target is Target.CONTENT else self._reasoning
        return [citation_fields(citation, place) for place in text.places(citation)]

    def _citations(self) -> list[Chunk]:
        """A chunk of the citations that were not told yet, if there are any."""
        if not self._later:
            return []
        told = [{"index": self._told + i, **cited} for i, cited in enumerate(self._later)]
        self._told += len(told)
        self._later = []
        return [self._chunk({"citations": told})]

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
            **self._usage,
        }


def usage_chunk(
    *,
    id: str,  # noqa: A002
    model: str,
    created: int,
    usage: Usage,
) -> Chunk:
    """The chunk after the last, for a client that asks for `stream_options.include_usage`.

    It has no choice: its counts are those of all choices of the answer.

    >>> usage_chunk(id="chatcmpl-1", model="m", created=0, usage=Usage(5, 2))["choices"]
    []
    """
    return {
        "id": id,
        "object": "chat.completion.chunk",
        "created": created,
        "model": model,
        "choices": [],
        "usage": chat_usage(usage),
    }
