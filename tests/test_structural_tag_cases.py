"""What the tags of families of every call layout let through, on texts written by hand.

The texts follow the models' chat templates and cards. A case's "reason" says where implementations
in the field disagree.
"""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import tagsmith
from tagsmith import Family, Message
from tagsmith.grammar import check_structural_tag

pytest.importorskip("xgrammar", reason="needs xgrammar: pip install 'tagsmith[xgrammar]'")

FILES = sorted((Path(__file__).parent / "cases" / "structural_tags").glob("*.json"))
CASES = [case for file in FILES for case in json.loads(file.read_text("utf-8"))]
# Compiling seven hundred tags takes its time: each run has every sixth, the heavy one the others.
SHARED_OUT = [
    pytest.param(case, marks=[pytest.mark.heavy] if number % 6 else [])
    for number, case in enumerate(CASES)
]
REQUEST = ("tools", "tool_choice", "parallel_tool_calls", "response_format", "reasoning")


@pytest.mark.parametrize("case", SHARED_OUT, ids=lambda case: f"{case['family']}: {case['case']}")
def test_case(case: dict[str, Any]) -> None:
    family = tagsmith.get_family(case["family"])
    asked = {field: case[field] for field in REQUEST if field in case}
    accept, reject = case["accept"], case["reject"]
    results = check_structural_tag(
        family.structural_tag(**asked),
        [*accept.values(), *reject.values()],
        markers=family.markers,
    )
    wrong = [
        f"refused {name!r} at {result.stopped_at}: {text[: result.stopped_at]!r}"
        f" -> {text[result.stopped_at :]!r}"
        for (name, text), result in zip(accept.items(), results[: len(accept)], strict=True)
        if not result.accepted
    ]
    wrong += [
        f"accepted {name!r}: {text!r}"
        for (name, text), result in zip(reject.items(), results[len(accept) :], strict=True)
        if result.accepted
    ]
    wrong += [
        f"misread {name!r}: {problem}: {text!r}"
        for name, text in accept.items()
        for problem in _problems(_read(family, text, asked), asked.get("tools") or [])
    ]
    assert not wrong, "\n".join(wrong)


def _read(family: Family, text: str, asked: dict[str, Any]) -> Message:
    """Parse as a server would: told of the request, and of where the prompt left off."""
    starts = family.spec.tokens.turn_start
    prompt = starts[0] if starts else ""
    reasoning, markers = asked.get("reasoning"), family.spec.tag_style.reasoning
    if markers is not None and reasoning != "auto":
        prompt += markers.start + ("" if reasoning == "enabled" else markers.end or "")
    return family.parse(
        text, tools=asked.get("tools"), tool_choice=asked.get("tool_choice"), prompt=prompt
    )


def _problems(message: Message, tools: list[dict[str, Any]]) -> list[str]:
    if message.diagnostics:
        return [diagnostic.code for diagnostic in message.diagnostics]
    problems = []
    functions = {tool["function"]["name"]: tool["function"] for tool in tools}
    for call in message.tool_calls:
        function = functions.get(call.name)
        if function is None or not call.complete:
            problems.append(f"call {call.name!r} is of no tool or not complete")
        elif function.get("strict") is not False:
            schema = function.get("parameters") or {"additionalProperties": False}
            validator = jsonschema.Draft202012Validator({"type": "object", **schema})
            problems += [e.message for e in validator.iter_errors(json.loads(call.arguments))]
    return problems
