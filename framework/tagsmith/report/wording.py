"""What the kinds of spans, the diagnostics and the events are called, for people."""

from __future__ import annotations

import json

from tagsmith.engine.spans import SpanKind
from tagsmith.events import (
    Citation,
    ContentDelta,
    Diagnostic,
    DiagnosticCode,
    Event,
    ReasoningDelta,
    ToolCallDelta,
    ToolCallStart,
)
from tagsmith.report.characters import escape_signs
from tagsmith.report.limits import MAX_SHOWN

KINDS = {
    SpanKind.MARKER: "opens or closes something",
    SpanKind.HIDDEN: "a token that is never shown",
    SpanKind.REASONING: "what the model thought",
    SpanKind.CONTENT: "what the user reads",
    SpanKind.CALL: "how a tool call is written",
    SpanKind.CALL_ID: "a call's id",
    SpanKind.CALL_NAME: "the tool that is called",
    SpanKind.ARGUMENTS: "a call's arguments",
    SpanKind.CITATION_MARKUP: "opens or closes a cited span",
    SpanKind.WHITESPACE: "dropped: white space around a text",
    SpanKind.AFTER_STOP: "dropped: after the user's stop string",
    SpanKind.TRUNCATED: "dropped: a call that was cut off",
    SpanKind.DROPPED: "dropped: as the family's policies say",
}
"""What each kind of span is. A page lists the kinds in this order."""

CODES = {
    DiagnosticCode.MALFORMED_CALL: (
        "a tool-call region holds text that is no call, or a call is not written as the family "
        "says: not closed, or with other text between its parameters"
    ),
    DiagnosticCode.TRUNCATED: (
        "the output ends inside a call, before the end of one, or inside a list of calls"
    ),
    DiagnosticCode.UNEXPECTED_CALL: "a tool-call region under tool_choice none",
    DiagnosticCode.UNKNOWN_TOOL: "a call to a tool that the request does not have",
    DiagnosticCode.INVALID_ARGUMENTS: "a call's arguments are no JSON object",
    DiagnosticCode.DUPLICATE_ID: "two calls have one id",
    DiagnosticCode.DUPLICATE_KEY: (
        "a call repeats its id, name or arguments, or a parameter that is not written as JSON"
    ),
    DiagnosticCode.MISTYPED_ARGUMENT: (
        "the value of a parameter is not of the type that the tool's schema, or the output itself, "
        "says it is"
    ),
    DiagnosticCode.UNKNOWN_PARAMETER: (
        "a call gives a parameter that the tool's schema does not name"
    ),
    DiagnosticCode.STRAY_MARKER: "a marker closes a region that is not open",
    DiagnosticCode.UNCLOSED_CITATION: "a region ends inside a cited span",
    DiagnosticCode.MALFORMED_CITATION: (
        "a closing citation tag has no list of positions, or closes no span, or spans are nested "
        "too deep"
    ),
    DiagnosticCode.UNRESOLVED_SOURCE: (
        "a position points to no document or tool result of the request"
    ),
    DiagnosticCode.INCOMPLETE_CHARACTER: "the tokens end inside a character",
    DiagnosticCode.TOKENIZER_FAULT: "the tokenizer failed on the tokens of a step",
    DiagnosticCode.ENGINE_FAULT: (
        "an engine or an argument encoding that is not this project's failed"
    ),
    DiagnosticCode.ENGINE_HANDOVER: "the melody engine met what it cannot read safely",
    DiagnosticCode.ENGINE_DROP: (
        "the melody engine's preset drops text, as it does between a closed region and the next "
        "opener"
    ),
}
"""What each diagnostic means, in the words of docs/diagnostics.md."""


def tell(event: Event) -> tuple[str, str]:
    """An event for people: what it is, and what it says.

    >>> tell(ContentDelta("Hi")), tell(ToolCallStart(0, "7", "now"))
    (('content', '"Hi"'), ('call 0 begins', 'now, id "7"'))
    """
    if isinstance(event, ReasoningDelta | ContentDelta):
        return event.type, quoted(event.text)
    if isinstance(event, ToolCallStart):
        return f"call {event.index} begins", f"{shown(event.name)}, id {quoted(event.id)}"
    if isinstance(event, ToolCallDelta):
        return f"call {event.index} arguments", quoted(event.arguments)
    if isinstance(event, Citation):
        return "citation", f"{quoted(event.text)}, {place_of(event)}"
    if isinstance(event, Diagnostic):
        return event.code.value, shown(event.message)
    return f"call {event.index} ends", "complete" if event.complete else "incomplete"


def place_of(citation: Citation) -> str:
    """Where the cited text stands, and the positions that its markup gives.

    >>> from tagsmith.events import Target
    >>> place_of(Citation(6, 10, "warm", Target.CONTENT, ((0, 1),)))
    'content 6 to 10, from 0:[1]'
    """
    positions = ", ".join(f"{bucket}:[{index}]" for bucket, index in citation.positions)
    return f"{citation.target} {citation.start} to {citation.end}, from {positions or 'nowhere'}"


def quoted(text: str) -> str:
    r"""A text in quotes, with its line ends and what else cannot be seen escaped; its beginning,
    where it is long.

    >>> print(quoted("a\n"))
    "a\n"
    """
    rest = len(text) - MAX_SHOWN
    written = escape_signs(json.dumps(text[:MAX_SHOWN], ensure_ascii=False))
    return written if rest <= 0 else f"{written} … ({rest:,} more)"


def shown(text: str) -> str:
    """A text as a list shows it: its beginning, and how much more there is.

    >>> shown("a" * 302)[-12:]
    'a … (2 more)'
    """
    rest = len(text) - MAX_SHOWN
    return text if rest <= 0 else f"{text[:MAX_SHOWN]} … ({rest:,} more)"


def counted(number: int, one: str) -> str:
    """A number of things.

    >>> counted(1, "delta"), counted(1200, "delta")
    ('1 delta', '1,200 deltas')
    """
    return f"{number:,} {one if number == 1 else f'{one}s'}"
