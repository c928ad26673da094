"""The detectors on texts that are handed to them: each alone, and one after the other."""

from __future__ import annotations

from typing import Any

import pytest
from sglang.srt.entrypoints.openai.protocol import Tool
from sglang.srt.function_call.function_call_parser import FunctionCallParser
from sglang.srt.parser.reasoning_parser import ReasoningParser
from test_sglang_golden import tools_of

import tagsmith
from tagsmith.registry import default_registry
from tagsmith.testing import Case, by_character, by_size, whole
from test_cases import CASES

CALL = '<tool_call>\n{"name": "now", "arguments": {"zone": "é"}}\n</tool_call>'
NOW = [Tool(type="function", function={"name": "now", "parameters": {"type": "object"}})]
Told = tuple[str, str, list[tuple[str, str]]]


def joined(items: Any) -> list[tuple[str, str]]:
    calls: list[tuple[str, str]] = []
    for item in items:
        if item.name:
            assert item.tool_index == len(calls)
            calls.append((item.name, item.parameters))
        else:
            name, arguments = calls[item.tool_index]
            calls[item.tool_index] = name, arguments + item.parameters
    return calls


def streamed(name: str, tools: list[Tool], deltas: list[str]) -> Told:
    reasoning, calls = ReasoningParser(name), FunctionCallParser(tools, name)
    thought, text, items = "", "", []
    steps = [reasoning.parse_stream_chunk(delta) for delta in deltas]
    for more, rest in [*steps, reasoning.parse_stream_end()]:
        thought += more or ""
        normal, found = calls.parse_stream_chunk(rest or "")
        text += normal
        items += found
    normal, found = calls.parse_stream_end()
    return thought, text + normal, joined([*items, *found])


def at_once(name: str, tools: list[Tool], text: str) -> Told:
    thought, rest = ReasoningParser(name).parse_non_stream(text)
    normal, items = FunctionCallParser(tools, name).parse_non_stream(rest or "")
    return thought or "", normal, joined(items)


def test_what_goes_from_one_to_the_other() -> None:
    text = f"<think>\nplan\n</think>\n\nSo:\n{CALL}\nDone."
    assert ReasoningParser("tagsmith-qwen3").parse_non_stream(text) == (
        "plan",
        f"So:\n{CALL}\nDone.",
    )
    assert at_once("tagsmith-qwen3", NOW, text) == (
        "plan",
        "So:\nDone.",
        [("now", '{"zone": "é"}')],
    )


@pytest.mark.parametrize("family_id", default_registry().ids())
def test_golden_cases_through_both(family_id: str) -> None:
    family = tagsmith.get_family(family_id)
    name = f"tagsmith-{family_id}"
    for case in CASES:
        if tagsmith.get_family(case.family) is family and is_plain(case):
            tools = [Tool(**tool) for tool in tools_of(case)]
            told = at_once(name, tools, case.text)
            assert told[0] == (case.reasoning or ""), case.id
            assert "".join(told[1].split()) == "".join((case.content or "").split()), case.id
            assert [called for called, _ in told[2]] == [call.name for call in case.tool_calls]
            for deltas in (whole(case.text), by_character(case.text), by_size(case.text, 5)):
                assert streamed(name, tools, deltas) == told, case.id


def is_plain(case: Case) -> bool:
    """Whether the case is of those that detectors are told enough of: there is no prompt, and the
    output is as the family says."""
    return (
        case.prompt is None
        and case.stop is None
        and case.tool_choice is None
        and bool(tools_of(case))
        and case.diagnostics == ()
    )


def test_reasoning_that_the_prompt_has_opened() -> None:
    parser = ReasoningParser("tagsmith-qwen3", force_reasoning=True)
    assert parser.parse_non_stream("plan</think>\n\nHi") == ("plan", "Hi")


def test_reasoning_that_is_not_to_be_streamed_comes_in_one_piece() -> None:
    parser = ReasoningParser("tagsmith-qwen3", stream_reasoning=False)
    steps = [parser.parse_stream_chunk(piece) for piece in "<think>plan</think>Hi"]
    assert [step for step in steps if any(step)] == [("plan", "H"), ("", "i")]
    cut = ReasoningParser("tagsmith-qwen3", stream_reasoning=False)
    assert cut.parse_stream_chunk("<think>plan") == ("", "")
    assert cut.parse_stream_end() == ("plan", "")


def test_a_call_that_is_cut_off_is_incomplete() -> None:
    parser = FunctionCallParser(NOW, "tagsmith-qwen3")
    parser.parse_stream_chunk('<tool_call>{"name": "now", "arguments": {"zo')
    parser.parse_stream_end()
    assert parser.detector.incomplete_tool_call_indices == {0}


@pytest.mark.parametrize("text", ["Hi", "", "a < b"])
def test_a_text_without_markup_is_left_alone(text: str) -> None:
    assert FunctionCallParser(NOW, "tagsmith-qwen3").parse_non_stream(text) == (text, [])


def test_a_detector_gives_its_own_tag_for_forced_and_strict_calls() -> None:
    parser = FunctionCallParser(NOW, "tagsmith-qwen3")
    kind, tag = parser.get_structure_constraint("required")
    assert (kind, tag.type) == ("structural_tag", "structural_tag")
    assert parser.get_structure_constraint("auto") is None
