"""The pieces of a structural tag, as plain JSON-ready dicts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

Format = dict[str, Any]

MAX_WHITESPACE = 64
"""How many whitespace characters may follow each other where JSON allows any number."""

SPACE = f"[ \\t\\n\\r]{{0,{MAX_WHITESPACE}}}"
"""A regular expression for the whitespace between two JSON tokens."""

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


def sequence(*elements: Format) -> Format:
    """One after the other."""
    return elements[0] if len(elements) == 1 else {"type": "sequence", "elements": list(elements)}


def either(elements: Sequence[Format]) -> Format:
    """One of these."""
    return elements[0] if len(elements) == 1 else {"type": "or", "elements": list(elements)}


def optional(content: Format) -> Format:
    """This or nothing."""
    return {"type": "optional", "content": content}


def tag(begin: str, content: Format, end: str) -> Format:
    """Content between two literals."""
    return {"type": "tag", "begin": begin, "content": content, "end": end}


def any_text(excludes: Sequence[str]) -> Format:
    """Text that holds none of these."""
    return {"type": "any_text", "excludes": list(excludes)}


def json_schema(schema: Any, excludes: Sequence[str] = ()) -> Format:
    """One JSON value of this schema; with `excludes`, no string in it holds one of these."""
    format_: Format = {
        "type": "json_schema",
        "json_schema": schema,
        "max_whitespace_cnt": MAX_WHITESPACE,
    }
    if excludes:
        format_["excludes"] = list(excludes)
    return format_


def free_text(tags: Sequence[Format], excludes: Sequence[str]) -> Format:
    """Text, with these tags in it where their openers stand; else never one of `excludes`."""
    begins = [item["begin"] for item in tags]
    return {
        "type": "triggered_tags",
        "triggers": _triggers(tags),
        "tags": list(tags),
        "excludes": [text for text in excludes if not any(text in begin for begin in begins)],
    }


def exactly_one(tags: Sequence[Format]) -> Format:
    """One of these tags and nothing else."""
    return {
        "type": "triggered_tags",
        "triggers": _triggers(tags),
        "tags": list(tags),
        "at_least_one": True,
        "stop_after_first": True,
    }


def _triggers(tags: Sequence[Format]) -> list[str]:
    """The openers, without those that another one begins: each tag has exactly one trigger."""
    begins = list(dict.fromkeys(str(item["begin"]) for item in tags))
    return [
        begin
        for begin in begins
        if not any(other != begin and begin.startswith(other) for other in begins)
    ]
