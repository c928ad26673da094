"""Laws of the wire formats: a client that reads a stream has the message, and every citation's
text stands where its offsets say, in whatever unit they count."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from strategies import cut, cut_sizes, generations
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
from tagsmith.message import Message, MessageBuilder
from tagsmith.wire.chat import chat_message
from tagsmith.wire.chat_chunks import ChatChunks
from tagsmith.wire.cited_text import UnitCount
from tagsmith.wire.cohere import cohere_message, cohere_response
from tagsmith.wire.cohere_events import CohereEvents
from tagsmith.wire.finish import CallCount, chat_finish_reason
from tagsmith.wire.options import OffsetUnit
from tagsmith.wire.response_events import ResponseEvents
from tagsmith.wire.responses import response
from wire_doubles import chat_of_chunks, cohere_of_events, cut_of, joined_blocks

# Every kind of call layout.
FAMILIES = ["cohere-command-a", "cohere-command-xml", "kimi-k2", "llama-4", "qwen3-coder"]
# A machine with other work to do is no reason to fail.
QUICK = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
UNITS = st.sampled_from([str(unit) for unit in OffsetUnit])
REASONS = st.sampled_from(["stop", "length", "tool_calls", "content_filter"])
SOURCE = {"type": "tool", "id": None, "tool_output": {"content": "x"}}
# Characters of every width, in every unit.
TEXTS = st.text("a é\u07ff€😀", min_size=1, max_size=4)


@dataclass
class Writer:
    """Events as a parser gives them: a citation names a span of the stretch that was last shown."""

    events: list[Event] = field(default_factory=list)
    texts: dict[Target, str] = field(default_factory=lambda: dict.fromkeys(Target, ""))
    calls: int = 0
    stretch: tuple[Target, int] | None = None

    def say(self, target: Target, text: str, spans: list[tuple[float, float]]) -> None:
        if self.stretch is None or self.stretch[0] is not target:
            self.stretch = target, len(self.texts[target])
        self.texts[target] += text
        kind = ContentDelta if target is Target.CONTENT else ReasoningDelta
        self.events.append(kind(text))
        for span in spans:
            self.cite(target, self.stretch[1], *span)

    def call(self, fragments: list[str], complete: bool) -> None:
        self.events.append(ToolCallStart(self.calls, str(self.calls), "f"))
        self.events += [ToolCallDelta(self.calls, fragment) for fragment in fragments]
        self.events.append(ToolCallEnd(self.calls, complete))
        self.calls += 1
        self.stretch = None

    def cite(self, target: Target, first: int, where: float, how_much: float) -> None:
        text = self.texts[target]
        start = first + int((len(text) - first) * where)
        end = min(start + 1 + int((len(text) - start) * how_much), len(text))
        self.events.append(Citation(start, end, text[start:end], target, ((0, 0),), (SOURCE,)))


SPANS = st.tuples(st.floats(0, 0.9), st.floats(0, 1))
STEPS = st.one_of(
    st.tuples(st.just("say"), st.sampled_from(Target), TEXTS, st.lists(SPANS, max_size=2)),
    st.tuples(st.just("call"), st.lists(TEXTS, max_size=2), st.booleans()),
)


def written(steps: list[tuple[Any, ...]]) -> list[Event]:
    writer = Writer()
    for kind, *arguments in steps:
        getattr(writer, kind)(*arguments)
    return writer.events


STREAMS = st.lists(STEPS, max_size=8).map(written)


@st.composite
def answers(draw: st.DrawFn) -> list[Event]:
    """What a built-in family makes of a generated output, cut at random."""
    family, text, request = draw(generations(FAMILIES))
    parser = family.parser(**request)
    events = [event for delta in cut(text, draw(cut_sizes())) for event in parser.feed(delta)]
    return events + parser.finish()


ANY_STREAMS = STREAMS | answers()


def message_of(events: list[Event], reason: str) -> Message:
    builder = MessageBuilder()
    builder.add(events)
    return builder.message(reason)


def assert_cut(citation: dict[str, Any], text: str, units: str) -> None:
    assert cut_of(text, citation["start"], citation["end"], units) == citation["text"]


@given(ANY_STREAMS, REASONS, UNITS, st.sampled_from(["fast", "accurate"]))
@QUICK
def test_chunks_are_the_message(events: list[Event], reason: str, units: str, order: str) -> None:
    chunks = ChatChunks(id="1", model="m", created=0, citations=order, units=units)
    told = [chunk for event in events for chunk in chunks.feed([event])] + chunks.finish(reason)
    message = message_of(events, reason)
    body = chat_message(message, units=units)
    assert chat_of_chunks(told) == body
    calls = CallCount.of(message.tool_calls)
    assert told[-1]["choices"][0]["finish_reason"] == chat_finish_reason(reason, calls)
    for citation in body.get("citations", ()):
        key = "content" if citation["type"] == "TEXT_CONTENT" else "reasoning_content"
        assert_cut(citation, body[key], units)


@given(ANY_STREAMS, REASONS, st.sampled_from(["fast", "accurate"]))
@QUICK
def test_cohere_events_are_the_message(events: list[Event], reason: str, order: str) -> None:
    stream = CohereEvents(id="1", citations=order)
    told = [made for event in events for made in stream.feed([event])] + stream.finish(reason)
    message = message_of(events, reason)
    answer = cohere_of_events(told)
    assert joined_blocks(answer["message"]) == joined_blocks(cohere_message(message))
    assert answer["delta"]["finish_reason"] == cohere_response(message, id="1")["finish_reason"]
    assert answer["ended_calls"] == {c.index for c in message.tool_calls if c.complete}


@given(ANY_STREAMS)
@QUICK
def test_plans_are_the_message(events: list[Event]) -> None:
    stream = CohereEvents(id="1", thoughts="tool-plan")
    told = cohere_of_events(stream.feed(events) + stream.finish())["message"]
    message = message_of(events, "stop")
    whole = joined_blocks(cohere_message(message, thoughts="tool-plan"))
    if "thinking" in whole:  # Only a message that is whole shows that nothing was planned.
        assert not message.tool_calls
        whole["tool_plan"] = whole.pop("thinking")
    assert joined_blocks(told) == whole


@given(ANY_STREAMS, UNITS)
@QUICK
def test_every_citation_stands_in_its_block(events: list[Event], units: str) -> None:
    stream = CohereEvents(id="1", units=units)
    told = cohere_of_events(stream.feed(events) + stream.finish())["message"]
    for body in (told, cohere_message(message_of(events, "stop"), units=units)):
        for citation in body.get("citations", ()):
            block = body["content"][citation["content_index"]] if citation["text"] else {}
            kind = "text" if citation["type"] == "TEXT_CONTENT" else "thinking"
            assert_cut(citation, block.get(kind, ""), units)


def joined_items(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Items with one of each kind of text, as a response that is not streamed has them."""
    joined: dict[str, dict[str, Any]] = {}
    calls = []
    for item in items:
        bare = {key: value for key, value in item.items() if key != "id"}
        if item["type"] == "function_call":
            calls.append(bare)
            continue
        [part] = bare.pop("content")
        # Which of several is incomplete, a message does not know.
        del bare["status"]
        known = joined.setdefault(item["type"], {**bare, "text": "", "citations": []})
        base = len(known["text"])
        for citation in part.get("citations", ()):
            places = {key: citation[key] + base for key in ("start", "end")}
            known["citations"].append({**citation, **places})
        known["text"] += part["text"]
    return [joined[kind] for kind in ("reasoning", "message") if kind in joined] + calls


