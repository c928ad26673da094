"""The wire formats against the official SDKs: their types take every object, with no key that they
do not know but those that servers add on purpose, and their stream helpers read the streams."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import httpx
import openai
import pytest
from cohere import V2ChatResponse
from cohere.v2 import types
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import BaseModel, TypeAdapter

import tagsmith
from tagsmith.events import Event
from tagsmith.message import Message
from tagsmith.wire import (
    DONE,
    ChatChunks,
    CohereEvents,
    ResponseEvents,
    Usage,
    chat_completion,
    cohere_response,
    response,
    sse_frame,
    usage_chunk,
)

USAGE = Usage(50, 20, cached_tokens=30)
DOCUMENTS = [{"id": "d", "data": {"text": "24 degrees"}}, {"data": {"text": "x"}}]
THINKING = "<|START_THINKING|>it is <co>so</co: 0:[1]><|END_THINKING|>"
ANSWER = "<|START_RESPONSE|>It is <co>wärm 😀</co: 0:[0]>, <co>dry</co: 0:[0,1]>.<|END_RESPONSE|>"
CALL = '{"tool_call_id": "0", "tool_name": "f", "parameters": {"a": "né"}}'
OUTPUTS = {
    "answer": THINKING + ANSWER,
    "calls": f"{THINKING}<|START_ACTION|>[{CALL}, {CALL.replace('0', '1', 1)}]<|END_ACTION|>",
    "one id twice": f"{THINKING}<|START_ACTION|>[{CALL}, {CALL}]<|END_ACTION|>",
    "cut call": f"{THINKING}<|START_ACTION|>[{CALL[:-6]}",
    "nothing": "",
}
OUTPUT = pytest.mark.parametrize("output", OUTPUTS.values(), ids=OUTPUTS)


def generation(output: str) -> tuple[list[Event], Message]:
    parser = tagsmith.get_family("cohere-command-a").parser(documents=DOCUMENTS)
    events = [event for char in output for event in parser.feed(char)] + parser.finish()
    return events, parser.message


def unknown(value: Any, path: str = "") -> Iterable[str]:
    """The paths of keys that the SDK's types do not know."""
    if isinstance(value, BaseModel):
        yield from (f"{path}.{key}" for key in value.model_extra or ())
        for key in type(value).model_fields:
            yield from unknown(getattr(value, key), f"{path}.{key}")
    elif isinstance(value, list):
        for inner in value:
            yield from unknown(inner, path)


def without_null(value: Any) -> Any:
    """A value as JSON has it, without the fields that are null."""
    if isinstance(value, dict):
        return {key: without_null(inner) for key, inner in value.items() if inner is not None}
    return [without_null(inner) for inner in value] if isinstance(value, list) else value


STREAM_TYPES = {
    kind.model_fields["type"].default: kind
    for kind in (getattr(types, name) for name in types.__all__)
    if getattr(kind, "__name__", "").endswith("V2ChatStreamResponse")
}


@OUTPUT
@pytest.mark.parametrize("thoughts", ["thinking", "tool-plan"])
def test_cohere_types(output: str, thoughts: str) -> None:
    events, message = generation(output)
    stream = CohereEvents(id="chat_1", thoughts=thoughts)
    told = [*stream.feed(events), *stream.finish(usage=USAGE)]
    told += CohereEvents(id="chat_2").fail("boom")
    for event in told:
        read = STREAM_TYPES[event["type"]].model_validate(event)
        assert list(unknown(read)) == []
        assert read.model_dump(exclude_none=True) == event
    body = cohere_response(message, id="chat_1", usage=USAGE, thoughts=thoughts)
    whole = V2ChatResponse.model_validate(body)
    assert list(unknown(whole)) == []
    assert whole.model_dump(exclude_none=True) == body


@OUTPUT
def test_chat_completions_types(output: str) -> None:
    events, message = generation(output)
    ids: dict[str, Any] = {"id": "chatcmpl-1", "model": "m", "created": 7}
    chunks = ChatChunks(**ids)
    told = [*chunks.feed(events), *chunks.finish(), usage_chunk(**ids, usage=USAGE)]
    for chunk in told:
        extra = set(unknown(ChatCompletionChunk.model_validate(chunk)))
        assert extra <= {".choices.delta.reasoning_content", ".choices.delta.citations"}
    whole = ChatCompletion.model_validate(chat_completion([message, message], **ids, usage=USAGE))
    extra = set(unknown(whole))
    assert extra <= {".choices.message.reasoning_content", ".choices.message.citations"}
    assert [choice.index for choice in whole.choices] == [0, 1]
    assert whole.usage is not None
    assert whole.usage.total_tokens == 70


