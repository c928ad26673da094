"""What the tests of the wire formats share: answers of the Chat Completions shape as events and
messages, and a client's view of each stream."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tagsmith.events import (
    Citation,
    ContentDelta,
    Event,
    ReasoningDelta,
    Target,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
)
from tagsmith.message import Message, ToolCall
from tagsmith.wire.options import Usage

TARGETS = {"TEXT_CONTENT": Target.CONTENT, "THINKING_CONTENT": Target.REASONING}


def citation_of(given: Mapping[str, Any]) -> Citation:
    return Citation(
        given["start"],
        given["end"],
        given["text"],
        TARGETS[given.get("type") or "TEXT_CONTENT"],
        (),
        tuple(given.get("sources") or ()),
    )


def usage_of(given: Mapping[str, Any] | None) -> Usage | None:
    if given is None:
        return None
    details = given.get("prompt_tokens_details") or {}
    return Usage(
        given["prompt_tokens"], given.get("completion_tokens") or 0, details.get("cached_tokens")
    )


def message_of(completion: Mapping[str, Any]) -> Message:
    """The message of a Chat Completions answer."""
    calls = enumerate(completion.get("tool_calls") or ())
    stop = completion.get("stop_reason")
    return Message(
        reasoning=completion.get("reasoning"),
        content=completion.get("content"),
        tool_calls=tuple(
            ToolCall(
                index, call["id"], call["function"]["name"], call["function"]["arguments"], True
            )
            for index, call in calls
        ),
        citations=tuple(map(citation_of, completion.get("citations") or ())),
        finish_reason=completion.get("finish_reason"),
        stop=stop if isinstance(stop, str) else None,
    )


class ChunkReader:
    """The events of Chat Completions chunks: a call ends where something else begins."""

    def __init__(self) -> None:
        self._call: int | None = None

    def events(self, chunk: Mapping[str, Any]) -> list[Event]:
        out: list[Event] = []
        reasoning = chunk.get("reasoning") or chunk.get("reasoning_content")
        if reasoning:
            out += [*self.end(), ReasoningDelta(reasoning)]
        if chunk.get("content"):
            out += [*self.end(), ContentDelta(chunk["content"])]
        for call in chunk.get("tool_calls") or ():
            function = call.get("function") or {}
            if call["index"] != self._call:
                name = function.get("name") or ""
                out += [*self.end(), ToolCallStart(call["index"], call.get("id") or "", name)]
                self._call = call["index"]
            if function.get("arguments"):
                out.append(ToolCallDelta(call["index"], function["arguments"]))
        return out + [citation_of(citation) for citation in chunk.get("citations") or ()]

    def end(self) -> list[Event]:
        call, self._call = self._call, None
        return [] if call is None else [ToolCallEnd(call, complete=True)]


def assert_own_parts(values: Any, seen: set[int] | None = None) -> None:
    """No two parts that can be changed are the same object."""
    seen = set() if seen is None else seen
    if isinstance(values, dict | list):
        assert id(values) not in seen
        seen.add(id(values))
        for inner in values.values() if isinstance(values, dict) else values:
            assert_own_parts(inner, seen)


def cut_of(text: str, start: int, end: int, units: str) -> str:
    """The text between two offsets, as a client counts that has strings of such units."""
    codec, size = {
        "code-points": ("utf-32-le", 4),
        "utf-16": ("utf-16-le", 2),
        "utf-8": ("utf-8", 1),
    }[units]
    return text.encode(codec)[start * size : end * size].decode(codec)


def chat_of_chunks(chunks: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The message that a client puts together of Chat Completions chunks."""
    message: dict[str, Any] = {"content": None}
    calls: list[dict[str, Any]] = []
    citations: list[dict[str, Any]] = []
    for chunk in chunks:
        for key, value in chunk["choices"][0]["delta"].items():
            if key == "tool_calls":
                for part in value:
                    if part["index"] == len(calls):
                        calls.append({key: part[key] for key in ("id", "type", "function")})
                    else:
                        arguments = part["function"]["arguments"]
                        calls[part["index"]]["function"]["arguments"] += arguments
            elif key == "citations":
                citations += value
            else:
                message[key] = (message.get(key) or "") + value
    assert [cited.pop("index") for cited in citations] == list(range(len(citations)))
    lists = {"tool_calls": calls, "citations": citations}
    return message | {key: value for key, value in lists.items() if value}


def cohere_of_events(events: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The answer that a client puts together of Cohere v2 stream events.

    It holds the client's rules: every index counts up, and a block is closed before another opens.
    """
    body: dict[str, Any] = {"role": None, "content": [], "tool_calls": [], "citations": []}
    is_open: dict[str, int | None] = {"content": None, "tool-call": None, "citation": None}
    ended_calls: set[int] = set()
    final: dict[str, Any] = {}
    for event in events:
        assert not final
        family, _, step = event["type"].rpartition("-")
        delta = event.get("delta", {})
        told = delta.get("message", {})
        index = event.get("index")
        if family == "message":
            if step == "start":
                assert body["role"] is None
                body["role"] = told["role"]
            else:
                assert is_open["content"] is None
                final = {key: value for key, value in event.items() if key != "type"}
        elif family == "tool-plan":
            assert is_open["content"] is None
            body["tool_plan"] = body.get("tool_plan", "") + told["tool_plan"]
        elif step == "start":
            assert is_open[family] is None or family == "tool-call"
            assert is_open["content"] is None or family == "citation"
            is_open[family] = index
            key = {"content": "content", "tool-call": "tool_calls", "citation": "citations"}[family]
            assert index == len(body[key])
            body[key].append(told[key])
        elif step == "delta":
            assert is_open[family] == index
            if family == "content":
                [(kind, text)] = told["content"].items()
                body["content"][index][kind] += text
            else:
                arguments = told["tool_calls"]["function"]["arguments"]
                body["tool_calls"][index]["function"]["arguments"] += arguments
        else:
            assert is_open[family] == index
            is_open[family] = None
            if family == "tool-call":
                ended_calls.add(index)
    message = {key: value for key, value in body.items() if value}
    return {"message": message, "ended_calls": ended_calls, **final}


def joined_blocks(message: Mapping[str, Any]) -> dict[str, Any]:
    """A Cohere message with one block of each kind, as a message that is not streamed has it."""
    texts = {"thinking": "", "text": ""}
    bases: list[int] = []
    for block in message.get("content", ()):
        kind = block["type"]
        bases.append(len(texts[kind]))
        texts[kind] += block[kind]
    body = {key: value for key, value in message.items() if key not in ("content", "citations")} | {
        kind: text for kind, text in texts.items() if text
    }
    citations = []
    for citation in message.get("citations", ()):
        base = bases[citation["content_index"]] if "content_index" in citation else 0
        places = {key: citation[key] + base for key in ("start", "end")}
        citations.append({**citation, **places})
        citations[-1].pop("content_index", None)
    return body | ({"citations": citations} if citations else {})
