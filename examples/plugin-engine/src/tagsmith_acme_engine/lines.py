"""The engine of Acme Lines: what a line is, its first characters say.

    ? I should look it up.
    ! weather {"city": "Paris"}
    It rains in Paris.

`? ` begins a line of reasoning, `! ` and the name of a tool a call; any other line is content. The
line end belongs to the line.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator

from tagsmith.engines import (
    ContentDelta,
    Context,
    Diagnostic,
    DiagnosticCode,
    EngineReader,
    Event,
    FamilySpec,
    ReasoningDelta,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
)

_THOUGHT = "? "
_CALL = re.compile(r"! (\w{1,64}) ")
_MAY_BECOME_EITHER = re.compile(r"[?!]|! \w{0,64}")


class LinesReader(EngineReader):
    """One generation. Nothing waits but what may still become the beginning of a line."""

    def __init__(self, context: Context) -> None:
        self._calls_allowed = context.calls_allowed
        self._tools = context.tool_names
        self._line: type[Event] | None = None
        self._calls = 0
        self._offset = 0
        # The prompt may have begun a line of reasoning.
        begun = context.prompt_tail.rpartition("\n")[2]
        if begun.startswith(_THOUGHT):
            self._line = ReasoningDelta

    def feed(self, text: str) -> Iterator[Event]:
        """Take the next piece of output."""
        text, self.held = self.held + text, ""
        while text:
            if self._line is None and _MAY_BECOME_EITHER.fullmatch(text):
                self.held = text
                return
            if self._line is None:
                text = yield from self._begin(text)
            more, newline, text = text.partition("\n")
            yield from self._go_on(more, newline)

    def finish(self) -> Iterator[Event]:
        """What waits is no beginning; a call that is open is closed by the parser."""
        yield ContentDelta(self.held)

    def _begin(self, text: str) -> Generator[Event, None, str]:
        """A line begins; returns what stands behind its sign."""
        call = _CALL.match(text)
        if call is not None and self._calls_allowed:
            if self._tools is not None and call[1] not in self._tools:
                message = f"the request has no tool {call[1]!r}"
                yield Diagnostic(DiagnosticCode.UNKNOWN_TOOL, message, self._offset)
            yield ToolCallStart(self._calls, f"call_{self._calls}", call[1])
            self._calls += 1
            self._line = ToolCallDelta
            return self._past(text, call.end())
        is_thought = text.startswith(_THOUGHT)
        self._line = ReasoningDelta if is_thought else ContentDelta
        return self._past(text, len(_THOUGHT) if is_thought else 0)

    def _go_on(self, text: str, newline: str) -> Iterator[Event]:
        self._offset += len(text + newline)
        if self._line is ToolCallDelta:
            yield ToolCallDelta(self._calls - 1, text)
        elif self._line is ReasoningDelta:
            yield ReasoningDelta(text + newline)
        else:
            yield ContentDelta(text + newline)
        if newline and self._line is ToolCallDelta:
            yield ToolCallEnd(self._calls - 1, complete=True)
        if newline:
            self._line = None

    def _past(self, text: str, sign: int) -> str:
        self._offset += sign
        return text[sign:]


class LinesProgram:
    """The engine, compiled for a family; there is nothing that a family may say of it."""

    def reader(self, context: Context) -> LinesReader:
        """A reader for one generation."""
        return LinesReader(context)


def lines_engine(spec: FamilySpec) -> LinesProgram:
    """Compile the engine; a family that says what its markers are is meant for another."""
    if spec.tag_style.content or spec.tag_style.tool_calls or spec.tool_calls:
        raise ValueError("acme-lines reads no markers; remove tag_style and tool_calls")
    return LinesProgram()
