"""Earlier citations in a prompt: from an answer's citation back to the markup, never elsewhere."""

from __future__ import annotations

import json
import re
from typing import Any

import cohere
import pytest

import tagsmith
from strategies import MELODY_FAMILIES
from tagsmith.sources import SourceMap, build_source_finder, build_source_map
from tagsmith.spec.models import KeyMap

FAMILY = tagsmith.get_family("cohere-command-a")
DOCUMENTS: list[Any] = [{"id": "d", "data": {"text": "x"}}, "y", {"id": "same", "data": {"n": 1}}]
HISTORY: list[dict[str, Any]] = [
    {"role": "user", "content": "q"},
    {
        "role": "assistant",
        "tool_calls": [{"id": name, "function": {"name": "f"}} for name in ("one", "two")],
    },
    {
        "role": "tool",
        "tool_call_id": "two",
        "content": ["plain", {"type": "document", "document": {"id": "r", "data": {"t": 1}}}],
    },
    {
        "role": "tool",
        "tool_call_id": "one",
        "content": [
            {"type": "document", "document": {"id": "same", "data": {"n": 2}}},
            {"type": "document", "document": {"id": "same", "data": {"n": 3}}},
        ],
    },
]
D = {"id": "d"}
THINKING = {"type": "thinking", "thinking": "I think."}


def text(value: str) -> dict[str, str]:
    return {"type": "text", "text": value}


def cite(start: Any, end: Any, *sources: Any, **fields: Any) -> dict[str, Any]:
    return {"start": start, "end": end, "sources": list(sources), **fields}


def shown(content: Any, *citations: Any, units: str = "code-points", **fields: Any) -> str:
    turn = {"role": "assistant", "content": content, "citations": list(citations), **fields}
    return FAMILY.render_turn(turn, messages=HISTORY, documents=DOCUMENTS, units=units)


def answer(content: Any, *citations: Any, **options: Any) -> str:
    rendered = shown(content, *citations, **options)
    return rendered.partition("<|START_RESPONSE|>")[2].removesuffix("<|END_RESPONSE|>")


@pytest.mark.parametrize(
    ("source", "position"),
    [
        ({"type": "document", "id": "d", "document": {"id": "d", "text": "x"}}, "0:[0]"),
        ({"type": "document", "id": "d"}, "0:[0]"),
        ({"id": "d"}, "0:[0]"),
        ({"type": "document", "id": "doc_1", "document": {"text": "y"}}, "0:[1]"),
        ({"type": "document", "document": {"text": "y"}}, "0:[1]"),
        ({"type": "tool", "tool_output": {"content": "plain"}}, "2:[0]"),
        # Cohere's servers give results without an id one of the call's.
        ({"type": "tool", "id": "two:0", "tool_output": {"content": "plain"}}, "2:[0]"),
        ({"type": "tool", "id": "r", "tool_output": {"id": "r", "t": 1}}, "2:[1]"),
        # Of several with the same id, the one that holds the same; else the first of its kind.
        ({"type": "tool", "id": "same", "tool_output": {"id": "same", "n": 3}}, "1:[1]"),
        ({"type": "tool", "id": "same"}, "1:[0]"),
        ({"type": "document", "id": "same"}, "0:[2]"),
        (cohere.DocumentSource(type="document", id="d", document={}), "0:[0]"),
    ],
)
def test_a_source_is_found(source: Any, position: str) -> None:
    assert answer("Paris", cite(0, 5, source)) == f"<co>Paris</co: {position}>"


@pytest.mark.parametrize(
    "source",
    [
        {},
        {"id": "nobody"},
        {"type": "tool", "id": "d"},
        {"type": "tool", "tool_output": {"content": "other"}},
        {"type": "document", "document": {}},
        {"type": "web", "id": "d"},
        {"type": ["document"], "id": {"d": 1}},
    ],
)
def test_a_source_that_is_not_there_leaves_no_markup(source: Any) -> None:
    assert answer("Paris", cite(0, 5, source)) == "Paris"
    assert answer("Paris", cite(0, 5, source, D)) == "<co>Paris</co: 0:[0]>"


def test_sources_are_grouped_by_bucket_in_their_order() -> None:
    sources = [{"id": "r"}, {"id": "d"}, {"id": "doc_1"}, {"id": "d"}]
    assert answer("a", cite(0, 1, *sources)) == "<co>a</co: 2:[1],0:[0,1]>"


@pytest.mark.parametrize(
    ("units", "start", "end"), [("code-points", 3, 5), ("utf-16", 4, 7), ("utf-8", 7, 12)]
)
def test_offsets_count_what_the_client_counts(units: str, start: int, end: int) -> None:
    content = "😀é b😀c"
    assert answer(content, cite(start, end, D), units=units) == "😀é <co>b😀</co: 0:[0]>c"


