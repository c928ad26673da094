"""Shows texts that differ: in one line each, whitespace visible, and the place marked."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator
from itertools import takewhile
from typing import Any

from tagsmith.testing.differences import Difference
from tagsmith.wording import shortened

BEFORE, AFTER = 40, 40
"""How much of a text is shown around a place in it, in characters."""
SHOWN_VALUE = 300

_SIGNS = {"\n": "↵", "\t": "⇥", "\r": "␍", " ": "·"}
_CUT = "..."


def show_difference(difference: Difference) -> Iterator[str]:
    """The lines that show one difference.

    >>> print("\\n".join(show_difference(Difference("content", "a  b", "a b"))))
      content
        expected  'a··b'
        found     'a b'
                     ^ character 2
    """
    expected, found = difference.expected, difference.found
    yield f"  {difference.field}"
    if not (isinstance(expected, str) and isinstance(found, str)):
        yield f"    expected  {_value(expected)}"
        yield f"    found     {_value(found)}"
        return
    place = first_difference(expected, found)
    line, _ = excerpt(expected, place, place + 1)
    yield f"    expected  {line}"
    line, mark = excerpt(found, place, place + 1)
    yield f"    found     {line}"
    yield f"              {mark} character {place}"


def first_difference(one: str, other: str) -> int:
    """The first character in which two texts differ, counted from 0.

    >>> first_difference("abc", "abd"), first_difference("ab", "abc")
    (2, 2)
    """
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def excerpt(text: str, start: int, end: int) -> tuple[str, str]:
    """The text around characters `start` to `end` in quotes, and a line that marks them below it.

    Line ends and other whitespace show as signs where they stand in a row, at an edge, or at the
    place itself; what cannot be printed is escaped.

    >>> print("\\n".join(excerpt("one\\ntwo", 3, 4)))
    'one↵two'
        ^
    """
    first, last = max(0, start - BEFORE), min(len(text), end + AFTER)
    shown = [_shown(text, i, marked=start <= i < end) for i in range(first, last)]
    opening = (_CUT if first else "") + "'"
    closing = "'" + (_CUT if last < len(text) else "")
    before = opening + "".join(shown[: start - first])
    width = _width("".join(shown[start - first : max(end, start) - first]))
    return opening + "".join(shown) + closing, " " * _width(before) + "^" * max(width, 1)


def _shown(text: str, i: int, *, marked: bool) -> str:
    """One character: a single space between words stays as it is."""
    char = text[i]
    if char == " " and not marked:
        around = text[i - 1 : i] + text[i + 1 : i + 2]
        return " " if len(around) == 2 and not around.isspace() and " " not in around else "·"
    if char in _SIGNS:
        return _SIGNS[char]
    return char if char.isprintable() else char.encode("unicode_escape").decode()


def _width(text: str) -> int:
    """How many columns a terminal takes for a text."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        for char in text
    )


def _value(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, str):
        return excerpt(value, 0, 0)[0]
    return shortened(json.dumps(value, ensure_ascii=False, default=str), SHOWN_VALUE)
