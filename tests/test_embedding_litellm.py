"""The programs for LiteLLM, in LiteLLM itself, before an upstream of raw completions."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import tagsmith
from fake_upstream import FakeUpstream, Reply, counted, fake_upstream, piece, saying, until

# Its import takes seconds, and it warns of its own affairs.
pytestmark = [pytest.mark.heavy, pytest.mark.filterwarnings("ignore")]

sys.path.insert(0, str(Path(__file__).parent.parent / "examples" / "embedding"))

COMMAND_A = tagsmith.get_family("Cohere2ForCausalLM")
NOW = {"type": "function", "function": {"name": "now", "parameters": {"type": "object"}}}
DOCUMENTS = [{"id": "report", "data": {"text": "24 degrees"}}]
CALLS = (
    "<|START_THINKING|>look<|END_THINKING|><|START_ACTION|>"
    '[{"tool_call_id": "0", "tool_name": "now", "parameters": {}}]<|END_ACTION|>'
)
CITED = "<|START_RESPONSE|>It is <co>warm</co: 0:[0]>.<|END_RESPONSE|>"


@pytest.fixture(scope="module")
def litellm() -> Iterator[ModuleType]:
    """LiteLLM with the handler as the provider `raw`. It asks nobody for prices."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
        import litellm
        from begin import begin
        from litellm_handler import RawCompletions

        handler = RawCompletions(partial(begin, COMMAND_A))
        patch.setattr(
            litellm, "custom_provider_map", [{"provider": "raw", "custom_handler": handler}]
        )
        patch.setattr(litellm, "suppress_debug_info", True)
        yield litellm


@pytest.fixture(scope="module")
def upstream() -> Iterator[FakeUpstream]:
    with fake_upstream() as found:
        yield found


def to(upstream: FakeUpstream, text: str, **asked: Any) -> dict[str, Any]:
    """The arguments of a chat completion, of an upstream that writes this text."""
    upstream.reply = lambda _: saying(text)
    messages = [{"role": "user", "content": "Hi"}]
    base = f"{upstream.url}/v1"
    return {"model": "raw/upstream-m", "messages": messages, "api_base": base, **asked}


def whole(litellm: ModuleType, asked: dict[str, Any]) -> Any:
    return asyncio.run(litellm.acompletion(**asked))


def streamed(litellm: ModuleType, asked: dict[str, Any]) -> Any:
    """What a stream adds up to, by LiteLLM's own hand; and the citations, which it leaves out."""

    async def run() -> list[Any]:
        return [chunk async for chunk in await litellm.acompletion(**asked, stream=True)]

    chunks = asyncio.run(run())
    cited = [
        one for chunk in chunks for one in getattr(chunk.choices[0].delta, "citations", None) or ()
    ]
    return litellm.stream_chunk_builder(chunks), cited


def test_calls_and_reasoning(litellm: ModuleType, upstream: FakeUpstream) -> None:
    asked = to(upstream, CALLS, tools=[NOW], tool_choice="required", max_tokens=90, top_k=4)
    for answer in (whole(litellm, asked), streamed(litellm, asked)[0]):
        (choice,) = answer.choices
        (call,) = choice.message.tool_calls
        assert (call.function.name, json.loads(call.function.arguments)) == ("now", {})
        assert choice.message.reasoning_content == "look"
        assert choice.finish_reason == "tool_calls"
        assert not choice.message.content


def test_citations(litellm: ModuleType, upstream: FakeUpstream) -> None:
    asked = to(upstream, CITED, documents=DOCUMENTS)
    message = whole(litellm, asked).choices[0].message
    answer, cited = streamed(litellm, asked)
    assert message.content == answer.choices[0].message.content == "It is warm."
    for (one,) in (message.citations, cited):
        assert (one["start"], one["end"], one["sources"][0]["id"]) == (6, 10, "report")


