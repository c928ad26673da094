"""The tokenizer probe's chat template: a family reads what it writes around what people say."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lint_subjects import codes, found, subject_of
from tagsmith import MissingDependencyError
from tagsmith.lint.probes.tokenizer import tokenizer_rules

pytest.importorskip("tokenizers", reason="needs tokenizers: pip install 'tagsmith[lint]'")
pytest.importorskip("jinja2", reason="needs jinja2: pip install 'tagsmith[lint]'")

from model_files import bytes_tokenizer, write_model

FAMILY = """\
tokens:
  turn_start: <|assistant|>
  turn_end: <|end|>
  hidden: [<|user|>, <|system|>, <|tool|>]
initial_region: content
tag_style:
  reasoning: {start: <think>, end: </think>}
  content: [{start: <answer>, end: </answer>}]
  tool_calls: {start: <calls>, end: </calls>}
tool_calls: {layout: json, container: object}
"""
TOKENS = [
    *("<|assistant|>", "<|end|>", "<|user|>", "<|system|>", "<|tool|>"),
    *("<think>", "</think>", "<answer>", "</answer>", "<calls>", "</calls>"),
]
TEMPLATE = """\
{%- for message in messages %}
<|{{ message.role }}|>
{%- if message.role == 'assistant' %}
{%- if message.reasoning_content %}<think>{{ message.reasoning_content }}</think>{% endif %}
{%- if message.content %}<answer>{{ message.content }}</answer>{% endif %}
{%- for call in message.tool_calls or [] %}<calls>{{ call.function | tojson }}</calls>{% endfor %}
{%- else %}{{ message.content }}{% endif %}<|end|>
{%- endfor %}
{%- if add_generation_prompt %}<|assistant|>
{%- if enable_thinking is defined %}{{ '<think>' if enable_thinking else '<think></think>' }}
{%- endif %}
{%- endif %}"""


def told(tmp_path: Path, template: str, family: str = FAMILY, **config: Any) -> list[Any]:
    tokenizer = bytes_tokenizer(plain=TOKENS)
    model = write_model(tmp_path / "model", tokenizer, {"eos_token": None, **config}, template)
    return found(tokenizer_rules(model), subject_of(tmp_path, family))


RIGHT = {
    "a template of its own": TEMPLATE,
    "one that asks for a system message": (
        "{% if messages[0].role != 'system' %}{{ raise_exception('no rules') }}{% endif %}"
        + TEMPLATE
    ),
    "one that knows no calls": TEMPLATE.replace("message.tool_calls or []", "[]"),
    "one that leaves thoughts out": TEMPLATE.replace("if message.reasoning_content", "if false"),
    "one that fails at tools": TEMPLATE.replace(
        "{%- else %}", "{%- elif message.role == 'tool' %}{{ 1 + 'x' }}{%- else %}"
    ),
    "one that does not end the turn": TEMPLATE.replace("<|end|>", ""),
    "blanks in place of what people say": TEMPLATE.replace("{{ message.content }}", ""),
}


@pytest.mark.parametrize("template", RIGHT.values(), ids=RIGHT)
def test_a_template_that_fits_has_no_finding(template: str, tmp_path: Path) -> None:
    assert told(tmp_path, template) == []


def replaced(before: str, after: str) -> str:
    assert before in TEMPLATE
    return TEMPLATE.replace(before, after)


WRONG = {
    "another turn start": (
        replaced("%}<|assistant|>", "%}<|model|>"),
        (
            "TS712",
            "4:15",
            "has no '<|assistant|>' after the user's message: it ends with '<|user|>",
        ),
    ),
    "the turn start before the message alone": (
        "<|assistant|>" + replaced("%}<|assistant|>", "%}"),
        ("TS712", "4:15", "it ends with '<|assistant|><|user|>sentinel-question<|end|>'"),
    ),
    "another opener of reasoning": (
        replaced("'<think>' if enable_thinking", "'<ponder>' if enable_thinking"),
        (
            "TS713",
            "9:14",
            "(reasoning enabled) goes on after the turn start with '<ponder>', which",
        ),
    ),
    "an opener of reasoning that is always there": (
        replaced(
            "enable_thinking is defined %}{{ '<think>' if enable_thinking else",
            "true %}{{ '<think>\\n' if true else",
        ),
        ("TS714", "7:17", "the output begins in reasoning, and initial_region is content"),
    ),
    "another wrapper of answers": (
        replaced("<answer>{{", "<reply>{{"),
        ("TS715", "10:12", "'<reply>sentinel-answer</answer><|end|>' is read as content '<reply>s"),
    ),
    "other keys of calls": (
        replaced("call.function | tojson", "{'fn': call.function.name} | tojson"),
        (
            "TS715",
            "12:13",
            "is read as reasoning 'sentinel-thought', content '{\"fn\": \"sentinel_",
        ),
    ),
    "other arguments": (
        replaced("call.function | tojson", "{'name': call.function.name} | tojson"),
        ("TS715", "12:13", "a call of 'sentinel_tool' with {}"),
    ),
    "another closer of thoughts": (
        replaced("message.reasoning_content }}</think>", "message.reasoning_content }}</done>"),
        ("TS715", "12:13", "is read as a call of 'sentinel_tool'"),
    ),
}


@pytest.mark.parametrize(("template", "finding"), WRONG.values(), ids=WRONG)
def test_a_template_that_does_not_fit_is_told(
    template: str, finding: tuple[str, str, str], tmp_path: Path
) -> None:
    [(code, place, message)] = told(tmp_path, template)
    assert (code, place) == finding[:2]
    assert finding[2] in message


def test_the_region_that_a_prompt_closes_is_told(tmp_path: Path) -> None:
    template = replaced("enable_thinking is defined", "true").replace(
        "'<think>' if enable_thinking else ", ""
    )
    family = FAMILY.replace("initial_region: content", "initial_region: reasoning")
    [(code, place, message)] = told(tmp_path, template, family)
    assert (code, place) == ("TS714", "7:17")
    assert "ends with '<think></think>', so that the output begins in content" in message
    assert told(tmp_path, template) == []


def test_reasoning_that_a_family_does_not_know_is_told(tmp_path: Path) -> None:
    family = FAMILY.replace("  reasoning: {start: <think>, end: </think>}\n", "")
    found = told(tmp_path, TEMPLATE, family)
    assert [(code, place) for code, place, _ in found] == [
        ("TS713", "9:3"),
        ("TS713", "9:3"),
        ("TS715", "11:13"),
    ]


def test_a_family_without_a_turn_start_or_calls_is_held_to_the_rest(tmp_path: Path) -> None:
    family = "tokens: {turn_end: <|end|>}\n"
    assert told(tmp_path, TEMPLATE, family) == []


UNUSABLE = {
    "no template": ("{% if %}", 1, "Expected an expression"),
    "one that fails": ("a\nb\n{{ 1 / 0 }}", 3, "line 3: division by zero"),
    "one that refuses": ("{{ raise_exception('not\\nyou') }}", 1, "line 1: not you"),
    "one that is not safe": ("{{ ''.__class__.__mro__ }}", 1, "line 1: "),
    "one that is too long": ("x" * 1_000_001, 1, "is longer than"),
}


@pytest.mark.parametrize(("template", "line", "words"), UNUSABLE.values(), ids=UNUSABLE)
def test_a_template_that_cannot_be_rendered_is_told_at_its_line(
    template: str, line: int, words: str, tmp_path: Path
) -> None:
    [(code, place, message)] = told(tmp_path, template)
    assert (code, place) == ("TS711", f"{tmp_path}/model/chat_template.jinja:{line}:1")
    assert words in message
    assert "\n" not in message


IN_JSON: dict[str, Callable[[str], dict[str, Any]]] = {
    "a text": lambda template: {"chat_template": template},
    "a list": lambda template: {
        "chat_template": [
            {"name": "rag", "template": "{{ 1 / 0 }}"},
            {"name": "default", "template": template},
        ]
    },
}


@pytest.mark.parametrize("config", IN_JSON.values(), ids=IN_JSON)
def test_a_template_in_json_counts_as_well(
    config: Callable[[str], dict[str, Any]], tmp_path: Path
) -> None:
    model = write_model(
        tmp_path / "model", bytes_tokenizer(plain=TOKENS), config("\n\n{{ 1 / 0 }}")
    )
    [(code, place, message)] = found(tokenizer_rules(model), subject_of(tmp_path, FAMILY))
    assert (code, place) == ("TS711", f"{model}/tokenizer_config.json:1:1")
    assert "line 3: division by zero" in message


def test_a_file_of_its_own_comes_before_the_config_and_that_before_the_processor(
    tmp_path: Path,
) -> None:
    model = write_model(tmp_path / "model", bytes_tokenizer(plain=TOKENS))
    places = ("chat_template.json", "tokenizer_config.json", "chat_template.jinja")
    for name in places:
        text = "{{ 1 / 0 }}"
        is_json = name.endswith("json")
        (model / name).write_text(json.dumps({"chat_template": text}) if is_json else text)
        [(_, place, _)] = found(tokenizer_rules(model), subject_of(tmp_path, FAMILY))
        assert place == f"{model}/{name}:1:1"


def test_special_tokens_are_the_template_s_to_name(tmp_path: Path) -> None:
    template = TEMPLATE.replace("<|end|>", "{{ eos_token }}").replace("<answer>", "<reply>")
    eos = {"content": "<|end|>", "lstrip": False}
    [(code, _, message)] = told(tmp_path, template, eos_token=eos)
    assert code == "TS715"
    assert "'<reply>sentinel-answer</answer><|end|>'" in message


def test_a_template_is_looked_at_without_a_tokenizer(tmp_path: Path) -> None:
    model = write_model(tmp_path / "model", template=WRONG["another turn start"][0])
    rules = tokenizer_rules(model)
    assert codes(rules, subject_of(tmp_path, FAMILY)) == ["TS701", "TS712"]


def test_a_missing_jinja_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in sys.modules if name.startswith("tagsmith.render.chat_template")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(MissingDependencyError, match="jinja2"):
        told(tmp_path, TEMPLATE)
