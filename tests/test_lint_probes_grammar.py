"""The grammar probe: what a family's structural tags write is tried on its parser."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from lint_subjects import built_in, codes, found, subject_of
from strategies import FAMILIES
from tagsmith import MissingDependencyError
from tagsmith.lint.probes import grammar
from tagsmith.lint.probes.asked import HOSTILE_NAMES, hostile_tools, requests_of, writable_tools
from tagsmith.lint.probes.grammar import RULES
from tagsmith.lint.probes.misread import misread
from tagsmith.request import ReasoningMode

pytest.importorskip("xgrammar", reason="needs xgrammar: pip install 'tagsmith[xgrammar]'")

JSON_CALLS = """\
tag_style:
  tool_calls: {{start: <calls>, end: </calls>}}
tool_calls:
  layout: json
  keys: {{id: id}}
  id: {{pattern: '{}'}}
"""
FAULTS = {
    "an id pattern that xgrammar does not know": (
        JSON_CALLS.format("(?=a)b"),
        {"TS501": ("8:17", "Lookahead is not supported")},
    ),
    "markers that xgrammar takes for one another": (
        """\
tag_style:
  tool_calls: {start: <c>, end: </c>}
tool_calls: {layout: json}
citations: {markup: {open: <c, close: '</c {positions}>'}}
""",
        {"TS501": ("5:13", "One tag matches multiple triggers")},
    ),
    "a blank that the grammar does not write": (
        """\
tool_calls:
  layout: template
  call: "<call>{name} {arguments}</call>"
  arguments: {encoding: tagged, parameter: "<p {key}>{value}</p>"}
""",
        {
            "TS502": (
                "4:3",
                "'<call>root <p value>x</p></call>', written as the family says, is ref",
            )
        },
    ),
    "a tool's name that means no tool": (
        """\
tag_style:
  tool_calls: {start: <calls>, end: </calls>}
tool_calls: {layout: json, pseudo_tools: [root]}
""",
        {"TS502": ("5:13", "is read as nothing"), "TS503": ("5:13", "lets '<calls>")},
    ),
    "an id that ends the string it stands in": (
        JSON_CALLS.format('"[0-9]*'),
        {"TS503": ("6:3", "'malformed-call'")},
    ),
    "an id pattern that xgrammar takes for another": (
        JSON_CALLS.format(r"\A[0-9]+\Z"),
        {"TS503": ("6:3", "which the pattern of ids does not match")},
    ),
    "a marker that any JSON holds": (
        "tokens: {hidden: [e, a]}\n",
        {"TS503": ("2:5", "an answer that is not what was asked for")},
    ),
    "a bracket that calls hold": (
        """\
tag_style:
  tool_calls: {start: "(", end: ")"}
tool_calls: {layout: pythonic}
""",
        {"TS502": ("5:13", "; 13 more like it"), "TS503": ("5:13", "'malformed-call'")},
    ),
}


SLOW = {
    "a bracket that calls hold",
    "an id pattern that xgrammar takes for another",
    "ids of another pattern",
    "ids that carry the name",
}


def cases(table: Mapping[str, Any]) -> list[Any]:
    return [
        pytest.param(case, id=name, marks=pytest.mark.heavy if name in SLOW else ())
        for name, case in table.items()
    ]


@pytest.mark.parametrize("case", cases(FAULTS))
def test_a_fault_is_told_once_at_its_place(
    case: tuple[str, dict[str, tuple[str, str]]], tmp_path: Path
) -> None:
    text, faults = case
    told = {
        code: (place, message) for code, place, message in found(RULES, subject_of(tmp_path, text))
    }
    assert told.keys() == faults.keys()
    for code, (place, words) in faults.items():
        assert told[code][0] == place
        assert words in told[code][1]
        assert "/project/" not in told[code][1]


def test_a_right_family_has_no_finding() -> None:
    assert found(RULES, built_in("jamba")) == []


@pytest.mark.heavy
@pytest.mark.parametrize("name", FAMILIES)
def test_no_built_in_family_has_a_finding(name: str) -> None:
    assert found(RULES, built_in(name)) == []


REFUSED_BY_NAME = {
    "no calls": "title: Plain\n",
    "no reasoning": "tag_style: {content: [{start: <a>, end: </a>}]}\n",
    "a quote that has no grammar": """\
tool_calls:
  layout: template
  call: "<call>{name}{arguments}</call>"
  arguments: {encoding: bare-keys, quote: "'"}
""",
    "ids of another pattern": JSON_CALLS.format("call_[a-z]{9}"),
    "ids that carry the name": """\
tool_calls:
  layout: template
  call: "<call>{id}<sep>{arguments}</call>"
  id: {format: "{name}:{index}"}
