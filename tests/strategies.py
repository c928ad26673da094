"""Generated model outputs: texts built from a family's markers, JSON fragments, citation markup and
noise, for the property tests of the laws."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from hypothesis import strategies as st

import tagsmith
from tagsmith.engine.templates import Hole, split_template
from tagsmith.registry import default_registry
from tagsmith.spec.policies import CallLayout
from tagsmith.testing.writing import write_call

FAMILIES = sorted(default_registry().ids())
MELODY_FAMILIES = [name for name in FAMILIES if tagsmith.get_family(name).spec.melody]
ARGUMENTS = {"a": "x", "o": {"k": [1, "]}"]}}
JSON_FRAGMENTS = [
    *'[]{}",:\\',
    "null",
    "12",
    '{"a": 1}',
    '{"a": "',
]
PYTHON_FRAGMENTS = ["[f(", "a=", "'x'", '"', "'", "(", ")", "=", "True", "g()", "f", "{'k': [1]}"]
CITATION_FRAGMENTS = [
    "<co>",
    "</co: 0:[1]>",
    "</co: 0:[0,2],1:[0]>",
    "</co: ",
    "</co: x>",
    "<co",
    ">",
]
NOISE = [
    "```json\n",
    "`",
    " ",
    "\n",
    "  \n",
    "word ",
    "a",
    "é",
    "😀",
    "<",
    "<|",
    "|>",
    "<|START_",
    "_TEXT|>",
    "\x00",
    "f",
    ";",
]
TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": parameters}}
    for name, parameters in [
        ("f", {}),
        ("g", {"type": "object", "properties": {"a": {"type": ["integer", "string", "null"]}}}),
    ]
]


def families(names: Sequence[str] = FAMILIES) -> st.SearchStrategy[tagsmith.Family]:
    """One of the built-in families, or of those named."""
    return st.sampled_from([tagsmith.get_family(name) for name in names])


@lru_cache(maxsize=64)
def fragments(family: tagsmith.Family) -> list[str]:
    """What this family's outputs are made of: its markers, whole calls, and pieces of calls."""
    spec = family.spec
    parts = [*family.markers, *NOISE, *JSON_FRAGMENTS]
    if spec.citations is not None:
        parts += CITATION_FRAGMENTS
    calls = spec.tool_calls
    if calls is None:
        return parts
    parts += [write_call(spec, name, ARGUMENTS, i) for i, name in enumerate(("f", "f", "h"))]
    parts.append(write_call(spec, "g", {}))
    if calls.layout is CallLayout.PYTHONIC:
        parts += PYTHON_FRAGMENTS
    if calls.layout is CallLayout.JSON:
        keys = [calls.keys.id, *calls.keys.name, *calls.keys.arguments]
        parts += [f"{json.dumps(key)}: " for key in keys if key is not None]
        parts.append(json.dumps({calls.keys.name[0]: "h", calls.keys.arguments[0]: {"a": "<"}}))
    forms = [*(calls.call or ()), *(calls.arguments.parameter or ())]
    parts += [step for form in forms for step in split_template(form) if not isinstance(step, Hole)]
    return parts


def outputs(family: tagsmith.Family) -> st.SearchStrategy[str]:
    """A text made of what this family's outputs are made of, in any order."""
    parts = st.one_of(st.sampled_from(fragments(family)), st.text(max_size=6))
    style = family.spec.tag_style.tool_calls
    openers = st.sampled_from(["", "" if style is None else style.start])
    return st.builds(
        lambda opener, parts: opener + "".join(parts), openers, st.lists(parts, max_size=14)
    )


def requests(family: tagsmith.Family) -> st.SearchStrategy[dict[str, Any]]:
    """What a request may say; mostly nothing."""
    style = family.spec.tag_style
    start = (family.spec.tokens.turn_start or ("",))[0]
    reasoning = "" if style.reasoning is None else style.reasoning.start
    region = "" if style.tool_calls is None else style.tool_calls.start
    return st.fixed_dictionaries(
        {},
        optional={
            "tools": st.just(TOOLS),
            "tool_choice": st.sampled_from(["auto", "none"]),
            "documents": st.just([{"id": "a", "data": {"text": "x"}}]),
            "prompt": st.sampled_from([start + reasoning, region + "[{", start]),
            "stop": st.sampled_from([["word"], ["a", "xa"], ["\n"]]),
        },
    )


@st.composite
def generations(
    draw: st.DrawFn, names: Sequence[str] = FAMILIES
) -> tuple[tagsmith.Family, str, dict[str, Any]]:
    """A family, an output and the request it answers."""
    family = draw(families(names))
    return family, draw(outputs(family)), draw(requests(family))


def cut(text: str, sizes: list[int]) -> list[str]:
    """The text in deltas of these sizes, over and over."""
    deltas, start, i = [], 0, 0
    while start < len(text):
        deltas.append(text[start : start + sizes[i % len(sizes)]])
        start += sizes[i % len(sizes)]
        i += 1
    return deltas


def cut_sizes() -> st.SearchStrategy[list[int]]:
    """Sizes of deltas: by character now and then, else mixed."""
    return st.one_of(st.just([1]), st.lists(st.integers(1, 9), min_size=1, max_size=5))
