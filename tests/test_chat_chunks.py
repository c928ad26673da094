"""Chat Completions chunks: what a client reads of them is what the parser said."""

from __future__ import annotations

from typing import Any

import pytest

from tagsmith.errors import RequestError
from tagsmith.events import (
    Citation,
    ContentDelta,
    Diagnostic,
    DiagnosticCode,
    Event,
    ReasoningDelta,
    Target,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
)
from tagsmith.wire.chat_chunks import ChatChunks, Chunk, usage_chunk
from tagsmith.wire.options import ReasoningField, Usage
from wire_doubles import assert_own_parts, chat_of_chunks

CALL: list[Event] = [
    ToolCallStart(0, "call_1", "f"),
    ToolCallDelta(0, '{"a":'),
    ToolCallDelta(0, " 1}"),
    ToolCallEnd(0, complete=True),
]
DIAGNOSTIC = Diagnostic(DiagnosticCode.STRAY_MARKER, "a marker", 0)
SOURCE = {"type": "document", "id": "d", "document": {"id": "d", "title": None}}


def cited(start: int, end: int, text: str, target: Target = Target.CONTENT) -> Citation:
    return Citation(start, end, text, target, ((0, 0),), (SOURCE,))


def chunks_of(events: list[Event], reason: str | None = "stop", **options: Any) -> list[Chunk]:
    chunks = ChatChunks(id="chatcmpl-1", model="m", created=7, **options)
    return [*(c for event in events for c in chunks.feed([event])), *chunks.finish(reason)]


def deltas_of(events: list[Event], reason: str = "stop", **options: Any) -> list[dict[str, Any]]:
    return [chunk["choices"][0]["delta"] for chunk in chunks_of(events, reason, **options)]


def test_every_chunk_is_one_of_its_answer() -> None:
    events = [ReasoningDelta("hm"), ContentDelta("Hi"), *CALL, cited(0, 2, "Hi")]
    for chunk in chunks_of(events, index=2):
        [choice] = chunk.pop("choices")
        assert chunk == {
            "id": "chatcmpl-1",
            "object": "chat.completion.chunk",
            "created": 7,
            "model": "m",
        }
        assert choice["index"] == 2
        assert set(choice) == {"index", "delta", "finish_reason"}


def test_the_first_chunk_has_the_role_and_no_other_has() -> None:
    assert deltas_of([ContentDelta("a"), ContentDelta("b")]) == [
        {"role": "assistant", "content": "a"},
        {"content": "b"},
        {},
    ]
    assert deltas_of([]) == [{"role": "assistant"}]
    assert deltas_of([DIAGNOSTIC, ReasoningDelta("a")])[0]["role"] == "assistant"


def test_reasoning_has_the_name_that_the_client_looks_for() -> None:
    [first, _] = deltas_of([ReasoningDelta("hm")])
    assert first == {"role": "assistant", "reasoning_content": "hm"}
    for field in (ReasoningField.REASONING, "reasoning"):
        [first, _] = deltas_of([ReasoningDelta("hm")], reasoning_field=field)
        assert first == {"role": "assistant", "reasoning": "hm"}


def test_a_call_is_named_once_and_before_its_arguments() -> None:
    first, *more, last = deltas_of(CALL)
    assert first["tool_calls"] == [
        {
            "index": 0,
            "id": "call_1",
            "type": "function",
            "function": {"name": "f", "arguments": ""},
        }
    ]
    assert [delta["tool_calls"] for delta in more] == [
        [{"index": 0, "function": {"arguments": '{"a":'}}],
        [{"index": 0, "function": {"arguments": " 1}"}}],
    ]
    assert last == {}


CUT = [*CALL[:-1], ToolCallEnd(0, complete=False)]
SECOND: list[Event] = [ToolCallStart(1, "1", "g"), ToolCallEnd(1, complete=True)]


@pytest.mark.parametrize(
    ("events", "reason", "told"),
    [
        ([], "stop", "stop"),
        ([], None, "stop"),
        ([], "eos_token", "stop"),
        ([ContentDelta("a")], "length", "length"),
        (CALL, "stop", "tool_calls"),
        (CALL, "eos_token", "tool_calls"),
        ([*CALL, *SECOND], "stop", "tool_calls"),
        (CALL, "length", "length"),
        (CALL, "content_filter", "content_filter"),
        (CUT, "stop", "length"),
        (CUT, "tool_calls", "length"),
        ([*CUT, *SECOND], "stop", "length"),
        (CALL[:-1], "stop", "length"),
    ],
)
def test_finish_reason(events: list[Event], reason: str | None, told: str) -> None:
    *others, last = [chunk["choices"][0] for chunk in chunks_of(events, reason)]
    assert last["finish_reason"] == told
    assert {choice["finish_reason"] for choice in others} <= {None}


