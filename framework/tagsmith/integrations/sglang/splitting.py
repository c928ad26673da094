"""Reasoning apart from the rest, where the rest goes on to a call detector as text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tagsmith.events import (
    ContentDelta,
    Event,
    ReasoningDelta,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
)
from tagsmith.parser import Parser


@dataclass(slots=True)
class Split:
    """What a piece of output was split into."""

    reasoning: str = ""
    rest: str = ""


@dataclass(slots=True)
class Splitter:
    """Splits one output, however it is cut: it is read by character.

    The rest is content without markup, up to the first call. From there it is the output's own
    text, but for reasoning, as a call detector needs it.

    >>> import tagsmith
    >>> splitter = Splitter(tagsmith.get_family("qwen3").parser())
    >>> splitter.feed("<think>\\nplan\\n</think>\\n\\nSo: <tool_call>")
    Split(reasoning='plan', rest='So:')
    >>> call = '{"name": "now", "arguments": {}}</tool_call>'
    >>> splitter.feed(call).rest + splitter.finish().rest
    ' <tool_call>{"name": "now", "arguments": {}}</tool_call>'
    """

    parser: Parser
    _held: str = ""
    _calls: bool = False
    _split: Split = field(default_factory=Split)

    def feed(self, text: str) -> Split:
        """Take the next piece."""
        for character in text:
            self._held += character
            self._tell(self.parser.feed(character))
        return self._take()

    def finish(self) -> Split:
        """The output has ended."""
        self._tell(self.parser.finish())
        if self._calls:
            self._pass_on(self._held)
        return self._take()

    def _tell(self, events: Iterable[Event]) -> None:
        for event in events:
            if isinstance(event, ReasoningDelta):
                self._split.reasoning += event.text
                between = self._held.removesuffix(event.text)
                self._pass_on(between if self._calls and between != self._held else "")
            elif isinstance(event, ToolCallStart | ToolCallDelta | ToolCallEnd):
                self._calls = True
                self._pass_on(self._held)
            elif isinstance(event, ContentDelta):
                self._pass_on(self._held if self._calls else event.text)

    def _pass_on(self, text: str) -> None:
        self._split.rest += text
        self._held = ""

    def _take(self) -> Split:
        split, self._split = self._split, Split()
        return split
