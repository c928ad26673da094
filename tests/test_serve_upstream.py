"""Whatever the upstream does, a client gets an answer or an error of its API, and in time."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import ExitStack
from typing import Any

import cohere
import httpx
import httpx2
import openai
import pytest
from cohere.core.api_error import ApiError

import tagsmith
from fake_upstream import (
    DONE,
    FOREVER,
    STREAM,
    FakeUpstream,
    Reply,
    counted,
    fake_upstream,
    frame,
    mounted,
    piece,
    running,
    saying,
    settings_for,
    until,
)
from tagsmith.serve import create_app
from tagsmith.serve.frames import Frame, Piece
from tagsmith.serve.run import Run, Step

FAMILY = tagsmith.get_family("cohere-command-a")
QUESTION = [{"role": "user", "content": "Well?"}]
ASKED = {"model": "m", "messages": QUESTION}
HI = "<|START_RESPONSE|>Hi there<|END_RESPONSE|>"
PATHS = {"chat": "/v1/chat/completions", "cohere": "/v2/chat"}
SECRET = "upstream-secret-key"
apis = pytest.mark.parametrize("api", PATHS)
ways = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
# Up to the first frame both ways are one.
either = pytest.mark.parametrize(
    ("api", "stream"), [("chat", True), ("cohere", False)], ids=["chat", "cohere"]
)


@pytest.fixture(scope="module")
def upstream() -> Iterator[FakeUpstream]:
    with fake_upstream() as fake:
        yield fake


SERVERS: dict[str, dict[str, Any]] = {
    "/patient": {},
    "/hasty": {"first_token_timeout": 0.2, "stall_timeout": 0.2},
    "/strict": {"stall_timeout": 0.2},
    "/short": {"generation_timeout": 1.5},
}
"""Each with the time-outs of its own: a machine with much to do must not make others fail."""


@pytest.fixture(scope="module")
def servers(upstream: FakeUpstream) -> Iterator[str]:
    apps = {
        path: create_app(
            settings_for(
                FAMILY,
                upstream.url,
                key=SECRET,
                chat_template="<|CHATBOT_TOKEN|>",
                max_frame_bytes=4000,
                max_output_chars=1000,
                **timeouts,
            )
        )
        for path, timeouts in SERVERS.items()
    }
    with running(mounted(apps)) as address:
        yield address


@pytest.fixture(scope="module")
def url(servers: str) -> str:
    return f"{servers}/patient"


@pytest.fixture(scope="module")
def http() -> Iterator[httpx2.Client]:
    with httpx2.Client(timeout=10) as client:
        yield client


def server_for(text: str) -> str:
    """The server whose patience ends with this error."""
    late = {"sent nothing": "/hasty", "has stalled": "/strict", "not done within": "/short"}
    return next((path for said, path in late.items() if said in text), "/patient")


def ask(http: httpx2.Client, url: str, api: str, stream: bool, **more: Any) -> httpx2.Response:
    return http.post(url + PATHS[api], json={**ASKED, "stream": stream, **more})


def message_of(response: httpx2.Response, api: str) -> str:
    """The message of an error, whose whole shape is the API's."""
    body = response.json()
    if api == "cohere":
        assert set(body) == {"id", "message"}
        return str(body["message"])
    assert set(body) == {"error"}
    assert set(body["error"]) == {"message", "type", "param", "code"}
    return str(body["error"]["message"])


