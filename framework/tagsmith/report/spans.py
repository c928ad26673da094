"""The spans as the page and the terminal show them: parted by diagnostics, counted by kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tagsmith.engine.spans import Span, SpanKind
from tagsmith.events import Diagnostic
from tagsmith.report.wording import KINDS, counted

Numbered = tuple[int, Diagnostic]
"""A diagnostic and its number, from 1."""


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of a span, the whole of it where no diagnostic stands inside."""

    span: Span
    text: str


def in_order(spans: Sequence[Span], diagnostics: Sequence[Diagnostic]) -> Iterator[Part | Numbered]:
    """The spans, each divided where a diagnostic stands, and the diagnostics between the parts.

    >>> from tagsmith.events import DiagnosticCode
    >>> note = Diagnostic(DiagnosticCode.TRUNCATED, "cut", 1)
    >>> parts = in_order([Span(0, 2, SpanKind.CONTENT, "Hi")], [note])
    >>> [part.text if isinstance(part, Part) else part[0] for part in parts]
    ['H', 1, 'i']
    """
    waiting = sorted(enumerate(diagnostics, 1), key=lambda pair: pair[1].offset, reverse=True)
    for span in spans:
        at = span.start
        while waiting and waiting[-1][1].offset < span.end:
            number, diagnostic = waiting.pop()
            if diagnostic.offset > at:
                yield Part(span, span.text[at - span.start : diagnostic.offset - span.start])
                at = diagnostic.offset
            yield number, diagnostic
        yield Part(span, span.text[at - span.start :])
    yield from reversed(waiting)


def amounts(spans: Sequence[Span]) -> Iterator[tuple[SpanKind, str, str]]:
    """Each kind of span there is, what it means, and how much of the text it is.

    >>> list(amounts([Span(0, 2, SpanKind.CONTENT, "Hi")]))
    [(<SpanKind.CONTENT: 'content'>, 'what the user reads', '1 span, 2 characters')]
    """
    numbers = Counter(span.kind for span in spans)
    sizes: Counter[SpanKind] = Counter()
    for span in spans:
        sizes[span.kind] += len(span.text)
    for kind, meaning in KINDS.items():
        if numbers[kind]:
            amount = f"{counted(numbers[kind], 'span')}, {counted(sizes[kind], 'character')}"
            yield kind, meaning, amount