@pytest.mark.parametrize(("units", "start", "end"), [("utf-16", 1, 2), ("utf-8", 0, 3)])
def test_an_offset_within_a_character_fits_nothing(units: str, start: int, end: int) -> None:
    assert answer("😀é", cite(start, end, D), units=units) == "😀é"


@pytest.mark.parametrize(
    ("start", "end", "fields"),
    [
        (-1, 2, {}),
        (2, 2, {}),
        (3, 2, {}),
        (0, 6, {}),
        (9, 10, {}),
        (None, 2, {}),
        (0, 2, {"text": "Lo"}),
        (0, 2, {"content_index": 7}),
        (0, 2, {"content_index": -1}),
    ],
)
def test_a_citation_that_does_not_fit_leaves_no_markup(start: Any, end: Any, fields: Any) -> None:
    assert answer([text("Paris")], cite(start, end, D, **fields)) == "Paris"


def test_the_same_words_twice_are_told_apart_by_offset() -> None:
    assert answer("no no", cite(3, 5, D, text="no")) == "no <co>no</co: 0:[0]>"


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ([(0, 2), (2, 4)], "[ab][cd]ef"),
        ([(2, 4), (0, 2)], "[ab][cd]ef"),
        ([(0, 6), (2, 4)], "[ab[cd]ef]"),
        ([(0, 4), (0, 2), (2, 4)], "[[ab][cd]]ef"),
        ([(0, 2), (0, 2)], "[[ab]]cdef"),
        ([(0, 3), (2, 5)], "[abc]def"),
        ([(0, 6), (1, 3), (2, 4)], "[a[bc]def]"),
        ([(0, 2), (1, 4), (3, 6)], "[ab]c[def]"),
        ([(4, 6)], "abcd[ef]"),
    ],
)
def test_spans_stand_in_each_other_or_apart(spans: list[Any], expected: str) -> None:
    markup = answer("abcdef", *(cite(start, end, D) for start, end in spans))
    assert markup.replace("<co>", "[").replace("</co: 0:[0]>", "]") == expected


def test_spans_nested_too_deeply_are_left_out() -> None:
    markup = answer("a" * 200, *(cite(n, 200 - n, D) for n in range(100)))
    assert markup.count("<co>") == markup.count("</co: 0:[0]>") == 64


@pytest.mark.parametrize(
    ("content", "fields", "citation", "expected"),
    [
        ([THINKING, text("ab")], {}, {"content_index": 1}, "I think.|<co>a</co: 0:[0]>b"),
        ([THINKING, text("ab")], {}, {"content_index": 0}, "<co>I</co: 0:[0]> think.|ab"),
        ([text("ab"), text("cd")], {}, {"content_index": 1}, "|ab<co>c</co: 0:[0]>d"),
        ([THINKING, text("ab"), THINKING, text("cd")], {}, {"content_index": 2},
         "I think.<co>I</co: 0:[0]> think.|abcd"),
        ("ab", {"reasoning": "hm"}, {"type": "THINKING_CONTENT"}, "<co>h</co: 0:[0]>m|ab"),
        ("ab", {"tool_plan": "hm"}, {"type": "PLAN"}, "<co>h</co: 0:[0]>m|ab"),
        ("ab", {"reasoning": "hm"}, {"type": "TEXT_CONTENT"}, "hm|<co>a</co: 0:[0]>b"),
        ("ab", {"reasoning": "hm"}, {"content_index": 0}, "hm|<co>a</co: 0:[0]>b"),
        ("ab", {"reasoning": "hm"}, {"content_index": 1}, "hm|<co>a</co: 0:[0]>b"),
        # Some servers name block 0 whatever the text.
        ([text("ab")], {"reasoning": "hm"}, {"content_index": 0, "type": "THINKING_CONTENT"},
         "<co>h</co: 0:[0]>m|ab"),
    ],
)  # fmt: skip
def test_the_block_that_offsets_count_in(
    content: Any, fields: Any, citation: Any, expected: str
) -> None:
    rendered = shown(content, cite(0, 1, D, **citation), **fields)
    for marker in ("<|START_THINKING|>", "<|END_THINKING|>", "<|END_RESPONSE|>"):
        rendered = rendered.replace(marker, "")
    assert rendered.replace("<|START_RESPONSE|>", "|") == expected


def test_citations_of_a_plan_stay_with_it_before_calls() -> None:
    calls = [{"id": "c", "function": {"name": "f"}}]
    turn = {"tool_plan": "a plan", "tool_calls": calls}
    rendered = shown("an answer", cite(0, 1, D, type="PLAN"), cite(3, 9, D), **turn)
    thought = rendered.partition("<|END_THINKING|>")[0]
    assert thought == ("<|START_THINKING|><co>a</co: 0:[0]> plan\n\nan <co>answer</co: 0:[0]>")


