"""Tool choice in both APIs: what the grammar of a request lets through, and what calls are told."""

from __future__ import annotations

from typing import Any

import pytest
from vllm.exceptions import VLLMValidationError
from vllm_held import CALL, HERMES, OSLO, PROMPT, STRICT, TIME, accepts, tag_of
from vllm_kit import BOTH, NOW, WEATHER, Make, Request, Served, chat, responses

both = pytest.mark.parametrize("make", BOTH.values(), ids=BOTH)

CHOICES: dict[str, tuple[Any, list[bool]]] = {
    # By tool choice: are plain text, one call, the other call, and both calls accepted?
    "absent": (..., [True, True, True, True]),
    "auto": ("auto", [True, True, True, True]),
    "required": ("required", [False, True, True, True]),
    "named": ({"type": "function", "function": {"name": "now"}}, [False, False, True, False]),
}


@both
@pytest.mark.parametrize("choice", CHOICES)
def test_tool_choice(make: Make, choice: str) -> None:
    value, expected = CHOICES[choice]
    fields = {} if value is ... else {"tool_choice": value}
    request = make([STRICT, NOW], **fields)
    adjusted = HERMES.adjusted(request, PROMPT)
    assert accepts(adjusted, "Hi", OSLO, TIME, f"{OSLO}\n{TIME}") == expected
    assert HERMES.whole(OSLO + TIME, adjusted, PROMPT).calls == [
        ("get_weather", '{"city": "Oslo"}'),
        ("now", "{}"),
    ]


@pytest.mark.parametrize(
    "request_",
    [
        chat([WEATHER], tool_choice="none"),
        chat([WEATHER], tool_choice=None),
        chat(),
        responses([WEATHER], tool_choice="none"),
        responses(),
    ],
    ids=["chat-none", "chat-null", "chat-no-tools", "responses-none", "responses-no-tools"],
)
def test_no_calls(request_: Request) -> None:
    request = HERMES.adjusted(request_, PROMPT)
    assert tag_of(request) is None
    assert not HERMES.whole(OSLO, request, PROMPT).calls
    told = HERMES.streamed(HERMES.tokenizer.encode(f"Hi {OSLO}"), request, PROMPT)
    assert not told.calls
    assert told.content is not None


RESPONSES_TOOLS = [
    STRICT,
    NOW,
    {"type": "custom", "name": "shell", "description": "Runs a line."},
    {
        "type": "namespace",
        "name": "maps",
        "description": "Maps.",
        "tools": [{"type": "function", "name": "route", "parameters": {"type": "object"}}],
    },
    {"type": "web_search_preview"},
]
SHELL = CALL.format("shell", '{"input": "ls"}')
ROUTE = CALL.format("maps__route", "{}")
RESPONSES_CHOICES: dict[str, tuple[Any, list[bool]]] = {
    # Are text, get_weather, now, shell and maps__route accepted?
    "auto": ("auto", [True, True, True, True, True]),
    "required": ("required", [False, True, True, True, True]),
    "allowed, auto": (
        {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "now"}]},
        [True, False, True, False, False],
    ),
    "allowed, required": (
        {
            "type": "allowed_tools",
            "mode": "required",
            "tools": [{"type": "function", "name": "now"}, {"type": "custom", "name": "shell"}],
        },
        [False, False, True, True, False],
    ),
    "custom": ({"type": "custom", "name": "shell"}, [False, False, False, True, False]),
    "of a namespace": ({"type": "function", "name": "route"}, [False, False, False, False, True]),
}


@pytest.mark.parametrize("choice", RESPONSES_CHOICES)
def test_tool_choice_of_the_responses_api(choice: str) -> None:
    value, expected = RESPONSES_CHOICES[choice]
    adjusted = HERMES.adjusted(responses(RESPONSES_TOOLS, tool_choice=value), PROMPT)
    assert accepts(adjusted, "Hi", OSLO, TIME, SHELL, ROUTE) == expected
    told = HERMES.whole(SHELL + ROUTE, adjusted, PROMPT)
    assert told.calls == [("shell", '{"input": "ls"}'), ("maps__route", "{}")]


@pytest.mark.parametrize(
    "choice",
    [
        {
            "type": "allowed_tools",
            "mode": "auto",
            "tools": [{"type": "function", "name": "nobody"}],
        },
        {"type": "web_search_preview"},
        {"type": "mcp", "server_label": "s"},
    ],
)
def test_a_tool_choice_that_names_no_tool_is_refused(choice: Any) -> None:
    with pytest.raises(VLLMValidationError) as caught:
        HERMES.adjusted(responses(RESPONSES_TOOLS, tool_choice=choice), PROMPT)
    assert caught.value.parameter == "tool_choice"


def test_tools_that_the_model_is_not_shown_are_none() -> None:
    request = responses([{"type": "web_search_preview"}])
    request = HERMES.adjusted(request, PROMPT)
    assert tag_of(request) is None
    assert not HERMES.whole(OSLO, request, PROMPT).calls


@both
def test_calls_that_are_not_parallel(make: Make) -> None:
    request = make([STRICT, NOW], parallel_tool_calls=False)
    request = HERMES.adjusted(request, PROMPT)
    assert accepts(request, "Hi", OSLO, f"{OSLO}\n{TIME}") == [True, True, False]


STRICT_LEVELS = {
    # Is a call with arguments against the schema accepted, of a tool that says nothing, and of one
    # that says that it is not strict?
    None: [False, True],
    "auto": [False, True],
    "function": [False, True],
    "parameter": [False, False],
}


@both
@pytest.mark.parametrize("level", STRICT_LEVELS)
def test_the_strict_level_of_the_server(make: Make, level: str | None) -> None:
    server = Served("hermes", tool_strict_level=level)
    wrong = CALL.format("get_weather", '{"city": 5}')
    for tool, expected in zip(
        (WEATHER, WEATHER | {"strict": False}), STRICT_LEVELS[level], strict=True
    ):
        assert accepts(server.adjusted(make([tool]), PROMPT), wrong) == [expected]


@both
def test_tools_that_nobody_enforces(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_ENFORCE_STRICT_TOOL_CALLING", "0")
    assert tag_of(HERMES.adjusted(make([WEATHER]), PROMPT)) is None
    assert tag_of(HERMES.adjusted(make([STRICT]), PROMPT)) is not None
    assert tag_of(HERMES.adjusted(make([WEATHER], tool_choice="required"), PROMPT)) is not None
