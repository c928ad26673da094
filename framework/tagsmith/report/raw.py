"""The raw text, coloured by what each character became."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tagsmith.events import Diagnostic
from tagsmith.report.characters import INVISIBLE, code_point, name_of, signs_of
from tagsmith.report.chunks import Piece, in_chunks
from tagsmith.report.limits import MAX_ITEMS, MAX_MARKS
from tagsmith.report.markup import element, escape
from tagsmith.report.model import Report
from tagsmith.report.spans import Part, amounts, in_order

_SIGNS = rf"(?P<sign>[{INVISIBLE}]+)"
# White space that the eye cannot count: but for the single space between two words, all of it.
_SPACES = (
    r"(?P<spaces> {2,}|^ +| +$| +(?=\n)|(?<=\n) +)|(?P<tab>\t)|(?P<line>\n)"
    r"|(?P<odd>[\xa0\u1680\u2000-\u200a\u202f\u205f\u3000])"
)
_ONLY_SIGNS = re.compile(_SIGNS)
_ALL_MARKS = re.compile(f"{_SIGNS}|{_SPACES}")
_NAMES_OF_SIGN = 5


def marks_of(text: str) -> re.Pattern[str]:
    """What is marked in a raw text: white space only where there is not too much of it."""
    found = sum(1 for _ in _ALL_MARKS.finditer(text))
    return _ONLY_SIGNS if found > MAX_MARKS else _ALL_MARKS


def raw_view(report: Report, marks: re.Pattern[str]) -> str:
    """The raw text: its spans tile it, so the text of this element is the output to the letter.

    NUL and lone surrogates alone HTML cannot hold; they stand there as U+FFFD until the page's
    script mends it.
    """
    return in_chunks(_pieces(report), lambda text: _marked(text, marks))


def legend(report: Report) -> str:
    """Each kind of span there is, what it means, and how much of the text it is."""
    rows = [
        element(
            "li",
            element("span", kind.value, data_kind=kind.value),
            element("span", meaning, class_="meaning"),
            element("span", amount, class_="amount"),
        )
        for kind, meaning, amount in amounts(report.spans)
    ]
    return element("ul", *rows, class_="legend")


def notes(report: Report, marks: re.Pattern[str]) -> str:
    """What of the raw text is not marked, for the sake of the page's size."""
    said = []
    if marks is _ONLY_SIGNS:
        said.append("White space is not marked: there is too much of it.")
    if len(report.message.diagnostics) > MAX_ITEMS:
        said.append(f"The first {MAX_ITEMS} diagnostics are marked.")
    return "".join(element("p", line, class_="note") for line in said)


def _pieces(report: Report) -> Iterator[Piece]:
    """The spans, divided where a diagnostic stands, with its sign there."""
    signs = ""
    for part in in_order(report.spans, report.message.diagnostics[:MAX_ITEMS]):
        if isinstance(part, Part):
            yield _piece(part, signs)
            signs = ""
        else:
            signs += _sign(*part)
    yield Piece("", first=signs)


def _piece(part: Part, first: str) -> Piece:
    span, kind = part.span, part.span.kind.value
    title = f"{kind}, characters {span.start:,} to {span.end:,}"
    return Piece(part.text, f'<span data-kind="{kind}" title="{title}">', "</span>", first)


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
