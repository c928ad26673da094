"""What the official SDKs read from a server is what the family says of the output.

The outputs are the families' golden cases; the upstream streams them, a few characters at a time.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import cohere
import httpx
import openai
import pytest
from cohere.v2.types import V2ChatStreamResponse
from openai.lib.streaming.chat import ChatCompletionStreamState
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from pydantic import TypeAdapter
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.types import Receive, Scope, Send

import tagsmith
from fake_upstream import FakeUpstream, fake_upstream, running, saying, settings_for
from tagsmith.message import Message
from tagsmith.serve import create_app
from tagsmith.testing import Case, load_cases
from tagsmith.wire import chat_message, cohere_message
from tagsmith.wire.finish import CallCount, chat_finish_reason, cohere_finish_reason
from workspace import ROOT

COHERE = {
    "a": "cohere-command-a",
    "v": "cohere-command-a-vision",
    "m": "cohere-north",
}
QUESTION = [{"role": "user", "content": "Well?"}]
DOCUMENTS = tuple({"id": name, "data": {"text": name}} for name in ("first", "second", "third"))


@dataclass(frozen=True)
class Recorded:
    """A golden case behind a server of its own, at a path of its own."""

    path: str
    case: Case

    @property
    def prompt(self) -> str:
        starts = self.family.spec.tokens.turn_start
        return self.case.prompt or (starts[0] if starts else "")

    @property
    def family(self) -> tagsmith.Family:
        return tagsmith.get_family(self.case.family)

    @property
    def request(self) -> dict[str, Any]:
        """What both APIs spell alike."""
        case = self.case
        documents = case.documents or (DOCUMENTS if case.citations else None)
        given = {"tools": case.tools, "documents": documents}
        messages = list(case.messages or QUESTION)
        return {"messages": messages} | {k: list(v) for k, v in given.items() if v is not None}

    @property
    def message(self) -> Message:
        """What the family itself says of the output."""
        return self.family.parse(
            self.case.text,
            finish_reason=self.case.finish_reason,
            prompt=self.prompt,
            tool_choice=self.case.tool_choice,
            **self.request,
        )


FILES = {file.name.partition(".")[0]: file for file in (ROOT / "families").rglob("*.cases.yaml")}


@cache
def cases_of(name: str) -> dict[str, Recorded]:
    """The golden cases of one file, by path."""
    cohere_cases = ROOT / "tests/cases/cohere.yaml"
    cases = load_cases(cohere_cases, COHERE) if name == "cohere" else load_cases(FILES[name])
    return {f"/{name}/{case.id}": Recorded(f"/{name}/{case.id}", case) for case in cases}


def recorded(path: str) -> Recorded:
    return cases_of(path.split("/")[1])[path]


# Something of every kind: plain, thoughts, calls, a citation, a cut.
CHOSEN = [
    "/cohere/a-think-answer",
    "/cohere/two-calls",
    "/cohere/truncated-call",
    "/cohere/citation",
    "/cohere/citation-nested",
    "/gpt_oss/preamble-before-a-call",
    "/qwen3_coder/types-of-the-schema",
]
# And of each layout, several regions.
MORE = [
    "/cohere/v-text-wrapper",
    "/cohere/a-prompt-opened-thinking",
    "/cohere/tool-choice-none-keeps-the-text",
    "/cohere/text-around-a-call",
    "/cohere/citation-offsets-are-code-points",
    "/cohere/citation-in-reasoning",
    "/command_xml/several-calls-on-lines-of-their-own",
    "/command_r/several-calls",
    "/qwen3/thinking-and-calls",
    "/kimi_k2/several-calls-late-in-a-conversation",
    "/llama_4/several-calls",
    "/mistral_v11/cut-off-inside-arguments",
    "/gemma_4/nested-values",
]


@pytest.fixture(scope="module")
def upstream() -> Iterator[FakeUpstream]:
    def reply(body: dict[str, Any]) -> Any:
        case = recorded(body["recorded"]).case
        return saying(case.text, case.finish_reason)

    with fake_upstream() as fake:
        fake.reply = reply
        yield fake


class OnDemand:
    """An application for each golden case, mounted at its path when it is first asked for."""

    def __init__(self, upstream: str) -> None:
        self.upstream = upstream
        self.apps: dict[str, Any] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = "/".join(scope["path"].split("/")[:3])
        if path not in self.apps:
            one = recorded(path)
            settings = settings_for(
                one.family,
                self.upstream,
                chat_template=f"{{% raw %}}{one.prompt}{{% endraw %}}",
                fields={"recorded": path},
            )
            self.apps[path] = create_app(settings)
        await self.apps[path]({**scope, "root_path": path}, receive, send)

    @asynccontextmanager
    async def lifespan(self, _: Starlette) -> AsyncIterator[None]:
        yield
        for app in self.apps.values():
            async with app.router.lifespan_context(app):
                pass  # Its end closes the connections.


@pytest.fixture(scope="module")
def url(upstream: FakeUpstream) -> Iterator[str]:
    apps = OnDemand(upstream.url)
    with running(Starlette(routes=[Mount("/", apps)], lifespan=apps.lifespan)) as address:
        yield address


chosen_case = pytest.mark.parametrize(
    "path", [*CHOSEN, *(pytest.param(path, marks=pytest.mark.heavy) for path in MORE)]
)


@pytest.fixture(scope="module")
def chat() -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url="http://unset", api_key="none", max_retries=0) as client:
        yield client


@pytest.fixture(scope="module")
def http() -> Iterator[httpx.Client]:
    with httpx.Client() as client:
        yield client


def chat_request(one: Recorded) -> dict[str, Any]:
    request = one.request
    documents = request.pop("documents", None)
    if documents is not None:
        request["extra_body"] = {"documents": documents}
    if one.case.tool_choice is not None:
        request["tool_choice"] = one.case.tool_choice
    return {"model": "m", **request}


def told(completion: ChatCompletion) -> dict[str, Any]:
    """What a client of Chat Completions has in its hands."""
    [choice] = completion.choices
    message = choice.message
    extra = message.model_extra or {}
    return {
        "content": message.content,
        "reasoning": extra.get("reasoning_content"),
        "calls": [
            (call.id, call.function.name, call.function.arguments)
            for call in message.tool_calls or ()
            if call.type == "function"
        ],
        "citations": [
            {key: value for key, value in citation.items() if key != "index"}
            for citation in extra.get("citations") or ()
        ],
        "finish_reason": choice.finish_reason,
    }


def expected_of_chat(message: Message) -> dict[str, Any]:
    shape = chat_message(message)
    return {
        "content": shape["content"],
        "reasoning": shape.get("reasoning_content"),
        "calls": [(call.id, call.name, call.arguments) for call in message.tool_calls],
        "citations": shape.get("citations", []),
        "finish_reason": chat_finish_reason(
            message.finish_reason, CallCount.of(message.tool_calls)
        ),
    }


@chosen_case
def test_chat_completions(url: str, path: str, chat: openai.OpenAI) -> None:
    one = recorded(path)
    client = chat.with_options(base_url=f"{url}{path}/v1")
    whole = client.chat.completions.create(**chat_request(one))
    state = ChatCompletionStreamState()
    stream = client.chat.completions.create(
        **chat_request(one), stream=True, stream_options={"include_usage": True}
    )
    for chunk in stream:
        state.handle_chunk(chunk)
    assert told(whole) == told(state.current_completion_snapshot) == expected_of_chat(one.message)
    assert whole.usage == state.current_completion_snapshot.usage
    assert whole.usage is not None
    assert whole.usage.prompt_tokens == 11


def cohere_request(one: Recorded) -> dict[str, Any]:
    request = one.request
    if one.case.tool_choice is not None:
        request["tool_choice"] = str(one.case.tool_choice).upper()
    return {"model": "m", **request}


class Folded:
    """The events of one Cohere stream, put together, and their order checked."""

    def __init__(self) -> None:
        self.types: list[str] = []
        self.texts = {"thinking": "", "text": ""}
        self.kinds: list[str] = []
        self.calls: list[dict[str, Any]] = []
        self.citations: list[dict[str, Any]] = []
        self.end: dict[str, Any] = {}

    def take(self, event: dict[str, Any]) -> None:
        kind = event["type"]
        self.types.append(kind)
        message = (event.get("delta") or {}).get("message") or {}
        if kind == "content-start":
            assert event["index"] == len(self.kinds)
            self.kinds.append(message["content"]["type"])
        elif kind == "content-delta":
            assert event["index"] == len(self.kinds) - 1
            self.texts[self.kinds[-1]] += message["content"][self.kinds[-1]]
        elif kind == "tool-call-start":
            assert event["index"] == len(self.calls)
            self.calls.append(message["tool_calls"])
        elif kind == "tool-call-delta":
            function = self.calls[event["index"]]["function"]
            function["arguments"] += message["tool_calls"]["function"]["arguments"]
        elif kind == "citation-start":
            self.citations.append(message["citations"])
        elif kind == "message-end":
            self.end = event["delta"]

    def told(self) -> dict[str, Any]:
        assert self.types[0] == "message-start"
        assert self.types[-1] == "message-end"
        return {
            "thinking": self.texts["thinking"] or None,
            "text": self.texts["text"] or None,
            "calls": self.calls,
            "cited": [citation["text"] for citation in self.citations],
            "finish_reason": self.end["finish_reason"],
        }


def told_by_cohere(response: Any) -> dict[str, Any]:
    message = response.message.model_dump(exclude_none=True)
    blocks = {block["type"]: block[block["type"]] for block in message.get("content", ())}
    return {
        "thinking": blocks.get("thinking"),
        "text": blocks.get("text"),
        "calls": message.get("tool_calls", []),
        "cited": [citation["text"] for citation in message.get("citations", ())],
        "finish_reason": response.finish_reason,
    }


def expected_of_cohere(message: Message) -> dict[str, Any]:
    shape = cohere_message(message)
    return {
        "thinking": message.reasoning,
        "text": message.content,
        "calls": shape.get("tool_calls", []),
        "cited": [citation["text"] for citation in shape.get("citations", ())],
        "finish_reason": cohere_finish_reason(
            message.finish_reason, CallCount.of(message.tool_calls), stop=message.stop
        ),
    }


@chosen_case
def test_cohere_v2(url: str, path: str, http: httpx.Client) -> None:
    one = recorded(path)
    client = cohere.ClientV2(base_url=f"{url}{path}", api_key="none", httpx_client=http)
    whole = client.chat(**cohere_request(one))
    stream = Folded()
    for event in client.chat_stream(**cohere_request(one)):
        stream.take(event.model_dump(exclude_none=True))
    assert told_by_cohere(whole) == stream.told() == expected_of_cohere(one.message)
    assert whole.usage is not None
    assert whole.usage.model_dump(exclude_none=True) == stream.end["usage"]
    if len(stream.kinds) == len(set(stream.kinds)):
        shape = cohere_message(one.message).get("citations", [])
        assert stream.citations == shape


CHUNK = TypeAdapter(ChatCompletionChunk)
EVENT: TypeAdapter[Any] = TypeAdapter(V2ChatStreamResponse)
OURS = {"reasoning_content", "citations"}


def frames_of(http: httpx.Client, url: str, body: dict[str, Any]) -> list[str]:
    """The data of each frame of a stream, but for the terminator."""
    response = http.post(url, json={"model": "m", "stream": True, **body})
    assert response.headers["content-type"].startswith("text/event-stream")
    parts = response.text.split("\n\n")
    assert parts.pop() == ""
    assert all(part.startswith("data: ") and "\n" not in part for part in parts)
    frames = [part.removeprefix("data: ") for part in parts]
    assert frames.pop() == "[DONE]"
    return frames


def unknown_fields(value: Any) -> set[str]:
    """The names in a model and all within it that its own type does not have."""
    if isinstance(value, list):
        return set().union(*map(unknown_fields, value)) if value else set()
    if not hasattr(value, "model_fields_set"):
        return set()
    extra = set(value.model_extra or ())
    inner = (getattr(value, name) for name in type(value).model_fields)
    return extra.union(*map(unknown_fields, inner))


@chosen_case
def test_every_frame_is_of_the_sdks_own_types(url: str, path: str, http: httpx.Client) -> None:
    check_frames(url, recorded(path), http)


@pytest.mark.heavy
@pytest.mark.parametrize("name", ["cohere", *sorted(FILES)])
def test_every_golden_case(url: str, name: str, http: httpx.Client) -> None:
    for one in cases_of(name).values():
        check_frames(url, one, http)


def check_frames(url: str, one: Recorded, http: httpx.Client) -> None:
    """Every frame is of the SDK's types, strictly, and together they are the message."""
    path, body = one.path, one.request
    if one.case.tool_choice is not None:
        body["tool_choice"] = one.case.tool_choice
    state = ChatCompletionStreamState()
    for data in frames_of(http, f"{url}{path}/v1/chat/completions", body):
        chunk = CHUNK.validate_json(data, strict=True)
        assert unknown_fields(chunk) <= OURS, data
        state.handle_chunk(chunk)
    assert told(state.current_completion_snapshot) == expected_of_chat(one.message)
    if isinstance(one.case.tool_choice, dict):
        return
    stream = Folded()
    for data in frames_of(http, f"{url}{path}/v2/chat", cohere_request(one)):
        event = EVENT.validate_json(data, strict=True)
        assert not unknown_fields(event), data
        stream.take(json.loads(data))
    assert stream.told() == expected_of_cohere(one.message)


