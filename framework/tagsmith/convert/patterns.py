"""Regular expressions of response templates, in the dialect of the library `regex`.

A newline in a family's template stands for any blanks or none; all else is literal.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from tagsmith.engine.templates import SOFT_NEWLINE, Hole, template_steps

BLANK, BLANKS = r"\s", r"\s*"
START, END = r"\A", r"\Z"


def literal(text: str) -> str:
    """A text to the letter.

    >>> literal("<|a b|>")
    '<\\\\|a b\\\\|>'
    """
    return re.sub(r"([\\.^$*+?{}\[\]|()])", r"\\\1", text).replace("\n", r"\n").replace("\t", r"\t")


def either(texts: Iterable[str]) -> str:
    """Any of these texts, in order.

    One that begins another is taken only where the other does not go on: a stream may end between
    the two, and what was taken is not given back.

    >>> either(["<a>", "<c>", "<a><b>"])
    '(?:<a>(?![<])|<c>|<a><b>)'
    """
    known = list(dict.fromkeys(texts))
    return any_of(literal(text) + _not_before(_next_chars(text, known)) for text in known)


def _next_chars(text: str, texts: Iterable[str]) -> str:
    """With which characters others go on that this text begins."""
    longer = (other for other in texts if other != text and other.startswith(text))
    return "".join(dict.fromkeys(other[len(text)] for other in longer))


def _not_before(chars: str) -> str:
    return f"(?![{char_set(chars)}])" if chars else ""


def char_set(chars: str) -> str:
    """Characters as they stand in a set.

    >>> char_set("<]-")
    '<\\\\]\\\\-'
    """
    return re.sub(r"([\\\]\[^-])", r"\\\1", chars)


def any_of(patterns: Iterable[str]) -> str:
    """Any of these patterns, in order."""
    found = list(dict.fromkeys(patterns))
    return found[0] if len(found) == 1 else f"(?:{'|'.join(found)})"


def ahead(pattern: str) -> str:
    """Where this pattern follows."""
    return f"(?={pattern})"


def form_pattern(form: str, holes: Mapping[Hole, str]) -> str:
    r"""The pattern of a template of calls or parameters, with one for each hole.

    >>> print(form_pattern("<f={name}>\n", {Hole.NAME: "(?P<name>.+?)"}))
    <f=(?P<name>.+?)>\s*
    """
    return "".join(
        holes[step]
        if isinstance(step, Hole)
        else (BLANKS if step == SOFT_NEWLINE else literal(step))
        for step in template_steps(form)
    )
