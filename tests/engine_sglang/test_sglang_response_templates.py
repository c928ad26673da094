"""Response templates in SGLang's own reader: they are taken, and read what docs/convert.md says."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from sglang.srt.entrypoints.openai.protocol import Tool
from sglang.srt.parser.response_template import (
    ResponseTemplateReasoningDetector,
    ResponseTemplateToolDetector,
    validate_response_template_for_serving,
)

from tagsmith.convert import to_response_template
from tagsmith.registry import default_registry
from tagsmith.testing import Case

sys.path.insert(0, str(Path(__file__).parent.parent.parent / "examples"))
import response_templates as page

CASES = page.golden_texts()
TOLD = page.told_of_serving(page.PAGE.read_text("utf-8"))


def tools_of(case: Case) -> list[Tool]:
    """Those of the case, and others that its text calls: SGLang drops calls of unknown tools."""
    known = page.chat_tools(case)
    names = {tool["function"]["name"] for tool in known}
    message, _ = page.read_by_tagsmith(case, default_registry().get(case.family))
    called = dict.fromkeys(call.name for call in message.tool_calls if call.name not in names)
    return [Tool(**tool) for tool in known] + [
        Tool(type="function", function={"name": name}) for name in called
    ]


def read(case: Case, template: dict[str, Any]) -> page.Read:
    """First by the reasoning detector, then what it leaves by that of tools, as SGLang's server
    does."""
    tools, prefix = tools_of(case), case.prompt or ""
    thoughts = ResponseTemplateReasoningDetector(
        response_template=template, prefix=prefix, tools=tools
    ).detect_and_parse(case.text)
    text, calls = thoughts.normal_text, []
    if tools and "tool_calls" in template["fields"] and case.tool_choice != "none":
        detector = ResponseTemplateToolDetector(response_template=template, tools=tools)
        found = detector.detect_and_parse(text, tools)
        text = found.normal_text
        calls = [(call.name, page.value_of(call.parameters)) for call in found.calls]
    return thoughts.reasoning_text or None, text or None, calls


@pytest.mark.parametrize("name", CASES)
def test_sglang_takes_the_template_and_reads_as_the_page_says(name: str) -> None:
    family = default_registry().get(name)
    validate_response_template_for_serving(
        to_response_template(family.spec, reader="serving").template
    )
    assert page.served(name, read) == TOLD[name][1]
