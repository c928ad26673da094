"""Prompts by a model's chat template, as transformers runs it."""

from __future__ import annotations

import re
import sys
from datetime import datetime
from typing import Any

import pytest

import tagsmith

FAMILY = tagsmith.get_family("qwen3")
USER = {"role": "user", "content": "q"}
TOOL = {"type": "function", "function": {"name": "f", "description": "d", "parameters": {}}}


def render(template: str, messages: Any = (USER,), **options: Any) -> str:
    return FAMILY.render(list(messages), chat_template=template, **options)


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        # What transformers sets up.
        ("{% if true %}\na\n{% endif %}\nb", "a\nb"),
        ("  {% if true %}a{% endif %}", "a"),
        ("{% for i in range(9) %}{% if i == 2 %}{% break %}{% endif %}{{ i }}{% endfor %}", "01"),
        ("{% for i in [1, 2] %}{% if i == 1 %}{% continue %}{% endif %}{{ i }}{% endfor %}", "2"),
        ("a{% generation %}b{{ 1 }}{% endgeneration %}c", "ab1c"),
        ("{{ strftime_now('%Y') }}", str(datetime.now().year)),
        ("{{ {'k': '<é&\\''} | tojson }}", '{"k": "<é&\'"}'),
        ("{{ ['é'] | tojson(ensure_ascii=True) }}", '["\\u00e9"]'),
        ("{{ {'b': 1, 'a': 2} | tojson(sort_keys=True) }}", '{"a": 2, "b": 1}'),
        ("{{ [1] | tojson(indent=2) }}", "[\n  1\n]"),
        ("{{ [1, 2] | tojson(separators=(',', ':')) }}", "[1,2]"),
        ("{{ '<' }}", "<"),
        # What a template is given.
        ("{{ messages[0].role }}:{{ messages[0]['content'] }}", "user:q"),
        ("{{ add_generation_prompt }}{{ bos_token }}{{ eos_token + '.' }}", "True."),
        ("{{ tools is none }}{{ documents is none }}", "TrueTrue"),
        ("{{ enable_thinking is defined }}", "False"),
        ("{{ messages[-1].reasoning_content is defined }}", "False"),
    ],
)  # fmt: skip
def test_a_template_runs_as_transformers_runs_it(template: str, expected: str) -> None:
    assert render(template) == expected


@pytest.mark.parametrize(
    ("options", "template", "expected"),
    [
        ({"reasoning": "enabled"}, "{{ enable_thinking }}{{ thinking }}", "TrueTrue"),
        ({"reasoning": "disabled"}, "{{ enable_thinking }}", "False"),
        (
            {"reasoning": "disabled", "template_fields": {"thinking": True}},
            "{{ enable_thinking }}{{ thinking }}",
            "FalseTrue",
        ),
        ({"template_fields": {"x": [1, "<think>"]}}, "{{ x | tojson }}", '[1, "< think>"]'),
        ({"template_fields": {"bos_token": "<think>"}}, "{{ bos_token }}", "< think>"),
        ({"special_tokens": {"eos_token": "<|im_end|>"}}, "{{ eos_token }}", "<|im_end|>"),
        ({"tools": [TOOL]}, "{{ tools[0].function.name }}", "f"),
        ({"tools": [TOOL["function"]]}, "{{ tools[0].type }}", "function"),
        ({"documents": [{"id": "a", "data": {"text": "t"}}]}, "{{ documents[0].text }}", "t"),
        ({"response_format": {"type": "json_object"}}, "{{ response_format.type }}", "json_object"),
        ({"safety_mode": "strict"}, "{{ safety_mode }}", "STRICT"),
        ({"citations": "disabled"}, "{{ enable_citations }}", "False"),
    ],
)  # fmt: skip
def test_what_a_template_is_told(options: dict[str, Any], template: str, expected: str) -> None:
    assert render(template, **options) == expected


