"""Conversations of sentinels: what a chat template makes of them shows how the model writes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tagsmith.authoring.bounded_render import Prompt, Wanted
from tagsmith.authoring.template_file import ROLES

ASKED, ASKED_AGAIN, ANSWER, THOUGHT = "ZqAsked", "ZqAgain", "ZqAnswer", "ZqThought"
RESULT, RULES = "ZqResult", "ZqRules"
NAMES = ("zq_tool_one", "zq_tool_two")
IDS = ("zqcall001", "zqcall002")
"""Ids of nine letters and digits, as some templates want them."""
KEYS = ("zq_key_one", "zq_key_two")
VALUES = ("ZqValueOne", "ZqValueTwo")
NUMBER = 4177
NO_TOKEN = "<ZqNoToken>"
"""What a template gets for a token that the files do not name."""

ONE: Mapping[str, Any] = {KEYS[0]: VALUES[0]}
TWO: Mapping[str, Any] = {KEYS[0]: VALUES[0], KEYS[1]: VALUES[1]}
TYPED: Mapping[str, Any] = {KEYS[0]: NUMBER}
OTHER: Mapping[str, Any] = {KEYS[1]: VALUES[1]}

Turn = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Prompts:
    """What a template made of the conversations, by their names."""

    made: Mapping[str, Prompt]

    def __getitem__(self, name: str) -> str:
        """The text of a prompt; empty where the template refuses the conversation."""
        return self.made[name].text or ""

    def error(self, name: str) -> str:
        """Why there is no such prompt."""
        return self.made[name].error


def conversations(roles: Mapping[str, str]) -> Wanted:
    """Every conversation, each with the variables to try in order.

    Args:
        roles: the special tokens that the template may name.
    """
    asked: Turn = {"role": "user", "content": ASKED}
    again: Turn = {"role": "user", "content": ASKED_AGAIN}
    wanted: dict[str, list[dict[str, Any]]] = {}

    def add(name: str, *turns: Turn, ends: bool = False, **fields: Any) -> None:
        wanted[name] = list(_ways(turns, roles, ends, fields))

    add("asked", asked)
    add("asked-open", asked, ends=True)
    for name, on in (("on", True), ("off", False)):
        switches = dict.fromkeys(("enable_thinking", "thinking", "reasoning"), on)
        add(f"asked-{name}", asked, ends=True, **switches)
    add("answered", asked, _said(ANSWER))
    add("history", asked, _said(ANSWER), again)
    add("thought", asked, _said(ANSWER, THOUGHT))
    add("thought-blocks", asked, _said(_BLOCKS))
    for style in ("object", "text"):
        for name, calls in _CALLS.items():
            turns = [asked, _called(style, *calls), *_results(len(calls))]
            add(f"{style}:{name}", *turns, ends=True, tools=_TOOLS)
        thinking = _called(style, ONE, thought=THOUGHT)
        add(f"{style}:thinking", asked, thinking, *_results(1), ends=True, tools=_TOOLS)
        saying = _called(style, ONE, content=ANSWER)
        add(f"{style}:saying", asked, saying, *_results(1), ends=True, tools=_TOOLS)
    return wanted


_CALLS: Mapping[str, Sequence[Mapping[str, Any]]] = {
    "one": (ONE,),
    "two": (ONE, OTHER),
    "two-keys": (TWO,),
    "typed": (TYPED,),
    "none": ({},),
}
"""Calls by their arguments: one call each, but for the name `two`."""

_BLOCKS = [{"type": "thinking", "thinking": THOUGHT}, {"type": "text", "text": ANSWER}]

_TOOLS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": "A tool.",
            "parameters": {
                "type": "object",
                "properties": {key: {"type": "string", "description": "A key."} for key in KEYS},
                "required": [],
            },
        },
    }
    for name in NAMES
]


def _ways(
    turns: Sequence[Turn], roles: Mapping[str, str], ends: bool, fields: Mapping[str, Any]
) -> Any:
    """As it is; with rules first, which some templates want; with tools, which others do."""
    given = {
        "messages": list(turns),
        "tools": None,
        "documents": None,
        "add_generation_prompt": ends,
        **dict.fromkeys(ROLES, NO_TOKEN),
        "bos_token": "",
        **roles,
        **fields,
    }
    rules: Turn = {"role": "system", "content": RULES}
    yield given
    yield {**given, "messages": [rules, *turns]}
    yield {**given, "tools": _TOOLS}


def _said(content: Any, thought: str | None = None) -> Turn:
    turn = {"role": "assistant", "content": content}
    return turn | ({} if thought is None else _thoughts(thought))


def _thoughts(thought: str) -> dict[str, str]:
    return dict.fromkeys(("reasoning_content", "reasoning", "thinking"), thought)


def _called(
    style: str, *calls: Mapping[str, Any], content: str = "", thought: str | None = None
) -> Turn:
    made = [
        {
            "id": call_id,
            "type": "function",
            "function": {
                "name": name,
                "arguments": arguments if style == "object" else json.dumps(arguments),
            },
        }
        for call_id, name, arguments in zip(IDS, NAMES, calls, strict=False)
    ]
    return {**_said(content, thought), "tool_calls": made}


def _results(count: int) -> list[Turn]:
    return [
        {"role": "tool", "tool_call_id": call_id, "name": name, "content": RESULT}
        for call_id, name in list(zip(IDS, NAMES, strict=True))[:count]
    ]
