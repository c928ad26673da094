"""SGLang's own HTTP application, its engine replaced: what clients of every API see."""

from __future__ import annotations

import json
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from openai import OpenAI
from sglang.srt.entrypoints import http_server
from sglang_doubles import serving
from starlette.testclient import TestClient
from test_sglang_chat import NAME, PLAN, TEXT, TOLD, TOOLS, TWO, double


@pytest.fixture
def http(request: pytest.FixtureRequest) -> Iterator[TestClient]:
    made = double(request.param)
    http_server.set_global_state(
        SimpleNamespace(tokenizer_manager=made, template_manager=None, scheduler_info={})
    )
    with serving(made, reasoning=NAME, calls=NAME) as handler:
        http_server.app.state.openai_serving_chat = handler
        yield TestClient(http_server.app)


ASKED: dict[str, Any] = {
    "model": "served",
    "messages": [{"role": "user", "content": "Hi"}],
    "tools": TOOLS,
}


@pytest.mark.parametrize("http", [PLAN + TWO], indirect=True)
def test_the_official_sdk(http: TestClient) -> None:
    client = OpenAI(api_key="none", base_url="http://testserver/v1", http_client=http)
    [choice] = client.chat.completions.create(**ASKED).choices
    assert choice.finish_reason == "tool_calls"
    told = [{"id": c.id, **c.function.model_dump()} for c in choice.message.tool_calls or ()]
    assert told == TOLD
    arguments = ["", ""]
    for chunk in client.chat.completions.create(**ASKED, stream=True):
        for delta in (chunk.choices and chunk.choices[0].delta.tool_calls) or ():
            arguments[delta.index] += delta.function.arguments
    assert arguments == ["{}", '{"a": 1}']


@pytest.mark.parametrize("http", [TEXT], indirect=True)
def test_a_refusal(http: TestClient) -> None:
    response = http.post("/v1/chat/completions", json=ASKED | {"stop": "x" * 300})
    assert response.status_code == 400
    assert response.json()["message"].startswith("stop: ")


@pytest.mark.parametrize("http", [""], indirect=True)
def test_texts_that_are_handed_over(http: TestClient) -> None:
    asked = {"text": PLAN + TWO, "reasoning_parser": NAME}
    split = http.post("/separate_reasoning", json=asked).json()
    assert split["reasoning_text"] == "plan"
    for text, shown in ((split["text"], ""), (PLAN + TWO, "plan")):
        asked = {"text": text, "tool_call_parser": NAME, "tools": TOOLS}
        read = http.post("/parse_function_call", json=asked).json()
        told = [(call["tool_index"], call["name"], call["parameters"]) for call in read["calls"]]
        assert told == [(0, "now", "{}"), (1, "add", '{"a": 1}')]
        assert read["normal_text"] == shown


@pytest.mark.parametrize("http", [TEXT], indirect=True)
def test_frames_are_json_of_ascii(http: TestClient) -> None:
    lines = http.post("/v1/chat/completions", json=ASKED | {"stream": True}).text.split("\n\n")
    told = [json.loads(line.removeprefix("data: ")) for line in lines if "{" in line]
    assert "".join(c["choices"][0]["delta"].get("content") or "" for c in told) == "Hi there"