FIRST = piece("<|START_RESPONSE|>Hi")
REFUSALS: dict[str, tuple[Reply, int, str]] = {
    "bad request": (
        Reply([b'{"error": {"message": "prompt is too long"}}'], 400, "application/json"),
        400,
        "prompt is too long",
    ),
    "TGI's refusal": (
        Reply([b'{"error": "no such thing", "error_type": "validation"}'], 422, "application/json"),
        400,
        "no such thing",
    ),
    "wrong key": (Reply([b"{}"], 401, "application/json"), 502, "answered 401"),
    "wrong address": (Reply([b"<html>no</html>"], 404, "text/html"), 502, "answered 404"),
    "busy": (Reply([b"{}"], 429, "application/json", ["retry-after: 7"]), 429, "is busy"),
    "down": (Reply([b"{}"], 503, "application/json"), 503, "is busy"),
    "fault": (
        Reply([b'{"detail": "at /srv/app/x.py"}'], 500, "application/json"),
        502,
        "answered 500: at <path>",
    ),
    "page": (Reply([b"<html>Hello</html>"], 200, "text/html"), 502, "something else than a stream"),
    "whole answer": (Reply([b"{}"], 200, "application/json"), 502, "something else than a stream"),
    "compressed": (
        Reply([b"\x1f\x8b"], 200, STREAM, ["content-encoding: gzip"]),
        502,
        "compressed",
    ),
    "nothing": (Reply([]), 502, "before its end"),
    "done at once": (Reply([DONE]), 502, "before its end"),
    "no JSON": (Reply([b"data: {]\n\n"]), 502, "no JSON"),
    "no object": (Reply([b"data: 5\n\n"]), 502, "no object"),
    "no choices": (Reply([b"data: {}\n\n"]), 502, "without choices"),
    "no text": (Reply([frame({"choices": [{"index": 0, "text": 5}]})]), 502, "its text"),
    "no such choice": (Reply([piece("x", index=3)]), 502, "a choice 3"),
    "negative choice": (Reply([piece("x", index=-1)]), 502, "a choice -1"),
    "bytes": (Reply([bytes(range(128, 256)) * 9, b"\n\n"]), 502, "before its end"),
    "huge line": (Reply([b"data: " + b"x" * 5000]), 502, "longer than 4000 bytes"),
    "huge frame": (Reply([b"data: xxxxxxxxx\n"] * 400), 502, "longer than 4000 bytes"),
    "half a frame": (Reply([b'data: {"choices": [{"ind']), 502, "before its end"),
    "broken connection": (Reply([b"data: {"], whole=False), 502, "broke the connection"),
    "error frame": (
        Reply([frame({"error": {"message": "out of memory at 0x7fabc0deface"}})]),
        502,
        "failed: out of memory",
    ),
    "half a character": (Reply([b'data: {"error": "a\\ud83d"}\n\n']), 502, "failed: a?"),
    "a refusal in the stream": (
        Reply([frame({"error": {"message": "prompt is too long", "code": 400}}), DONE]),
        400,
        "refused the request: prompt is too long",
    ),
    "SGLang's refusal in the stream": (
        Reply([frame({"object": "error", "message": "too long", "code": 400})]),
        400,
        "refused the request: too long",
    ),
    "TGI's refusal in the stream": (
        Reply([frame({"error": "too long", "error_type": "validation"})]),
        400,
        "refused the request: too long",
    ),
    "busy in the stream": (
        Reply([frame({"error": {"message": "x", "code": 503}})]),
        503,
        "is busy",
    ),
    "busy for ever": (
        Reply([b"{}"], 429, "text/html", ["retry-after: " + "9" * 5000]),
        429,
        "busy",
    ),
    "error event": (Reply([b'event: error\ndata: {"message": "lost"}\n\n']), 502, "failed: lost"),
    "error event of text": (Reply([b'event: error\ndata: "lost"\n\n']), 502, "failed: lost"),
    "error event of no JSON": (Reply([b"event: error\ndata: x\n\n"]), 502, "without saying why"),
    "error field": (Reply([b'error: {"message": "lost"}\n\n']), 502, "failed: lost"),
    "stall before": (Reply([FOREVER]), 504, "has sent nothing for 0.2 seconds"),
    "comments alone": (Reply([b": ping\n\n", 0.1] * 40), 504, "has sent nothing for 0.2 seconds"),
    "stalling error": (Reply([b"{", FOREVER], 500, "application/json"), 504, "has stalled"),
}


@either
@pytest.mark.parametrize("case", REFUSALS)
def test_before_the_first_byte_it_is_an_http_error(
    upstream: FakeUpstream, servers: str, http: httpx2.Client, api: str, stream: bool, case: str
) -> None:
    reply, status, text = REFUSALS[case]
    upstream.reply = lambda _: reply
    response = ask(http, servers + server_for(text), api, stream)
    assert response.status_code == status
    assert text in message_of(response, api)
    assert SECRET not in response.text
    if case == "busy":
        assert response.headers["retry-after"] == "7"


