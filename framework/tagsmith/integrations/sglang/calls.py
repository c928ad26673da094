"""A family as SGLang's function-call detector.

A served pair is one parser (`output`). The detector is what reads texts that are handed to it:
`/parse_function_call`, offline use.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from sglang.srt.entrypoints.openai.protocol import Tool, ToolChoice
from sglang.srt.function_call.base_format_detector import BaseFormatDetector
from sglang.srt.function_call.core_types import (
    StreamingParseResult,
    ToolCallItem,
    _GetInfoFunc,
)

from tagsmith.events import (
    ContentDelta,
    Event,
    ReasoningDelta,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
)
from tagsmith.integrations.sglang.model import Adapter
from tagsmith.integrations.sglang.requests import read_choice, read_tools, tags_elsewhere
from tagsmith.parser import Parser


class TagsmithCallDetector(BaseFormatDetector):
    """Reads calls, each under its place in the output. What is no call is text.

    It takes the text of a reasoning detector of Tagsmith's, or a whole output: then reasoning is
    text as well.
    """

    adapter: ClassVar[Adapter]

    def __init__(self, tokenizer: Any = None) -> None:
        super().__init__()
        self.family = self.adapter.family(tokenizer)
        self.incomplete_tool_call_indices: set[int] = set()
        self._stream: Parser | None = None

    def has_tool_call(self, text: str) -> bool:
        """Whether there is anything here that is not text, so that it has to be read."""
        message = self.family.parse(text, prompt=self._prompt)
        return bool(message.tool_calls or message.reasoning) or message.content != text

    def detect_and_parse(self, text: str, tools: list[Tool]) -> StreamingParseResult:
        """Read a whole text."""
        parser = self._parser(tools)
        result = self._told([*parser.feed(text), *parser.finish()])
        whole: dict[int, ToolCallItem] = {}
        for item in result.calls:
            if item.tool_index in whole:
                whole[item.tool_index].parameters += item.parameters
            else:
                whole[item.tool_index] = item
        return StreamingParseResult(normal_text=result.normal_text, calls=list(whole.values()))

    def parse_streaming_increment(self, new_text: str, tools: list[Tool]) -> StreamingParseResult:
        """Read the next piece."""
        if self._stream is None:
            self._stream = self._parser(tools)
        return self._told(self._stream.feed(new_text))

    def finish(self, tools: list[Tool]) -> StreamingParseResult:
        """The text has ended."""
        if self._stream is None:
            self._stream = self._parser(tools)
        return self._told(self._stream.finish())

    def parses_required_natively(self) -> bool:
        """Forced calls are in the family's own format as well."""
        return True

    def supports_structural_tag(self) -> bool:
        """SGLang's older form of tags is not used: `get_structural_tag` gives the family's own."""
        return False

    def structure_info(self) -> _GetInfoFunc:
        """Not asked where `supports_structural_tag` says no."""
        raise NotImplementedError("a family's calls are held by get_structural_tag")

    def get_structural_tag(
        self,
        tools: list[Tool] | None = None,
        tool_choice: ToolChoice | str = "auto",
        thinking_mode: bool = False,
        parallel_tool_calls: bool = True,
    ) -> Any:
        """The tag that holds calls to the family's format, as SGLang asks a detector for it.

        A served pair's request gets a tag for the whole of the request in its place.
        """
        if tags_elsewhere():
            return None
        from xgrammar import StructuralTag

        tag = self.family.structural_tag(
            tools=read_tools(tools or ()),
            tool_choice=read_choice(tool_choice),
            parallel_tool_calls=parallel_tool_calls,
            reasoning="auto" if thinking_mode else "gated",
            unenforceable="report",
        )
        return StructuralTag.model_validate(tag)

    @property
    def _prompt(self) -> str:
        """Reasoning is over, unless the text says otherwise."""
        facts = self.family.serving
        return "".join(
            (*facts.turn_start[:1], *facts.reasoning_start[:1], *facts.reasoning_end[:1])
        )

    def _parser(self, tools: list[Tool]) -> Parser:
        return self.family.parser(tools=read_tools(tools or ()) or None, prompt=self._prompt)

    def _told(self, events: Iterable[Event]) -> StreamingParseResult:
        text, calls = "", []
        for event in events:
            if isinstance(event, ContentDelta | ReasoningDelta):
                text += event.text
            elif isinstance(event, ToolCallStart):
                self.incomplete_tool_call_indices.add(event.index)
                self.current_tool_id = event.index
                self.streamed_args_for_tool.append("")
                self.prev_tool_call_arr.append({"name": event.name, "arguments": ""})
                calls.append(ToolCallItem(tool_index=event.index, name=event.name, parameters=""))
            elif isinstance(event, ToolCallDelta):
                self.streamed_args_for_tool[event.index] += event.arguments
                self.prev_tool_call_arr[event.index]["arguments"] += event.arguments
                calls.append(ToolCallItem(tool_index=event.index, parameters=event.arguments))
            elif isinstance(event, ToolCallEnd) and event.complete:
                self.incomplete_tool_call_indices.discard(event.index)
        return StreamingParseResult(normal_text=text, calls=calls)
