"""Strings that are written as they are, between two literals, and held to a schema."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tagsmith.engine.json_runs import BLANK
from tagsmith.grammar.formats import Format, any_text, optional, regex, sequence
from tagsmith.grammar.regexes import lengths, none_of, not_beginning_with, within
from tagsmith.grammar.schemas.limits import Limitation
from tagsmith.grammar.schemas.patterns import pattern_problem
from tagsmith.grammar.schemas.string_formats import FORMATS, NOT_IN_TEXT


@dataclass(frozen=True, slots=True)
class Around:
    """What stands around a raw value: the literals that may end it, and the newlines that the
    template writes before and after it."""

    ends: tuple[str, ...]
    lead: str = ""
    tail: str = ""

    @property
    def firsts(self) -> frozenset[str]:
        """The characters that the ends begin with."""
        return frozenset(text[0] for text in self.ends)

    def ends_in(self, text: str) -> bool:
        """Whether a text holds what may end the value."""
        return any(end in text for end in self.ends)

    def exactly(self, *text: str | Format) -> Format:
        """The value is this text, and nothing of it is taken for the newlines around it."""
        return sequence(self.lead, *text, self.tail)


_MOST_COUNTED = 64
"""Up to which length text is counted without what its ends begin with. Longer text may hold that;
but where tokens are parts of characters, the engine may count the last of them short."""


def raw_text(schema: dict[str, Any], around: Around) -> Format:
    """Text that keeps to the schema of a string, and holds nothing that may end it.

    What `raw_limits` names is left out.

    >>> raw_text({"maxLength": 3}, Around(("</p>",)))["pattern"]
    '[^<]{0,3}'
    """
    pattern = _pattern(schema, around)
    if pattern is not None:
        return around.exactly(regex(pattern)) if pattern else around.exactly()
    least, most = schema.get("minLength", 0), schema.get("maxLength")
    if not least and most is None:
        # Newlines beside it are as good as its own: the parser takes one, if it is there.
        return any_text(around.ends)
    chars = none_of(around.firsts)
    if most is not None and most <= _MOST_COUNTED:
        return around.exactly(regex(lengths(chars, least, most)))
    begin = regex(lengths(chars, least, least)) if least else ""
    rest = any_text(around.ends, at_most=None if most is None else most - least)
    return around.exactly(begin, rest)


def raw_limits(schema: dict[str, Any], around: Around) -> Iterator[Limitation]:
    """What the schema of a string asks, and text between literals is not held to."""
    pattern, kind = schema.get("pattern"), schema.get("format")
    if pattern is not None and within(pattern, around.firsts) is None:
        yield Limitation(".pattern", f"{pattern!r} matches what may end the value in this layout")
    elif pattern is None and kind in NOT_IN_TEXT:
        yield Limitation(".format", f"{kind!r} is not held in text; allowed: {', '.join(FORMATS)}")
    for text in schema.get("enum", ()):
        if around.ends_in(text):
            yield Limitation(".enum", f"{text!r} holds what may end the value in this layout")


def one_of(values: list[str], around: Around) -> list[Format]:
    """Each of these texts, but for those that hold what may end them."""
    return [around.exactly(text) for text in values if not around.ends_in(text)]


def text_beginning_with_none_of(words: set[str], schema: dict[str, Any], around: Around) -> Format:
    """Text that begins with none of these words, nor with a blank; of a schema's lengths."""
    firsts = around.firsts | set(BLANK)
    if schema:
        first = none_of(firsts.union(word[0] for word in words))
        least, most = schema.get("minLength", 0), schema.get("maxLength")
        rest = lengths(
            none_of(around.firsts), max(least - 1, 0), None if most is None else most - 1
        )
        begun = regex(first + rest)
        return around.exactly(begun if least else optional(begun))
    first = not_beginning_with(tuple(sorted(words)), beside="".join(sorted(firsts)))
    return around.exactly(optional(sequence(regex(first), any_text(around.ends))))


def _pattern(schema: dict[str, Any], around: Around) -> str | None:
    if "pattern" in schema:
        usable = pattern_problem(schema["pattern"]) is None
        return within(schema["pattern"], around.firsts) if usable else None
    return FORMATS.get(schema.get("format", ""))
