"""An output in a terminal: coloured by what each character became."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import click

from tagsmith.engine.spans import Span, SpanKind
from tagsmith.events import Diagnostic
from tagsmith.report.characters import INVISIBLE, signs_of
from tagsmith.report.spans import Part, amounts, in_order
from tagsmith.wording import one_line

STYLES: dict[SpanKind, dict[str, Any]] = {
    SpanKind.MARKER: {"fg": "cyan", "bold": True},
    SpanKind.HIDDEN: {"fg": "cyan", "dim": True, "italic": True},
    SpanKind.REASONING: {"fg": "magenta", "italic": True},
    SpanKind.CONTENT: {"fg": "green"},
    SpanKind.CALL: {"fg": "yellow", "dim": True},
    SpanKind.CALL_ID: {"fg": "yellow", "dim": True, "underline": True},
    SpanKind.CALL_NAME: {"fg": "yellow", "bold": True, "underline": True},
    SpanKind.ARGUMENTS: {"fg": "blue", "underline": True},
    SpanKind.CITATION_MARKUP: {"fg": "cyan", "bold": True, "italic": True},
    SpanKind.WHITESPACE: {"fg": "red", "reverse": True},
    SpanKind.AFTER_STOP: {"fg": "red", "strikethrough": True},
    SpanKind.TRUNCATED: {"fg": "red", "strikethrough": True, "underline": True},
    SpanKind.DROPPED: {"fg": "red", "strikethrough": True, "bold": True},
}
"""In the terminal's own colours, so that its theme decides how they look. No two kinds differ in
colour alone."""

_SIGN: dict[str, Any] = {"fg": "red", "bold": True, "reverse": True}
_PIECES = re.compile(rf"(?P<line>\n)|(?P<sign>[{INVISIBLE}]+)|[^\n{INVISIBLE}]+")


def render_terminal(spans: Sequence[Span], diagnostics: Sequence[Diagnostic]) -> str:
    """An output with terminal codes that colour it, then the legend and the diagnostics.

    Codes and other invisible characters of the output itself are shown as signs, never sent.

    Args:
        spans: They tile the output, as those of `Family.explain` do.
        diagnostics: Each is marked at its offset.

    >>> spans = [Span(0, 2, SpanKind.CONTENT, "Hi")]
    >>> click.unstyle(render_terminal(spans, ())).splitlines()
    ['Hi', '', 'content: what the user reads (1 span, 2 characters)']
    """
    parts = ["".join(_text(spans, diagnostics)), "\n".join(_legend(spans))]
    parts.append("\n".join(_told(number, it) for number, it in enumerate(diagnostics, 1)))
    return "\n\n".join(part for part in parts if part)


def _text(spans: Sequence[Span], diagnostics: Sequence[Diagnostic]) -> Iterator[str]:
    for part in in_order(spans, diagnostics):
        if isinstance(part, Part):
            yield from _styled(part.text, part.span.kind)
        else:
            yield _sign(f"⚠{part[0]}")


def _styled(text: str, kind: SpanKind) -> Iterator[str]:
    """The text in its kind's style, begun anew in each line: pagers end it with the line."""
    for piece in _PIECES.finditer(text):
        if piece.lastgroup == "sign":
            yield _sign(signs_of(piece[0]))
        elif piece.lastgroup == "line":
            # A dropped line end is told from one that is shown.
            yield click.style("↵", **STYLES[kind]) if kind is SpanKind.WHITESPACE else ""
            yield "\n"
        else:
            yield click.style(piece[0], **STYLES[kind])


def _sign(text: str) -> str:
    return click.style(text, **_SIGN)


def _legend(spans: Sequence[Span]) -> Iterator[str]:
    for kind, meaning, amount in amounts(spans):
        yield f"{click.style(kind.value, **STYLES[kind])}: {meaning} ({amount})"


def _told(number: int, diagnostic: Diagnostic) -> str:
    told = one_line(f"{diagnostic.code} at {diagnostic.offset}: {diagnostic.message}")
    return f"{_sign(f'⚠{number}')} {told}"