@given(ANY_STREAMS, REASONS)
@QUICK
def test_response_events_are_the_response(events: list[Event], reason: str) -> None:
    stream = ResponseEvents(id="1", model="m", created=0)
    told = [made for event in events for made in stream.feed([event])] + stream.finish(reason)
    assert [event["sequence_number"] for event in told] == list(range(len(told)))
    streamed = told[-1]["response"]
    whole = response(message_of(events, reason), id="1", model="m", created=0)
    shown = [event for event in events if not isinstance(event, Citation) or event.text]
    if len(shown) < len(events):  # What cites nothing stands in no item until one begins.
        whole = response(message_of(shown, reason), id="1", model="m", created=0)
    assert joined_items(streamed.pop("output")) == joined_items(whole.pop("output"))
    assert streamed == whole


@pytest.mark.parametrize("unit", OffsetUnit)
@given(pieces=st.lists(st.text(max_size=4) | TEXTS, max_size=6))
@QUICK
def test_units_are_those_of_the_encoding(unit: OffsetUnit, pieces: list[str]) -> None:
    count = UnitCount(unit)
    for piece in pieces:
        count.add(piece)
    text = "".join(pieces)
    for offset in range(len(text) + 1):
        assert cut_of(text, 0, count.before(offset), unit) == text[:offset]
