"""The raw text, coloured by what each character became."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from tagsmith.engine.spans import Span, SpanKind
from tagsmith.events import Diagnostic
from tagsmith.report.characters import INVISIBLE, code_point, name_of, signs_of
from tagsmith.report.chunks import Piece, in_chunks
from tagsmith.report.limits import MAX_ITEMS, MAX_MARKS
from tagsmith.report.markup import element, escape
from tagsmith.report.model import Report
from tagsmith.report.wording import KINDS, counted

_SIGNS = rf"(?P<sign>[{INVISIBLE}]+)"
# White space that the eye cannot count: but for the single space between two words, all of it.
_SPACES = (
    r"(?P<spaces> {2,}|^ +| +$| +(?=\n)|(?<=\n) +)|(?P<tab>\t)|(?P<line>\n)"
    r"|(?P<odd>[\xa0\u1680\u2000-\u200a\u202f\u205f\u3000])"
)
_ONLY_SIGNS = re.compile(_SIGNS)
_ALL_MARKS = re.compile(f"{_SIGNS}|{_SPACES}")
_NAMES_OF_SIGN = 5


def raw_view(report: Report) -> str:
    """The raw text: its spans tile it, so the text of this element is the output to the letter.

    NUL and lone surrogates alone HTML cannot hold; they stand there as U+FFFD until the page's
    script mends it.
    """
    marks = _ONLY_SIGNS if _has_too_many_marks(report.text) else _ALL_MARKS
    return in_chunks(_pieces(report), lambda text: _marked(text, marks))


def legend(report: Report) -> str:
    """Each kind of span there is, what it means, and how much of the text it is."""
    numbers = Counter(span.kind for span in report.spans)
    sizes: Counter[SpanKind] = Counter()
    for span in report.spans:
        sizes[span.kind] += span.end - span.start
    rows = [
        element(
            "li",
            element("span", kind.value, data_kind=kind.value),
            element("span", meaning, class_="meaning"),
            element("span", _amount(numbers[kind], sizes[kind]), class_="amount"),
        )
        for kind, meaning in KINDS.items()
        if numbers[kind]
    ]
    return element("ul", *rows, class_="legend")


def notes(report: Report) -> str:
    """What of the raw text is not marked, for the sake of the page's size."""
    said = []
    if _has_too_many_marks(report.text):
        said.append("White space is not marked: there is too much of it.")
    if len(report.message.diagnostics) > MAX_ITEMS:
        said.append(f"The first {MAX_ITEMS} diagnostics are marked.")
    return "".join(element("p", line, class_="note") for line in said)


def _amount(spans: int, characters: int) -> str:
    return f"{counted(spans, 'span')}, {counted(characters, 'character')}"


def _has_too_many_marks(text: str) -> bool:
    return sum(1 for _ in _ALL_MARKS.finditer(text)) > MAX_MARKS


def _pieces(report: Report) -> Iterator[Piece]:
    """The spans, divided where a diagnostic stands, with its sign there."""
    found = enumerate(report.message.diagnostics[:MAX_ITEMS], 1)
    waiting = sorted(found, key=lambda pair: pair[1].offset, reverse=True)
    for span in report.spans:
        at, signs = span.start, ""
        while waiting and waiting[-1][1].offset < span.end:
            number, diagnostic = waiting.pop()
            if diagnostic.offset > at:
                yield _piece(span, at, diagnostic.offset, signs)
                at, signs = diagnostic.offset, ""
            signs += _sign(number, diagnostic)
        yield _piece(span, at, span.end, signs)
    yield Piece("", first="".join(_sign(*pair) for pair in reversed(waiting)))


def _piece(span: Span, start: int, end: int, first: str) -> Piece:
    kind = span.kind.value
    title = f"{kind}, characters {span.start:,} to {span.end:,}"
    text = span.text[start - span.start : end - span.start]
    return Piece(text, f'<span data-kind="{kind}" title="{title}">', "</span>", first)


def _sign(number: int, diagnostic: Diagnostic) -> str:
    return element(
        "a",
        id=f"at-{number}",
        class_="at",
        href=f"#diagnostic-{number}",
        data_label=f"⚠ {number}",
        aria_label=f"Diagnostic {number}: {diagnostic.code}",
        title=f"{diagnostic.code}: {diagnostic.message}",
    )


def _marked(text: str, marks: re.Pattern[str]) -> str:
    """A stretch of raw text, with what cannot be seen in elements that show it."""
    out: list[str] = []
    at = 0
    for found in marks.finditer(text):
        out += [escape(text[at : found.start()]), _mark(found)]
        at = found.end()
    out.append(escape(text[at:]))
    return "".join(out)


def _mark(found: re.Match[str]) -> str:
    text, kind = found[0], found.lastgroup
    if kind == "sign":
        label = signs_of(text)
        return element("i", escape(text), class_="sign", data_label=label, title=_names(text))
    title = code_point(text) if kind == "odd" else None
    return element("i", escape(text), class_=kind, title=title)


def _names(text: str) -> str:
    rest = len(text) - _NAMES_OF_SIGN
    named = ", ".join(map(name_of, text[:_NAMES_OF_SIGN]))
    return named if rest <= 0 else f"{named} and {rest:,} more"