def test_what_the_upstream_is_asked(litellm: ModuleType, upstream: FakeUpstream) -> None:
    whole(litellm, to(upstream, CALLS, tools=[NOW], tool_choice="required", max_tokens=90, top_k=4))
    body = upstream.requests[-1]
    assert (body["model"], body["max_tokens"], body["top_k"]) == ("upstream-m", 90, 4)
    assert body["prompt"].endswith("<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>")
    assert body["skip_special_tokens"] is False
    tag = json.loads(body["structured_outputs"]["structural_tag"])
    assert tag == COMMAND_A.structural_tag(tools=[NOW], tool_choice="required", reasoning="auto")
    assert not body.keys() & {"tools", "tool_choice", "messages"}


def test_usage_is_the_upstreams(litellm: ModuleType, upstream: FakeUpstream) -> None:
    asked = to(upstream, CITED)
    found = whole(litellm, asked).usage
    assert (found.prompt_tokens, found.completion_tokens) == (11, -(-len(CITED) // 5))

    async def run() -> Any:
        options = {"stream": True, "stream_options": {"include_usage": True}}
        return [chunk async for chunk in await litellm.acompletion(**asked, **options)][-1]

    assert asyncio.run(run()).usage.prompt_tokens == 11


def test_the_upstreams_reason_is_kept(litellm: ModuleType, upstream: FakeUpstream) -> None:
    asked = to(upstream, "")
    upstream.reply = lambda _: saying("<|START_RESPONSE|>Hi", finish="length")
    assert whole(litellm, asked).choices[0].finish_reason == "length"
    assert streamed(litellm, asked)[0].choices[0].finish_reason == "length"


@pytest.mark.parametrize("leaves", [True, False])
def test_the_upstream_is_left_at_once(
    litellm: ModuleType, upstream: FakeUpstream, leaves: bool
) -> None:
    """When the client leaves, and when one of its stop strings has come."""
    asked = to(upstream, "", **({} if leaves else {"stop": "END"}))
    begun = [piece("<|START_RESPONSE|>Hi"), piece(" END of", usage=counted(3, 4)), 60.0]
    upstream.reply = lambda _: Reply(begun)
    upstream.left.clear()

    async def run() -> list[str]:
        stream = await litellm.acompletion(**asked, stream=True)
        told = []
        async for chunk in stream:
            told.append(chunk.choices[0].delta.content or "")
            if leaves and told[-1]:
                await stream.aclose()
                break
        return told

    told = "".join(asyncio.run(run()))
    until(lambda: upstream.left)
    assert told.strip() == "Hi"


def test_what_is_wrong_is_the_clients_fault(litellm: ModuleType, upstream: FakeUpstream) -> None:
    asked = to(upstream, "", tool_choice="required")
    for asking in (whole, streamed):
        with pytest.raises(litellm.BadRequestError, match="tool_choice"):
            asking(litellm, asked)


def test_a_fault_of_the_upstream_is_told(litellm: ModuleType, upstream: FakeUpstream) -> None:
    asked = to(upstream, "")
    error = json.dumps({"error": {"message": "it is full"}}).encode()
    upstream.reply = lambda _: Reply([error], status=400, content_type="application/json")
    with pytest.raises(litellm.BadRequestError, match="it is full"):
        whole(litellm, asked)


def test_the_logger_counts(
    litellm: ModuleType, upstream: FakeUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    from litellm_logger import Diagnostics

    logger = Diagnostics(COMMAND_A)
    monkeypatch.setattr(litellm, "callbacks", [logger])
    asked = {
        "model": "text-completion-openai/upstream-m",
        "prompt": "x",
        "api_base": f"{upstream.url}/v1",
        "api_key": "none",
    }
    cut = CALLS[:-30]
    choices = [{"index": 0, "text": cut, "finish_reason": "length", "logprobs": None}]
    answer = {"id": "cmpl-1", "object": "text_completion", "created": 1, "model": "m"}
    body = json.dumps({**answer, "choices": choices, "usage": counted(1, 2)}).encode()

    async def run() -> None:
        upstream.reply = lambda _: Reply([body], content_type="application/json")
        await litellm.atext_completion(**asked)
        upstream.reply = lambda _: saying(cut, finish="length")
        async for _ in await litellm.atext_completion(**asked, stream=True):
            pass
        while logger.counts.get("upstream-m", {}).get("outputs") != 2:
            await asyncio.sleep(0.01)

    asyncio.run(asyncio.wait_for(run(), 20))
    assert logger.counts["upstream-m"]["truncated"] == 2
