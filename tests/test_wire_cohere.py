"""Cohere v2 answers and streams: blocks, plans, calls, citations, ends and failures."""

from __future__ import annotations

from typing import Any

import pytest

from tagsmith.errors import RequestError
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
from tagsmith.message import Message, MessageBuilder, ToolCall
from tagsmith.wire.cohere import cohere_message, cohere_response
from tagsmith.wire.cohere_events import CohereEvents
from tagsmith.wire.options import Usage
from wire_doubles import assert_own_parts, cohere_of_events

SOURCE = {"type": "document", "id": "d", "document": {"id": "d", "text": "x"}}
CALL: list[Event] = [
    ToolCallStart(0, "0", "f"),
    ToolCallDelta(0, '{"a":'),
    ToolCallDelta(0, " 1}"),
    ToolCallEnd(0, complete=True),
]
CUT_CALL: list[Event] = [*CALL[:2], ToolCallEnd(0, complete=False)]


def cited(
    start: int, end: int, text: str, target: Target = Target.CONTENT, *sources: Any
) -> Citation:
    return Citation(start, end, text, target, ((0, 0),), sources or (SOURCE,))


def stream_of(events: list[Event], reason: str = "stop", **options: Any) -> list[dict[str, Any]]:
    stream = CohereEvents(id="chat_1", **options)
    told = [made for event in events for made in stream.feed([event])]
    return [*told, *stream.finish(reason)]


def steps(told: list[dict[str, Any]]) -> list[str]:
    """The events between start and end in short: type, index, and what it says."""
    return [
        " ".join(str(part) for part in (event["type"], event.get("index")) if part is not None)
        for event in told[1:-1]
    ]


def test_a_stream_to_the_letter() -> None:
    events = [ReasoningDelta("hm"), ContentDelta("Hi"), *CALL]
    assert stream_of(events) == [
        {"type": "message-start", "id": "chat_1", "delta": {"message": {"role": "assistant"}}},
        {
            "type": "content-start",
            "index": 0,
            "delta": {"message": {"content": {"type": "thinking", "thinking": ""}}},
        },
        {
            "type": "content-delta",
            "index": 0,
            "delta": {"message": {"content": {"thinking": "hm"}}},
        },
        {"type": "content-end", "index": 0},
        {
            "type": "content-start",
            "index": 1,
            "delta": {"message": {"content": {"type": "text", "text": ""}}},
        },
        {"type": "content-delta", "index": 1, "delta": {"message": {"content": {"text": "Hi"}}}},
        {"type": "content-end", "index": 1},
        {
            "type": "tool-call-start",
            "index": 0,
            "delta": {
                "message": {
                    "tool_calls": {
                        "id": "0",
                        "type": "function",
                        "function": {"name": "f", "arguments": ""},
                    }
                }
            },
        },
        {
            "type": "tool-call-delta",
            "index": 0,
            "delta": {"message": {"tool_calls": {"function": {"arguments": '{"a":'}}}},
        },
        {
            "type": "tool-call-delta",
            "index": 0,
            "delta": {"message": {"tool_calls": {"function": {"arguments": " 1}"}}}},
        },
        {"type": "tool-call-end", "index": 0},
        {"type": "message-end", "id": "chat_1", "delta": {"finish_reason": "TOOL_CALL"}},
    ]


def test_text_after_something_else_is_a_new_block() -> None:
    events: list[Event] = [ContentDelta("a"), *CALL, ContentDelta("b"), ReasoningDelta("c")]
    told = stream_of([*events, ContentDelta(""), ContentDelta("d")])
    assert cohere_of_events(told)["message"]["content"] == [
        {"type": "text", "text": "a"},
        {"type": "text", "text": "b"},
        {"type": "thinking", "thinking": "c"},
        {"type": "text", "text": "d"},
    ]


def test_a_plan_is_told_as_one_and_closes_the_block_before_it() -> None:
    events: list[Event] = [ReasoningDelta("first "), ContentDelta("a"), ReasoningDelta("then")]
    told = stream_of([*events, *CALL[:1]], thoughts="tool-plan")
    assert steps(told) == [
        "tool-plan-delta",
        "content-start 0",
        "content-delta 0",
        "content-end 0",
        "tool-plan-delta",
        "tool-call-start 0",
    ]
    assert cohere_of_events(told)["message"]["tool_plan"] == "first then"


