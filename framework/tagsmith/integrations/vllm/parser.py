"""One parser for reasoning and tool calls: what vLLM's serving layer holds for each request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from vllm.entrypoints.cohere.cohere_chat_message import Citation
from vllm.entrypoints.generate.base.protocol import DeltaMessage, FunctionCall
from vllm.parser import Parser as VllmParser
from vllm.parser.metrics import record_tool_parser_invocation

from tagsmith.errors import RequestError
from tagsmith.integrations.prompts import end_of_prompt
from tagsmith.integrations.vllm.deltas import call_id, citation, delta_message
from tagsmith.integrations.vllm.model import Adapter
from tagsmith.integrations.vllm.reading import Reading
from tagsmith.integrations.vllm.requests import (
    Conversation,
    Served,
    adjust,
    parser_options,
    refusal,
)
from tagsmith.message import MessageBuilder
from tagsmith.parser import Parser
from tagsmith.reasoning_gate import ReasoningCounter
from tagsmith.tokenizers import marker_ids


class TagsmithParser(VllmParser):
    """Reads one request's choices by a family of Tagsmith's.

    vLLM makes one for each request, and one for each choice of a stream.
    """

    adapter: ClassVar[Adapter]
    always_adjust_request = True

    def __init__(
        self,
        tokenizer: Any,
        tools: list[Any] | None = None,
        *args: Any,
        model_config: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(tokenizer, tools, *args, model_config=model_config, **kwargs)
        self.family = self.adapter.family(tokenizer, model_config)
        self.facts = self.family.serving
        self.last_unary_citations: list[Citation] | None = None
        self._template_fields = kwargs.get("chat_template_kwargs") or {}
        self._prompt_ids: Sequence[int] | None = None
        self._prompt: str | None = None
        self._stream: Reading | None = None
        self._counted: tuple[tuple[int, ...], ReasoningCounter] | None = None

    def set_prompt_token_ids(self, prompt_token_ids: Sequence[int]) -> None:
        """Take the prompt: where it ends says where the output begins."""
        if prompt_token_ids is not self._prompt_ids:
            self._prompt_ids = prompt_token_ids
            starts = self.facts.turn_start
            self._prompt = end_of_prompt(self.model_tokenizer, prompt_token_ids, starts)

    def adjust_request(self, request: Served) -> Served:
        """Keep special tokens, set the structural tag, and give stop strings to the parser.

        Raises:
            VLLMValidationError: the request cannot be served, or asks for what no grammar holds.
        """
        stop_ids = list(marker_ids(self.model_tokenizer, self.facts.stop_tokens))
        try:
            self._parser(request)
            return adjust(request, self._conversation(), stop_ids)
        except RequestError as error:
            raise refusal(error, request) from error

    def is_reasoning_end(self, input_ids: list[int]) -> bool:
        """Whether a prompt ends past reasoning."""
        reasoning = self._reasoning_parser
        return reasoning is None or reasoning.is_reasoning_end(input_ids)

    def count_reasoning_tokens(self, token_ids: Sequence[int]) -> int:
        """How many of a choice's tokens are reasoning, where the prompt may have opened it."""
        ids = tuple(token_ids)
        known, counter = self._counted or ((), self._counter())
        if ids[: len(known)] != known:
            known, counter = (), self._counter()
        counter.add(ids[len(known) :])
        self._counted = ids, counter
        return counter.count

    def parse(
        self,
        model_output: str,
        request: Served,
        enable_auto_tools: bool = False,
        model_output_token_ids: Sequence[int] = (),
    ) -> tuple[str | None, str | None, list[FunctionCall] | None]:
        """Read a whole output: its reasoning, content and tool calls.

        The citations stand in `last_unary_citations`, where vLLM's Cohere API takes them from.
        """
        reading = Reading(self._parser(request), request, self.model_tokenizer)
        told = MessageBuilder()
        told.add(reading.feed(model_output, model_output_token_ids, finished=True))
        message = told.message()
        calls = [
            FunctionCall(
                id=call_id(call.id, self.facts.call_ids), name=call.name, arguments=call.arguments
            )
            for call in message.tool_calls
        ]
        self.last_unary_citations = [citation(cited) for cited in message.citations] or None
        self._record(request, bool(calls), is_streaming=False)
        return message.reasoning, message.content, calls or None

    def parse_delta(
        self,
        delta_text: str,
        delta_token_ids: list[int],
        request: Served,
        prompt_token_ids: list[int] | None = None,
        *,
        finished: bool,
    ) -> DeltaMessage | None:
        """Read the next step of one choice: one token, or several."""
        if self._stream is None:
            if prompt_token_ids is not None:
                self.set_prompt_token_ids(prompt_token_ids)
            self._stream = Reading(self._parser(request), request, self.model_tokenizer)
        events = self._stream.feed(delta_text, delta_token_ids, finished=finished)
        delta = delta_message(events, self.facts.call_ids)
        self._record(request, bool(delta and delta.tool_calls), is_streaming=True)
        return delta

    def _parser(self, request: Served) -> Parser:
        options = parser_options(request, self._conversation())
        return self.family.parser(tokenizer=self.model_tokenizer, **options)

    def _conversation(self) -> Conversation:
        return Conversation(
            family=self.family,
            facts=self.facts,
            prompt=self._prompt,
            template_fields=self._template_fields,
            strict_level=self.tool_strict_level,
            may_call=self._tool_parser is not None,
        )

    def _counter(self) -> ReasoningCounter:
        counter = ReasoningCounter(self.family.reasoning_gate(self.model_tokenizer))
        counter.add(self._prompt_ids or ())
        counter.count = 0
        return counter

    def _record(self, request: Served, is_tool_called: bool, *, is_streaming: bool) -> None:
        if self._tool_parser is not None:
            record_tool_parser_invocation(
                is_tool_called=is_tool_called, is_streaming=is_streaming, request=request
            )