def test_a_start_says_whose_turn_it_is_once() -> None:
    chunks = ChatChunks(id="chatcmpl-1", model="m", created=7, index=1)
    told = [*chunks.start(), *chunks.start(), *chunks.feed([ContentDelta("a")])]
    choices = [choice for chunk in told for choice in chunk["choices"]]
    assert choices == [
        {"index": 1, "delta": {"role": "assistant"}, "finish_reason": None},
        {"index": 1, "delta": {"content": "a"}, "finish_reason": None},
    ]


def test_a_stream_ends_once() -> None:
    chunks = ChatChunks(id="chatcmpl-1", model="m", created=7)
    assert len(chunks.finish()) == 1
    assert chunks.finish() == []


CITED: list[Event] = [
    ReasoningDelta("so"),
    cited(0, 2, "so", Target.REASONING),
    ContentDelta("a "),
    ContentDelta("b"),
    cited(2, 3, "b"),
    cited(0, 3, "a b"),
]
FIRST, SECOND_CITED, THIRD = (
    {
        "index": index,
        "start": start,
        "end": end,
        "text": text,
        "sources": [{"type": "document", "id": "d", "document": {"id": "d", "title": None}}],
        "type": kind,
    }
    for index, start, end, text, kind in (
        (0, 0, 2, "so", "THINKING_CONTENT"),
        (1, 2, 3, "b", "TEXT_CONTENT"),
        (2, 0, 3, "a b", "TEXT_CONTENT"),
    )
)


@pytest.mark.parametrize(
    ("order", "told"),
    [
        (
            "fast",
            [
                {"role": "assistant", "reasoning_content": "so"},
                {"citations": [FIRST]},
                {"content": "a "},
                {"content": "b"},
                {"citations": [SECOND_CITED]},
                {"citations": [THIRD]},
                {},
            ],
        ),
        (
            "accurate",
            [
                {"role": "assistant", "reasoning_content": "so"},
                {"content": "a "},
                {"content": "b"},
                {"citations": [FIRST, SECOND_CITED, THIRD]},
                {},
            ],
        ),
        (
            "off",
            [
                {"role": "assistant", "reasoning_content": "so"},
                {"content": "a "},
                {"content": "b"},
                {},
            ],
        ),
    ],
)
def test_citations_come_in_the_order_that_was_asked_for(order: str, told: list[Any]) -> None:
    assert deltas_of(CITED, citations=order) == told


def test_offsets_count_what_the_client_counts() -> None:
    events: list[Event] = [ContentDelta("😀 "), ContentDelta("né"), cited(2, 4, "né")]
    for units, places in {"code-points": (2, 4), "utf-16": (3, 5), "utf-8": (5, 8)}.items():
        [found] = chat_of_chunks(chunks_of(events, units=units))["citations"]
        assert (found["start"], found["end"], found["text"]) == (*places, "né")


@pytest.mark.parametrize("order", ["fast", "accurate"])
def test_no_two_chunks_share_what_can_be_changed(order: str) -> None:
    sources = [SOURCE, SOURCE["document"]]
    events = [*CALL, ContentDelta("a"), ReasoningDelta("b"), *CITED]
    chunks = chunks_of(events, citations=order)
    assert_own_parts([*chunks, *sources[:1]])


def test_usage_has_a_chunk_of_its_own() -> None:
    chunk = usage_chunk(id="chatcmpl-1", model="m", created=7, usage=Usage(5, 2, cached_tokens=4))
    assert chunk == {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 7,
        "model": "m",
        "choices": [],
        "usage": {
            "prompt_tokens": 5,
            "completion_tokens": 2,
            "total_tokens": 7,
            "prompt_tokens_details": {"cached_tokens": 4},
        },
    }


@pytest.mark.parametrize(("usage", "told"), [("none", {}), ("last", {"usage": None})])
def test_before_a_chunk_of_usage_all_others_have_a_null(usage: str, told: Any) -> None:
    for chunk in chunks_of([ContentDelta("a"), *CALL], usage=usage):
        assert {key: value for key, value in chunk.items() if key == "usage"} == told


@pytest.mark.parametrize("option", ["reasoning_field", "citations", "units", "usage"])
def test_an_unknown_option_says_what_is_allowed(option: str) -> None:
    with pytest.raises(
        RequestError, match=f"{option}: unknown value 'no'; allowed: .+, .+"
    ) as told:
        ChatChunks(id="1", model="m", created=0, **{option: "no"})
    assert told.value.field == option
