"""The Responses API: the same parser, the same requests to the engine."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from sglang_doubles import Engine, responses_request, serving
from test_sglang_chat import NAME, PLAN, TEXT, TWO, double

TOOLS = [
    {"type": "function", "name": name, "parameters": {"type": "object"}} for name in ("now", "add")
]
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}
STEPS = (1, 4, 1 << 20)


def respond(made: Engine, request: Any) -> Any:
    with serving(made, reasoning=NAME, calls=NAME, responses=True) as handler:
        return asyncio.run(handler.create_responses(request, None))


def items(made: Engine, **fields: Any) -> list[dict[str, Any]]:
    return list(respond(made, responses_request(**fields)).model_dump()["output"])


def events(made: Engine, **fields: Any) -> list[dict[str, Any]]:
    async def read(handler: Any) -> list[str]:
        stream = await handler.create_responses(responses_request(stream=True, **fields), None)
        return [frame async for frame in stream]

    with serving(made, reasoning=NAME, calls=NAME, responses=True) as handler:
        lines = "".join(asyncio.run(read(handler))).splitlines()
    return [json.loads(line[6:]) for line in lines if line.startswith("data: {")]


def test_a_whole_answer() -> None:
    thought, said = items(double(TEXT))
    assert (thought["type"], thought["content"][0]["text"]) == ("reasoning", "plan")
    assert (said["type"], said["content"][0]["text"]) == ("message", "Hi there")


@pytest.mark.parametrize("choice", ["auto", "required"])
def test_whole_calls(choice: str) -> None:
    told = items(double(PLAN + TWO), tools=TOOLS, tool_choice=choice)
    made = [item for item in told if item["type"] == "function_call"]
    assert [(call["name"], call["arguments"]) for call in made] == [
        ("now", "{}"),
        ("add", '{"a": 1}'),
    ]


@pytest.mark.parametrize("step", STEPS)
def test_a_streamed_answer(step: int) -> None:
    told = events(double(TEXT, step=step))
    assert joined(told, "response.reasoning_text.delta") == "plan"
    assert joined(told, "response.output_text.delta") == "Hi there"
    assert told[-1]["type"] == "response.completed"


@pytest.mark.parametrize("step", STEPS)
def test_streamed_calls(step: int) -> None:
    told = events(double(PLAN + TWO, step=step), tools=TOOLS)
    done = [e["item"] for e in told if e["type"] == "response.output_item.done"]
    made = [item for item in done if item["type"] == "function_call"]
    assert [(call["name"], call["arguments"]) for call in made] == [
        ("now", "{}"),
        ("add", '{"a": 1}'),
    ]
    assert joined(told, "response.function_call_arguments.delta") == '{}{"a": 1}'


def test_what_the_engine_is_told() -> None:
    made = double(TEXT)
    text = {"format": {"type": "json_schema", "name": "a", "schema": SCHEMA}}
    items(made, tools=TOOLS, text=text, stop=["END"])
    told = made.asked[-1].sampling_params
    assert "structural_tag" in told
    assert "json_schema" not in told
    assert (told["stop"], told["skip_special_tokens"]) == ([], False)
    items(made, tools=TOOLS, tool_choice={"type": "function", "name": "add"})
    tag = made.asked[-1].sampling_params["structural_tag"]
    assert '\\"add\\"' in tag
    assert '\\"now\\"' not in tag


def test_stop_strings() -> None:
    [_, said] = items(double(f"{PLAN}<|START_RESPONSE|>a plan<|END_RESPONSE|>"), stop=["plan"])
    assert said["content"][0]["text"] == "a"


def test_a_refusal() -> None:
    strict = {"type": "object", "properties": {"a": {"type": "string", "not": {"const": "x"}}}}
    tools = [{"type": "function", "name": "f", "strict": True, "parameters": strict}]
    response = respond(double(TEXT), responses_request(tools=tools))
    assert response.status_code == 400
    assert json.loads(response.body)["error"]["message"].startswith("tools: ")


def joined(told: list[dict[str, Any]], kind: str) -> str:
    return "".join(event["delta"] for event in told if event["type"] == kind)
