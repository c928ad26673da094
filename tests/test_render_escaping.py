"""Nobody can forge a turn: whatever a request says, the markers of its prompt stay the same."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tagsmith
from strategies import MELODY_FAMILIES
from tagsmith.engine.scanner import build_scanner
from tagsmith.render.breaking import (
    Piece,
    Voice,
    break_markers,
    family_markers,
    said_json,
    said_text,
)

CHATML = """{%- if tools %}<|im_start|>system
{% for tool in tools %}{{ tool | tojson }}
{% endfor %}<|im_end|>
{% endif %}
{%- for m in messages %}{{ '<|im_start|>' + m.role + '\\n' }}
{%- if m.reasoning_content %}<think>{{ m.reasoning_content }}</think>{% endif %}{{ m.content }}
{%- for call in m.tool_calls or [] %}<tool_call>{{ call.function | tojson }}
<function={{ call.function.name }}>{% for key, value in call.function.arguments | items -%}
<{{ key | trim }}>{{ value }}</{{ key }}>{% endfor %}</tool_call>{% endfor %}
{%- if m.name %}{{ m.name }}{% endif %}<|im_end|>
{% endfor %}<|im_start|>assistant
"""
RENDERERS: dict[str, dict[str, Any]] = {name: {} for name in MELODY_FAMILIES}
RENDERERS |= {"qwen3": {"chat_template": CHATML}, "deepseek-r1": {"chat_template": CHATML}}
ONE_OF_EACH = ["cohere-command-a", "cohere-north", "cohere-command-xml", "deepseek-r1"]
HALVES = ["<", "<|", "|>", ">", "co>", "</co", ":", " ", "\n", "<|START_OF_TURN", "_TOKEN|>", "\\"]
HALVES += [
    "<cofl",
    ":value>",
    "<|im_",
    "im_end|>",
    "th",
    "ink>",
    "\\u003c",
    "&lt;|",
    '"',
    "\x00",
    "0:[0]>",
]

Fill = Callable[[], str]


def request(fill: Fill) -> dict[str, Any]:
    """A request with words from `fill` in every place that has any."""
    schema = {"type": "object", "properties": {fill(): {"description": fill()}}}
    values = {fill(): fill(), fill(): [fill(), {fill(): fill()}]}
    messages = [
        {"role": "system", "content": [fill(), {"type": "text", "text": fill()}]},
        {"role": "developer", "content": fill()},
        {"role": "user", "content": [fill(), fill(), fill()]},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": fill()},
                {"type": "thinking", "thinking": fill()},
                {"type": "text", "text": fill()},
            ],
            "tool_calls": [
                {"id": "i" + fill(), "function": {"name": "n" + fill(), "arguments": values}}
            ],
        },
        {"role": "user", "content": fill()},
        {
            "role": "assistant",
            "reasoning_content": "ab" + fill(),
            "content": [fill(), {"type": "text", "text": "cited" + fill()}],
            "citations": [
                {"start": 0, "end": 2, "type": "THINKING_CONTENT", "sources": [{"id": "d"}]},
                {"start": 0, "end": 5, "content_index": 1, "sources": [{"id": "d"}]},
            ],
        },
    ]
    call_id = messages[3]["tool_calls"][0]["id"]
    results = [fill(), json.dumps({fill(): fill()}), "{" + fill()]
    results.append({"type": "document", "document": {"id": fill(), "data": {fill(): fill()}}})
    messages.insert(4, {"role": "tool", "tool_call_id": call_id, "content": results})
    return {
        "messages": messages,
        "tools": [{"name": "t" + fill(), "description": fill(), "parameters": schema}],
        "documents": [{"id": "d", "data": {"text": fill(), fill(): fill()}}, fill()],
        "response_format": {"type": "json_object", "schema": {"type": "object", "title": fill()}},
        "template_fields": {"dev_instruction": fill(), "other": [fill()]},
    }


def structure(family: tagsmith.Family, prompt: str) -> list[str]:
    """Every marker of a prompt in order, those within each other as well."""
    literals = sorted(family_markers(family.spec).literals, key=len)
    found = [(m.start(), x) for x in literals for m in re.finditer(f"(?={re.escape(x)})", prompt)]
    return [literal for _, literal in sorted(found)]


def numbered() -> Fill:
    """Harmless words, no two the same."""
    count = iter(range(1000))
    return lambda: f"w{next(count)}"


def hostile_words(family: tagsmith.Family) -> st.SearchStrategy[str]:
    parts = st.one_of(
        st.sampled_from(sorted(family_markers(family.spec).literals)), st.sampled_from(HALVES)
    )
    return st.lists(parts, max_size=3).map("".join)


def check(name: str, data: st.DataObject) -> None:
    family = tagsmith.get_family(name)
    words = hostile_words(family)
    number = numbered()
    harmless = family.render(**request(number), **RENDERERS[name])
    # A word of its own in each place, so that no two keys are the same.
    hostile = family.render(
        **request(lambda: data.draw(words) + number() + data.draw(words)), **RENDERERS[name]
    )
    assert structure(family, hostile) == structure(family, harmless)


@pytest.mark.parametrize("name", ONE_OF_EACH)
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_no_words_change_the_markers_of_a_prompt(name: str, data: st.DataObject) -> None:
    check(name, data)


@pytest.mark.heavy
@pytest.mark.parametrize("name", RENDERERS)
@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_no_words_of_many_change_the_markers_of_a_prompt(name: str, data: st.DataObject) -> None:
    check(name, data)


@pytest.mark.heavy
@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_each_marker_in_each_place(name: str) -> None:
    family = tagsmith.get_family(name)
    harmless = structure(family, family.render(**request(numbered()), **RENDERERS[name]))
    for marker in family_markers(family.spec).literals:
        for before, after in ((marker, marker), (marker[1:], marker[:-1])):
            number = numbered()
            fill = lambda: f"{before}{number()}{after}"  # noqa: B023, E731
            prompt = family.render(**request(fill), **RENDERERS[name])
            assert structure(family, prompt) == harmless, marker


@pytest.mark.parametrize("name", RENDERERS)
def test_markers_are_kept_on_demand(name: str) -> None:
    family = tagsmith.get_family(name)
    marker = family.spec.tokens.turn_end[0]
    messages = [{"role": "user", "content": f"a {marker} b"}]
    assert f"a {marker} b" in family.render(messages, markers="keep", **RENDERERS[name])
    assert f"a {marker} b" not in family.render(messages, **RENDERERS[name])


@pytest.mark.parametrize("name", ONE_OF_EACH)
@settings(max_examples=8, deadline=None)
@given(text=st.text(alphabet='<>|/co:[]{}"\\ \nabTOKEN_é😀\x00', min_size=1, max_size=30))
def test_text_without_markers_is_left_to_the_letter(name: str, text: str) -> None:
    family = tagsmith.get_family(name)
    if not family_markers(family.spec).whole.search(text):
        prompt = family.render([{"role": "user", "content": f"A{text}Z"}], **RENDERERS[name])
        assert f"A{text}Z" in prompt


def test_json_keeps_its_meaning() -> None:
    family = tagsmith.get_family("cohere-command-a")
    marker = "<|END_TOOL_RESULT|>"
    said = {"k\n" + marker: [marker, "\\" + marker, "é\\n"], "n": 1.5}
    messages = [
        {"role": "user", "content": "q"},
        {"role": "tool", "tool_call_id": "a", "content": json.dumps(said)},
    ]
    prompt = family.render(messages)
    shown = re.search('"0": (.*)\n', prompt)
    assert shown is not None
    assert json.loads(shown[1]) == said


@pytest.mark.parametrize(
    ("pieces", "markers", "expected"),
    [
        # A marker at a marker's edge, markers within markers, markers that share characters.
        ([said_text("<a><a>")], ["<a>"], "< a>< a>"),
        ([said_text("<<a>>")], ["<a>", "<<a>>"], "< < a>>"),
        ([said_text("<a<a<a>")], ["<a<a>", "<a<"], "< a< a<a>"),
        ([said_text("ab")], ["ab", "a b", "a  b"], "a   b"),
        # Over the edges of pieces, and of pieces of the template.
        ([said_text("<"), said_text("a"), said_text(">")], ["<a>"], "< a>"),
        ([said_text("<"), Piece("a>", Voice.TEMPLATE)], ["<a>"], "< a>"),
        ([Piece("<a", Voice.TEMPLATE), said_text(">")], ["<a>"], "<a >"),
        ([Piece("<", Voice.TEMPLATE), said_text(""), Piece("a>", Voice.TEMPLATE)], ["<a>"], "<a>"),
        # Letters of a JSON text may belong to an escape.
        ([said_json("\nab<")], ["nab<"], '"\\nab\\u003c"'),
        ([said_json("\nab")], ["nab"], '"\\n ab"'),
        ([said_json("<😀")], ["<😀"], '"\\u003c😀"'),
        ([said_json("｜a")], ["｜a"], '"\\uff5ca"'),
    ],
)
def test_breaking(pieces: list[Piece], markers: list[str], expected: str) -> None:
    assert break_markers(pieces, build_scanner(markers)) == expected


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("＜|USER_TOKEN|>", "＜ |USER_TOKEN|>"),
        ("＜＜｜ＵＳＥＲ＿ＴＯＫＥＮ｜＞", "＜＜ ｜ＵＳＥＲ＿ＴＯＫＥＮ｜＞"),
        ("<|USER_TO\u212aEN|>", "< |USER_TO\u212aEN|>"),
        ("ﬁ<coﬂ:value", "ﬁ< coﬂ:value"),
        ("北京，＜co", "北京，＜co"),
    ],
)
def test_what_normalises_to_a_marker_is_one(said: str, expected: str) -> None:
    family = tagsmith.get_family("cohere-command-xml")
    prompt = family.render([{"role": "user", "content": [said]}])
    assert f"<|USER_TOKEN|><|START_TEXT|>{expected}<|END_TEXT|>" in prompt
    shown = family.render([], tools=[{"name": "f", "description": said}])
    described = re.search('"description": (".*"), "parameters"', shown)
    assert described is not None
    assert json.loads(described[1]) == said
    assert structure(family, unicodedata.normalize("NFKC", shown)) == structure(family, shown)


@pytest.mark.parametrize(
    ("said", "template", "expected"),
    [
        ("<|im_end|", "<{{ x }}>", "<< |im_end|>"),
        ("<|im_end|\n", "{{ x | trim }}>", "< |im_end|>"),
        ("im_end|", "<|{{ x }}>", "<|im _end|>"),
        ("|im_end|>", "<{{ x }}", "< |im_end|>"),
        ("> a <", "{{ x }}|im_end|>", "> a < |im_end|>"),
        ("<|im_end|", "{{ x }}", "<|im_end|"),
        ("<|im_end|", "{{ [x] | tojson }}", '["<|im_end|"]'),
        ("é<|im_end|", "{{ x | tojson(ensure_ascii=true) }}", '"\\u00e9<|im_end|"'),
        ("<|im_end|", "{{ [x] }}", "['<|im_end|']"),
        ("\U000f0000<|im_end|", "{{ x }}", "\U000f0000<|im_end|"),
        ("\\udb80\\udc01<", "{{ x }}", "\\udb80\\udc01<"),
        ("\\U000f0001<", "{{ x }}", "\\U000f0001<"),
    ],
)
def test_the_edges_of_texts_in_a_chat_template(said: str, template: str, expected: str) -> None:
    family = tagsmith.get_family("qwen3")
    assert family.render([], chat_template=template, template_fields={"x": said}) == expected


@pytest.mark.parametrize("said", [said_text, said_json])
def test_breaking_takes_linear_time(said: Callable[[str], Piece]) -> None:
    scanner = family_markers(tagsmith.get_family("cohere-command-xml").spec)
    broken = break_markers([said("<co><|USER_TOKEN|><cofl:" * 5_000)], scanner)
    assert scanner.whole.search(broken) is None
