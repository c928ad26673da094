"""Responses API items and events: what is complete, what is cut off, what is cited."""

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
from tagsmith.message import MessageBuilder
from tagsmith.wire.options import Usage
from tagsmith.wire.response_events import ResponseEvents
from tagsmith.wire.responses import response, response_items
from wire_doubles import assert_own_parts

SOURCE = {"type": "document", "id": "d", "document": {"id": "d"}}
CALL: list[Event] = [
    ToolCallStart(0, "c0", "f"),
    ToolCallDelta(0, '{"a": 1}'),
    ToolCallEnd(0, complete=True),
]
CUT_CALL = [*CALL[:2], ToolCallEnd(0, complete=False)]
IDS: dict[str, Any] = {"id": "resp_1", "model": "m", "created": 7}


def stream_of(events: list[Event], reason: str = "stop", **options: Any) -> list[dict[str, Any]]:
    stream = ResponseEvents(**IDS)
    told = [made for event in events for made in stream.feed([event])]
    return [*told, *stream.finish(reason, **options)]


def response_of(events: list[Event], reason: str = "stop") -> dict[str, Any]:
    builder = MessageBuilder()
    builder.add(events)
    return response(builder.message(reason), **IDS)


def test_a_stream_says_each_step() -> None:
    told = stream_of([ReasoningDelta("hm"), ContentDelta("Hi"), *CALL])
    assert [event["type"].removeprefix("response.") for event in told] == [
        "created",
        "in_progress",
        "output_item.added",
        "content_part.added",
        "reasoning_text.delta",
        "reasoning_text.done",
        "content_part.done",
        "output_item.done",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "output_item.added",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "output_item.done",
        "completed",
    ]
    assert [event["sequence_number"] for event in told] == list(range(len(told)))
    indices = [event["output_index"] for event in told if "output_index" in event]
    assert indices == [0] * 6 + [1] * 6 + [2] * 4
    assert_own_parts(told)


def test_items_are_in_order_of_appearance() -> None:
    told = stream_of([ContentDelta("a"), *CALL, ContentDelta("b")])
    output = told[-1]["response"]["output"]
    assert [item["type"] for item in output] == ["message", "function_call", "message"]
    assert [item["id"] for item in output] == ["msg_resp_1_0", "fc_resp_1_1", "msg_resp_1_2"]
    assert output[1]["call_id"] == "c0"


@pytest.mark.parametrize(
    ("events", "reason", "status", "why", "items"),
    [
        ([], "stop", "completed", None, []),
        (CALL, "stop", "completed", None, ["completed"]),
        ([ContentDelta("a")], "length", "incomplete", "max_output_tokens", ["incomplete"]),
        ([ContentDelta("a")], "content_filter", "incomplete", "content_filter", ["incomplete"]),
        (
            [ReasoningDelta("a"), *CUT_CALL],
            "stop",
            "incomplete",
            "max_output_tokens",
            ["completed", "incomplete"],
        ),
        ([ContentDelta("a")], "error", "failed", None, ["incomplete"]),
    ],
)
def test_status(
    events: list[Event], reason: str, status: str, why: str | None, items: list[str]
) -> None:
    streamed = stream_of(events, reason)[-1]
    assert streamed["type"] == f"response.{status}"
    for body in (streamed["response"], response_of(events, reason)):
        assert body["status"] == status
        assert (body["incomplete_details"] or {}).get("reason") == why
        assert (body["error"] is None) is (status != "failed")
        assert [item["status"] for item in body["output"]] == items


@pytest.mark.parametrize("events", [CUT_CALL, CALL[:2], [*CALL[:2], ContentDelta("a")]])
def test_arguments_that_were_cut_off_are_never_done(events: list[Event]) -> None:
    told = stream_of(events)
    assert "response.function_call_arguments.done" not in [event["type"] for event in told]
    [call, *_] = told[-1]["response"]["output"]
    assert (call["arguments"], call["status"]) == ('{"a": 1}', "incomplete")
    assert told[-1]["type"] == "response.incomplete"


def test_no_two_calls_have_one_call_id() -> None:
    events = [ContentDelta("a"), *CALL, ReasoningDelta("b")]
    for index in (1, 2):
        events += [ToolCallStart(index, "c0", "g"), ToolCallEnd(index, complete=True)]
    for body in (response_of(events), stream_of(events)[-1]["response"]):
        told = [item["call_id"] for item in body["output"] if "call_id" in item]
        assert told == ["c0", "call_resp_1_1", "call_resp_1_2"]


def test_citations_stand_in_their_text_and_its_unit() -> None:
    events: list[Event] = [
        ContentDelta("😀a"),
        Citation(1, 2, "a", Target.CONTENT, (), (SOURCE,)),
        *CALL,
        ContentDelta("b"),
        Citation(1, 3, "ab", Target.CONTENT, (), (SOURCE,)),
    ]
    stream = ResponseEvents(**IDS, units="utf-16")
    *_, last = [*stream.feed(events), *stream.finish()]
    first, _, second = last["response"]["output"]
    places = [
        [(c["start"], c["end"], c["text"]) for c in item["content"][0]["citations"]]
        for item in (first, second)
    ]
    assert places == [[(2, 3, "a"), (2, 3, "a")], [(0, 1, "b")]]
    assert_own_parts([last, SOURCE])


def test_usage() -> None:
    told = stream_of([], usage=Usage(5, 2, cached_tokens=4))
    assert told[-1]["response"]["usage"] == {
        "input_tokens": 5,
        "input_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 0},
        "output_tokens": 2,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 7,
    }
    assert response_of([])["usage"] is None


def test_a_failure_closes_what_is_open_and_says_no_secret() -> None:
    stream = ResponseEvents(**IDS)
    stream.feed([ContentDelta("a")])
    *_, done, last = stream.fail("boom in /srv/models/x")
    assert done["type"] == "response.output_item.done"
    assert last["type"] == "response.failed"
    assert last["response"]["error"] == {"code": "server_error", "message": "boom in <path>"}
    assert stream.finish() == stream.fail("again") == []


def test_an_unknown_unit_says_what_is_allowed() -> None:
    with pytest.raises(RequestError, match="units: unknown value 'x'; allowed: code-points"):
        response_items(MessageBuilder().message(), id="r", units="x")