@apis
def test_an_upstream_that_is_not_there(http: httpx2.Client, api: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with running(create_app(settings_for(FAMILY, address))) as url:
            response = ask(http, url, api, stream=True)
    assert response.status_code == 502
    assert message_of(response, api) == "upstream: cannot be reached"


@apis
def test_an_upstream_that_takes_no_connection(http: httpx2.Client, api: str) -> None:
    with ExitStack() as sockets:
        full = sockets.enter_context(socket.socket())
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        host, port = full.getsockname()
        for _ in range(2):  # These fill its queue.
            waiting = sockets.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex((host, port))
        app = create_app(settings_for(FAMILY, f"http://{host}:{port}", connect_timeout=0.2))
        with running(app) as url:
            response = ask(http, url, api, stream=True)
    assert response.status_code == 504
    assert message_of(response, api).endswith("has not taken the connection for 0.2 seconds")


BREAKS: dict[str, tuple[Reply, str]] = {
    "ends": (Reply([FIRST]), "before its end"),
    "is done without an end": (Reply([FIRST, DONE]), "before its end"),
    "half a frame": (Reply([FIRST, piece(" there")[:30]]), "before its end"),
    "broken connection": (Reply([FIRST, 0.05, b"data:"], whole=False), "broke the connection"),
    "no JSON": (Reply([FIRST, 0.05, b"data: nonsense\n\n"]), "no JSON"),
    "huge line": (Reply([FIRST, 0.05, b"data: " + b"x" * 5000]), "longer than 4000"),
    "error frame": (Reply([FIRST, 0.05, frame({"error": "lost /srv/a/b.py"})]), "lost <path>"),
    "aborted": (Reply([FIRST, 0.05, piece("", finish="abort"), DONE]), "ended a choice by abort"),
    "stall": (Reply([FIRST, FOREVER]), "has stalled for 0.2 seconds"),
    "comments alone": (Reply([FIRST, *[b": ping\n\n", 0.1] * 20]), "has stalled"),
    "never ends": (Reply([FIRST, *[piece("."), 0.05] * 60]), "not done within 1.5 seconds"),
}


@pytest.mark.heavy
@apis
@pytest.mark.parametrize("case", BREAKS)
def test_in_mid_stream_it_is_the_apis_own_error(
    upstream: FakeUpstream, servers: str, http: httpx2.Client, api: str, case: str
) -> None:
    reply, text = BREAKS[case]
    upstream.reply = lambda _: reply
    begun = time.monotonic()
    response = ask(http, servers + server_for(text), api, stream=True)
    assert time.monotonic() - begun < 6
    assert response.status_code == 200
    frames = [part.removeprefix("data: ") for part in response.text.split("\n\n")[:-1]]
    assert "Hi" in response.text
    if api == "chat":
        [*chunks, last] = map(json.loads, frames)
        assert all(chunk["choices"][0]["finish_reason"] is None for chunk in chunks)
        assert text in last["error"]["message"]
    else:
        assert frames.pop() == "[DONE]"
        *_, closed, last = map(json.loads, frames)
        assert closed == {"type": "content-end", "index": 0}
        assert last["type"] == "message-end"
        assert last["delta"]["finish_reason"] == "ERROR"
        assert text in last["delta"]["error"]


@pytest.mark.heavy
@pytest.mark.parametrize("case", BREAKS)
def test_an_answer_that_is_not_streamed_has_no_middle(
    upstream: FakeUpstream, servers: str, http: httpx2.Client, case: str
) -> None:
    reply, text = BREAKS[case]
    upstream.reply = lambda _: reply
    response = ask(http, servers + server_for(text), "chat", stream=False)
    assert response.status_code in (502, 504)
    assert text in message_of(response, "chat")


def test_the_sdks_raise_what_happened(upstream: FakeUpstream, url: str) -> None:
    upstream.reply = lambda _: BREAKS["error frame"][0]
    with openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as client:
        with pytest.raises(openai.APIError, match="lost <path>"):
            list(client.chat.completions.create(**ASKED, stream=True))
        with pytest.raises(openai.InternalServerError) as raised:
            client.chat.completions.create(**ASKED)
        assert raised.value.status_code == 502
        with pytest.raises(openai.NotFoundError):
            client.chat.completions.create(model="other", messages=QUESTION)
        with pytest.raises(openai.BadRequestError) as wrong:
            client.chat.completions.create(**ASKED, n=0)
        assert wrong.value.param == "n"
    with httpx.Client() as http:  # The SDK of Cohere is built on it.
        co = cohere.ClientV2(base_url=url, api_key="none", httpx_client=http)
        *_, last = co.chat_stream(**ASKED)
        assert last.type == "message-end"
        assert last.delta.finish_reason == "ERROR"
        with pytest.raises(ApiError) as failed:
            co.chat(**ASKED, request_options={"max_retries": 0})
        assert failed.value.status_code == 502
        assert set(failed.value.body) == {"id", "message"}


ODD = {
    "no terminator": Reply([FIRST, piece("", finish="stop")]),
    "usage beside the end": Reply([FIRST, piece("", finish="stop", usage=counted(3, 2)), DONE]),
    "broken after the end": Reply([FIRST, piece("", finish="stop"), b"data: {"], whole=False),
    "nonsense after the end": Reply([FIRST, piece("", finish="stop"), b"data: {]\n\n", DONE]),
    "empty finish reasons": Reply(
        [piece("<|START_RESPONSE|>Hi", finish=""), piece("", finish="eos_token")]
    ),
    "carriage returns": Reply(
        [FIRST.replace(b"\n", b"\r\n"), piece("", finish="stop").replace(b"\n", b"\r")]
    ),
    "comments": Reply(
        [b": hello\n\n:\n\n", FIRST, b"id: 1\nretry: 5\n\n", piece("", finish="stop")]
    ),
    "one byte at a time": Reply([bytes([byte]) for byte in FIRST + piece("", finish="stop")]),
    "data of two lines": Reply(
        [FIRST.replace(b'"text"', b'\ndata: "text"'), piece("", finish="stop")]
    ),
    "counts of no choice behind the end": Reply(
        [FIRST, piece("", finish="stop"), piece("", index=5, usage=counted(1, 1)), DONE]
    ),
    "no index": Reply([frame({"choices": [{"text": "Hi"}]}), piece("", finish="stop")]),
    "text after the end": Reply([FIRST, piece("", finish="stop"), piece("more"), DONE]),
}


@pytest.mark.parametrize(
    ("api", "stream"), [("chat", False), ("cohere", True)], ids=["chat", "cohere"]
)
@pytest.mark.parametrize("case", ODD)
def test_what_servers_do_otherwise_is_understood(
    upstream: FakeUpstream, url: str, http: httpx2.Client, api: str, stream: bool, case: str
) -> None:
    upstream.reply = lambda _: ODD[case]
    response = ask(http, url, api, stream)
    assert response.status_code == 200
    assert "Hi" in response.text
    assert "more" not in response.text
    assert "rror" not in response.text
    if stream:
        assert response.text.endswith("data: [DONE]\n\n")


def test_a_long_piece_holds_nobody_up() -> None:
    """It is read in portions, between which others have their turn."""

    async def frames() -> AsyncGenerator[Frame]:
        yield Frame((Piece(0, "<|START_RESPONSE|>" + "é" * 5000, "stop"),), None)

    async def read(run: Run) -> list[Step]:
        return [step async for step in run.steps(frames())]

    run = Run([FAMILY.parser()], longest=1 << 20)
    steps = asyncio.run(read(run))
    assert len(steps) == 5
    assert [step.message for step in steps[:-1]] == [None] * 4
    assert steps[-1].message == run.messages[0]
    assert run.messages[0].content == "é" * 5000


def test_characters_cut_in_two_are_whole_again(
    upstream: FakeUpstream, url: str, http: httpx2.Client
) -> None:
    raw = json.dumps({"choices": [{"index": 0, "text": "né 😀"}]}, ensure_ascii=False).encode()
    data = b"data: " + raw + b"\n\n"
    steps: list[bytes | float] = []
    for byte in data:
        steps += [bytes([byte])]
    half = frame({"choices": [{"index": 0, "text": "\ud83d!", "finish_reason": "stop"}]})
    upstream.reply = lambda _: Reply([*steps, half])
    message = ask(http, url, "chat", stream=False).json()["choices"][0]["message"]
    assert message["content"] == "né 😀\ufffd!"


@apis
@ways
def test_the_longest_output_ends_as_by_length(
    upstream: FakeUpstream, url: str, http: httpx2.Client, api: str, stream: bool
) -> None:
    before = len(upstream.left)
    upstream.reply = lambda _: Reply([FIRST, *[piece("x" * 300)] * 5, FOREVER])
    response = ask(http, url, api, stream)
    assert ('"length"' if api == "chat" else '"MAX_TOKENS"') in response.text
    assert response.text.count("x" * 5) * 5 == 1000 - len("<|START_RESPONSE|>Hi")
    until(lambda: len(upstream.left) > before)


@apis
@ways
def test_a_stop_string_ends_the_content_and_the_upstreams_work(
    upstream: FakeUpstream, url: str, http: httpx2.Client, api: str, stream: bool
) -> None:
    """It counts in the content alone; the upstream is not told of it."""
    before = len(upstream.left)
    upstream.reply = lambda _: Reply(
        [
            piece("<|START_THINKING|>the END is", usage=counted(9, 3)),
            piece(" near<|END_THINKING|><|START_RESPONSE|>Good E", usage=counted(9, 6)),
            piece("ND and more", usage=counted(9, 8)),
            FOREVER,
        ]
    )
    name = "stop" if api == "chat" else "stop_sequences"
    response = ask(http, url, api, stream, **{name: ["END"], "max_tokens": 50})
    assert response.status_code == 200
    assert "the END is" in response.text
    assert "Good" in response.text
    assert "more" not in response.text
    assert ('"finish_reason":"stop"' if api == "chat" else '"STOP_SEQUENCE"') in response.text
    until(lambda: len(upstream.left) > before)
    assert "stop" not in upstream.requests[-1]
    if api == "cohere" or not stream:
        assert "9" in response.text.partition('"usage"')[2]


CALL = '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "f", "parameters": {"a": "END"}}]'
STOPS: dict[str, tuple[str, str | None, str]] = {
    "in thoughts": ("<|START_THINKING|>END<|END_THINKING|><|START_RESPONSE|>Hi", "Hi", "stop"),
    "in arguments": (f"{CALL}<|END_ACTION|>", None, "tool_calls"),
    "behind a marker": ("<|START_THINKING|>x<|END_THINKING|><|START_RESPONSE|>END.", None, "stop"),
    "behind thoughts": (
        "<|START_THINKING|>END<|END_THINKING|><|START_RESPONSE|>aENDb",
        "a",
        "stop",
    ),
    "begun, not ended": ("<|START_RESPONSE|>aEN", "aEN", "stop"),
}


@pytest.mark.parametrize("size", [1, 1000])
@pytest.mark.parametrize("case", STOPS)
def test_where_a_stop_string_counts(
    upstream: FakeUpstream, url: str, http: httpx2.Client, case: str, size: int
) -> None:
    output, content, reason = STOPS[case]
    upstream.reply = lambda _: saying(output, size=size)
    tools = [{"type": "function", "function": {"name": "f"}}]
    answer = ask(http, url, "chat", stream=False, stop="END", tools=tools).json()
    [choice] = answer["choices"]
    assert (choice["message"]["content"], choice["finish_reason"]) == (content, reason)


def test_a_stop_string_in_one_choice_leaves_the_others(
    upstream: FakeUpstream, url: str, http: httpx2.Client
) -> None:
    upstream.reply = lambda _: Reply(
        [
            piece("<|START_RESPONSE|>a", 0),
            piece("<|START_RESPONSE|>b", 1),
            piece(" END x", 0),
            piece(" on", 1),
            piece(" y", 0),
            piece("", 1, "length"),
            FOREVER,
        ]
    )
    body = ask(http, url, "chat", stream=False, n=2, stop="END").json()
    told = [(c["message"]["content"], c["finish_reason"]) for c in body["choices"]]
    assert told == [("a", "stop"), ("b on", "length")]
    assert upstream.requests[-1]["n"] == 2


def test_choices_are_told_apart_in_a_stream(
    upstream: FakeUpstream, url: str, http: httpx2.Client
) -> None:
    upstream.reply = lambda _: Reply(
        [
            piece("<|START_RESPONSE|>a", 1, usage=counted(4, 1)),
            piece("<|START_RESPONSE|>b", 0, usage=counted(4, 1)),
            piece("", 1, "stop", usage=counted(4, 2)),
            piece("", 0, "stop", usage=counted(4, 3)),
            DONE,
        ]
    )
    more = {"n": 2, "stream_options": {"include_usage": True}}
    response = ask(http, url, "chat", stream=True, **more)
    frames = [part.removeprefix("data: ") for part in response.text.split("\n\n")[:-2]]
    *chunks, usage = map(json.loads, frames)
    # The official SDK puts a choice where it is first seen.
    assert [chunk["choices"][0]["index"] for chunk in chunks[:2]] == [0, 1]
    texts = {0: "", 1: ""}
    for chunk in chunks:
        [choice] = chunk["choices"]
        texts[choice["index"]] += choice["delta"].get("content", "")
    assert texts == {0: "b", 1: "a"}
    assert usage["usage"] == {"prompt_tokens": 4, "completion_tokens": 5, "total_tokens": 9}


def test_every_place_is_given_back(upstream: FakeUpstream, url: str, http: httpx2.Client) -> None:
    upstream.reply = lambda _: saying(HI)
    assert ask(http, url, "chat", stream=False).status_code == 200
    until(lambda: http.get(f"{url}/health").json() == {"status": "ok", "generations": 0})
    until(lambda: upstream.open == 0)
