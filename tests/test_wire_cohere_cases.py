"""Right values of Cohere v2 answers, streams, citations and finish reasons, one test a case."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tagsmith.message import Message
from tagsmith.wire.cohere import cohere_message, cohere_response
from tagsmith.wire.cohere_events import CohereEvents
from tagsmith.wire.finish import cohere_finish_reason
from tagsmith.wire.options import ThoughtForm
from tagsmith.wire.sse import DONE, sse_frame
from wire_doubles import ChunkReader, citation_of, message_of, usage_of

LINES = Path(__file__).with_name("cases") / "cohere_v2.jsonl"
CASES = [json.loads(line) for line in LINES.read_text(encoding="utf-8").splitlines()]


def cases(kind: str) -> list[Any]:
    found = [case for case in CASES if case["kind"] == kind]
    assert found
    return [pytest.param(case["input"], case["expected"], id=case["id"]) for case in found]


def thoughts_of(given: dict[str, Any]) -> ThoughtForm:
    return ThoughtForm.THINKING if given["is_reasoning_model"] else ThoughtForm.TOOL_PLAN


def at(value: Any, path: list[Any]) -> Any:
    """What stands at a path; None where nothing does."""
    for step in path:
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and -len(value) <= step < len(value):
            value = value[step]
        else:
            return None
    return value


CHECKS = {
    "eq": lambda found, value: found == value,
    "len": lambda found, value: len(found) == value,
    "null": lambda found, value: found is None,
    "starts_with": lambda found, value: found.startswith(value),
}


@pytest.mark.parametrize(("given", "expected"), cases("v2_response"))
def test_response(given: dict[str, Any], expected: dict[str, Any]) -> None:
    completion = given["completion"]
    body = cohere_response(
        message_of(completion),
        id=completion["id"],
        usage=usage_of(completion["usage"]),
        thoughts=thoughts_of(given),
    )
    for check in expected["checks"]:
        found = at(body, check["path"])
        assert CHECKS[check["op"]](found, check["value"]), (check, found)


@pytest.mark.parametrize(("given", "expected"), cases("v2_citation_wire"))
def test_citations(given: dict[str, Any], expected: dict[str, Any]) -> None:
    citations = tuple(map(citation_of, given["citations"] or ()))
    message = Message(content="abc", citations=citations)
    found = cohere_message(message, thoughts=thoughts_of(given)).get("citations")
    if expected["citations"] is None:
        assert found is None
        return
    assert len(found) == len(expected["citations"])
    for shown, right in zip(found, expected["citations"], strict=True):
        ids = [source.get("id") for source in shown["sources"]]
        assert {**shown, "source_ids": ids}.items() >= right.items()


@pytest.mark.parametrize(("given", "expected"), cases("v2_finish_reason"))
def test_finish_reason(given: dict[str, Any], expected: dict[str, Any]) -> None:
    told = cohere_finish_reason(given["reason"], stop=given.get("stop_reason"))
    assert told == expected["finish_reason"]


def frames(given: dict[str, Any]) -> list[str]:
    """The stream that the chunks of a case become, as a server would send it."""
    chunks = given["chunks"]
    stream = CohereEvents(id=chunks[0]["id"], thoughts=thoughts_of(given))
    reader = ChunkReader()
    out: list[dict[str, Any]] = []
    reason = stop = usage = None
    for chunk in chunks:
        if "raise" in chunk:
            out += stream.fail(chunk["raise"]["message"])
            break
        reason = chunk.get("finish_reason") or reason
        stop = chunk.get("stop_reason") or stop
        usage = usage_of(chunk.get("usage")) or usage
        out += stream.feed(reader.events(chunk))
    out += stream.feed(reader.end()) if "raise" not in chunk else []
    out += stream.finish(reason, stop=stop, usage=usage)
    return [*map(sse_frame, out), DONE]


@pytest.mark.parametrize(("given", "expected"), cases("v2_stream"))
def test_stream(given: dict[str, Any], expected: dict[str, Any]) -> None:
    expected = dict(expected)
    *told, done = frames(given)
    assert (done == "data: [DONE]\n\n") is expected.pop("ends_with_done_frame")
    events = [json.loads(frame.removeprefix("data: ")) for frame in told]
    types = [event["type"] for event in events]
    assert types == expected.pop("event_types", types)
    assert set(expected.pop("event_types_include", [])) <= set(types)
    delta = events[-1]["delta"]
    assert delta.items() >= expected.pop("last_event", {"delta": {}})["delta"].items()
    error = delta.get("error", "")
    assert all(text in error for text in expected.pop("error_contains", []))
    assert not any(text in error for text in expected.pop("error_lacks", []))
    if "first_citation_sources" in expected:
        [first, *_] = (event for event in events if event["type"] == "citation-start")
        cited = first["delta"]["message"]["citations"]
        assert cited["sources"] == expected.pop("first_citation_sources")
    assert not expected, "a check that this test does not know"
