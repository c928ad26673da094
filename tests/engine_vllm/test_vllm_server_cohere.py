"""A model that cites and gives its calls ids, from end to end: by Chat Completions, and by the API
in Cohere's shape that vLLM has."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from vllm.entrypoints.cohere.protocol import CohereChatV2Request
from vllm_client import both_ways, joined, streamed
from vllm_held import STRICT
from vllm_kit import WEATHER, chat
from vllm_server import MODEL, Server, frames

ACTION = (
    '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "get_weather", '
    '"parameters": {"city": "Oslo"}}]<|END_ACTION|>'
)
PLAN = "<|START_THINKING|>I look.<|END_THINKING|>"
CITED = "<|START_RESPONSE|>It is <co>21 degrees</co: 0:[0]>.<|END_RESPONSE|>"
TURN_END = "<|END_OF_TURN_TOKEN|>"
DOCUMENTS = [{"id": "a", "title": "t", "text": "It is 21 degrees."}]


def test_ids_of_the_models_own(command: Server) -> None:
    make = lambda: chat([STRICT], model=MODEL)  # noqa: E731
    told = both_ways(command, make, f"{PLAN}{ACTION}{TURN_END}")
    assert [(call["id"], call["name"]) for call in told["calls"]] == [("0", "get_weather")]
    chunks = joined(streamed(command, make(), f"{PLAN}{ACTION}{TURN_END}"))
    assert chunks["calls"] == told["calls"]


def test_citations_of_a_chat_stream(command: Server) -> None:
    make = lambda: chat(model=MODEL, documents=DOCUMENTS)  # noqa: E731
    text = f"{PLAN}{CITED}{TURN_END}"
    assert both_ways(command, make, text)["content"] == "It is 21 degrees."
    (citation,) = joined(streamed(command, make(), text))["citations"]
    (source,) = citation.pop("sources")
    assert citation == {"start": 6, "end": 16, "text": "21 degrees", "type": "TEXT_CONTENT"}
    assert (source["type"], source["id"], source["document"]) == ("document", "a", DOCUMENTS[0])


def cohere(stream: bool, **fields: Any) -> CohereChatV2Request:
    messages = [{"role": "user", "content": "Weather?"}]
    return CohereChatV2Request(model=MODEL, messages=messages, stream=stream, **fields)


def test_vllms_cohere_api(command: Server) -> None:
    fields = {"documents": [{"id": "a", "data": {"text": "It is 21 degrees."}}]}
    text = f"{PLAN}{CITED}{TURN_END}"
    command.engine.say(text)
    answer = asyncio.run(command.cohere.create_chat_v2(cohere(stream=False, **fields)))
    told = json.loads(answer.model_dump_json(exclude_none=True))
    assert told["finish_reason"] == "COMPLETE"
    thinking, content = told["message"]["content"]
    assert (thinking["thinking"], content["text"]) == ("I look.", "It is 21 degrees.")
    (citation,) = told["message"]["citations"]
    assert (citation["start"], citation["end"], citation["text"]) == (6, 16, "21 degrees")
    assert [source["id"] for source in citation["sources"]] == ["a"]

    async def read() -> list[dict[str, Any]]:
        return await frames(await command.cohere.create_chat_v2(cohere(stream=True, **fields)))

    command.engine.say(text)
    told_events = asyncio.run(read())
    (started,) = [e for e in told_events if e["type"] == "citation-start"]
    (cited,) = [started["delta"]["message"]["citations"]]
    assert {key: cited[key] for key in ("start", "end", "text")} == {
        key: citation[key] for key in ("start", "end", "text")
    }
    # The engine is in another process, to which the map of sources does not go.
    sent = command.engine.requests[-1].reasoning_parser_kwargs["chat_template_kwargs"]
    assert command.family.serving.source_map_key not in sent


def test_calls_of_vllms_cohere_api(command: Server) -> None:
    tools = [{"type": "function", "function": WEATHER}]
    command.engine.say(f"{PLAN}{ACTION}{TURN_END}")
    request = cohere(stream=False, tools=tools, tool_choice="REQUIRED", strict_tools=True)
    answer = asyncio.run(command.cohere.create_chat_v2(request))
    told = json.loads(answer.model_dump_json(exclude_none=True))
    assert told["finish_reason"] == "TOOL_CALL"
    (call,) = told["message"]["tool_calls"]
    assert (call["id"], call["function"]["name"]) == ("0", "get_weather")


def test_the_engines_parser_is_of_the_same_family(command: Server, qwen: Server) -> None:
    for server in (command, qwen):
        manager = server.engine.grammars
        assert manager.reasoner_cls(tokenizer=manager.tokenizer).family is server.family