@pytest.mark.parametrize(("calls", "plan"), [((), None), (CALL, "hm")])
def test_a_message_has_a_plan_only_before_calls(calls: Any, plan: str | None) -> None:
    builder = MessageBuilder()
    builder.add([ReasoningDelta("hm"), *calls])
    body = builder.message("stop").to_cohere(thoughts="tool-plan")
    assert body.get("tool_plan") == plan
    assert ("content" in body) is (plan is None)


def test_what_there_is_none_of_has_no_key() -> None:
    assert cohere_message(Message()) == {"role": "assistant"}
    assert set(cohere_response(Message(), id="a")) == {"id", "finish_reason", "message"}


@pytest.mark.parametrize(
    ("events", "reason", "told"),
    [
        ([], "stop", "COMPLETE"),
        (CALL, "stop", "TOOL_CALL"),
        (CUT_CALL, "stop", "MAX_TOKENS"),
        (CALL[:2], "stop", "MAX_TOKENS"),
        (CALL, "length", "MAX_TOKENS"),
        ([], "error", "ERROR"),
    ],
)
def test_finish_reason(events: list[Event], reason: str, told: str) -> None:
    assert stream_of(events, reason)[-1]["delta"] == {"finish_reason": told}
    builder = MessageBuilder()
    builder.add(events)
    assert cohere_response(builder.message(reason), id="a")["finish_reason"] == told


def test_a_stop_string_has_its_own_finish_reason() -> None:
    message = Message(content="a", finish_reason="stop", stop="END")
    assert cohere_response(message, id="a")["finish_reason"] == "STOP_SEQUENCE"
    [_, end] = CohereEvents(id="a").finish("stop", stop="END")
    assert end["delta"] == {"finish_reason": "STOP_SEQUENCE"}


def test_a_call_that_was_cut_off_has_no_end() -> None:
    for events in (CUT_CALL, CALL[:2]):
        told = stream_of([*events, ContentDelta("a")])
        assert cohere_of_events(told)["ended_calls"] == set()
    assert cohere_of_events(stream_of(CALL))["ended_calls"] == {0}


def test_usage() -> None:
    right = {
        "billed_units": {"input_tokens": 5, "output_tokens": 2},
        "tokens": {"input_tokens": 5, "output_tokens": 2},
        "cached_tokens": 4,
    }
    usage = Usage(5, 2, cached_tokens=4)
    [_, end] = CohereEvents(id="a").finish(usage=usage)
    assert end["delta"]["usage"] == right
    assert cohere_response(Message(), id="a", usage=usage)["usage"] == right
    without = cohere_response(Message(), id="a", usage=Usage(5, 2))
    assert "cached_tokens" not in without["usage"]


CITED: list[Event] = [
    ReasoningDelta("so"),
    cited(0, 2, "so", Target.REASONING),
    ContentDelta("ab"),
    cited(1, 2, "b"),
    *CALL,
    ContentDelta("cd"),
    cited(2, 3, "c"),
]


@pytest.mark.parametrize(
    ("order", "told"),
    [
        (
            "fast",
            [
                "content-start 0",
                "content-delta 0",
                "citation-start 0",
                "citation-end 0",
                "content-end 0",
                "content-start 1",
                "content-delta 1",
                "citation-start 1",
                "citation-end 1",
                "content-end 1",
                "tool-call-start 0",
                "tool-call-delta 0",
                "tool-call-delta 0",
                "tool-call-end 0",
                "content-start 2",
                "content-delta 2",
                "citation-start 2",
                "citation-end 2",
                "content-end 2",
            ],
        ),
        (
            "accurate",
            [
                "content-start 0",
                "content-delta 0",
                "content-end 0",
                "content-start 1",
                "content-delta 1",
                "content-end 1",
                "tool-call-start 0",
                "tool-call-delta 0",
                "tool-call-delta 0",
                "tool-call-end 0",
                "content-start 2",
                "content-delta 2",
                "content-end 2",
                "citation-start 0",
                "citation-end 0",
                "citation-start 1",
                "citation-end 1",
                "citation-start 2",
                "citation-end 2",
            ],
        ),
    ],
)
def test_citations_come_in_the_order_that_was_asked_for(order: str, told: list[str]) -> None:
    stream = stream_of(CITED, citations=order)
    assert steps(stream) == told
    citations = cohere_of_events(stream)["message"]["citations"]
    places = [
        tuple(found[key] for key in ("content_index", "start", "end", "text", "type"))
        for found in citations
    ]
    assert places == [
        (0, 0, 2, "so", "THINKING_CONTENT"),
        (1, 1, 2, "b", "TEXT_CONTENT"),
        (2, 0, 1, "c", "TEXT_CONTENT"),
    ]


