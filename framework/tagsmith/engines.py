"""What a plug-in needs to bring an engine: what reads a family's output where this format and the
native engine cannot.

An engine is a function. It is called once for a family that names it, with what the family's file
says, and returns a program; the program makes a reader for each generation; the reader turns the
output, as it arrives, into events. It may raise where the file does not say what it needs: lint
tells that as TS327.

A reader is fed the output piece by piece and returns the events that are certain. However the text
is cut, the joined events have to be the same. What may still become a marker it keeps, at the end
of what it was fed, as `held`. Calls are numbered from 0 and stand one after the other: a start,
fragments of a JSON object, an end. What the request asks for is in its `Context`: whether calls are
allowed, the schemas of the tools, what the prompt has begun, what a citation's positions mean.

The parser sees to the rest: stop strings end the content, a call that is left open ends incomplete,
and where a reader raises, or returns what is no event that may come next, the output goes on: a
diagnostic (`engine-fault`) says what happened, and the native engine reads on from `held`, by what
the family's file says of markers and calls. That is also what structural tags are made from, and
what `explain` shows.

A whole engine, for an output of lines: `? ` begins a line of reasoning, `! ` a call such as
`! weather {"city": "Paris"}`, and any other line is content.

>>> import re
>>> from collections.abc import Iterator
>>> from tagsmith.engines import *

>>> CALL = re.compile(r"! (\\w+) ")
>>> MAY_BECOME_A_SIGN = re.compile(r"[?!]|! \\w*")

>>> class LinesReader(EngineReader):
...     def __init__(self, calls_allowed: bool) -> None:
...         self.calls_allowed = calls_allowed
...         self.line: type[Event] | None = None  # what the line is that is open
...         self.calls = 0
...
...     def feed(self, text: str) -> Iterator[Event]:
...         text, self.held = self.held + text, ""
...         while text:
...             if self.line is None and MAY_BECOME_A_SIGN.fullmatch(text):
...                 self.held = text
...                 return
...             if self.line is None:
...                 text = yield from self.begin(text)
...             more, newline, text = text.partition("\\n")
...             is_call = self.line is ToolCallDelta
...             if is_call:
...                 yield ToolCallDelta(self.calls - 1, more)
...             else:
...                 yield self.line(more + newline)
...             if newline and is_call:
...                 yield ToolCallEnd(self.calls - 1, complete=True)
...             self.line = None if newline else self.line
...
...     def begin(self, text: str) -> Iterator[Event]:
...         call = CALL.match(text) if self.calls_allowed else None
...         if call is not None:
...             yield ToolCallStart(self.calls, f"call-{self.calls}", call[1])
...             self.calls += 1
...             self.line = ToolCallDelta
...             return text[call.end() :]
...         self.line = ReasoningDelta if text.startswith("? ") else ContentDelta
...         return text.removeprefix("? ")
...
...     def finish(self) -> Iterator[Event]:
...         yield ContentDelta(self.held)

>>> class LinesProgram:
...     def reader(self, context: Context) -> LinesReader:
...         return LinesReader(context.calls_allowed)

>>> def lines_engine(spec: FamilySpec) -> LinesProgram:
...     return LinesProgram()

A plug-in returns `{"acme-lines": lines_engine}` from its hook `tagsmith_engines`; then a family
file may say `engine: acme-lines`. Without a plug-in, as a test of its own would:

>>> from tagsmith import Family
>>> spec = FamilySpec.model_validate({"tagsmith": 1, "id": "acme", "engine": "acme-lines"})
>>> family = Family(spec, engines={"acme-lines": lines_engine})
>>> message = family.parse('? A city.\\n! weather {"city": "Paris"}\\nI will see.')
>>> message.reasoning, message.content
('A city.\\n', 'I will see.')
>>> [(call.name, call.arguments) for call in message.tool_calls]
[('weather', '{"city": "Paris"}')]
>>> family.parse("Wait for END.\\n", stop=["END"]).content
'Wait for '
"""

from tagsmith.engine.base import Context
from tagsmith.engine.plugin_engines import EngineMaker, EngineProgram, EngineReader
from tagsmith.events import (
    Citation,
    ContentDelta,
    Diagnostic,
    DiagnosticCode,
    Event,
    ReasoningDelta,
    Target,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
)
from tagsmith.sources import SourceMap
from tagsmith.spec.models import FamilySpec

__all__ = [
    "Citation",
    "ContentDelta",
    "Context",
    "Diagnostic",
    "DiagnosticCode",
    "EngineMaker",
    "EngineProgram",
    "EngineReader",
    "Event",
    "FamilySpec",
    "ReasoningDelta",
    "SourceMap",
    "Target",
    "ToolCallDelta",
    "ToolCallEnd",
    "ToolCallStart",
]