@OUTPUT
@pytest.mark.parametrize("reason", ["stop", "length", "content_filter", "error"])
def test_responses_types(output: str, reason: str) -> None:
    events, message = generation(output)
    ids: dict[str, Any] = {"id": "resp_1", "model": "m", "created": 7}
    stream = ResponseEvents(**ids)
    adapter: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)
    told = [*stream.feed(events), *stream.finish(reason, usage=USAGE)]
    told += ResponseEvents(**ids).fail("boom")
    # The reference has the name of a call that is done; not every version of the SDK does.
    added = {
        ".name",
        ".part.citations",
        ".item.content.citations",
        ".response.output.content.citations",
    }
    for event in told:
        read = adapter.validate_python(event)
        assert read.type == event["type"]
        assert set(unknown(read)) <= added
    whole = Response.model_validate(response(message, **ids, usage=USAGE))
    assert set(unknown(whole)) <= {".output.content.citations"}


def client(frames: Iterable[dict[str, Any]], done: str = "") -> openai.OpenAI:
    """The SDK, answered with these frames."""
    body = "".join(map(sse_frame, frames)) + done

    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, text=body)

    return openai.OpenAI(
        api_key="none",
        base_url="http://localhost/v1",
        http_client=httpx.Client(transport=httpx.MockTransport(answer)),
    )


@OUTPUT
@pytest.mark.parametrize("order", ["fast", "accurate"])
def test_the_sdk_joins_chunks_to_the_message(output: str, order: str) -> None:
    events, message = generation(output)
    chunks = ChatChunks(id="chatcmpl-1", model="m", created=7, citations=order)
    frames = [*chunks.feed(events), *chunks.finish()]
    with (
        client(frames, DONE) as sdk,
        sdk.chat.completions.stream(model="m", messages=[]) as stream,
    ):
        list(stream)
        completion = stream.current_completion_snapshot
    [choice] = completion.choices
    shown = choice.message.model_dump(exclude_none=True)
    for found in (*shown.get("tool_calls", ()), *shown.get("citations", ())):
        found.pop("index")
        found.get("function", {}).pop("parsed_arguments", None)
    assert {"content": None, **shown} == message.to_openai()
    assert choice.finish_reason == message.finish_reason


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_the_sdk_joins_chunks_of_several_choices(order: tuple[int, ...]) -> None:
    ids: dict[str, Any] = {"id": "chatcmpl-1", "model": "m", "created": 7}
    outputs = list(OUTPUTS.values())[:3]
    choices = [ChatChunks(**ids, index=index, usage="last") for index in range(3)]
    frames = [chunk for choice in choices for chunk in choice.start()]
    for index in order:
        events, _ = generation(outputs[index])
        frames += [*choices[index].feed(events), *choices[index].finish()]
    frames.append(usage_chunk(**ids, usage=USAGE))
    with (
        client(frames, DONE) as sdk,
        sdk.chat.completions.stream(model="m", messages=[], n=3) as stream,
    ):
        list(stream)
        completion = stream.current_completion_snapshot
    assert completion.usage is not None
    for index, choice in enumerate(completion.choices):
        message = generation(outputs[index])[1]
        assert (choice.index, choice.message.content) == (index, message.content)
        assert len(choice.message.tool_calls or ()) == len(message.tool_calls)
        assert choice.finish_reason == message.finish_reason


@OUTPUT
def test_the_sdk_joins_response_events_to_the_response(output: str) -> None:
    events, message = generation(output)
    ids: dict[str, Any] = {"id": "resp_1", "model": "m", "created": 7}
    frames = ResponseEvents(**ids)
    told = [*frames.feed(events), *frames.finish(usage=USAGE)]
    with client(told) as sdk, sdk.responses.stream(model="m", input="") as stream:
        *_, last = stream
    right = response(message, **ids, usage=USAGE)
    assert last.type == f"response.{right['status']}"
    assert without_null(last.response.model_dump()) == without_null(right)
