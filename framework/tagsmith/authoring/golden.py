"""Golden cases for a family, made of what its own file says: to begin with, and to be replaced."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tagsmith.family import Family
from tagsmith.message import Message
from tagsmith.spec.models import FamilySpec
from tagsmith.spec.policies import CallLayout, Container, InitialRegion
from tagsmith.testing.writing import WritingError, write_call
from tagsmith.testing.yaml_values import write_literal, write_value

_THOUGHT, _ANSWER, _BEFORE = "The tool knows.", "It is sunny.", "One moment."
_TOOL = "get_weather"
TOOLS: Sequence[Mapping[str, Any]] = (
    {
        "type": "function",
        "function": {
            "name": _TOOL,
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            },
        },
    },
)
_WITH_TOOLS = {"tools": list(TOOLS)}
_PARIS, _ROME = {"city": "Paris", "days": 2}, {"city": "Rome"}


@dataclass(frozen=True, slots=True)
class _Wanted:
    """An output, and what was put into it."""

    id: str
    text: str
    reasoning: str | None = None
    content: str | None = None
    calls: tuple[Mapping[str, Any], ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""


def golden_cases(family: Family) -> list[dict[str, Any]]:
    """Cases of what a family writes: an answer, thoughts, calls, and markers where they are data.

    Only those are given in which the family reads what was put into them.

    >>> import tagsmith
    >>> [case["id"] for case in golden_cases(tagsmith.get_family("mistral"))]
    ['answer', 'one-call', 'two-calls', 'marker-in-an-argument', 'answer-before-a-call']
    """
    return [case for wanted in _wanted(family.spec) if (case := _case(family, wanted)) is not None]


def write_cases(cases: Sequence[Mapping[str, Any]], head: Sequence[str]) -> str:
    """The text of a case file, in which all cases that have tools have the same."""
    lines = [f"# {line}".rstrip() for line in head]
    told = False
    for case in cases:
        lines.append("")
        sign = "- "
        for key, value in case.items():
            if key == "tools" and told:
                lines.append(f"{sign}{key}: *tools")
            else:
                told = told or key == "tools"
                anchor = " &tools" if key == "tools" else ""
                lines += _written(f"{sign}{key}:{anchor}", value)
            sign = "  "
    return "\n".join([*lines, ""])


def _written(start: str, value: Any) -> list[str]:
    if isinstance(value, str) and "\n" in value:
        literal = write_literal(value, "    ", "\n")
        if literal is not None:
            return [f"{start} {literal}"]
    if isinstance(value, list) and value:
        return [start, *(f"    - {write_value(item, in_flow=False)}" for item in value)]
    return [f"{start} {write_value(value, in_flow=False)}"]


def _case(family: Family, wanted: _Wanted) -> dict[str, Any] | None:
    """The case of an output; None where the family does not read it as it was meant."""
    message = family.parse(wanted.text, **wanted.options)
    if message.diagnostics or not _is_as_meant(message, wanted):
        return None
    case: dict[str, Any] = {"id": wanted.id, "family": family.id, **wanted.options}
    case["text"] = wanted.text
    case |= {
        key: text
        for key, text in (("reasoning", message.reasoning), ("content", message.content))
        if text is not None
    }
    if message.tool_calls:
        case["tool_calls"] = [
            {"id": call.id, "name": call.name, "arguments": call.arguments}
            for call in message.tool_calls
        ]
    case["diagnostics"] = []
    return {**case, "note": wanted.note} if wanted.note else case


def _is_as_meant(message: Message, wanted: _Wanted) -> bool:
    try:
        calls = [(call.name, json.loads(call.arguments)) for call in message.tool_calls]
    except ValueError:
        return False
    return (
        (message.reasoning, message.content) == (wanted.reasoning, wanted.content)
        and calls == [(_TOOL, arguments) for arguments in wanted.calls]
        and not message.citations
    )


def _wanted(spec: FamilySpec) -> Iterator[_Wanted]:
    thought, end = _thought(spec), _end(spec)
    answer = _answer(spec, _ANSWER) + end
    begins_in_thought = spec.initial_region is InitialRegion.REASONING
    if begins_in_thought and thought is not None:
        yield _Wanted("answer", thought + answer, _THOUGHT, _ANSWER)
        yield from _wanted_calls(spec, thought, _THOUGHT)
    else:
        yield _Wanted("answer", answer, None, _ANSWER)
        if thought is not None:
            yield _Wanted("thinking", thought + answer, _THOUGHT, _ANSWER)
        yield from _wanted_calls(spec, "", None)
        one = _calls(spec, _PARIS)
        if thought is not None and one is not None:
            text = thought + one + end
            yield _Wanted("a-call-after-thinking", text, _THOUGHT, None, (_PARIS,), _WITH_TOOLS)
    opened = _opened_by_prompt(spec)
    if opened is not None:
        text, prompt = opened[1] + answer, {"prompt": opened[0]}
        yield _Wanted("thinking-that-the-prompt-opened", text, _THOUGHT, _ANSWER, (), prompt)


def _wanted_calls(spec: FamilySpec, start: str, thought: str | None) -> Iterator[_Wanted]:
    """Calls, behind a start that holds a thought or nothing."""
    one, two, end = _calls(spec, _PARIS), _calls(spec, _PARIS, _ROME), _end(spec)
    quoted = {"city": f"a {_quotable(spec)} b"}
    quoting = _calls(spec, quoted)
    if one is None or two is None or quoting is None:
        return
    text = start + one + end
    yield _Wanted("one-call", text, thought, None, (_PARIS,), _WITH_TOOLS)
    text = start + two + end
    yield _Wanted("two-calls", text, thought, None, (_PARIS, _ROME), _WITH_TOOLS)
    text, note = start + quoting + end, "a marker inside a string of an argument is data"
    yield _Wanted("marker-in-an-argument", text, thought, None, (quoted,), _WITH_TOOLS, note)
    text = start + _answer(spec, _BEFORE) + one + end
    yield _Wanted("answer-before-a-call", text, thought, _BEFORE, (_PARIS,), _WITH_TOOLS)


def _end(spec: FamilySpec) -> str:
    return spec.tokens.turn_end[0] if spec.tokens.turn_end else ""


def _thought(spec: FamilySpec) -> str | None:
    """A thought as the output has it; None where nothing would end it."""
    markers = spec.tag_style.reasoning
    if markers is None or markers.end is None:
        return None
    begins = "" if spec.initial_region is InitialRegion.REASONING else markers.start
    return f"{begins}{_THOUGHT}{markers.end}"


def _opened_by_prompt(spec: FamilySpec) -> tuple[str, str] | None:
    """A prompt that opens the thinking, and the thought that follows it."""
    markers = spec.tag_style.reasoning
    if markers is None or markers.end is None or not spec.tokens.turn_start:
        return None
    return spec.tokens.turn_start[0] + markers.start, f"{_THOUGHT}{markers.end}"


def _answer(spec: FamilySpec, text: str) -> str:
    wrappers = spec.tag_style.content
    return f"{wrappers[0].start}{text}{wrappers[0].end or ''}" if wrappers else text


def _quotable(spec: FamilySpec) -> str:
    """A marker to stand in an argument; one of another family where there is none."""
    region = spec.tag_style.tool_calls
    return (region and (region.end or region.start)) or "</tool_call>"


def _calls(spec: FamilySpec, *arguments: Mapping[str, Any]) -> str | None:
    """Calls as the family writes them, several in one region where it does so."""
    try:
        calls = [write_call(spec, _TOOL, given, index) for index, given in enumerate(arguments)]
    except WritingError:
        return None
    region, layout = spec.tag_style.tool_calls, spec.tool_calls
    if region is None or layout is None or layout.container is Container.OBJECT:
        return "".join(calls)
    end = region.end or ""
    inner = [call.removeprefix(region.start).removesuffix(end) for call in calls]
    if layout.layout is CallLayout.TEMPLATE:
        return region.start + "".join(inner) + end
    joined = ", ".join(call.removeprefix("[").removesuffix("]") for call in inner)
    return f"{region.start}[{joined}]{end}"
