"""Earlier citations: from an answer's citation back to the markup that the model wrote.

A citation that does not fit its text, or whose source is not in the conversation, is left out: the
text stays, and nothing points elsewhere. Which source is meant is told by its id, or by what it
holds; where in the text, by its offsets alone.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from tagsmith.engine.citations import MAX_CITATION_DEPTH
from tagsmith.errors import RequestError
from tagsmith.events import Target
from tagsmith.render.breaking import Piece, Voice, said_text
from tagsmith.render.contents import read_list, read_object
from tagsmith.render.turns import Cited
from tagsmith.request.plain import mapping
from tagsmith.sources import Position, SourceFinder
from tagsmith.spec.models import CitationMarkup
from tagsmith.wire.cited_text import UnitCount
from tagsmith.wire.options import OffsetUnit

Blocks = Sequence[tuple[Target, str]]
_IN_REASONING = ("THINKING_CONTENT", "PLAN")


def read_citations(
    value: Any, field: str, *, blocks: Blocks, texts: Mapping[Target, str], unit: OffsetUnit
) -> tuple[Cited, ...]:
    """The citations of a message that fit its text.

    Args:
        value: The list as an API's message gives it, or None.
        field: What errors call it.
        blocks: The content blocks, where there are such: an index of the citation names one.
        texts: The content and the reasoning.
        unit: What the offsets count.

    Raises:
        RequestError: a citation is no such object.
    """
    lengths = dict.fromkeys(Target, 0)
    stretches = []
    for target, text in blocks:
        stretches.append(_Stretch(target, text, lengths[target]))
        lengths[target] += len(text)
    cited_text = _CitedText(stretches, texts, cache(partial(_unit_count, unit)))
    found = (
        _read(entry, f"{field}[{index}]", cited_text)
        for index, entry in enumerate(read_list(value, field))
    )
    return tuple(cited for cited in found if cited is not None)


@dataclass(frozen=True, slots=True)
class _Stretch:
    """A text that offsets count in, and where it begins in the one that it is a part of."""

    target: Target
    text: str
    base: int = 0


@dataclass(frozen=True, slots=True)
class _CitedText:
    """All that a message's citations may count in, and how."""

    blocks: Sequence[_Stretch]
    texts: Mapping[Target, str]
    count: Callable[[str], UnitCount]

    def stretch(self, kind: Any, block: int | None) -> _Stretch | None:
        """What a citation counts in: the block it names, or the text of its kind."""
        target = Target.REASONING if kind in _IN_REASONING else Target.CONTENT
        beside = kind is not None and all(one.target is not target for one in self.blocks)
        if block is None or beside or not self.blocks:
            return _Stretch(target, self.texts[target])
        return self.blocks[block] if 0 <= block < len(self.blocks) else None


def _read(value: Any, field: str, cited_text: _CitedText) -> Cited | None:
    given = mapping(value, field, "a citation")
    start, end = _number(given, "start", field), _number(given, "end", field)
    block = _number(given, "content_index", field)
    sources = tuple(
        read_object(source, f"{field}.sources[{index}]")
        for index, source in enumerate(read_list(given.get("sources"), f"{field}.sources"))
    )
    stretch = cited_text.stretch(given.get("type"), block)
    if start is None or end is None or stretch is None:
        return None
    text, count = stretch.text, cited_text.count(stretch.text)
    start, end = (_code_point(count, len(text), units) for units in (start, end))
    if not 0 <= start < end <= len(text) or given.get("text") not in (None, text[start:end]):
        return None
    return Cited(stretch.target, stretch.base + start, stretch.base + end, sources=sources)


def _number(given: Mapping[str, Any], key: str, field: str) -> int | None:
    value = given.get(key)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
        raise RequestError(f"{field}.{key}", f"must be a whole number, not {type(value).__name__}")
    return value


def _unit_count(unit: OffsetUnit, text: str) -> UnitCount:
    count = UnitCount(unit)
    count.add(text)
    return count


def _code_point(count: UnitCount, length: int, units: int) -> int:
    """An offset in code points; -1 for one within a character, or outside of the text."""
    place = bisect_left(range(length + 1), units, key=count.before)
    return place if place <= length and count.before(place) == units else -1


def resolve(cited: Cited, sources: SourceFinder) -> tuple[Position, ...]:
    """The positions that a citation points to, those of its sources that are known."""
    if cited.positions:
        return cited.positions
    found = (sources.find(source) for source in cited.sources)
    return tuple(dict.fromkeys(position for position in found if position is not None))


def cited_pieces(
    text: str, spans: Sequence[tuple[int, int, tuple[Position, ...]]], markup: CitationMarkup
) -> list[Piece]:
    """A text with its citations in the family's markup.

    Spans may stand in each other, but not overlap: of two that do, the one that begins later is
    left out, and so is one that holds nothing or points to nothing.

    >>> markup = CitationMarkup(open="<co>", close="</co: {positions}>")
    >>> "".join(piece.text for piece in cited_pieces("a b", [(0, 1, ((0, 1), (0, 2)))], markup))
    '<co>a</co: 0:[1,2]> b'
    """
    pieces: list[Piece] = []
    place = 0
    open_spans: list[tuple[int, int, tuple[Position, ...]]] = []

    def say(end: int) -> None:
        nonlocal place
        pieces.append(said_text(text[place:end]))
        place = end

    def close() -> None:
        _, end, positions = open_spans.pop()
        say(end)
        pieces.append(Piece(_closing(positions, markup), Voice.TEMPLATE))

    for span in sorted(spans, key=lambda span: (span[0], -span[1])):
        start, end, positions = span
        while open_spans and open_spans[-1][1] <= start:
            close()
        crosses = open_spans and open_spans[-1][1] < end
        if start >= end or crosses or not positions or len(open_spans) == MAX_CITATION_DEPTH:
            continue
        say(start)
        pieces.append(Piece(markup.open, Voice.TEMPLATE))
        open_spans.append(span)
    while open_spans:
        close()
    say(len(text))
    return pieces


def _closing(positions: Sequence[Position], markup: CitationMarkup) -> str:
    buckets: dict[int, list[str]] = {}
    for bucket, index in positions:
        buckets.setdefault(bucket, []).append(str(index))
    listed = ",".join(f"{bucket}:[{','.join(indexes)}]" for bucket, indexes in buckets.items())
    before, after = markup.close_parts
    return f"{before}{listed}{after}"
