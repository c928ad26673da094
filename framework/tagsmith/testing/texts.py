"""Texts made of what a family writes: its markers, calls and pieces of calls, and noise.

In any order, so that most make no sense: what the laws hold for holds for any text at all.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from random import Random
from typing import Any

from tagsmith.engine.templates import Hole, split_template
from tagsmith.family import Family
from tagsmith.spec.models import FamilySpec, ToolCalls
from tagsmith.spec.policies import CallLayout
from tagsmith.testing.writing import WritingError, write_call

Request = Mapping[str, Any]

MOST_PARTS = 14
"""How many pieces a text has at most."""

ARGUMENTS = {"a": "x", "o": {"k": [1, "]}"]}}
JSON_FRAGMENTS = (*'[]{}",:\\', "null", "12", '{"a": 1}', '{"a": "')
PYTHON_FRAGMENTS = (
    "[f(", "a=", "'x'", '"', "'", "(", ")", "=", "True", "g()", "f", "{'k': [1]}",
)  # fmt: skip
CITATION_FRAGMENTS = (
    "<co>", "</co: 0:[1]>", "</co: 0:[0,2],1:[0]>", "</co: ", "</co: x>", "<co", ">",
)  # fmt: skip
NOISE = (
    "```json\n", "`", " ", "\n", "  \n", "word ", "a", "é", "😀", "<", "<|", "|>", "<|START_",
    "_TEXT|>", "\x00", "f", ";",
)  # fmt: skip
TOOLS = (
    {"type": "function", "function": {"name": "f", "parameters": {}}},
    {
        "type": "function",
        "function": {
            "name": "g",
            "parameters": {
                "type": "object",
                "properties": {"a": {"type": ["integer", "string", "null"]}},
            },
        },
    },
)
"""The tools that the calls in the texts are to, but for one that nobody knows."""


@lru_cache(maxsize=64)
def fragments(family: Family) -> Sequence[str]:
    """What this family's outputs are made of: its markers, whole calls, and pieces of calls.

    >>> import tagsmith
    >>> "<|START_ACTION|>" in fragments(tagsmith.get_family("cohere-command-a"))
    True
    """
    spec = family.spec
    parts = [*family.markers, *NOISE, *JSON_FRAGMENTS]
    if spec.citations is not None:
        markup = spec.citations.markup
        parts += [*CITATION_FRAGMENTS, markup.open, *markup.close_parts]
    if spec.tool_calls is not None:
        parts += [*_whole_calls(spec), *_pieces_of_calls(spec.tool_calls)]
    return tuple(dict.fromkeys(parts))


def random_parts(family: Family, random: Random) -> list[str]:
    """The pieces of one text: more often than not it begins where calls may stand.

    >>> import tagsmith
    >>> family = tagsmith.get_family("qwen3-coder")
    >>> random_parts(family, Random(1)) == random_parts(family, Random(1))
    True
    """
    known = fragments(family)
    region = family.spec.tag_style.tool_calls
    parts = [region.start] if region is not None and random.random() < 0.5 else []
    for _ in range(random.randint(0, MOST_PARTS)):
        is_known = random.random() < 0.75
        parts.append(random.choice(known) if is_known else random_text(random, 6))
    return parts


def random_text(random: Random, longest: int) -> str:
    """Characters of any kind, most of them letters; halves of characters are not among them."""
    ranges = ((0x20, 0x7E), (0x20, 0x7E), (0x20, 0x7E), (0, 0x2FF), (0x2000, 0xD7FF))
    rare = ((0xE000, 0xFFFC), (0x10000, 0x10FFFF))
    length = random.randint(0, longest)
    return "".join(chr(random.randint(*random.choice((*ranges, *rare)))) for _ in range(length))


def random_request(family: Family, random: Random) -> dict[str, Any]:
    """What the request may say; mostly nothing."""
    return {
        key: random.choice(values)
        for key, values in possible_requests(family).items()
        if random.random() < 0.3
    }


def possible_requests(family: Family) -> dict[str, Sequence[Any]]:
    """For each option of a parser that the texts are tried with, the values that it may have."""
    style = family.spec.tag_style
    start = (family.spec.tokens.turn_start or ("",))[0]
    reasoning = "" if style.reasoning is None else style.reasoning.start
    region = "" if style.tool_calls is None else style.tool_calls.start
    return {
        "tools": (list(TOOLS),),
        "tool_choice": ("auto", "none"),
        "documents": ([{"id": "a", "data": {"text": "x"}}],),
        "prompt": (start + reasoning, region + "[{", start),
        "stop": (["word"], ["a", "xa"], ["\n"]),
    }


def _whole_calls(spec: FamilySpec) -> Iterator[str]:
    """Calls with arguments, to a tool that nobody knows too, and one without arguments."""
    try:
        for index, name in enumerate(("f", "f", "h")):
            yield write_call(spec, name, ARGUMENTS, index)
        yield write_call(spec, "g", {})
    except WritingError:  # An encoding of a plug-in: its pieces are all we know of it.
        return


def _pieces_of_calls(calls: ToolCalls) -> Iterator[str]:
    if calls.layout is CallLayout.PYTHONIC:
        yield from PYTHON_FRAGMENTS
    if calls.layout is CallLayout.JSON:
        keys = [calls.keys.id, *calls.keys.name, *calls.keys.arguments]
        yield from (f"{json.dumps(key)}: " for key in keys if key is not None)
        yield json.dumps({calls.keys.name[0]: "h", calls.keys.arguments[0]: {"a": "<"}})
    yield from literals_of(calls)


def literals_of(calls: ToolCalls) -> Iterator[str]:
    """What the forms of calls and of parameters write to the letter."""
    for form in (*(calls.call or ()), *(calls.arguments.parameter or ())):
        yield from (step for step in split_template(form) if not isinstance(step, Hole))
