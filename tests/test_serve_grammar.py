"""An upstream that writes what its structural tag lets through: the answer keeps to the request."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any

import httpx2
import jsonschema
import pytest

import tagsmith
from fake_upstream import FakeUpstream, fake_upstream, mounted, running, saying, settings_for
from tagsmith.serve import create_app
from tagsmith.testing import sample_texts

pytestmark = pytest.mark.heavy

CITY = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city"],
    "additionalProperties": False,
}
TOOLS = [
    {"type": "function", "function": {"name": "get_weather", "parameters": CITY}},
    {"type": "function", "function": {"name": "now", "parameters": {"type": "object"}}},
]
SCHEMA = {"type": "json_schema", "json_schema": {"name": "city", "schema": CITY, "strict": True}}
TEMPLATES = {
    "cohere-command-a": "<|CHATBOT_TOKEN|>",
    "cohere-north": "<|CHATBOT_TOKEN|>",
    "cohere-command-xml": "<|CHATBOT_TOKEN|><|START_THINKING|>",
    "qwen3": "<|im_start|>assistant\n",
    "qwen3-thinking": "<|im_start|>assistant\n<think>\n",
    "qwen3-coder": "<|im_start|>assistant\n",
    "gpt-oss": "<|start|>assistant",
    "llama-4": "<|header_start|>assistant<|header_end|>\n\n",
    "kimi-k2": "<|im_assistant|>assistant<|im_middle|>",
}
SAMPLES = 5
numbers = itertools.count()


@pytest.fixture(scope="module")
def upstream() -> Iterator[FakeUpstream]:
    def reply(body: dict[str, Any]) -> Any:
        family = tagsmith.get_family(body["family"])
        tag = json.loads(body["structured_outputs"]["structural_tag"])
        [sample] = sample_texts(tag, 1, seed=next(numbers), markers=family.markers)
        return saying(sample.text, size=9)

    with fake_upstream() as fake:
        fake.reply = reply
        yield fake


@pytest.fixture(scope="module")
def servers(upstream: FakeUpstream) -> Iterator[str]:
    apps = {
        f"/{name}": create_app(
            settings_for(
                tagsmith.get_family(name),
                upstream.url,
                chat_template=f"{{% raw %}}{template}{{% endraw %}}",
                fields={"family": name},
                structural_tags="always",
            )
        )
        for name, template in TEMPLATES.items()
    }
    with running(mounted(apps)) as address:
        yield address


def answers(servers: str, family: str, **request: Any) -> Iterator[dict[str, Any]]:
    body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], **request}
    with httpx2.Client(timeout=30) as http:
        for _ in range(SAMPLES):
            response = http.post(f"{servers}/{family}/v1/chat/completions", json=body)
            assert response.status_code == 200, response.text
            yield response.json()["choices"][0]


def check_calls(calls: list[dict[str, Any]]) -> None:
    schemas = {tool["function"]["name"]: tool["function"]["parameters"] for tool in TOOLS}
    for call in calls:
        function = call["function"]
        jsonschema.validate(json.loads(function["arguments"]), schemas[function["name"]])


@pytest.mark.parametrize("family", TEMPLATES)
def test_a_call_that_is_required_comes(servers: str, family: str) -> None:
    for choice in answers(servers, family, tools=TOOLS, tool_choice="required"):
        calls = choice["message"]["tool_calls"]
        assert choice["finish_reason"] == "tool_calls"
        assert not choice["message"]["content"]
        check_calls(calls)


@pytest.mark.parametrize("family", TEMPLATES)
def test_the_one_tool_that_is_named_is_called(servers: str, family: str) -> None:
    named = {"type": "function", "function": {"name": "get_weather"}}
    for choice in answers(
        servers, family, tools=TOOLS, tool_choice=named, parallel_tool_calls=False
    ):
        [call] = choice["message"]["tool_calls"]
        assert call["function"]["name"] == "get_weather"
        check_calls([call])


@pytest.mark.parametrize("family", TEMPLATES)
def test_an_answer_of_a_schema_keeps_to_it(servers: str, family: str) -> None:
    for choice in answers(servers, family, response_format=SCHEMA):
        assert choice["finish_reason"] == "stop"
        jsonschema.validate(json.loads(choice["message"]["content"]), CITY)


@pytest.mark.parametrize("family", TEMPLATES)
def test_calls_that_may_come_are_whole(servers: str, family: str) -> None:
    for choice in answers(servers, family, tools=TOOLS):
        assert choice["finish_reason"] in ("stop", "tool_calls")
        check_calls(choice["message"].get("tool_calls", []))


@pytest.mark.parametrize("family", TEMPLATES)
def test_calls_that_may_not_come_do_not(servers: str, family: str) -> None:
    for choice in answers(servers, family, tools=TOOLS, tool_choice="none"):
        assert "tool_calls" not in choice["message"]
