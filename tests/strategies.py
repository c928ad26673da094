"""Generated model outputs: texts built from a family's markers, JSON fragments, citation markup and
noise, for the property tests of the laws."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

import tagsmith

FAMILIES = [
    "cohere-command-a",
    "cohere-command-a-vision",
    "cohere-command-a-plus",
    "cohere-north",
]

CALL = {"tool_call_id": "0", "tool_name": "f", "parameters": {"a": "x", "o": {"k": [1, "]}"]}}}
JSON_FRAGMENTS = [
    json.dumps(CALL),
    f"[{json.dumps(CALL)}, {json.dumps({**CALL, 'tool_call_id': '1'})}]",
    '{"tool_name": "g", "parameters": {',
    '"tool_call_id":',
    '"tool_name": "h"',
    '"parameters":',
    *'[]{}",:\\',
    "null",
    "12",
    '{"a": "<|END_ACTION|>"}',
]
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
]
TOOLS = [{"type": "function", "function": {"name": name, "parameters": {}}} for name in "fg"]


def families() -> st.SearchStrategy[tagsmith.Family]:
    """One of the built-in families."""
    return st.sampled_from([tagsmith.get_family(name) for name in FAMILIES])


def outputs(family: tagsmith.Family) -> st.SearchStrategy[str]:
    """A text made of what this family's outputs are made of, in any order."""
    fragments = st.one_of(
        st.sampled_from(family.markers),
        st.sampled_from(JSON_FRAGMENTS),
        st.sampled_from(CITATION_FRAGMENTS),
        st.sampled_from(NOISE),
        st.text(max_size=6),
    )
    style = family.spec.tag_style.tool_calls
    openers = st.sampled_from(["", "" if style is None else style.start])
    return st.builds(
        lambda opener, parts: opener + "".join(parts), openers, st.lists(fragments, max_size=14)
    )


def requests() -> st.SearchStrategy[dict[str, Any]]:
    """What a request may say; mostly nothing."""
    return st.fixed_dictionaries(
        {},
        optional={
            "tools": st.just(TOOLS),
            "tool_choice": st.sampled_from(["auto", "none"]),
            "documents": st.just([{"id": "a", "data": {"text": "x"}}]),
            "prompt": st.sampled_from(
                ["<|CHATBOT_TOKEN|><|START_THINKING|>", "<|START_ACTION|>[{", "<|CHATBOT_TOKEN|>"]
            ),
            "stop": st.sampled_from([["word"], ["a", "xa"], ["\n"]]),
        },
    )


@st.composite
def generations(draw: st.DrawFn) -> tuple[tagsmith.Family, str, dict[str, Any]]:
    """A family, an output and the request it answers."""
    family = draw(families())
    return family, draw(outputs(family)), draw(requests())


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
