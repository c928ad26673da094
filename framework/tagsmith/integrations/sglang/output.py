"""The outputs of a served pair, each choice read by one parser: SGLang's output adapter.

SGLang asks an adapter for a whole answer, or for each step of a stream, of Chat Completions (which
its Anthropic API goes through as well) and of the Responses API.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from sglang.srt.entrypoints.openai.protocol import (
    ChatCompletionRequest,
    FunctionResponse,
    ToolCall,
)
from sglang.srt.function_call.core_types import ToolCallItem

from tagsmith import message
from tagsmith.events import ContentDelta, ReasoningDelta, ToolCallDelta, ToolCallStart
from tagsmith.family import Family
from tagsmith.integrations.sglang.choice import Choice, Step
from tagsmith.integrations.sglang.chunks import ChunkWriter
from tagsmith.integrations.sglang.requests import read_choice, read_stops, read_tools
from tagsmith.request.plain import plain
from tagsmith.serving import CallIds


class OutputAdapter:
    """Reads all outputs of one handler of SGLang's; it has no state of its own."""

    def __init__(self, family: Family, handler: Any) -> None:
        self.family = family
        self._handler = handler
        # A tokenizer that cannot be asked is known before the first request.
        family.parser(tokenizer=self._tokenizer)

    def check(self, request: Any) -> None:
        """Find what is wrong with a request before anything is generated.

        Raises:
            RequestError: a field of it is.
        """
        self._chat_choice(request)

    def parse_chat_response(
        self, *, request: Any, output_ids: list[int], finish_reason: dict[str, Any]
    ) -> tuple[str | None, str, list[ToolCall] | None, dict[str, Any]]:
        """The reasoning, content, calls and finish reason of a whole answer."""
        choice = self._chat_choice(request)
        choice.read_whole(output_ids, finish_reason or {"type": "stop"})
        told = choice.message
        reasoning, content = _texts(told, separate=self._separate(request))
        if _wants_content(request) and not (content or told.tool_calls):
            reasoning, content = None, reasoning or ""
        calls = [
            ToolCall(
                id=self._call_id(request, call.id, call.index, call.name),
                index=call.index,
                function=FunctionResponse(name=call.name, arguments=call.arguments),
            )
            for call in told.tool_calls
        ]
        return reasoning, content, calls or None, finish_reason

    def stream_chat_chunks(
        self,
        *,
        content: dict[str, Any],
        index: int,
        request: Any,
        created: int,
        parser_dict: dict[int, Any],
        has_tool_calls: dict[int, bool],
        choice_logprobs: dict[str, Any] | None,
        finish_reason_type: str | None,
        usage: dict[str, Any] | None,
    ) -> list[str]:
        """What a client is sent of a step of one choice."""
        if index not in parser_dict:
            parser_dict[index] = (
                self._chat_choice(request),
                self._writer(request, content["meta_info"]["id"], created, index),
            )
        choice: Choice
        writer: ChunkWriter
        choice, writer = parser_dict[index]
        events = choice.read_step(Step.of(content))
        has_tool_calls[index] = choice.has_calls
        return writer.write(events, usage, choice_logprobs, last=finish_reason_type is not None)

    def parse_responses_output(
        self,
        *,
        request: Any,
        require_reasoning: bool,
        output_ids: list[int],
        finish_reason: dict[str, Any] | None,
        separate_reasoning: bool,
        parse_tool_calls: bool,
    ) -> tuple[str | None, str, list[ToolCallItem]]:
        """The reasoning, content and calls of a whole answer of the Responses API."""
        choice = self._responses_choice(request, may_call=parse_tool_calls)
        choice.read_whole(output_ids, finish_reason or {"type": "stop"})
        reasoning, content = _texts(choice.message, separate=separate_reasoning)
        return reasoning, content, list(map(_item, choice.message.tool_calls))

    def new_responses_stream(
        self,
        *,
        request: Any,
        require_reasoning: bool,
        separate_reasoning: bool,
        parse_tool_calls: bool,
    ) -> ResponsesStream:
        """What reads a stream of the Responses API."""
        choice = self._responses_choice(request, may_call=parse_tool_calls)
        return ResponsesStream(choice, separate=separate_reasoning)

    @property
    def _tokenizer(self) -> Any:
        return self._handler.tokenizer_manager.tokenizer

    def _separate(self, request: Any) -> bool:
        return bool(self._handler.reasoning_parser and request.separate_reasoning)

    def _writer(self, request: Any, id: str, created: int, index: int) -> ChunkWriter:  # noqa: A002
        return ChunkWriter(
            id=id,
            model=request.model,
            created=created,
            index=index,
            separate=self._separate(request),
            stream_reasoning=request.stream_reasoning,
            wants_content=_wants_content(request),
            call_id=partial(self._call_id, request),
        )

    def _chat_choice(self, request: ChatCompletionRequest) -> Choice:
        handler = self._handler
        may_call = handler._tool_call_parsing_active(request)
        tools = handler._effective_tools(request) if may_call else ()
        return self._choice(request, tools, request.tool_choice if may_call else "none")

    def _responses_choice(self, request: Any, *, may_call: bool) -> Choice:
        handler = self._handler
        tools = handler._response_tools_to_chat_tools(request) if may_call else ()
        choice = handler._chat_tool_choice(request.effective_tool_choice()) if may_call else "none"
        return self._choice(request, tools, choice)

    def _choice(self, request: Any, tools: Any, tool_choice: Any) -> Choice:
        options: dict[str, Any] = {
            "tools": read_tools(tools) or None,
            "tool_choice": read_choice(tool_choice),
            "prompt": request._response_parser_prefix or None,
            "stop": read_stops(request.stop),
            **self._sources(request),
        }
        return Choice(self.family.parser(tokenizer=self._tokenizer, **options))

    def _sources(self, request: Any) -> dict[str, Any]:
        """What citations point to: a ready map or documents among the template's variables."""
        key = self.family.serving.source_map_key
        if key is None:
            return {}
        fields = request.chat_template_kwargs or {}
        if isinstance(fields.get(key), Mapping):
            return {"source_map": fields[key]}
        told = [plain(given) for given in getattr(request, "messages", ())]
        return {"documents": fields.get("documents"), "messages": told or None}

    def _call_id(self, request: Any, given: str, index: int, name: str) -> str:
        """The model's own id, or one in the way that SGLang gives them."""
        if self.family.serving.call_ids is CallIds.MODEL:
            return given
        handler = self._handler
        item = ToolCallItem(tool_index=index, name=name, parameters="")
        before = handler._get_history_tool_calls_cnt(request)
        return str(handler._process_tool_call_id(item, before))


