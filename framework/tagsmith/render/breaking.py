"""Keeping what others say from being structure: markers in it are broken, all else is kept.

A prompt is pieces: those of the template, which may hold markers, and those that a user, a tool or
a document says, which may not. A marker is broken wherever it stands in the finished text, so that
neither two pieces nor a piece and the template make one together.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import lru_cache, partial
from itertools import accumulate, chain
from typing import Any
from unicodedata import normalize

from tagsmith.engine.scanner import Scanner, build_scanner
from tagsmith.engine.tables import build_tables
from tagsmith.spec.models import FamilySpec


class Voice(Enum):
    """Whose words a piece holds, and in which form."""

    TEMPLATE = auto()
    """The template's own: it may hold markers."""
    TEXT = auto()
    """Others' words as text: a space goes into a marker."""
    JSON = auto()
    """Others' words as JSON: one character of a marker is escaped, and the value stays the same."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a prompt, and whose it is."""

    text: str
    voice: Voice


def said_text(text: str) -> Piece:
    """What others say, as text."""
    return Piece(text, Voice.TEXT)


def said_json(value: Any) -> Piece:
    """What others say, as JSON text."""
    return Piece(json_text(value), Voice.JSON)


def json_text(value: Any) -> str:
    """JSON text as Cohere's prompts spell it: a space after commas and colons, letters as they are.

    >>> json_text({"a": ["é", 1]})
    '{"a": ["é", 1]}'
    """
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


@lru_cache(maxsize=256)
def family_markers(spec: FamilySpec) -> Scanner:
    """Every literal that means something in a family's prompts, and that no words may be.

    A marker that begins as words do, such as `Action:`, is free to all: no token is behind it, or
    the token is a marker too. So is a marker of one character.
    """
    tokens = spec.tokens
    image = () if tokens.image is None else (tokens.image,)
    known = (*build_tables(spec).meanings, *tokens.reserved, *image)
    return build_scanner(marker for marker in known if len(marker) > 1 and not marker[0].isalnum())


def broken_text(text: str, markers: Scanner) -> str:
    """Others' words with every marker broken; text without one is left to the letter.

    >>> broken_text("a <co>b", build_scanner(["<co>"]))
    'a < co>b'
    """
    return break_markers([said_text(text)], markers)


def broken_value(value: Any, markers: Scanner) -> Any:
    """A JSON value with every marker in its texts and keys broken."""
    return with_texts(value, partial(broken_text, markers=markers))


def with_texts(value: Any, change: Callable[[str], str]) -> Any:
    """A JSON value with each of its texts and keys changed.

    >>> with_texts({"a": ["b", 1]}, str.upper)
    {'A': ['B', 1]}
    """
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {change(key): with_texts(item, change) for key, item in value.items()}
    if isinstance(value, list):
        return [with_texts(item, change) for item in value]
    return value


def break_markers(pieces: Sequence[Piece], markers: Scanner) -> str:
    """The text of all pieces, in which every marker is the template's own.

    >>> pieces = [Piece("<co>", Voice.TEMPLATE), said_text("<c"), said_text("o>")]
    >>> break_markers([*pieces, said_json("<co>")], build_scanner(["<co>"]))
    '<co>< co>"\\\\u003cco>"'
    """
    while True:
        text = "".join(piece.text for piece in pieces)
        cuts = _cuts(pieces, text, markers)
        if not cuts:
            return text
        # What breaks one marker might, with what stands around it, be another.
        pieces = _with_cuts(pieces, cuts)


def _cuts(pieces: Sequence[Piece], text: str, markers: Scanner) -> dict[int, str]:
    """What to write in place of which characters."""
    starts = list(accumulate((len(piece.text) for piece in pieces), initial=0))
    cuts: dict[int, str] = {}
    for start, end in chain(_found(text, markers), _found_in_disguise(text, markers)):
        cut = _cut(text, start, _said(pieces, starts, start, end))
        if cut is not None:
            cuts.setdefault(*cut)
    return cuts


def _found(text: str, markers: Scanner) -> Iterator[tuple[int, int]]:
    """Where each marker stands, those within each other as well."""
    match = markers.whole.search(text)
    while match is not None:
        yield match.span()
        match = markers.whole.search(text, match.start() + 1)


def _found_in_disguise(text: str, markers: Scanner) -> Iterator[tuple[int, int]]:
    """Where what is no marker becomes one, should the text be normalised as NFKC does.

    A wide less-than sign and the sign for degrees Kelvin, say, are a `<` and a K then.
    """
    plain = {ord(char): normalize("NFKC", char) for char in set(text) if not char.isascii()}
    plain = {code: shown for code, shown in plain.items() if shown.isascii()}
    found = list(_found(text.translate(plain), markers)) if plain else []
    if found:
        lengths = (len(plain.get(ord(char), char)) for char in text)
        places = list(accumulate(lengths, initial=0))
        for start, end in found:
            yield bisect_right(places, start) - 1, bisect_right(places, end - 1)


def _said(
    pieces: Sequence[Piece], starts: Sequence[int], start: int, end: int
) -> Iterator[tuple[int, Voice]]:
    """The places from start to end in which others speak."""
    number = bisect_right(starts, start) - 1
    while number < len(pieces) and starts[number] < end:
        voice = pieces[number].voice
        if voice is not Voice.TEMPLATE:
            for place in range(max(start, starts[number]), min(end, starts[number + 1])):
                yield place, voice
        number += 1


def _cut(text: str, start: int, said: Iterable[tuple[int, Voice]]) -> tuple[int, str] | None:
    """Where and how to break a marker; None where it is the template's own."""
    first: tuple[int, str] | None = None
    for place, voice in said:
        char = text[place]
        if voice is Voice.JSON and not (char.isalnum() or char in '"\\'):
            # No letter, which may belong to an escape already.
            return place, json.dumps(char)[1:-1] if ord(char) > 0x7E else f"\\u{ord(char):04x}"
        if first is None:
            first = place, f"{char} " if place == start else f" {char}"
            if voice is Voice.TEXT:
                return first
    return first


def _with_cuts(pieces: Sequence[Piece], cuts: dict[int, str]) -> list[Piece]:
    broken: list[Piece] = []
    places = iter(sorted(cuts))
    place = next(places, None)
    start = 0
    for piece in pieces:
        end = start + len(piece.text)
        parts: list[str] = []
        kept = start
        while place is not None and place < end:
            parts += [piece.text[kept - start : place - start], cuts[place]]
            kept = place + 1
            place = next(places, None)
        parts.append(piece.text[kept - start :])
        broken.append(Piece("".join(parts), piece.voice))
        start = end
    return broken