""",
}


@pytest.mark.parametrize("text", cases(REFUSED_BY_NAME))
def test_what_a_family_cannot_do_is_no_fault(text: str, tmp_path: Path) -> None:
    assert found(RULES, subject_of(tmp_path, text)) == []


def test_an_encoding_without_a_grammar_is_no_fault(tmp_path: Path) -> None:
    text = """\
tool_calls:
  layout: template
  call: "<call>{name}{arguments}</call>"
  arguments: {encoding: json}
"""
    subject = subject_of(tmp_path, text)
    arguments = subject.spec.tool_calls.arguments.model_copy(update={"encoding": "acme"})  # type: ignore[union-attr]
    calls = subject.spec.tool_calls.model_copy(update={"arguments": arguments})  # type: ignore[union-attr]
    spec = subject.spec.model_copy(update={"tool_calls": calls})
    other = type(subject)(
        type(subject.found)(spec, subject.path, "test", 0, subject.positions),
        {**subject.encodings, "acme": subject.encodings["json"]},
    )
    assert found(RULES, other) == []


def test_hostile_names_are_asked_for() -> None:
    family = built_in("cohere-command-a").family
    [*asked] = requests_of(family)
    tools = [tool for one in asked for tool in one.tools]
    names = {name for tool in tools for name in (tool["name"], *_properties(tool))}
    assert len(names & set(HOSTILE_NAMES)) > 2
    [*written] = writable_tools(family, hostile_tools())
    assert [tool["name"] for tool in written][: len(HOSTILE_NAMES)] == [*HOSTILE_NAMES]
    kinds = {(one.needs_call, one.parallel_tool_calls, one.schema is None) for one in asked}
    assert len(kinds) >= 6
    # A tag that a request has already is not tried again.
    assert {one.reasoning for one in asked} == set(ReasoningMode) - {ReasoningMode.DISABLED}


def _properties(tool: dict[str, Any]) -> dict[str, Any]:
    properties: dict[str, Any] = tool.get("parameters", {}).get("properties", {})
    return properties


def test_a_name_that_a_family_cannot_write_is_left_out() -> None:
    family = built_in("qwen3-coder").family
    tools = [{"name": name} for name in ("now", "a>b")]
    assert [tool["name"] for tool in writable_tools(family, tools)] == ["now"]


MISREADINGS = {
    "a diagnostic": ("<tool_calls>[x</tool_calls>", "malformed-call"),
    "no call": ("Hello", "no call, where one is required"),
    "another tool": ('<tool_calls>[{"name": "zz", "arguments": {}}]</tool_calls>', "unknown-tool"),
    "wrong arguments": (
        '<tool_calls>[{"name": "get_weather", "arguments": {"city": 5}}]</tool_calls>',
        "arguments of 'get_weather' that its schema does not allow (5 is not of type 'string')",
    ),
    "arguments that are none": (
        '<tool_calls>[{"name": "now", "arguments": {"city": 5}}]</tool_calls>',
        "arguments of 'now'",
    ),
}


@pytest.mark.parametrize(("text", "words"), MISREADINGS.values(), ids=MISREADINGS)
def test_what_is_wrong_with_a_text_is_told(text: str, words: str) -> None:
    family = built_in("jamba").family
    asked = next(one for one in requests_of(family) if one.needs_call)
    fault = misread(family, asked, text)
    assert fault is not None
    assert words in fault


def test_a_right_text_and_a_key_given_twice_are_no_fault() -> None:
    family = built_in("jamba").family
    asked = next(one for one in requests_of(family) if one.needs_call)
    call = '<tool_calls>[{{"name": "get_weather", "arguments": {}}}]</tool_calls>'
    for arguments in ('{"city": "Paris"}', '{"city": "Paris", "city": 5}'):
        assert misread(family, asked, call.format(arguments)) is None


def test_one_family_gives_the_same_findings_again(tmp_path: Path) -> None:
    subject = subject_of(tmp_path, FAULTS["a marker that any JSON holds"][0])
    first = found(RULES, subject)
    grammar._faults.cache_clear()
    assert found(RULES, subject) == first


def test_a_missing_xgrammar_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    grammar._faults.cache_clear()
    monkeypatch.setitem(sys.modules, "xgrammar", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'tagsmith\[xgrammar\]'"):
        codes(RULES, built_in("jamba"))


def test_a_fault_of_an_inherited_part_stands_where_its_author_can_mend_it(tmp_path: Path) -> None:
    text = "extends: jamba\ntool_calls: {pseudo_tools: [root]}\n"
    [place] = {place for _, place, _ in found(RULES, subject_of(tmp_path, text))}
    assert place == "4:13"