def test_no_citation_is_told_where_none_is_wanted() -> None:
    assert not [step for step in steps(stream_of(CITED, citations="off")) if "citation" in step]


def test_a_citation_over_two_blocks_has_a_part_in_each() -> None:
    events: list[Event] = [ContentDelta("a😀b"), *CALL, ContentDelta("cd"), cited(2, 4, "bc")]
    told = cohere_of_events(stream_of(events, units="utf-16"))["message"]["citations"]
    places = [(c["content_index"], c["start"], c["end"], c["text"]) for c in told]
    assert places == [(0, 3, 4, "b"), (1, 0, 1, "c")]
    assert [c["sources"] for c in told] == [[SOURCE], [SOURCE]]


def test_what_is_cited_in_a_plan_is_said_to_be() -> None:
    events = [ReasoningDelta("so"), cited(0, 2, "so", Target.REASONING), *CALL]
    builder = MessageBuilder()
    builder.add(events)
    whole = cohere_message(builder.message("stop"), thoughts="tool-plan")
    streamed = cohere_of_events(stream_of(events, thoughts="tool-plan"))["message"]
    [citation] = whole["citations"]
    assert (citation["type"], "content_index" in citation) == ("PLAN", False)
    assert streamed == whole


def test_sources_have_no_empty_fields_and_a_citation_has_a_source() -> None:
    nameless = {"type": "tool", "id": None, "tool_output": {"content": None}}
    citations = (
        cited(0, 1, "a", Target.CONTENT, nameless, SOURCE),
        cited(0, 1, "a", Target.CONTENT, {"id": None}),
        Citation(0, 1, "a", Target.CONTENT, ((9, 9),)),
    )
    [found] = cohere_message(Message(content="a", citations=citations))["citations"]
    assert found["sources"] == [{"type": "tool", "tool_output": {"content": None}}, SOURCE]
    told = stream_of([ContentDelta("a"), *citations])
    assert cohere_of_events(told)["message"]["citations"] == [found]


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_a_number_that_json_does_not_have_is_null(number: float) -> None:
    source = {"type": "document", "document": {"x": [number, 1.5], "y": (number,)}}
    message = Message(content="a", citations=(cited(0, 1, "a", Target.CONTENT, source),))
    [found] = cohere_message(message)["citations"]
    assert found["sources"] == [{"type": "document", "document": {"x": [None, 1.5], "y": [None]}}]


def test_nothing_is_shared_with_the_request_nor_between_two_answers() -> None:
    citations = tuple(event for event in CITED if isinstance(event, Citation))
    calls = (ToolCall(0, "0", "f", "{}", complete=True),)
    message = Message("so", "abcd", calls, citations, finish_reason="stop")
    bodies = [cohere_response(message, id="a") for _ in range(2)]
    assert_own_parts([*bodies, *stream_of(CITED), SOURCE])


def test_a_failure_closes_what_is_open_and_says_no_secret() -> None:
    stream = CohereEvents(id="a")
    stream.feed([ContentDelta("a")])
    assert stream.fail("boom in /srv/models/x") == [
        {"type": "content-end", "index": 0},
        {
            "type": "message-end",
            "id": "a",
            "delta": {"error": "boom in <path>", "finish_reason": "ERROR"},
        },
    ]
    assert stream.finish() == stream.fail("again") == []


def test_a_stream_starts_once() -> None:
    stream = CohereEvents(id="a")
    assert [event["type"] for event in stream.start()] == ["message-start"]
    assert stream.start() == stream.feed([]) == []
    assert [event["type"] for event in stream.finish()] == ["message-end"]


@pytest.mark.parametrize("option", ["thoughts", "citations", "units"])
def test_an_unknown_option_says_what_is_allowed(option: str) -> None:
    with pytest.raises(RequestError, match=f"{option}: unknown value 'no'; allowed: .+, .+"):
        CohereEvents(id="a", **{option: "no"})
