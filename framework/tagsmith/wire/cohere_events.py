"""A streamed answer in the Cohere v2 shape: the events of `POST /v2/chat` with `stream: true`."""

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
from tagsmith.wire.cohere import cohere_citations, cohere_usage
from tagsmith.wire.finish import CallCount, cohere_finish_reason
from tagsmith.wire.options import CitationOrder, OffsetUnit, ThoughtForm, Usage
from tagsmith.wire.parts import call_fields, cited_texts
from tagsmith.wire.safe_text import safe_error

CohereEvent = dict[str, Any]

_BLOCKS = {Target.CONTENT: "text", Target.REASONING: "thinking"}


class CohereEvents:
    """Makes stream events of the events of one generation.

    Content blocks count from 0 in order of appearance, and one is closed before anything else
    begins: text after a call, or after reasoning, is a new block. Calls and citations have
    indices of their own. A call that was cut off gets no end. Every event is the caller's own.

    Args:
        id: The answer's.
        thoughts: How reasoning is told: in thinking blocks, or as `tool-plan-delta` events.
        citations: When citations are told: as each span closes, after all blocks, or never.
        units: What the offsets of citations count, from the start of their block.

    Raises `RequestError` for an option's unknown value.

    >>> stream = CohereEvents(id="chat_1")
    >>> events = stream.start() + stream.feed([ContentDelta("Hi")]) + stream.finish("stop")
    >>> [event["type"] for event in events]
    ['message-start', 'content-start', 'content-delta', 'content-end', 'message-end']
    """

    __slots__ = (
        "_blocks",
        "_calls",
        "_cited",
        "_ended",
        "_id",
        "_later",
        "_open",
        "_order",
        "_started",
        "_texts",
        "_thoughts",
    )

    def __init__(
        self,
        *,
        id: str,  # noqa: A002
        thoughts: ThoughtForm | str = ThoughtForm.THINKING,
        citations: CitationOrder | str = CitationOrder.FAST,
        units: OffsetUnit | str = OffsetUnit.CODE_POINTS,
    ) -> None:
        self._id = id
        self._thoughts = named(ThoughtForm, thoughts, "thoughts")
        self._order = named(CitationOrder, citations, "citations")
        self._texts = cited_texts(named(OffsetUnit, units, "units"))
        self._started = self._ended = False
        self._open: Target | None = None
        self._blocks = self._cited = 0
        self._calls = CallCount()
        self._later: list[Citation] = []

    def start(self) -> list[CohereEvent]:
        """The first event. `feed` and `finish` begin with it where it was not asked for."""
        if self._started:
            return []
        self._started = True
        delta = {"message": {"role": "assistant"}}
        return [{"type": "message-start", "id": self._id, "delta": delta}]

    def feed(self, events: Iterable[Event]) -> list[CohereEvent]:
        """The stream events of the next events, in order."""
        out = self.start()
        for event in events:
            if isinstance(event, ContentDelta):
                out += self._text(Target.CONTENT, event.text)
            elif isinstance(event, ReasoningDelta):
                out += self._reasoning(event.text)
            elif isinstance(event, ToolCallDelta):
                function = {"arguments": event.arguments}
                out.append(_of_call("tool-call-delta", event.index, {"function": function}))
            elif isinstance(event, ToolCallStart):
                out += self._close_block()
                self._calls.begun += 1
                fields = call_fields(event.id, event.name, "")
                out.append(_of_call("tool-call-start", event.index, fields))
            elif isinstance(event, ToolCallEnd):
                self._calls.whole += event.complete
                if event.complete:
                    out.append({"type": "tool-call-end", "index": event.index})
            elif isinstance(event, Citation):
                if self._order is CitationOrder.FAST:
                    out += self._citation(event)
                elif self._order is CitationOrder.ACCURATE:
                    self._later.append(event)
        return out

    def finish(
        self,
        reason: str | None = "stop",
        *,
        stop: str | int | None = None,
        usage: Usage | None = None,
    ) -> list[CohereEvent]:
        """The last events, to be asked for after the events of `Parser.finish` were fed.

        Args:
            reason: Why the generation ended; it may be a server's own word.
            stop: The user's stop string that ended the content.
            usage: Tokens, where they are known.
        """
        if self._ended:
            return []
        out = [*self.start(), *self._close_block()]
        for citation in self._later:
            out += self._citation(citation)
        delta: dict[str, Any] = {
            "finish_reason": cohere_finish_reason(reason, self._calls, stop=stop)
        }
        if usage is not None:
            delta["usage"] = cohere_usage(usage)
        return [*out, self._end(delta)]

    def fail(self, error: str) -> list[CohereEvent]:
        """The last events of a generation that failed; the client sees a safe form of the error."""
        if self._ended:
            return []
        delta = {"error": safe_error(error), "finish_reason": "ERROR"}
        return [*self._close_block(), self._end(delta)]

    def _end(self, delta: dict[str, Any]) -> CohereEvent:
        self._ended = True
        return {"type": "message-end", "id": self._id, "delta": delta}

    def _reasoning(self, text: str) -> list[CohereEvent]:
        if self._thoughts is ThoughtForm.THINKING or not text:
            return self._text(Target.REASONING, text)
        self._texts[Target.REASONING].add(text)
        told = {"type": "tool-plan-delta", "delta": {"message": {"tool_plan": text}}}
        return [*self._close_block(), told]

    def _text(self, target: Target, text: str) -> list[CohereEvent]:
        kind = _BLOCKS[target]
        out: list[CohereEvent] = []
        if not text:
            return out
        if self._open is not target:
            out = self._close_block()
            self._texts[target].begin(self._blocks)
            self._open = target
            out.append(_of_block("content-start", self._blocks, {"type": kind, kind: ""}))
        self._texts[target].add(text)
        out.append(_of_block("content-delta", self._blocks, {kind: text}))
        return out

    def _close_block(self) -> list[CohereEvent]:
        if self._open is None:
            return []
        self._open = None
        self._blocks += 1
        return [{"type": "content-end", "index": self._blocks - 1}]

    def _citation(self, citation: Citation) -> list[CohereEvent]:
        out: list[CohereEvent] = []
        for cited in cohere_citations(citation, self._texts[citation.target], self._thoughts):
            delta = {"message": {"citations": cited}}
            out += [
                {"type": "citation-start", "index": self._cited, "delta": delta},
                {"type": "citation-end", "index": self._cited},
            ]
            self._cited += 1
        return out


def _of_block(kind: str, index: int, content: dict[str, str]) -> CohereEvent:
    return {"type": kind, "index": index, "delta": {"message": {"content": content}}}


def _of_call(kind: str, index: int, call: dict[str, Any]) -> CohereEvent:
    return {"type": kind, "index": index, "delta": {"message": {"tool_calls": call}}}