class ResponsesStream:
    """Reads one stream of the Responses API."""

    def __init__(self, choice: Choice, *, separate: bool) -> None:
        self._choice = choice
        self._separate = separate

    def step(
        self, chunk: dict[str, Any], finish_reason: dict[str, Any] | None
    ) -> tuple[str, str, list[ToolCallItem]]:
        """The reasoning, content and calls of a step."""
        reasoning: list[str] = []
        content: list[str] = []
        calls = []
        for event in self._choice.read_step(Step.of(chunk, finish_reason)):
            if isinstance(event, ReasoningDelta):
                (reasoning if self._separate else content).append(event.text)
            elif isinstance(event, ContentDelta):
                content.append(event.text)
            elif isinstance(event, ToolCallStart):
                calls.append(ToolCallItem(tool_index=event.index, name=event.name, parameters=""))
            elif isinstance(event, ToolCallDelta):
                calls.append(ToolCallItem(tool_index=event.index, parameters=event.arguments))
        return "".join(reasoning), "".join(content), calls


def _texts(told: message.Message, *, separate: bool) -> tuple[str | None, str]:
    if separate:
        return told.reasoning, told.content or ""
    return None, (told.reasoning or "") + (told.content or "")


def _wants_content(request: Any) -> bool:
    return (request.chat_template_kwargs or {}).get("force_nonempty_content") is True


def _item(call: message.ToolCall) -> ToolCallItem:
    return ToolCallItem(tool_index=call.index, name=call.name, parameters=call.arguments)
