"""Where every input character went: the proof that nothing is lost."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class SpanKind(StrEnum):
    """What a stretch of the output was read as. The last four are stated drops."""

    MARKER = "marker"
    HIDDEN = "hidden"
    REASONING = "reasoning"
    CONTENT = "content"
    CALL = "call"
    CALL_ID = "call-id"
    CALL_NAME = "call-name"
    ARGUMENTS = "arguments"
    CITATION_MARKUP = "citation-markup"
    WHITESPACE = "whitespace"
    AFTER_STOP = "after-stop"
    TRUNCATED = "truncated"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class Span:
    """Characters `start` to `end` of the output and what they were read as."""

    start: int
    end: int
    kind: SpanKind
    text: str


class SpanMap:
    """Records what each character was read as; a later mark replaces an earlier one.

    >>> spans = SpanMap()
    >>> spans.mark(0, 2, SpanKind.CONTENT); spans.mark(1, 2, SpanKind.WHITESPACE)
    >>> [(s.start, s.end, s.kind.value) for s in spans.spans("a ")]
    [(0, 1, 'content'), (1, 2, 'whitespace')]
    """

    __slots__ = ("_cuts", "_kinds")

    def __init__(self) -> None:
        self._kinds: list[SpanKind | None] = []
        self._cuts: set[int] = set()

    def mark(self, start: int, end: int, kind: SpanKind) -> None:
        """Characters `start` to `end` were read as `kind`; a prompt's characters lie below 0."""
        start = max(start, 0)
        if end <= start:
            return
        kinds = self._kinds
        if len(kinds) < end:
            kinds.extend([None] * (end - len(kinds)))
        kinds[start:end] = [kind] * (end - start)
        if kind in (SpanKind.MARKER, SpanKind.HIDDEN, SpanKind.CITATION_MARKUP):
            self._cuts |= {start, end}

    def spans(self, text: str) -> list[Span]:
        """The spans in order. They tile `text`, or the engine has lost characters."""
        result: list[Span] = []
        start = 0
        for i in range(1, len(text) + 1):
            ends = i == len(text) or self._kind(i) is not self._kind(start) or i in self._cuts
            kind = self._kind(start)
            if ends and kind is not None:
                result.append(Span(start, i, kind, text[start:i]))
            if ends:
                start = i
        return result

    def _kind(self, i: int) -> SpanKind | None:
        return self._kinds[i] if i < len(self._kinds) else None
