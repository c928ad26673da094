"""A served model without one: SGLang's real handlers over an engine that says what it is told."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from sglang.srt.entrypoints.openai.protocol import ChatCompletionRequest, ResponsesRequest
from sglang.srt.entrypoints.openai.serving_chat import OpenAIServingChat
from sglang.srt.entrypoints.openai.serving_responses import OpenAIServingResponses
from sglang.srt.runtime_context import get_context

import tagsmith
from tagsmith.testing import MockTokenizer


class ServedTokenizer(MockTokenizer):
    """The test kit's tokenizer in the shape of the transformers' ones. Its prompt is fixed."""

    chat_template = "{{ messages }}"
    eos_token_id = None
    init_kwargs: dict[str, Any] = {}  # noqa: RUF012
    name_or_path = ""
    prompt = ""

    def encode(self, text: str, add_special_tokens: bool = True) -> list[int]:
        return super().encode(text)

    def decode(self, token_ids: Any, skip_special_tokens: bool = False, **_: Any) -> str:
        ids = [token_ids] if isinstance(token_ids, int) else token_ids
        return super().decode(ids, skip_special_tokens)

    def apply_chat_template(self, messages: Any, **options: Any) -> Any:
        return self.encode(self.prompt) if options.get("tokenize", True) else self.prompt

    def convert_tokens_to_ids(self, token: str) -> int | None:
        return self.get_vocab().get(token)


@dataclass
class Engine:
    """Stands for the tokenizer manager: writes `outputs`, one for each choice, `step` tokens at a
    time; `finish` is why it ends, `matched` the token or string at which it stopped."""

    tokenizer: ServedTokenizer
    architectures: Sequence[str] = ("Unknown",)
    model_path: str = "some/model"
    outputs: Sequence[str] = ("",)
    step: int = 1
    finish: str = "stop"
    matched: Any = None
    asked: list[Any] = field(default_factory=list)

    served_model_name = "served"
    server_args = None
    mm_processor = None
    request_logger = SimpleNamespace(log_requests=False)
    num_reserved_tokens = 0
    context_len = 1 << 20

    @property
    def model_config(self) -> Any:
        config = SimpleNamespace(architectures=list(self.architectures), model_type="test")
        return SimpleNamespace(
            hf_config=config,
            is_multimodal=False,
            get_default_sampling_params=dict,
        )

    def config_value(self, name: str) -> Any:
        return get_context().config_leaf(name)

    def create_abort_task(self, request: Any) -> None:
        return None

    def abort_request(self, **_: Any) -> None: ...

    async def generate_request(self, request: Any, raw: Any = None) -> AsyncIterator[Any]:
        self.asked.append(request)
        all_ids = [self.tokenizer.encode(output) for output in self.outputs]
        if not request.stream:
            whole = [
                self._content(n, ids, ids, output)
                for n, (ids, output) in enumerate(zip(all_ids, self.outputs, strict=True))
            ]
            yield whole if len(whole) > 1 else whole[0]
            return
        incremental = self.config_value("incremental_streaming_output")
        for number, ids in enumerate(all_ids):
            text, told = "", 0
            for end in [*range(self.step, len(ids), self.step), len(ids)]:
                # A character that is cut is not whole here; a parser goes by the tokens.
                piece = self.tokenizer.decode(ids[told:end])
                text = piece if incremental else text + piece
                yield self._content(number, ids, ids[told * incremental : end], text, end)
                told = end

    def _content(
        self, number: int, ids: list[int], told: list[int], text: str, end: int | None = None
    ) -> dict[str, Any]:
        end = len(ids) if end is None else end
        reason = {"type": self.finish, "matched": self.matched} if end == len(ids) else None
        return {
            "index": number,
            "text": text,
            "output_ids": told,
            "meta_info": {
                "id": f"id-{number}",
                "finish_reason": reason,
                "prompt_tokens": 3,
                "completion_tokens": end,
                "cached_tokens": 0,
                "weight_version": "1",
            },
        }


TEMPLATES = SimpleNamespace(
    chat_template_name=None,
    force_reasoning=False,
    jinja_template_content_format="string",
    jinja_template_may_reorder_tool_results=False,
    python_chat_template=None,
    reasoning_config=None,
)


def engine(family: tagsmith.Family, **options: Any) -> Engine:
    return Engine(ServedTokenizer.for_family(family), **options)


@contextmanager
def serving(
    engine: Engine,
    *,
    reasoning: str | None,
    calls: str | None,
    responses: bool = False,
    **args: Any,
) -> Iterator[Any]:
    """A handler of SGLang's over the engine, with these parsers."""
    given = {"reasoning_parser": reasoning, "tool_call_parser": calls, **args}
    with get_context().override_server_args(**given):
        kind = OpenAIServingResponses if responses else OpenAIServingChat
        yield kind(engine, TEMPLATES)


@dataclass
class Answer:
    """What a client makes of an answer, streamed or not."""

    reasoning: str = ""
    content: str = ""
    calls: list[dict[str, Any]] = field(default_factory=list)
    citations: list[dict[str, Any]] = field(default_factory=list)
    finish_reason: str | None = None
    matched_stop: Any = None


def chat_request(**fields: Any) -> ChatCompletionRequest:
    messages = [{"role": "user", "content": "Hi"}]
    return ChatCompletionRequest(**{"model": "served", "messages": messages, **fields})


def refused(handler: Any, request: Any) -> str:
    """The message of the error that answers the request."""
    response = asyncio.run(handler.handle_request(request, None))
    assert response.status_code == 400
    return str(json.loads(response.body)["message"])


def answers(handler: Any, request: ChatCompletionRequest) -> list[Answer]:
    """The answers of a chat request, one for each choice."""
    return asyncio.run(_answers(handler, request))


async def _answers(handler: Any, request: ChatCompletionRequest) -> list[Answer]:
    response = await handler.handle_request(request, None)
    if not request.stream:
        return [_whole(choice) for choice in response.model_dump()["choices"]]
    frames = [frame async for frame in response.body_iterator]
    assert frames[-1] == "data: [DONE]\n\n"
    return _streamed([json.loads(frame.removeprefix("data: ")) for frame in frames[:-1]])


def _whole(choice: dict[str, Any]) -> Answer:
    message = choice["message"]
    calls = [{"id": call["id"], **call["function"]} for call in message.get("tool_calls") or ()]
    return Answer(
        message["reasoning_content"] or "",
        message["content"] or "",
        calls,
        finish_reason=choice["finish_reason"],
        matched_stop=choice["matched_stop"],
    )


def _streamed(chunks: list[dict[str, Any]]) -> list[Answer]:
    found: dict[int, Answer] = {}
    for chunk in chunks:
        for choice in chunk["choices"]:
            answer = found.setdefault(choice["index"], Answer())
            delta = choice["delta"]
            answer.reasoning += delta.get("reasoning_content") or ""
            answer.content += delta.get("content") or ""
            answer.citations += delta.get("citations") or ()
            for call in delta.get("tool_calls") or ():
                if call.get("id"):
                    assert call["index"] == len(answer.calls)
                    answer.calls.append({"id": call["id"], **call["function"]})
                else:
                    answer.calls[call["index"]]["arguments"] += call["function"]["arguments"]
            if choice["finish_reason"]:
                answer.finish_reason = choice["finish_reason"]
                answer.matched_stop = choice["matched_stop"]
    return [found[index] for index in sorted(found)]


def responses_request(**fields: Any) -> ResponsesRequest:
    return ResponsesRequest(**{"model": "served", "input": "Hi", **fields})
