"""Golden cases of every family through SGLang's chat handler: whole, and streamed in every way."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from sglang_doubles import Answer, answers, chat_request, engine, serving

import tagsmith
from tagsmith.registry import default_registry
from tagsmith.testing import Case
from test_cases import CASES

STEPS = (1, 4, 1 << 20)


def tools_of(case: Case) -> list[dict[str, Any]]:
    """The tools of a case, or such that its calls may be made."""
    if case.tools is not None:
        return [tool if "function" in tool else {"function": tool} for tool in case.tools]
    names = dict.fromkeys(call.name for call in case.tool_calls)
    return [{"type": "function", "function": {"name": name}} for name in names if name]


def expected(family: tagsmith.Family, case: Case, tools: list[dict[str, Any]]) -> Answer:
    request = case.request | {"tools": tools or None}
    if not tools:
        request["tool_choice"] = "none"
    message = family.parse(case.text, finish_reason=case.finish_reason, **request)
    return Answer(
        message.reasoning or "",
        message.content or "",
        [{"name": call.name, "arguments": call.arguments} for call in message.tool_calls],
        [{"start": c.start, "end": c.end, "text": c.text} for c in message.citations],
        finish_reason=message.finish_reason,
    )


def shown(answer: Answer, *, citations: bool) -> Any:
    calls = [{key: call[key] for key in ("name", "arguments")} for call in answer.calls]
    cited = [{key: c[key] for key in ("start", "end", "text")} for c in answer.citations]
    told = answer.reasoning, answer.content, calls, answer.finish_reason
    return (*told, cited) if citations else told


def requests(case: Case, tools: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    fields: dict[str, Any] = {"stop": list(case.request.get("stop") or ()) or None}
    if tools:
        fields["tools"] = tools
        choice = case.tool_choice
        fields["tool_choice"] = choice if choice in ("auto", "none", "required") else "auto"
    if case.documents is not None:
        fields["chat_template_kwargs"] = {"documents": list(case.documents)}
    for stream in (False, True):
        yield {**fields, "stream": stream}


@pytest.mark.parametrize("family_id", default_registry().ids())
def test_golden_cases(family_id: str) -> None:
    family = tagsmith.get_family(family_id)
    cases = [case for case in CASES if tagsmith.get_family(case.family) is family]
    name = f"tagsmith-{family_id}"
    for case in cases:
        tools = tools_of(case)
        wanted = expected(family, case, tools)
        double = engine(family, outputs=[case.text], finish=case.finish_reason)
        double.tokenizer.prompt = case.prompt or "".join(family.serving.turn_start[:1])
        with serving(double, reasoning=name, calls=name) as handler:
            for fields in requests(case, tools):
                for double.step in STEPS if fields["stream"] else (1,):
                    [answer] = answers(handler, chat_request(**fields))
                    told = shown(answer, citations=fields["stream"] and not case.messages)
                    assert told == shown(
                        wanted, citations=fields["stream"] and not case.messages
                    ), (case.id, fields, double.step)
