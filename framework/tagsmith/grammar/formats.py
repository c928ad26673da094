"""The pieces of a structural tag, as plain JSON-ready dicts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

Format = dict[str, Any]
Piece = str | Format
"""Part of a sequence: a literal, or a format."""

MAX_WHITESPACE = 64
"""How many whitespace characters may follow each other where any number is read."""

SPACE = f"[ \\t\\n\\r]{{0,{MAX_WHITESPACE}}}"
"""A regular expression for the whitespace between two tokens of JSON, or two parts of a call."""

_SPECIAL = re.compile(r"[\\^$.|?*+()\[\]{}/-]")


def literal(text: str) -> str:
    """A regular expression for exactly this text.

    >>> literal("a.b")
    'a\\\\.b'
    """
    return _SPECIAL.sub(r"\\\g<0>", text)


def const(text: str) -> Format:
    """Exactly this text."""
    return {"type": "const_string", "value": text}


def regex(pattern: str) -> Format:
    """Text that the pattern matches as a whole."""
    return {"type": "regex", "pattern": pattern}


def grammar(ebnf: str) -> Format:
    """Text of a grammar's rule `root`."""
    return {"type": "grammar", "grammar": ebnf}


def blanks() -> Format:
    """Whitespace, or none."""
    return regex(SPACE)


def sequence(*pieces: Piece) -> Format:
    """One after the other; literals beside each other are one.

    >>> sequence("a", "b", regex("c"))["elements"][0]
    {'type': 'const_string', 'value': 'ab'}
    """
    elements: list[Format] = []
    text = ""
    for piece in pieces:
        if isinstance(piece, str):
            text += piece
            continue
        if text:
            elements.append(const(text))
            text = ""
        elements.append(piece)
    if text or not elements:
        elements.append(const(text))
    return elements[0] if len(elements) == 1 else {"type": "sequence", "elements": elements}


def either(elements: Sequence[Format]) -> Format:
    """One of these."""
    return elements[0] if len(elements) == 1 else {"type": "or", "elements": list(elements)}


def optional(content: Format) -> Format:
    """This or nothing."""
    return {"type": "optional", "content": content}


def star(content: Format) -> Format:
    """This any number of times."""
    return {"type": "star", "content": content}


def plus(content: Format) -> Format:
    """This once or more."""
    return {"type": "plus", "content": content}


def repeat(content: Format, least: int, most: int | None) -> Format:
    """This so many times."""
    if most is None and least < 2:
        return plus(content) if least else star(content)
    return {"type": "repeat", "min": least, "max": -1 if most is None else most, "content": content}


def tag(begin: str, content: Format, end: str | list[str]) -> Format:
    """Content between two literals; of several ends, one."""
    return {"type": "tag", "begin": begin, "content": content, "end": end}


def any_text(excludes: Iterable[str], *, at_most: int | None = None) -> Format:
    """Text that holds none of these, of so many characters at most."""
    format_: Format = {"type": "any_text", "excludes": list(excludes)}
    return format_ if at_most is None else format_ | {"max_chars": at_most}


def json_schema(schema: Any, excludes: Iterable[str] = (), *, style: str | None = None) -> Format:
    """One value of this schema, as JSON or in another style that the grammar engine knows; with
    `excludes`, no string in it holds one of these."""
    format_: Format = {
        "type": "json_schema",
        "json_schema": schema,
        "max_whitespace_cnt": MAX_WHITESPACE,
    }
    if style is not None:
        format_["style"] = style
    listed = list(excludes)
    return format_ | {"excludes": listed} if listed else format_


def separated(item: Format, separator: str, *, end: str = "", at_most_one: bool) -> Format:
    """One item or more, each up to its end, with a separator between two."""
    return {
        "type": "tags_with_separator",
        "tags": [tag("", item, end)],
        "separator": separator,
        "at_least_one": True,
        "stop_after_first": at_most_one,
    }


def free_text(tags: Sequence[Format], triggers: Sequence[str], excludes: Iterable[str]) -> Format:
    """Text with these tags in it where a trigger stands; else never one of `excludes`."""
    return {
        "type": "triggered_tags",
        "triggers": list(triggers),
        "tags": list(tags),
        "excludes": list(excludes),
    }


def exactly_one(tags: Sequence[Format]) -> Format:
    """One of these tags and nothing else."""
    return {
        "type": "triggered_tags",
        "triggers": shortest({str(item["begin"]): None for item in tags}),
        "tags": list(tags),
        "at_least_one": True,
        "stop_after_first": True,
    }


def shortest(literals: Iterable[str]) -> list[str]:
    """The literals, without those that another one begins.

    >>> shortest(["<a>", "<a>b", "<c>"])
    ['<a>', '<c>']
    """
    known = list(literals)
    return [
        text
        for text in known
        if not any(other != text and text.startswith(other) for other in known)
    ]
