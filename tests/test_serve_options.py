"""What the settings of a server change in its answers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

import tagsmith
from fake_upstream import FakeUpstream, fake_upstream, mounted, running, saying, settings_for
from tagsmith.serve import create_app

FAMILY = tagsmith.get_family("cohere-command-a")
OUTPUT = (
    "<|START_THINKING|>hm<|END_THINKING|><|START_RESPONSE|>😀 <co>né</co: 0:[0]>!<|END_RESPONSE|>"
)
CALLING = (
    "<|START_THINKING|>look<|END_THINKING|><|START_ACTION|>"
    '[{"tool_call_id": "0", "tool_name": "f", "parameters": {}}]<|END_ACTION|>'
)
TOOLS = [{"type": "function", "function": {"name": "f"}}]
ASKED = {
    "model": "m",
    "messages": [{"role": "user", "content": "Hi"}],
    "documents": [{"id": "a", "data": {"text": "né"}}],
}
SERVERS: dict[str, dict[str, Any]] = {
    "/usual": {},
    "/reasoning": {"reasoning_field": "reasoning"},
    "/plan": {"thoughts": "tool-plan"},
    "/accurate": {"citations": "accurate"},
    "/off": {"citations": "off"},
    "/utf-16": {"units": "utf-16"},
    "/report": {"kind": "openai", "unenforced": "report"},
}


@pytest.fixture(scope="module")
def upstream() -> Iterator[FakeUpstream]:
    with fake_upstream() as fake:
        yield fake


@pytest.fixture(scope="module")
def servers(upstream: FakeUpstream) -> Iterator[str]:
    apps = {
        path: create_app(
            settings_for(FAMILY, upstream.url, chat_template="<|CHATBOT_TOKEN|>", **options)
        )
        for path, options in SERVERS.items()
    }
    with running(mounted(apps)) as address:
        yield address


@pytest.fixture(scope="module")
def http() -> Iterator[httpx2.Client]:
    with httpx2.Client(timeout=10) as client:
        yield client


def chat(http: httpx2.Client, url: str, **more: Any) -> dict[str, Any]:
    answer = http.post(f"{url}/v1/chat/completions", json={**ASKED, **more}).json()
    message: dict[str, Any] = answer["choices"][0]["message"]
    return message


def events(http: httpx2.Client, url: str, **more: Any) -> list[dict[str, Any]]:
    response = http.post(f"{url}/v2/chat", json={**ASKED, "stream": True, **more})
    frames = response.text.split("\n\n")[:-2]
    return [json.loads(frame.removeprefix("data: ")) for frame in frames]


def types(told: list[dict[str, Any]]) -> list[str]:
    return [event["type"] for event in told]


def test_the_key_of_reasoning(upstream: FakeUpstream, servers: str, http: httpx2.Client) -> None:
    upstream.reply = lambda _: saying(OUTPUT)
    assert chat(http, f"{servers}/usual")["reasoning_content"] == "hm"
    assert chat(http, f"{servers}/reasoning")["reasoning"] == "hm"


def test_thoughts_of_models_that_plan(
    upstream: FakeUpstream, servers: str, http: httpx2.Client
) -> None:
    upstream.reply = lambda _: saying(CALLING)
    told = types(events(http, f"{servers}/plan", tools=TOOLS))
    assert "tool-plan-delta" in told
    assert "content-start" not in told
    assert "tool-plan-delta" not in types(events(http, f"{servers}/usual", tools=TOOLS))
    answer = http.post(f"{servers}/plan/v2/chat", json={**ASKED, "tools": TOOLS}).json()
    assert answer["message"]["tool_plan"] == "look"
    assert answer["finish_reason"] == "TOOL_CALL"


@pytest.mark.parametrize(
    ("path", "mode", "order"),
    [
        ("/usual", None, "fast"),
        ("/usual", "FAST", "fast"),
        ("/usual", "ENABLED", "fast"),
        ("/usual", "ACCURATE", "accurate"),
        ("/usual", "OFF", "off"),
        ("/usual", "DISABLED", "off"),
        ("/accurate", None, "accurate"),
        ("/accurate", "FAST", "fast"),
        ("/off", None, "off"),
        ("/off", "accurate", "accurate"),
    ],
)
def test_when_citations_are_told(
    upstream: FakeUpstream,
    servers: str,
    http: httpx2.Client,
    path: str,
    mode: str | None,
    order: str,
) -> None:
    upstream.reply = lambda _: saying(OUTPUT)
    more = {} if mode is None else {"citation_options": {"mode": mode}}
    told = types(events(http, servers + path, **more))
    cited = "citation-start" in told
    assert cited == (order != "off")
    if cited:
        # "!" comes behind the cited words.
        last = len(told) - told[::-1].index("content-delta")
        assert (told.index("citation-start") < last) == (order == "fast")
    assert ("citations" in chat(http, servers + path, **more)) == cited


def test_what_offsets_count(upstream: FakeUpstream, servers: str, http: httpx2.Client) -> None:
    upstream.reply = lambda _: saying(OUTPUT)
    [citation] = chat(http, f"{servers}/usual")["citations"]
    assert (citation["start"], citation["end"]) == (2, 4)
    [citation] = chat(http, f"{servers}/utf-16")["citations"]
    assert (citation["start"], citation["end"]) == (3, 5)


@pytest.mark.parametrize("stream", [False, True])
def test_what_nobody_holds_is_told_in_a_header(
    upstream: FakeUpstream, servers: str, http: httpx2.Client, stream: bool
) -> None:
    upstream.reply = lambda _: saying(CALLING)
    body = {**ASKED, "tools": TOOLS, "tool_choice": "required", "stream": stream}
    response = http.post(f"{servers}/report/v1/chat/completions", json=body)
    assert response.status_code == 200
    told = response.headers["x-tagsmith-unenforced"]
    assert told == "tool_choice: an upstream of kind openai takes no structural tag"
    assert response.headers["x-request-id"].startswith("chatcmpl-")
    held = http.post(f"{servers}/usual/v1/chat/completions", json=body)
    assert "x-tagsmith-unenforced" not in held.headers


def test_usage_is_told_where_it_is_asked_for(
    upstream: FakeUpstream, servers: str, http: httpx2.Client
) -> None:
    upstream.reply = lambda _: saying(OUTPUT)
    url, body = f"{servers}/usual/v1/chat/completions", {**ASKED, "stream": True}
    assert '"usage"' not in http.post(url, json=body).text
    body["stream_options"] = {"include_usage": True}
    frames = http.post(url, json=body).text.split("\n\n")[:-2]
    *nothing, counted = [json.loads(frame.removeprefix("data: "))["usage"] for frame in frames]
    assert set(nothing) == {None}
    assert counted["prompt_tokens"] == 11
    assert "usage" in events(http, f"{servers}/usual")[-1]["delta"]
