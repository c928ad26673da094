"""What a client makes of the answers of vLLM's serving classes, whole and streamed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
from vllm_kit import Request
from vllm_server import Server, frames


def whole(server: Server, request: ChatCompletionRequest, *texts: str) -> dict[str, Any]:
    """The answer of Chat Completions, as a client reads it."""
    server.engine.say(*texts)
    told = asyncio.run(server.chat.create_chat_completion(request))
    return json.loads(told.model_dump_json())


def streamed(server: Server, request: ChatCompletionRequest, *texts: str) -> list[dict[str, Any]]:
    """The chunks of a stream, with usage in each."""

    async def read() -> list[dict[str, Any]]:
        return await frames(await server.chat.create_chat_completion(request))

    server.engine.say(*texts)
    request.stream = True
    told = asyncio.run(read())
    assert all("error" not in chunk for chunk in told), told
    return told


def joined(chunks: list[dict[str, Any]], index: int = 0) -> dict[str, Any]:
    """What the chunks of one choice add up to, and why it ended."""
    told: dict[str, Any] = {"reasoning": "", "content": "", "calls": [], "citations": []}
    for chunk in chunks:
        for choice in chunk["choices"]:
            if choice["index"] != index:
                continue
            delta = choice["delta"]
            told["reasoning"] += delta.get("reasoning") or ""
            told["content"] += delta.get("content") or ""
            told["citations"] += delta.get("citations") or []
            told["finish_reason"] = choice.get("finish_reason")
            for call in delta.get("tool_calls", []):
                if call["index"] == len(told["calls"]):
                    told["calls"].append({"id": call["id"], "name": call["function"]["name"]})
                    told["calls"][-1]["arguments"] = ""
                told["calls"][call["index"]]["arguments"] += call["function"]["arguments"] or ""
    return told


def message(answer: dict[str, Any], index: int = 0) -> dict[str, Any]:
    """The same of a whole answer."""
    choice = answer["choices"][index]
    given = choice["message"]
    return {
        "reasoning": given["reasoning"] or "",
        "content": given["content"] or "",
        "calls": [{"id": call["id"]} | call["function"] for call in given.get("tool_calls", [])],
        "citations": given.get("citations") or [],
        "finish_reason": choice["finish_reason"],
    }


def without_ids(told: dict[str, Any]) -> dict[str, Any]:
    calls = [{k: v for k, v in call.items() if k != "id"} for call in told["calls"]]
    return told | {"calls": calls}


def both_ways(
    server: Server, make: Callable[[], ChatCompletionRequest], text: str
) -> dict[str, Any]:
    """The message, which is the same whole and streamed."""
    told = message(whole(server, make(), text))
    chunks = joined(streamed(server, make(), text))
    assert without_ids(chunks) | {"citations": []} == without_ids(told) | {"citations": []}
    return told


def respond(server: Server, request: Request, text: str) -> dict[str, Any]:
    server.engine.say(text)
    told = asyncio.run(server.responses.create_responses(request))
    return json.loads(told.model_dump_json())


def events(server: Server, request: Request, text: str) -> list[dict[str, Any]]:
    async def read() -> list[dict[str, Any]]:
        return await frames(await server.responses.create_responses(request))

    server.engine.say(text)
    request.stream = True
    return asyncio.run(read())


def output_of(response: dict[str, Any]) -> list[tuple[str, str]]:
    """Each item of a response by its type and what it says."""
    told = []
    for item in response["output"]:
        if item["type"] == "function_call":
            told.append((item["name"], item["arguments"]))
        elif item["type"] == "custom_tool_call":
            told.append((item["name"], item["input"]))
        else:
            told.append((item["type"], item["content"][0]["text"]))
    return told
