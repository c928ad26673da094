"""From a parser's events to the chunks of SGLang's Chat Completions streams."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tagsmith.events import ContentDelta, Event, ReasoningDelta, ToolCallStart, join_events
from tagsmith.wire import ChatChunks, CitationOrder, sse_frame

_REASONING = "reasoning_content"


class ChunkWriter:
    """Writes the chunks of one choice, in the order of the events.

    The first chunk, with the role, and the last, with the finish reason, are SGLang's own.

    Args:
        separate: Whether reasoning stands apart from the content.
        stream_reasoning: Whether it is told as it comes, or once it is whole.
        wants_content: Whether an answer of reasoning alone is told again as content.
        call_id: Gives a call's id by its own id, its index and its name.
    """

    def __init__(
        self,
        *,
        id: str,  # noqa: A002
        model: str,
        created: int,
        index: int,
        separate: bool,
        stream_reasoning: bool,
        wants_content: bool,
        call_id: Callable[[str, int, str], str],
    ) -> None:
        # Without a text of its own for reasoning, the offsets of citations would be wrong.
        told = CitationOrder.FAST if separate else CitationOrder.OFF
        self._chunks = ChatChunks(id=id, model=model, created=created, index=index, citations=told)
        [self._empty] = self._chunks.start()
        self._separate = separate
        self._stream_reasoning = stream_reasoning
        self._wants_content = wants_content
        self._call_id = call_id
        self._kept: list[Event] = []
        self._reasoning: list[str] = []

    def write(
        self,
        events: Iterable[Event],
        usage: dict[str, Any] | None,
        logprobs: dict[str, Any] | None,
        *,
        last: bool,
    ) -> list[str]:
        """The chunks of a step; its log probabilities go with the first."""
        shown = self._shown(join_events(events), last=last)
        chunks = self._chunks.feed(map(self._named, shown))
        if not chunks and logprobs is not None:
            chunks = [{**self._empty, "choices": [self._empty_choice()]}]
        for chunk in chunks:
            [choice] = chunk["choices"]
            choice["delta"].setdefault(_REASONING, None)
            choice |= {"logprobs": logprobs, "matched_stop": None}
            logprobs = None
            if usage is not None:
                chunk["usage"] = usage
        return list(map(sse_frame, chunks))

    def _empty_choice(self) -> dict[str, Any]:
        return {**self._empty["choices"][0], "delta": {}}

    def _shown(self, events: Iterable[Event], *, last: bool) -> list[Event]:
        shown: list[Event] = []
        for event in events:
            if isinstance(event, ReasoningDelta):
                self._reasoning.append(event.text)
                if not self._separate:
                    shown.append(ContentDelta(event.text))
                elif self._stream_reasoning:
                    shown.append(event)
                else:
                    self._kept.append(event)
                continue
            if isinstance(event, ContentDelta | ToolCallStart):
                self._wants_content = False
                shown += self._release()
            shown.append(event)
        if last:
            shown += self._release()
            if self._separate and self._wants_content and self._reasoning:
                shown.append(ContentDelta("".join(self._reasoning)))
        return shown

    def _release(self) -> list[Event]:
        kept, self._kept = join_events(self._kept), []
        return kept

    def _named(self, event: Event) -> Event:
        if not isinstance(event, ToolCallStart):
            return event
        return ToolCallStart(
            event.index, self._call_id(event.id, event.index, event.name), event.name
        )
