"""The Responses API from end to end."""

from __future__ import annotations

from typing import Any

import pytest
from vllm_client import events, output_of, respond
from vllm_held import SCHEMA, STRICT
from vllm_kit import NOW, Request, responses
from vllm_server import MODEL, Server

THOUGHT = "<think>\nHm, é.\n</think>\n\n"
CALL = (
    "<tool_call>\n<function=get_weather>\n<parameter=city>\nTromsø\n</parameter>\n"
    "<parameter=days>\n3\n</parameter>\n</function>\n</tool_call>"
)
TIME = "<tool_call>\n<function=now>\n</function>\n</tool_call>"
END = "<|im_end|>"
ARGUMENTS = '{"city": "Tromsø", "days": 3}'


CUSTOM = {"type": "custom", "name": "shell", "description": "Runs a line."}
SHELL = (
    "<tool_call>\n<function=shell>\n<parameter=input>\nls\n</parameter>\n</function>\n</tool_call>"
)
ANSWERED: dict[str, tuple[dict[str, Any], str, list[tuple[str, str]]]] = {
    "content": ({}, f"{THOUGHT}Hi é.", [("reasoning", "Hm, é."), ("message", "Hi é.")]),
    "a call": ({"tools": [STRICT, NOW]}, CALL, [("get_weather", ARGUMENTS)]),
    "calls": (
        {"tools": [STRICT, NOW], "tool_choice": "required"},
        f"{THOUGHT}{CALL}\n{TIME}",
        [("reasoning", "Hm, é."), ("get_weather", ARGUMENTS), ("now", "{}")],
    ),
    "allowed tools": (
        {
            "tools": [STRICT, NOW],
            "tool_choice": {
                "type": "allowed_tools",
                "mode": "required",
                "tools": [{"type": "function", "name": "now"}],
            },
        },
        TIME,
        [("now", "{}")],
    ),
    "a schema": (
        {"text": {"format": {"type": "json_schema", "name": "answer", "schema": SCHEMA}}},
        f'{THOUGHT}{{"ok": true}}',
        [("reasoning", "Hm, é."), ("message", '{"ok": true}')],
    ),
}


@pytest.mark.parametrize("name", ANSWERED)
def test_the_responses_api(qwen: Server, name: str) -> None:
    fields, text, expected = ANSWERED[name]
    told = respond(qwen, responses(model=MODEL, **fields), text + END)
    assert told["status"] == "completed"
    assert output_of(told) == expected
    if "é" in text:
        counted = told["usage"]["output_tokens_details"]["reasoning_tokens"]
        assert counted == len("\nHm, é.\n".encode())
    *_, last = events(qwen, responses(model=MODEL, **fields), text + END)
    assert last["type"] == "response.completed"
    assert output_of(last["response"]) == expected


@pytest.mark.parametrize("choice", ["auto", {"type": "custom", "name": "shell"}])
def test_a_custom_tool(qwen: Server, choice: Any) -> None:
    def make() -> Request:
        return responses([CUSTOM], model=MODEL, tool_choice=choice)

    told = respond(qwen, make(), f"{THOUGHT}{SHELL}{END}")
    assert output_of(told) == [("reasoning", "Hm, é."), ("shell", "ls")]
    *_, last = events(qwen, make(), f"{THOUGHT}{SHELL}{END}")
    assert output_of(last["response"]) == output_of(told)


@pytest.mark.parametrize("name", ANSWERED)
def test_vllms_context_that_parses_as_it_goes(
    qwen: Server, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VLLM_USE_EXPERIMENTAL_PARSER_CONTEXT", "1")
    fields, text, expected = ANSWERED[name]
    assert output_of(respond(qwen, responses(model=MODEL, **fields), text + END)) == expected


def test_a_response_that_is_cut_off(qwen: Server) -> None:
    told = respond(qwen, responses([STRICT], model=MODEL, max_output_tokens=50), CALL + END)
    assert told["status"] == "incomplete"
    (call,) = told["output"]
    assert call["status"] == "incomplete"
