"""Law 9: rendering an assistant's turn and parsing the text gives the turn back.

What comes back otherwise is tested as well, one test for each: the family's own whitespace, the
numbers of calls, content beside calls, quotes in the names of an XML dialect, markers in texts.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tagsmith
from strategies import MELODY_FAMILIES, families
from tagsmith.engine.text import WHITESPACE
from tagsmith.events import Target
from tagsmith.render.breaking import family_markers
from tagsmith.sources import Position
from tagsmith.spec.policies import MelodyPreset, Trim

Check = Callable[[tagsmith.Family, st.DataObject], None]
some = settings(max_examples=20, deadline=None)
many = settings(max_examples=400, deadline=None)
any_family = families(MELODY_FAMILIES)
DOCUMENTS = [{"id": "d", "data": {"text": "x"}}, {"data": {"text": "y"}}, "z"]
HISTORY: list[dict[str, Any]] = [
    {"role": "user", "content": "q"},
    {
        "role": "assistant",
        "tool_calls": [
            {"id": "call_a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
        ],
    },
    {
        "role": "tool",
        "tool_call_id": "call_a",
        "content": [
            {"type": "text", "text": "plain"},
            {"type": "document", "document": {"id": "r", "data": {"text": "w"}}},
        ],
    },
]
SOURCES: dict[Position, dict[str, Any]] = {
    (0, 0): {"type": "document", "id": "d", "document": {"id": "d", "text": "x"}},
    (0, 1): {"type": "document", "id": "doc_1", "document": {"text": "y"}},
    (0, 2): {"type": "document", "document": {"text": "z"}},
    (1, 0): {"type": "tool", "tool_output": {"content": "plain"}},
    (1, 1): {"type": "tool", "id": "r", "tool_output": {"id": "r", "text": "w"}},
}
"""How answers show what stands at these positions."""
POSITIONS = list(SOURCES)
PIECES = [
    "<",
    "</",
    "<c",
    "co>",
    "|>",
    "{",
    "}",
    '"',
    "\\",
    "'",
    "&lt;",
    " ",
    "\n",
    "\t",
    "é",
    "e\u0301",
]
PIECES += ["😀", "北京", "[0]", ": ", "</co>", "\0", "\u2028", "word"]
texts = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=4)), max_size=8).map("".join)


def is_plain(family: tagsmith.Family, text: str) -> bool:
    """Whether no marker stands in a text."""
    return not family_markers(family.spec).whole.search(text)


def plain_texts(family: tagsmith.Family) -> st.SearchStrategy[str]:
    return texts.filter(lambda text: is_plain(family, text))


def edged(text: str) -> str:
    return text.strip(WHITESPACE)


def names(family: tagsmith.Family) -> st.SearchStrategy[str]:
    """Names of tools and parameters; those that no attribute can hold have their own test."""
    is_xml = family.spec.melody is not None and family.spec.melody.preset is MelodyPreset.CMD5
    given = plain_texts(family).filter(bool)
    if is_xml:
        given = given.filter(lambda text: text == edged(text) and not set(text) & set('&<>"\n'))
    return given


def arguments(family: tagsmith.Family) -> st.SearchStrategy[dict[str, Any]]:
    leaves = st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(allow_nan=False, allow_infinity=False),
        plain_texts(family),
    )
    keys = names(family)
    values = st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.lists(inner, max_size=3), st.dictionaries(keys, inner, max_size=3)
        ),
        max_leaves=8,
    )
    return st.dictionaries(keys, values, max_size=3)


@st.composite
def spans(draw: st.DrawFn, text: str) -> list[tuple[int, int, tuple[Position, ...]]]:
    """Cited spans of a text, adjacent ones and some within others."""
    cuts = draw(st.lists(st.integers(0, len(text)), max_size=6, unique=True).map(sorted))
    found = []
    for start, end in pairwise(cuts):
        if draw(st.booleans()):
            positions = draw(
                st.lists(st.sampled_from(POSITIONS), min_size=1, max_size=3, unique=True)
            )
            # The markup groups them by their buckets.
            positions.sort(key=lambda position: position[0])
            found.append((start, end, tuple(positions)))
    if len(cuts) > 2 and draw(st.booleans()):
        found.append((cuts[0], cuts[-1], (POSITIONS[0],)))
    return found


def call(name: str, given: Any, number: int) -> dict[str, Any]:
    function = {"name": name, "arguments": given if isinstance(given, str) else json.dumps(given)}
    return {"id": f"new_{number}", "type": "function", "function": function}


def back(family: tagsmith.Family, turn: Any) -> tagsmith.Message:
    text = family.render_turn(turn, messages=HISTORY, documents=DOCUMENTS)
    message = family.parse(text, messages=HISTORY, documents=DOCUMENTS)
    assert message.diagnostics == ()
    return message


def calls_of(message: tagsmith.Message) -> list[tuple[str, Any]]:
    return [(call.name, exact(json.loads(call.arguments))) for call in message.tool_calls]


def exact(value: Any) -> str:
    """A JSON value in the one spelling, so that 1, 1.0 and true are three."""
    return json.dumps(value, sort_keys=True)


def check_texts(family: tagsmith.Family, data: st.DataObject) -> None:
    said = {target: edged(data.draw(plain_texts(family))) for target in Target}
    cited = {target: data.draw(spans(text)) for target, text in said.items()}
    blocks = [_block(target, said[target]) for target in reversed(Target) if said[target]]
    citations = [
        {
            "start": start,
            "end": end,
            "text": said[target][start:end],
            "content_index": blocks.index(_block(target, said[target])),
            "sources": [SOURCES[position] for position in positions],
        }
        for target, found in cited.items()
        for start, end, positions in found
    ]
    message = back(family, {"role": "assistant", "content": blocks, "citations": citations})
    assert message.reasoning == (said[Target.REASONING] or None)
    assert message.content == (said[Target.CONTENT] or None)
    expected = [(target, *span) for target, found in cited.items() for span in found]
    assert sorted((c.target, c.start, c.end, c.positions) for c in message.citations) == sorted(
        expected
    )
    assert all(cite.text == said[cite.target][cite.start : cite.end] for cite in message.citations)
    # What was parsed is a turn as well, and says the same.
    assert back(family, message) == message


def _block(target: Target, text: str) -> dict[str, Any]:
    kind = "text" if target is Target.CONTENT else "thinking"
    return {"type": kind, kind: text}


def check_calls(family: tagsmith.Family, data: st.DataObject) -> None:
    reasoning = edged(data.draw(plain_texts(family)))
    made = data.draw(st.lists(st.tuples(names(family), arguments(family)), min_size=1, max_size=3))
    turn = {
        "role": "assistant",
        "reasoning_content": reasoning,
        "tool_calls": [call(*given, number) for number, given in enumerate(made)],
    }
    message = back(family, turn)
    assert message.reasoning == (reasoning or None)
    assert message.content is None
    assert calls_of(message) == [(name, exact(given)) for name, given in made]
    # The renderer numbers calls by their order in the conversation, documents before them.
    assert [call.id for call in message.tool_calls] == [str(2 + n) for n in range(len(made))]
    assert all(call.complete for call in message.tool_calls)


def check_whitespace(family: tagsmith.Family, data: st.DataObject) -> None:
    blank = st.text(alphabet=" \n\t", max_size=2)
    reasoning, content = (
        data.draw(blank) + edged(data.draw(plain_texts(family))) + data.draw(blank)
        for _ in range(2)
    )
    message = back(
        family, {"role": "assistant", "reasoning_content": reasoning, "content": content}
    )
    policy = family.spec.whitespace
    assert (policy.reasoning, policy.content) == (Trim.BOTH, Trim.END)
    assert message.reasoning == (reasoning.strip(WHITESPACE) or None)
    assert message.content == (content.rstrip(WHITESPACE) or None)


CHECKS = [check_texts, check_calls, check_whitespace]


@pytest.mark.parametrize("check", CHECKS)
@some
@given(any_family, st.data())
def test_turns_come_back(check: Check, family: tagsmith.Family, data: st.DataObject) -> None:
    check(family, data)


@pytest.mark.heavy
@pytest.mark.parametrize("check", CHECKS)
@many
@given(any_family, st.data())
def test_many_turns_come_back(check: Check, family: tagsmith.Family, data: st.DataObject) -> None:
    check(family, data)


@pytest.mark.parametrize("name", MELODY_FAMILIES)
def test_deep_and_large_arguments_come_back(name: str) -> None:
    family = tagsmith.get_family(name)
    deep: Any = 1
    for _ in range(30):
        deep = {"k": [deep]}
    given = {"deep": deep, "long": "é" * 10_000, "big": 10**30, "small": 1e-7, "many": [0.1] * 500}
    turn = {"role": "assistant", "tool_calls": [call("f", given, 0)]}
    assert calls_of(back(family, turn)) == [("f", exact(given))]


@pytest.mark.parametrize("name", MELODY_FAMILIES)
def test_content_beside_calls_comes_back_as_part_of_the_plan(name: str) -> None:
    # The vendor's templates have no place for an answer before calls.
    family = tagsmith.get_family(name)
    calls = [call("f", {}, 0)]
    turn = {"role": "assistant", "content": "Let me see.", "tool_calls": calls}
    assert back(family, turn).reasoning == "Let me see."
    assert back(family, {**turn, "reasoning": "Hm."}).reasoning == "Hm.\n\nLet me see."
    assert back(family, turn).content is None


def test_names_that_no_attribute_can_hold_come_back_as_the_vendor_writes_them() -> None:
    # The vendor writes entities in names and reads none.
    family = tagsmith.get_family("cohere-command-xml")
    turn = {"role": "assistant", "tool_calls": [call('a"<&>', {'k"': 1, " s ": 2}, 0)]}
    assert calls_of(back(family, turn)) == [("a&quot;&lt;&amp;&gt;", '{"k&quot;": 1, "s": 2}')]


@pytest.mark.parametrize("name", MELODY_FAMILIES)
def test_markers_in_texts_come_back_broken(name: str) -> None:
    family = tagsmith.get_family(name)
    turn = {"role": "assistant", "reasoning": "a <co>b", "content": "c <|END_OF_TURN_TOKEN|>"}
    message = back(family, turn)
    assert (message.reasoning, message.content) == ("a < co>b", "c < |END_OF_TURN_TOKEN|>")


def test_json_keeps_the_value_of_a_marker() -> None:
    family = tagsmith.get_family("cohere-command-a")
    given = {"<co>": "<|END_ACTION|>"}
    turn = {"role": "assistant", "tool_calls": [call("<co>", given, 0)]}
    assert calls_of(back(family, turn)) == [("<co>", exact(given))]
