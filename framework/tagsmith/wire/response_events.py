"""A streamed answer in the shape of OpenAI's Responses API: typed events."""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
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
from tagsmith.wire.finish import CallCount, chat_finish_reason
from tagsmith.wire.open_items import OpenCall, OpenText, Step
from tagsmith.wire.options import OffsetUnit, Usage
from tagsmith.wire.parts import citation_fields, cited_texts
from tagsmith.wire.responses import CUT_REASONS, Item, call_item, end_response, response_body
from tagsmith.wire.safe_text import safe_error

ResponseEvent = dict[str, Any]


class ResponseEvents:
    """Makes Responses API events of the events of one generation.

    Each stretch of reasoning or content is an item, and so is each call, in order of appearance.
    A call that was cut off gets no `arguments.done`, its item ends incomplete and so does the
    response. A citation stands in its text's part when that is done. Every event is the caller's
    own.

    Args:
        id: The response's.
        model: The name the client asked for.
        created: Seconds since 1970.
        units: What the offsets of citations count, from the start of their item's text.

    Raises `RequestError` for an option's unknown value.

    >>> stream = ResponseEvents(id="resp_1", model="m", created=0)
    >>> events = stream.feed([ContentDelta("Hi")]) + stream.finish("stop")
    >>> [event["type"].removeprefix("response.") for event in events][:5]
    ['created', 'in_progress', 'output_item.added', 'content_part.added', 'output_text.delta']
    """

    __slots__ = (
        "_call_ids",
        "_calls",
        "_ended",
        "_id",
        "_items",
        "_open",
        "_sequence",
        "_shell",
        "_texts",
    )

    def __init__(
        self,
        *,
        id: str,  # noqa: A002
        model: str,
        created: int,
        units: OffsetUnit | str = OffsetUnit.CODE_POINTS,
    ) -> None:
        self._id = id
        self._shell = response_body(id, model, created, [])
        self._texts = cited_texts(named(OffsetUnit, units, "units"))
        self._sequence = 0
        self._ended = False
        self._items: list[Item] = []
        self._open: OpenText | OpenCall | None = None
        self._calls = CallCount()
        self._call_ids: set[str] = set()

    def start(self) -> list[ResponseEvent]:
        """The first events. `feed` and `finish` begin with them where they were not asked for."""
        if self._sequence:
            return []
        steps = [(kind, {"response": deepcopy(self._shell)}) for kind in ("created", "in_progress")]
        return self._numbered(steps)

    def feed(self, events: Iterable[Event]) -> list[ResponseEvent]:
        """The stream events of the next events, in order."""
        steps: list[Step] = []
        for event in events:
            if isinstance(event, ContentDelta):
                steps += self._text(Target.CONTENT, event.text)
            elif isinstance(event, ReasoningDelta):
                steps += self._text(Target.REASONING, event.text)
            elif isinstance(event, ToolCallDelta):
                if isinstance(self._open, OpenCall):
                    steps += self._open.more(event.arguments)
            elif isinstance(event, ToolCallStart):
                self._calls.begun += 1
                index = len(self._items)
                item = call_item(event.id, event.name, self._id, index, self._call_ids)
                steps += self._begin(OpenCall(item, index))
            elif isinstance(event, ToolCallEnd):
                self._calls.whole += event.complete
                steps += self._close("completed" if event.complete else "incomplete")
            elif isinstance(event, Citation):
                self._cite(event)
        return [*self.start(), *self._numbered(steps)]

    def finish(
        self, reason: str | None = "stop", *, usage: Usage | None = None
    ) -> list[ResponseEvent]:
        """The last events, to be asked for after the events of `Parser.finish` were fed.

        Args:
            reason: Why the generation ended; it may be a server's own word.
            usage: Tokens, where they are known.
        """
        reason = chat_finish_reason(reason, self._calls)
        text_status = "incomplete" if reason in CUT_REASONS else "completed"
        return self._end(end_response(self._shell, reason, usage), text_status)

    def fail(self, error: str) -> list[ResponseEvent]:
        """The last events of a generation that failed; the client sees a safe form of the error."""
        failed = end_response(self._shell, "error", None)
        failed["error"]["message"] = safe_error(error)
        return self._end(failed, "incomplete")

    def _end(self, body: dict[str, Any], text_status: str) -> list[ResponseEvent]:
        if self._ended:
            return []
        self._ended = True
        steps = self._close_open(text_status)
        body["output"] = self._items
        steps.append((body["status"], {"response": deepcopy(body)}))
        return [*self.start(), *self._numbered(steps)]

    def _numbered(self, steps: list[Step]) -> list[ResponseEvent]:
        first = self._sequence
        self._sequence += len(steps)
        return [
            {"type": f"response.{kind}", "sequence_number": first + i, **fields}
            for i, (kind, fields) in enumerate(steps)
        ]

    def _begin(self, opened: OpenText | OpenCall) -> list[Step]:
        steps = self._close_open("completed")
        self._open = opened
        self._items.append(opened.item)
        return [*steps, *opened.begin()]

    def _text(self, target: Target, text: str) -> list[Step]:
        steps: list[Step] = []
        if not text:
            return steps
        opened = self._open
        if not isinstance(opened, OpenText) or opened.target is not target:
            index = len(self._items)
            self._texts[target].begin(index)
            opened = OpenText(target, self._id, index)
            steps = self._begin(opened)
        self._texts[target].add(text)
        return [*steps, *opened.more(text)]

    def _close_open(self, text_status: str) -> list[Step]:
        """End what is open. A call whose end was not seen was cut off."""
        return self._close("incomplete" if isinstance(self._open, OpenCall) else text_status)

    def _close(self, status: str) -> list[Step]:
        opened, self._open = self._open, None
        return [] if opened is None else opened.done(status)

    def _cite(self, citation: Citation) -> None:
        for place in self._texts[citation.target].places(citation):
            fields = citation_fields(citation, place)
            if isinstance(self._open, OpenText) and place.block == self._open.index:
                self._open.citations.append(fields)
            elif place.block is not None:
                self._items[place.block]["content"][0].setdefault("citations", []).append(fields)
