"""What a plug-in needs to bring an argument encoding: how one call's arguments are written.

An encoding is a function. It is called once for a family that names it, with what the family's file
says and the literals that end a call wherever they stand, and returns a program; the program makes
a reader for each generation; the reader turns the arguments, as they arrive, into JSON text. It may
raise where the file does not say what it needs: lint tells that as TS325.

A reader is given a `Buffer` again and again. Each time it reads on from a position and returns how
far it came; what is left comes again, with more text after it, and in a final buffer nothing may be
left. Every character that it passes it hands to `CallSink.take`, with what it is; the JSON text of
the arguments to `CallSink.argument_text`; and it stops at what `after`, the place behind the
arguments, says may follow. No text may make it raise, and however the text is cut, the result has
to be the same.

A whole encoding, for calls such as `<call>weather: city=Paris;days=2;</call>`, whose values are all
text and have no `;` in them:

>>> import json
>>> from dataclasses import dataclass
>>> from tagsmith.encodings import *

>>> class PairsReader:
...     flowing = None  # every piece of text has to be looked at
...     expects_marker = True  # what may be the start of a marker is no value
...
...     def __init__(self, sink: CallSink) -> None:
...         self.sink = sink
...
...     def begin(self, tool: str, after: Place) -> None:
...         self.after = after
...         self.ends = scanner_of(after.scanner.literals | {";"})
...         self.key, self.in_value, self.count = "", False, 0
...
...     def finish(self) -> bool:
...         return False  # an output that ends here has not closed its last pair
...
...     def read(self, buffer: Buffer, pos: int) -> tuple[int, Ended | None]:
...         while pos < len(buffer.text):
...             found = buffer.find(self.ends, pos)
...             start, end, literal = found or (len(buffer.text), len(buffer.text), None)
...             if start > pos:
...                 self.more(buffer.text[pos:start], buffer.base + pos)
...             if literal is None:  # the end of the text, or what may be the start of a literal
...                 return start, None
...             self.close_pair()
...             if literal != ";":
...                 self.sink.argument_text("}" if self.count else "{}")
...                 return start, Ended.WHOLE if literal in self.after.words else Ended.BROKEN
...             self.sink.take(literal, buffer.base + start, SpanKind.CALL)
...             pos = end
...         return pos, None
...
...     def more(self, text: str, at: int) -> None:
...         self.sink.take(text, at, SpanKind.ARGUMENTS)
...         if not self.in_value:
...             key, equals, text = text.partition("=")
...             self.key += key
...             if not equals:
...                 return
...             self.sink.confirm()  # a call's name alone may be prose; this can be no other thing
...             opening = ", " if self.count else "{"
...             self.sink.argument_text(f'{opening}{json.dumps(self.key.strip())}: "')
...             self.in_value, self.count = True, self.count + 1
...         self.sink.argument_text(json.dumps(text, ensure_ascii=False)[1:-1])
...
...     def close_pair(self) -> None:
...         if self.in_value:
...             self.sink.argument_text('"')
...         self.key, self.in_value = "", False

>>> @dataclass(frozen=True)
... class PairsProgram:
...     starts: frozenset[str] = frozenset()  # a key begins with anything: it ends no name
...     literals: frozenset[str] = frozenset()  # nor is there a tag that no name would hold
...
...     def reader(self, sink: CallSink, context: Context) -> PairsReader:
...         return PairsReader(sink)

>>> def pairs_encoding(spec: FamilySpec, beyond: frozenset[str]) -> PairsProgram:
...     return PairsProgram()

A plug-in returns `{"acme-pairs": pairs_encoding}` from its hook `tagsmith_encodings`; then a family
file may name it. Without a plug-in, as a test of its own would:

>>> from tagsmith import Family
>>> spec = FamilySpec.model_validate({
...     "tagsmith": 1,
...     "id": "acme-pairs",
...     "tool_calls": {
...         "layout": "template",
...         "call": "<call>{name}: {arguments}</call>",
...         "arguments": {"encoding": "acme-pairs"},
...     },
... })
>>> family = Family(spec, encodings={"acme-pairs": pairs_encoding})
>>> parser = family.parser()
>>> for event in parser.feed("<call>weather: city=Par") + parser.feed("is;days=2;</call>"):
...     print(event)
ToolCallStart(index=0, id='0', name='weather')
ToolCallDelta(index=0, arguments='{"city": "')
ToolCallDelta(index=0, arguments='Par')
ToolCallDelta(index=0, arguments='is')
ToolCallDelta(index=0, arguments='"')
ToolCallDelta(index=0, arguments=', "days": "')
ToolCallDelta(index=0, arguments='2')
ToolCallDelta(index=0, arguments='"')
ToolCallDelta(index=0, arguments='}')
ToolCallEnd(index=0, complete=True)
"""

from tagsmith.engine.arguments import ArgumentsProgram, ArgumentsReader, Encoding, Ended
from tagsmith.engine.base import Context
from tagsmith.engine.buffer import Buffer
from tagsmith.engine.calls import CallSink
from tagsmith.engine.scanner import Scanner, scanner_of
from tagsmith.engine.spans import SpanKind
from tagsmith.engine.templates import Place
from tagsmith.spec.models import FamilySpec

__all__ = [
    "ArgumentsProgram",
    "ArgumentsReader",
    "Buffer",
    "CallSink",
    "Context",
    "Encoding",
    "Ended",
    "FamilySpec",
    "Place",
    "Scanner",
    "SpanKind",
    "scanner_of",
]
