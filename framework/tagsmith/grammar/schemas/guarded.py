"""JSON in which no string holds certain texts, though its schema has patterns and lengths: the
grammar engine gives up lengths where it excludes text, and excludes none from a pattern."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from tagsmith.grammar.formats import Format, json_schema
from tagsmith.grammar.regexes import lengths, none_of, within
from tagsmith.grammar.schemas.limits import LENGTHS, Limitation
from tagsmith.grammar.schemas.string_formats import FORMATS
from tagsmith.request.vocabulary import dotted, walk

MOST_COUNTED = 1024
"""Up to which length a string is counted by a pattern; more of it takes long to compile."""

_QUOTED = frozenset('"\\')
_NO_TEXT = "\0\0"
"""What no string of JSON can hold."""
_CONTROLS = "\\x00-\\x1f"


def guarded_json(
    schema: Any, excludes: Collection[str] = (), *, style: str | None = None
) -> Format:
    """One JSON value of this schema; no string in it holds one of these texts.

    Lengths become patterns: counted by the engine, a string might hold bare control characters.
    The schema goes first: strings may hold a text that it names itself, and all of them where it
    counts longer strings than a pattern can. It is the caller's own to give away.

    >>> guarded_json({"type": "string", "maxLength": 9}, ["<a>"])["json_schema"]["pattern"][-8:]
    '1f]{0,9}'
    """
    spelled = repr(schema)
    inside = [text for text in _inside(excludes) if text not in spelled]
    syntax = _QUOTED if style is None else frozenset()
    if not _guard(schema, {text[0] for text in inside}, syntax):
        inside = []
    elif not inside and _is_open_beside_odd_names(schema):
        inside = [_NO_TEXT]
    return json_schema(schema, inside, style=style)


def guard_limits(schema: Any, excludes: Collection[str]) -> Iterator[Limitation]:
    """What keeps a value from being clean of texts that would end it."""
    inside = _inside(excludes)
    firsts = {text[0] for text in inside}
    spelled = repr(schema)
    for text in inside:
        if text in spelled:
            yield Limitation("", f"it names {text!r}, which would end the value")
    for path, inner in walk(schema):
        if not isinstance(inner, dict):
            continue
        if max(inner.get(word, 0) for word in LENGTHS) > MOST_COUNTED:
            reason = f"in this layout a length up to {MOST_COUNTED} is held"
            yield Limitation(dotted(path), reason)
        for pattern in [inner.get("pattern", ""), *inner.get("patternProperties", ())]:
            if within(pattern, firsts) is None:
                yield Limitation(dotted(path), f"{pattern!r} matches what would end the value")


def _inside(excludes: Collection[str]) -> list[str]:
    """The part of each text that a string may hold: a quote would end it."""
    cut = (text.partition('"')[0] for text in excludes)
    return list(dict.fromkeys(filter(None, cut)))


def _guard(schema: Any, firsts: set[str], syntax: frozenset[str]) -> bool:
    """Make patterns of lengths, and keep patterns clean; False where a length has no pattern."""
    is_clean = True
    for _, inner in walk(schema):
        if not isinstance(inner, dict):
            continue
        if "pattern" in inner:
            inner["pattern"] = _clean(inner["pattern"], firsts)
        elif "patternProperties" in inner:
            patterns = inner["patternProperties"]
            inner["patternProperties"] = {_clean(key, firsts): patterns[key] for key in patterns}
        elif not LENGTHS.isdisjoint(inner):
            counted = _is_countable(inner)
            is_clean = is_clean and counted
            if counted:
                least, most = inner.pop("minLength", 0), inner.pop("maxLength", None)
                chars = none_of(firsts | syntax, also=_CONTROLS if syntax else "")
                inner["pattern"] = lengths(chars, least, most)
        elif firsts and inner.get("type") == "string" and inner.get("format") in FORMATS:
            # The engine's own may hold anything between quotes, as mail addresses do.
            inner["pattern"] = FORMATS[inner.pop("format")]
    return is_clean


def _clean(pattern: str, firsts: set[str]) -> str:
    """The pattern without these characters, if it can do without; a dot is never a line end."""
    return within(pattern, firsts) or within(pattern, ()) or pattern


def _is_countable(schema: dict[str, Any]) -> bool:
    """Whether a pattern can say the lengths of a schema."""
    longest = max(schema.get(word, 0) for word in LENGTHS)
    return schema.get("type") == "string" and "format" not in schema and longest <= MOST_COUNTED


def _is_open_beside_odd_names(schema: Any) -> bool:
    """Whether an object takes other properties beside some that JSON may escape.

    Only where it excludes text does the engine tell the two apart.
    """
    objects = [inner for _, inner in walk(schema) if isinstance(inner, dict)]
    opened = [inner for inner in objects if inner.get("additionalProperties", False) is not False]
    return any(_is_odd(name) for inner in opened for name in inner.get("properties", ()))


def _is_odd(name: str) -> bool:
    return not (name.isascii() and name.isprintable() and _QUOTED.isdisjoint(name))
