"""The structural tags that xgrammar ships beside those of Tagsmith: which takes which text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import tagsmith
from tagsmith.grammar import check_structural_tag


@dataclass(frozen=True)
class Text:
    """A text for two grammars of one format."""

    name: str
    builtin: str
    """xgrammar's name of the format."""
    family: str
    text: str
    is_right: bool
    tools: Sequence[Mapping[str, Any]] = ()
    choice: str = "required"


def tool(name: str, properties: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """A tool whose properties are all required."""
    parameters = {"type": "object", "properties": properties, "required": list(properties)}
    return {"type": "function", "function": {"name": name, "parameters": parameters, **more}}


NOW = tool("now", {})
SEARCH = tool("search", {"q": {"type": "string", "pattern": "ab"}})
SAY = tool("say", {"s": {"type": "string", "minLength": 2}})
TEXTS = [
    Text(
        "the call as the chat template writes it",
        *("qwen_3", "qwen3"),
        '<tool_call>\n{"name": "now", "arguments": {}}\n</tool_call>',
        is_right=True,
        tools=[NOW],
    ),
    Text(
        "a line end less than the chat template writes",
        *("qwen_3_coder", "qwen3-coder"),
        "<tool_call>\n<function=now>\n</function></tool_call>",
        is_right=True,
        tools=[NOW],
    ),
    Text(
        "text after a required call",
        *("llama", "llama-3"),
        '{"name": "now", "parameters": {}}Done.',
        is_right=False,
        tools=[NOW],
    ),
    Text(
        "a call where `tool_choice` is `none`",
        *("qwen_3_coder", "qwen3-coder"),
        "<tool_call>\n<function=now>\n</function>\n</tool_call>",
        is_right=False,
        tools=[NOW],
        choice="none",
    ),
    Text(
        "arguments that are no object, of a tool with `strict: false`",
        *("exaone", "exaone-4"),
        '<tool_call>{"name": "loose", "arguments": 7}</tool_call>',
        is_right=False,
        tools=[tool("loose", {}, strict=False)],
    ),
    Text(
        "an argument of a tool that has no parameters",
        *("gemma_4", "gemma-4"),
        "<|tool_call>call:now{a:1}<tool_call|>",
        is_right=False,
        tools=[{"type": "function", "function": {"name": "now"}}],
    ),
    Text(
        "a string that holds what `pattern` looks for",
        *("llama", "llama-3"),
        '{"name": "search", "parameters": {"q": "x ab y"}}',
        is_right=True,
        tools=[SEARCH],
    ),
    Text(
        "a string shorter than `minLength`",
        *("qwen_3_coder", "qwen3-coder"),
        "<tool_call>\n<function=say>\n<parameter=s>\na\n</parameter>\n</function>\n</tool_call>",
        is_right=False,
        tools=[SAY],
    ),
    Text(
        "a tool with a quote in its name",
        *("llama", "llama-3"),
        '{"name": "a\\"b", "parameters": {}}',
        is_right=True,
        tools=[tool('a"b', {})],
    ),
    Text(
        "a list whose schema has no `items`",
        *("cohere", "cohere-command-xml"),
        '<cofl:tool_calls><cofl:tool_call id="0" name="f">\n<cofl:value name="l" type="list">\n'
        '<cofl:value type="raw">x</cofl:value>\n</cofl:value>\n</cofl:tool_call></cofl:tool_calls>',
        is_right=True,
        tools=[tool("f", {"l": {"type": "array"}})],
    ),
    Text(
        "an id with a number of ten digits",
        *("kimi", "kimi-k2"),
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.now:1234567890"
        "<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>",
        is_right=True,
        tools=[NOW],
    ),
    Text(
        "a call as the chat template writes past ones",
        *("harmony", "gpt-oss"),
        " to=functions.now<|channel|>commentary json<|message|>{}<|call|>",
        is_right=True,
        tools=[NOW],
    ),
]


def their_tag(text: Text) -> dict[str, Any]:
    """The tag that xgrammar ships."""
    made = import_module("xgrammar").get_model_structural_tag(
        text.builtin,
        tools=list(text.tools),
        tool_choice=text.choice,
        reasoning="disabled",
        max_whitespace_cnt=64,
    )
    tag: dict[str, Any] = made.model_dump(exclude_none=True)
    return tag


def our_tag(text: Text) -> dict[str, Any]:
    """The tag of Tagsmith."""
    family = tagsmith.get_family(text.family)
    reasons = family.spec.tag_style.reasoning is not None
    return family.structural_tag(
        tools=list(text.tools),
        tool_choice=text.choice,
        reasoning="disabled" if reasons else "gated",
    )


def constraining_table() -> list[str]:
    """Which texts each grammar lets through."""
    lines = ["| text | format | it is | xgrammar's tag | Tagsmith's tag |", "|---|---|---|---|---|"]
    for text in TEXTS:
        markers = tagsmith.get_family(text.family).markers
        cells = [text.name, text.family, "right" if text.is_right else "wrong"]
        for tag in (their_tag(text), our_tag(text)):
            [check] = check_structural_tag(tag, [text.text], markers=markers)
            cells.append("accepts" if check.accepted else "refuses")
        lines.append(f"| {' | '.join(cells)} |")
    return lines