def test_an_answer_of_both_sdks_goes_back_to_its_markup() -> None:
    written = "<|START_RESPONSE|>É <co>Paris 😀</co: 0:[1],2:[0]>.<|END_RESPONSE|>"
    message = FAMILY.parse(written, messages=HISTORY, documents=DOCUMENTS)
    for turn in (message, message.to_cohere(), message.to_openai()):
        assert FAMILY.render_turn(turn, messages=HISTORY, documents=DOCUMENTS) == written
    turn = cohere.AssistantChatMessageV2.model_validate(message.to_cohere())
    assert FAMILY.render_turn(turn, messages=HISTORY, documents=DOCUMENTS) == written


def test_a_family_that_does_not_cite_gets_no_markup() -> None:
    spec = FAMILY.spec.model_copy(update={"citations": None})
    turn = {"role": "assistant", "content": "ab", "citations": [cite(0, 1, D)]}
    rendered = tagsmith.Family(spec).render_turn(turn, documents=DOCUMENTS)
    assert rendered == "<|START_RESPONSE|>ab<|END_RESPONSE|>"


def test_every_position_is_found_by_what_it_resolves_to() -> None:
    sources = build_source_map(KeyMap(), documents=DOCUMENTS, messages=HISTORY)
    for position in sources.entries:
        (resolved,), _ = sources.resolve([position])
        assert build_source_finder(sources).find(resolved) == position
    # A ready-made map need not say of what kind a source is.
    finder = build_source_finder(SourceMap({(0, 3): {"id": "a"}}))
    assert finder.find({"type": "tool", "id": "a"}) == finder.find({"id": "a"}) == (0, 3)


@pytest.mark.parametrize("held", [{"k": 1}, {"content": '{"k": 1}'}, {"content": '{"k":1}'}])
def test_a_text_that_is_an_object_is_cited_as_either(held: dict[str, Any]) -> None:
    history = [*HISTORY[:2], {"role": "tool", "tool_call_id": "one", "content": '{"k": 1}'}]
    turn = {"role": "assistant", "content": "ab", "citations": [cite(0, 1, {"tool_output": held})]}
    written = "<|START_RESPONSE|><co>a</co: 0:[0]>b<|END_RESPONSE|>"
    assert FAMILY.render_turn(turn, messages=history) == written
    (citation,) = FAMILY.parse(written, messages=history).citations
    assert citation.sources[0]["tool_output"] == {"k": 1}


TOOLS_FIRST = [{"role": "user", "content": "q"}, HISTORY[3], *HISTORY[1:3]]
AGAIN = [
    *HISTORY,
    {**HISTORY[1], "tool_calls": [{"id": "three", "function": {"name": "f"}}]},
    {"role": "tool", "tool_call_id": "three", "content": '{"late": 1}'},
    {"role": "tool", "tool_call_id": "three", "content": "[1]"},
    {"role": "tool", "tool_call_id": "unknown", "content": "nobody asked"},
]


@pytest.mark.parametrize("messages", [HISTORY, TOOLS_FIRST, AGAIN])
@pytest.mark.parametrize("documents", [None, DOCUMENTS])
@pytest.mark.parametrize("name", MELODY_FAMILIES)
def test_a_prompt_shows_each_source_at_its_position(
    name: str, documents: list[Any] | None, messages: list[Any]
) -> None:
    family = tagsmith.get_family(name)
    prompt = family.render(messages, documents=documents)
    assert family.spec.citations is not None
    sources = build_source_map(
        family.spec.citations.key_map, documents=documents, messages=messages
    )
    held = {
        position: {
            key: value
            for key, value in (entry.get("document") or entry["tool_output"]).items()
            if key != "id"
        }
        for position, entry in sources.entries.items()
    }
    assert positions_shown(prompt) == held


def positions_shown(prompt: str) -> dict[tuple[int, int], Any]:
    """What a prompt shows as results, in JSON or in XML, by call and place; ids are left out."""
    call = r'"tool_call_id": "(?P<call>\d+)",\n|<cofl:tool_result id="(?P<tagged>\d+)"'
    item = r'"(?P<at>\d+)": (?P<json>\{.*?\}),?\n|index="(?P<place>\d+)">(?P<held>.*?)</cofl'
    found = {}
    bucket = -1
    conversation = prompt[prompt.index("<|USER_TOKEN|>") :]  # The tools before it have numbers too.
    for match in re.finditer(f"{call}|{item}", conversation):
        if number := match["call"] or match["tagged"]:
            bucket = int(number)
        else:
            data = json.loads(match["json"] or match["held"])
            data.pop("id", None)
            found[bucket, int(match["at"] or match["place"])] = data
    return found