HISTORY: list[dict[str, Any]] = [
    {"role": "developer", "content": [{"type": "text", "text": "a"}, "b"]},
    {"role": "user", "content": ["see", {"type": "image_url", "image_url": {"url": "u"}}]},
    {
        "role": "assistant",
        "content": [{"type": "thinking", "thinking": "hm"}],
        "tool_calls": [{"id": "x", "function": {"name": "f", "arguments": '{"k": [1]}'}}],
    },
    {
        "role": "tool",
        "tool_call_id": "x",
        "content": ["r", {"type": "document", "document": {"id": "i", "data": {"t": 1}}}],
    },
]


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("{{ messages[0].role }}:{{ messages[0].content }}", "developer:a\nb"),
        ("{% for b in messages[1].content %}{{ b.type }} {% endfor %}", "text image_url "),
        ("{{ messages[2].content == '' }}{{ messages[2].reasoning }}", "Truehm"),
        ("{{ messages[2].tool_calls[0].function.arguments.k[0] }}", "1"),
        ("{{ messages[3].name }} {{ messages[3].content }}", 'f r\n{"t": 1}'),
    ],
)
def test_messages_are_what_templates_read(template: str, expected: str) -> None:
    assert render(template, HISTORY) == expected


@pytest.mark.parametrize(
    ("template", "line", "words"),
    [
        ("{% if x %}", 1, "endif"),
        ("a\n{{ }}", 2, "Expected an expression"),
        ("a\n\n{{ raise_exception('roles must alternate') }}", 3, "roles must alternate"),
        ("{{ x.y.z }}", 1, "'x' is undefined"),
        ("\n{{ 1 / 0 }}", 2, "division by zero"),
        ("{{ messages[0].content + 1 }}", 1, "str"),
        ("{{ messages.append(1) }}", 1, "unsafe"),
        ("{{ ''.__class__.__mro__ }}", 1, "unsafe"),
        ("{% for i in range(10000000) %}{% endfor %}", 1, "too big"),
        ("{% include 'x' %}", 1, "loader"),
        ("{{ messages | tojson(indent=messages) }}", 1, ""),
        ("{% macro m() %}\n{{ m() }}{% endmacro %}{{ m() }}", 2, "recursion"),
    ],
)
def test_what_a_template_does_wrong_is_told_with_its_line(
    template: str, line: int, words: str
) -> None:
    with pytest.raises(tagsmith.RequestError, match=rf"^chat_template: line {line}: .*{words}"):
        render(template)


def test_a_prompt_is_a_text() -> None:
    with pytest.raises(tagsmith.RequestError, match=r"^chat_template: .*half a character"):
        render("{{ '\\ud800' }}")


def test_a_template_has_a_size() -> None:
    with pytest.raises(tagsmith.RequestError, match="longer than"):
        render("a" * 1_000_001)


def test_a_template_cannot_change_what_the_next_one_is_given() -> None:
    messages = [{"role": "user", "content": "q"}]
    with pytest.raises(tagsmith.RequestError):
        render("{% set _ = messages[0].update({'content': 'z'}) %}", messages)
    assert render("{{ messages[0].content }}", messages) == "q"


def test_families_without_a_preset_read_what_follows_their_prompt() -> None:
    thinking = tagsmith.get_family("qwen3-thinking")
    template = (
        "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
        "<|im_start|>assistant\n<think>\n"
    )
    prompt = thinking.render([{"role": "user", "content": "</think>"}], chat_template=template)
    assert "</think>" not in prompt
    message = thinking.parse("hm</think>\n\nHi", prompt=prompt)
    assert (message.reasoning, message.content) == ("hm", "Hi")


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in [name for name in sys.modules if re.match(r"jinja2\b", name)]:
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    monkeypatch.delitem(sys.modules, "tagsmith.render.chat_template", raising=False)
    with pytest.raises(tagsmith.MissingDependencyError, match=r"pip install 'tagsmith\[serve\]'"):
        render("a")
