"""Literals in a prompt: how a text is taken apart, and what two texts share at their edges."""

from __future__ import annotations

import re
from collections.abc import Iterable

_ATOM = re.compile(r"<[^<>\s]*>?|\[/?[A-Z_]+\]|\s|\w+|.", re.DOTALL)
_TOKEN = r"<[^<>\s]+>|\[/?[A-Z][A-Z_]*\]|\[\|[^\[\]\s]+\|\]"
_BAR = "[|\N{FULLWIDTH VERTICAL LINE}]"
_SPECIAL = re.compile(rf"<{_BAR}[^<>]*>|<[^<>\s]*{_BAR}>|\[/?[A-Z][A-Z_]*\]|\[\|[^\[\]\s]+\|\]")
OPPOSITES = (("START", "END"), ("begin", "end"), ("start", "end"))
"""What stands in tokens that open something, and in its place in those that close it."""


def atoms(text: str) -> list[str]:
    """The pieces of a text that belong together: tags, blanks, words.

    >>> atoms("</p>\\n<f=")
    ['</p>', '\\n', '<f=']
    """
    return _ATOM.findall(text)


def shared_start(one: str, other: str) -> str:
    """What two texts begin with, in whole pieces.

    >>> shared_start("</p></f>", "</p><p=")
    '</p>'
    """
    shared = ""
    for piece, same in zip(atoms(one), atoms(other), strict=False):
        if piece != same:
            break
        shared += piece
    return shared


def shared_end(one: str, other: str) -> str:
    """What two texts end with, in whole pieces.

    >>> shared_end(">\\n<p=", "</p>\\n<p=")
    '\\n<p='
    """
    shared: list[str] = []
    for piece, same in zip(reversed(atoms(one)), reversed(atoms(other)), strict=False):
        if piece != same:
            break
        shared.append(piece)
    return "".join(reversed(shared))


class Tokens:
    """Finds what looks like a token of its own, or is known to be one."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        self._known = frozenset(token for token in known if len(token) > 1)
        longest_first = sorted(self._known, key=len, reverse=True)
        self._pattern = re.compile("|".join([*map(re.escape, longest_first), _TOKEN]))

    def find(self, text: str) -> list[str]:
        """The tokens in a text, in order.

        >>> Tokens(["]~b]"]).find("]~b]ai <think> x")
        [']~b]', '<think>']
        """
        return self._pattern.findall(text)

    def first(self, text: str) -> str:
        """The first token in a text; where there is none, the text's first word, or nothing."""
        return next(iter([*self.find(text), *text.split()]), "")

    def is_special(self, token: str) -> bool:
        """Whether a token is none that stands in prose: it is known, or written as such are."""
        return token in self._known or _SPECIAL.fullmatch(token) is not None


def between(text: str, before: str, after: str) -> str | None:
    """What stands between two literals, the first of each; None where they do not stand so."""
    start = text.find(before)
    if start < 0:
        return None
    start += len(before)
    end = text.find(after, start)
    return None if end < 0 else text[start:end]


def past(text: str, before: str) -> str | None:
    """What stands behind the first of a literal; None where it does not stand there."""
    start = text.find(before)
    return None if start < 0 else text[start + len(before) :]