def test_asynchronous_clients_at_the_same_time(url: str) -> None:
    """Answers of many requests at once do not mix."""

    async def ask_chat(shared: openai.AsyncOpenAI, path: str) -> dict[str, Any]:
        client = shared.with_options(base_url=f"{url}{path}/v1")
        state = ChatCompletionStreamState()
        request = chat_request(recorded(path))
        async for chunk in await client.chat.completions.create(**request, stream=True):
            state.handle_chunk(chunk)
        whole = await client.chat.completions.create(**request)
        assert told(whole) == told(state.current_completion_snapshot)
        return told(whole)

    async def ask_cohere(http: httpx.AsyncClient, path: str) -> dict[str, Any]:
        client = cohere.AsyncClientV2(base_url=f"{url}{path}", api_key="none", httpx_client=http)
        stream = Folded()
        request = cohere_request(recorded(path))
        async for event in client.chat_stream(**request):
            stream.take(event.model_dump(exclude_none=True))
        whole = await client.chat(**request)
        assert told_by_cohere(whole) == stream.told()
        return stream.told()

    async def ask_all() -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
        paths = CHOSEN
        async with (
            openai.AsyncOpenAI(base_url="http://unset", api_key="none", max_retries=0) as client,
            httpx.AsyncClient() as http,
        ):
            chats = [ask_chat(client, path) for path in paths]
            coheres = [ask_cohere(http, path) for path in paths]
            answers = await asyncio.gather(*chats, *coheres)
        return list(zip(paths, answers[: len(paths)], answers[len(paths) :], strict=True))

    for path, by_chat, by_cohere in asyncio.run(ask_all()):
        assert by_chat == expected_of_chat(recorded(path).message)
        assert by_cohere == expected_of_cohere(recorded(path).message)
