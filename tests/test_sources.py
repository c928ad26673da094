"""From citation positions to sources: numbering, ready-made maps, what resolves to nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tagsmith
from tagsmith.sources import build_source_map, read_source_map
from tagsmith.spec.models import KeyMap

LINES = (Path(__file__).parent / "cases" / "cohere_v2.jsonl").read_text().splitlines()
POSITIONS = [case for case in map(json.loads, LINES) if case["kind"] == "v2_positions"]
FAMILY = tagsmith.get_family("cohere-command-a")
CITED = "<|START_RESPONSE|><co>a</co: 0:[0],1:[0]><|END_RESPONSE|>"


@pytest.mark.parametrize("case", POSITIONS, ids=lambda case: case["id"])
def test_positions(case: dict[str, Any]) -> None:
    request = case["input"]["request"]
    sources = build_source_map(
        KeyMap(), documents=request.get("documents"), messages=request.get("messages")
    )
    expected = case["expected"]
    for position in expected["positions"]:
        found = sources.entries[position["bucket"], position["index"]]
        assert position["source"].items() <= found.items()
    if expected["no_other_positions"]:
        assert len(sources.entries) == len(expected["positions"])


def tool(call_id: str, content: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([tool("a", "x"), tool("b", "y")], {(1, 0): "x", (2, 0): "y"}),
        ([tool("a", ["x", "y"]), tool("a", "z")], {(1, 0): "x", (1, 1): "y", (1, 2): "z"}),
        (
            [{"role": "assistant", "tool_calls": [{"id": "b"}, {"id": "a"}]}, tool("a", "x")],
            {(2, 0): "x"},
        ),
        (
            [{"role": "assistant", "tool_calls": None}, tool("a", None), tool("b", "y")],
            {(2, 0): "y"},
        ),
        ([{"role": "user", "content": "q"}, {}], {}),
        ([{**tool("a", "x"), "role": "TOOL"}], {(1, 0): "x"}),
    ],
)
def test_tool_calls_take_the_buckets_after_the_documents(
    messages: list[Any], expected: dict[tuple[int, int], str]
) -> None:
    sources = build_source_map(KeyMap(), documents=["doc"], messages=messages)
    assert sources.entries.pop((0, 0))["document"] == {"text": "doc"}  # type: ignore[attr-defined]
    found = {at: source["tool_output"]["content"] for at, source in sources.entries.items()}
    assert found == expected


@pytest.mark.parametrize(
    "given",
    [
        {(0, 0): {"id": "a"}, (1, 0): {"id": "b"}},
        {"0:0": {"id": "a"}, "1:0": {"id": "b"}},
        {"0": {"0": {"id": "a"}}, "1": {"0": {"id": "b"}}},
        {0: [{"id": "a"}], 1: [{"id": "b"}]},
    ],
    ids=["pairs", "strings", "nested", "lists"],
)
def test_a_ready_made_map(given: dict[Any, Any]) -> None:
    message = FAMILY.parse(CITED, source_map=given)
    assert [source["id"] for source in message.citations[0].sources] == ["a", "b"]


@pytest.mark.parametrize(
    "given", [{"x": 1}, {(0,): {}}, {"0:x": {}}, {0: 5}, {(0, 0): "text"}, [1], "x", 5]
)
def test_a_map_that_cannot_be_read(given: dict[Any, Any]) -> None:
    with pytest.raises(tagsmith.RequestError, match=r"^source_map: "):
        read_source_map(given)


@pytest.mark.parametrize("field", ["documents", "messages"])
@pytest.mark.parametrize("value", [[1], [None], [{}, ["x"]]])
def test_an_entry_that_is_no_object(field: str, value: Any) -> None:
    place = rf"{field}\[{len(value) - 1}\]"
    with pytest.raises(tagsmith.RequestError, match=f"^{place}: must be an object"):
        FAMILY.parse(CITED, **{field: value})


def test_a_message_shares_nothing_with_the_request() -> None:
    documents = [{"id": "a", "data": {"k": [1]}}]
    twice = "<co>a</co: 0:[0]><co>b</co: 0:[0]>"
    one, two = FAMILY.parse(twice, documents=documents).citations
    one.sources[0]["document"]["k"].append(2)
    assert documents[0]["data"] == {"k": [1]}
    assert two.sources[0]["document"]["k"] == [1]


def nested(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {"data": {"text": "x"}}
    for _ in range(levels):
        value = {"data": [value]}
    return value


@pytest.mark.parametrize("field", ["documents", "messages"])
@pytest.mark.parametrize("levels", [40, 1_000, 50_000])
def test_an_entry_that_is_nested_too_deeply(field: str, levels: int) -> None:
    with pytest.raises(tagsmith.RequestError, match=rf"^{field}\[1\]: nested deeper than 64"):
        FAMILY.parse(CITED, **{field: [{}, nested(levels)]})
    FAMILY.parse(CITED, **{field: [nested(25)]})


def test_a_document_that_holds_itself() -> None:
    document: dict[str, Any] = {}
    document["data"] = {"more": document}
    with pytest.raises(tagsmith.RequestError, match=r"^documents\[0\]: nested"):
        FAMILY.parse(CITED, documents=[document])


@pytest.mark.parametrize("field", ["documents", "messages"])
@pytest.mark.parametrize("value", ["text", {"a": 1}, 5])
def test_a_request_that_is_no_list(field: str, value: Any) -> None:
    with pytest.raises(tagsmith.RequestError, match=f"^{field}: must be a list"):
        FAMILY.parse(CITED, **{field: value})


def test_without_a_request_nothing_is_resolved_and_nothing_is_wrong() -> None:
    message = FAMILY.parse(CITED)
    assert message.citations[0].sources == ()
    assert message.diagnostics == ()


def test_what_does_not_resolve_is_said_and_the_rest_kept() -> None:
    message = FAMILY.parse(CITED, documents=[{"id": "a", "data": {}}])
    assert [source["id"] for source in message.citations[0].sources] == ["a"]
    assert [d.code.value for d in message.diagnostics] == ["unresolved-source"]
