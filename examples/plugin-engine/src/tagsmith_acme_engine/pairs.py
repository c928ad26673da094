"""The argument encoding of Acme Pairs: `city=Paris;days=2;`, every value a text without a `;`."""

from __future__ import annotations

import json
from dataclasses import dataclass

from tagsmith.encodings import (
    Buffer,
    CallSink,
    Context,
    Ended,
    FamilySpec,
    Place,
    SpanKind,
    scanner_of,
)

_END = ";"


class PairsReader:
    """The arguments of one generation's calls, one call after the other."""

    flowing = None  # every piece of text has to be looked at
    expects_marker = True  # what may be the start of a marker is no value

    def __init__(self, sink: CallSink) -> None:
        self._sink = sink

    def begin(self, tool: str, after: Place) -> None:
        """The arguments of a call begin."""
        self._after = after
        self._ends = scanner_of(after.scanner.literals | {_END})
        self._key, self._in_value, self._count = "", False, 0

    def read(self, buffer: Buffer, pos: int) -> tuple[int, Ended | None]:
        """Read on from `pos`."""
        while pos < len(buffer.text):
            found = buffer.find(self._ends, pos)
            start, end, literal = found or (len(buffer.text), len(buffer.text), None)
            if start > pos:
                self._more(buffer.text[pos:start], buffer.base + pos)
            if literal is None:  # the end of the text, or what may be the start of a literal
                return start, None
            self._close_pair()
            if literal != _END:
                self._sink.argument_text("}" if self._count else "{}")
                return start, Ended.WHOLE if literal in self._after.words else Ended.BROKEN
            self._sink.take(literal, buffer.base + start, SpanKind.CALL)
            pos = end
        return pos, None

    def finish(self) -> bool:
        """An output that ends here has not closed its last pair."""
        return False

    def _more(self, text: str, at: int) -> None:
        self._sink.take(text, at, SpanKind.ARGUMENTS)
        if not self._in_value:
            key, equals, text = text.partition("=")
            self._key += key
            if not equals:
                return
            self._sink.confirm()  # a call's name alone may be prose; this can be no other thing
            opening = ", " if self._count else "{"
            self._sink.argument_text(f'{opening}{json.dumps(self._key.strip())}: "')
            self._in_value, self._count = True, self._count + 1
        self._sink.argument_text(json.dumps(text, ensure_ascii=False)[1:-1])

    def _close_pair(self) -> None:
        if self._in_value:
            self._sink.argument_text('"')
        self._key, self._in_value = "", False


@dataclass(frozen=True)
class PairsProgram:
    """The encoding, compiled for a family."""

    starts: frozenset[str] = frozenset()  # a key begins with anything: it ends no name
    literals: frozenset[str] = frozenset()  # nor is there a tag that no name would hold

    def reader(self, sink: CallSink, context: Context) -> PairsReader:
        """A reader for one generation."""
        return PairsReader(sink)


def pairs_encoding(spec: FamilySpec, beyond: frozenset[str]) -> PairsProgram:
    """Compile the encoding for a family; `beyond` are the literals that end a call anywhere."""
    if _END in beyond:
        raise ValueError("a ';' ends a pair; no marker may be one")
    return PairsProgram()
