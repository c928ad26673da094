"""Chat Completions chunks: what a client reads of them is what the parser said."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagsmith.chat_chunks import ChatChunks, Chunk, ReasoningField
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
from tagsmith.message import MessageBuilder

CALL: list[Event] = [
    ToolCallStart(0, "call_1", "f"),
    ToolCallDelta(0, '{"a":'),
    ToolCallDelta(0, " 1}"),
    ToolCallEnd(0, complete=True),
]
UNSHOWN: list[Event] = [
    Citation(0, 1, "a", Target.CONTENT, ((0, 0),)),
    Diagnostic(DiagnosticCode.STRAY_MARKER, "a marker", 0),
]


def chunks_of(events: list[Event], reason: str = "stop", **options: Any) -> list[Chunk]:
    chunks = ChatChunks(id="chatcmpl-1", model="m", created=7, **options)
    return [*(c for event in events for c in chunks.feed([event])), *chunks.finish(reason)]


def deltas_of(events: list[Event], reason: str = "stop", **options: Any) -> list[dict[str, Any]]:
    return [chunk["choices"][0]["delta"] for chunk in chunks_of(events, reason, **options)]


def test_every_chunk_is_one_of_its_answer() -> None:
    events = [ReasoningDelta("hm"), ContentDelta("Hi"), *CALL]
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
    assert deltas_of([*UNSHOWN, ReasoningDelta("a")])[0]["role"] == "assistant"


def test_reasoning_has_the_name_that_the_client_looks_for() -> None:
    [first, _] = deltas_of([ReasoningDelta("hm")])
    assert first == {"role": "assistant", "reasoning_content": "hm"}
    [first, _] = deltas_of([ReasoningDelta("hm")], reasoning_field=ReasoningField.REASONING)
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
        ([ContentDelta("a")], "length", "length"),
        (CALL, "stop", "tool_calls"),
        ([*CALL, *SECOND], "stop", "tool_calls"),
        (CALL, "length", "length"),
        (CALL, "content_filter", "content_filter"),
        (CUT, "stop", "length"),
        ([*CUT, *SECOND], "stop", "length"),
        (CALL[:-1], "stop", "length"),
    ],
)
def test_finish_reason(events: list[Event], reason: str, told: str) -> None:
    *others, last = [chunk["choices"][0] for chunk in chunks_of(events, reason)]
    assert last["finish_reason"] == told
    assert {choice["finish_reason"] for choice in others} <= {None}


def test_no_two_chunks_share_what_can_be_changed() -> None:
    seen: set[int] = set()
    chunks = chunks_of([*CALL, ContentDelta("a"), ReasoningDelta("b")])

    def parts(value: Any) -> None:
        if isinstance(value, dict | list):
            assert id(value) not in seen
            seen.add(id(value))
            for inner in value.values() if isinstance(value, dict) else value:
                parts(inner)

    for chunk in chunks:
        parts(chunk)


def joined(chunks: list[Chunk]) -> dict[str, Any]:
    """The message that a client puts together."""
    message: dict[str, Any] = {"content": None}
    calls: list[dict[str, Any]] = []
    for chunk in chunks:
        for key, value in chunk["choices"][0]["delta"].items():
            if key == "tool_calls":
                [part] = value
                if part["index"] == len(calls):
                    calls.append({key: part[key] for key in ("id", "type", "function")})
                else:
                    arguments = part["function"]["arguments"]
                    calls[part["index"]]["function"]["arguments"] += arguments
            else:
                message[key] = (message.get(key) or "") + value
    return message | ({"tool_calls": calls} if calls else {})


texts = st.text(min_size=1, max_size=3)
spoken = st.builds(ContentDelta, texts) | st.builds(ReasoningDelta, texts)
called = st.tuples(st.lists(texts, max_size=3), st.booleans())


@given(st.lists(spoken | called, max_size=8))
def test_joined_chunks_are_the_message(steps: list[Any]) -> None:
    events: list[Event] = []
    count = 0
    for step in steps:
        if isinstance(step, tuple):
            fragments, complete = step
            events.append(ToolCallStart(count, str(count), "f"))
            events += [ToolCallDelta(count, fragment) for fragment in fragments]
            events.append(ToolCallEnd(count, complete))
            count += 1
        else:
            events.append(step)
    builder = MessageBuilder()
    builder.add(events)
    message = builder.message("stop")
    chunks = chunks_of(events)
    assert joined(chunks) == message.to_openai()
    assert chunks[-1]["choices"][0]["finish_reason"] == message.finish_reason
