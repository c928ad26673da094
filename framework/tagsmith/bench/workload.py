"""What is read: an output of any family, written from its own file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import cycle
from typing import Any

from tagsmith.errors import TagsmithError
from tagsmith.family import Family
from tagsmith.message import Message
from tagsmith.spec.models import FamilySpec, MarkerPair
from tagsmith.spec.policies import InitialRegion
from tagsmith.testing.writing import write_call

CHARACTERS_PER_TOKEN = 4
TOOL_NAME = "write_file"
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": TOOL_NAME,
            "description": "Write a file.",
            "parameters": {
                "type": "object",
                "properties": {
                    "path": {"type": "string"},
                    "mode": {"type": "integer"},
                    "text": {"type": "string"},
                },
                "required": ["path", "text"],
            },
        },
    }
]
_SENTENCES = (
    "The harbour was quiet when the first boats came back before dawn.",
    "Most of the catch is sold on the quay, and what is left goes inland by noon.",
    "It isn't far: two hours by road, a little more if the pass is closed (it often is).",
    "Nobody could say how many there were, 40 or perhaps 45, for they never stood still.",
)
_SENTENCES_PER_LINE = 3


class WorkloadError(TagsmithError):
    """A family does not read the benchmark's output as it was meant."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What an output says: it may lack any of these."""

    reasoning: str = ""
    content: str = ""
    arguments: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Workload:
    """One output of a family."""

    text: str
    parts: Parts

    @property
    def deltas(self) -> list[str]:
        """The text in pieces of a token each."""
        return cut(self.text)


def cut(text: str) -> list[str]:
    """A text in pieces of a token each.

    >>> cut("abcdef")
    ['abcd', 'ef']
    """
    step = CHARACTERS_PER_TOKEN
    return [text[start : start + step] for start in range(0, len(text), step)]


def prose(tokens: int) -> str:
    """Text of so many tokens, in sentences and lines, with no blank at its end.

    >>> prose(4)
    'The harbour was.'
    """
    length = tokens * CHARACTERS_PER_TOKEN
    parts: list[str] = []
    size = 0
    for number, sentence in enumerate(cycle(_SENTENCES), start=1):
        if size >= length:
            break
        parts.append(sentence + (" " if number % _SENTENCES_PER_LINE else "\n\n"))
        size += len(parts[-1])
    return "".join(parts)[: max(length - 1, 0)].rstrip() + "." if length else ""


def parts_of(*, reasoning: int = 0, content: int = 0, arguments: int = 0) -> Parts:
    """Parts of so many tokens each."""
    around: dict[str, Any] = {"path": "notes/today.md", "mode": 420, "text": ""}
    used = -(-len(json.dumps(around)) // CHARACTERS_PER_TOKEN)
    call = {**around, "text": prose(max(arguments - used, 1))} if arguments else None
    return Parts(prose(reasoning), prose(content), call)


def write(family: Family, parts: Parts) -> Workload:
    """The family's output that says this.

    A family that does not reason in the open says all of it in its answer, and one whose calls
    stand only at the beginning gives no answer beside a call.

    Raises:
        WritingError: the family's calls cannot be written.
        WorkloadError: the family does not read the output as it was meant.
    """
    spec = family.spec
    style = spec.tag_style
    if style.reasoning is None and parts.reasoning:
        content = "\n\n".join(filter(None, (parts.reasoning, parts.content)))
        parts = Parts("", content, parts.arguments)
    call = "" if parts.arguments is None else write_call(spec, TOOL_NAME, parts.arguments)
    if call and style.tool_calls is None and spec.tool_calls and not spec.tool_calls.call:
        parts = Parts(parts.reasoning, "", parts.arguments)
    text = _reasoning(spec, parts.reasoning)
    if parts.content:
        text += _between(style.content[0] if style.content else None, parts.content)
    workload = Workload(text + call, parts)
    _check(family, workload)
    return workload


def _check(family: Family, workload: Workload) -> None:
    """What is not read as it was meant would be measured for nothing."""
    message = family.parse(workload.text, tools=TOOLS)
    if not is_meant(message, workload.parts):
        raise WorkloadError(
            f"{family.id}: the output written for the benchmark is not read as it was meant; "
            "check the family's file with its golden cases"
        )


def is_meant(message: Message, parts: Parts) -> bool:
    """Whether a message says these parts."""
    found = [
        (call.name, json.loads(call.arguments)) for call in message.tool_calls if call.complete
    ]
    expected = [] if parts.arguments is None else [(TOOL_NAME, dict(parts.arguments))]
    texts = (message.reasoning or "", message.content or "")
    return texts == (parts.reasoning, parts.content) and found == expected


def _reasoning(spec: FamilySpec, text: str) -> str:
    pair = spec.tag_style.reasoning
    if pair is None:
        return ""
    if spec.initial_region is InitialRegion.REASONING:
        return text + (pair.end or "")
    return _between(pair, text) if text else ""


def _between(pair: MarkerPair | None, text: str) -> str:
    return text if pair is None else f"{pair.start}{text}{pair.end or ''}"
