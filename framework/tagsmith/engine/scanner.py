"""Finding literals in text that arrives in pieces, at the speed of one compiled expression."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

Found = tuple[int, int, str | None]


@dataclass(frozen=True, slots=True)
class Scanner:
    """Finds the leftmost, longest literal of a set, or the start of one that ends a buffer.

    >>> scanner = build_scanner(["<co>", "</co: "])
    >>> scanner.find("a <co>b", 0, final=False)
    (2, 6, '<co>')
    >>> scanner.find("a </c", 0, final=False)
    (2, 5, None)
    >>> scanner.find("a </c", 0, final=True) is None
    True
    """

    literals: frozenset[str]
    starts: frozenset[str]
    """Every text that one of the literals goes on from; a literal too, where another begins so."""
    first_chars: frozenset[str]
    longest: int
    whole: re.Pattern[str]
    first: re.Pattern[str]

    def find(self, text: str, pos: int, *, final: bool) -> Found | None:
        """The next literal as (start, end, literal), or a start of one as (start, end, None).

        With `final` no more text will come, and a start at the end of the text is no find.
        """
        match = self.whole.search(text, pos)
        undecided = None if final else self._undecided(text, pos, match)
        if undecided is not None:
            return undecided, len(text), None
        return None if match is None else (match.start(), match.end(), match.group())

    def match(self, text: str, pos: int, *, final: bool) -> Found | None:
        """As `find`, but only where the literal starts at `pos`."""
        if not final and len(text) - pos < self.longest and text[pos:] in self.starts:
            return pos, len(text), None
        match = self.whole.match(text, pos)
        return None if match is None else (pos, match.end(), match.group())

    def _undecided(self, text: str, pos: int, found: re.Match[str] | None) -> int | None:
        """Where a start of a literal begins that ends the text, at or before what was found."""
        at = max(pos, len(text) - self.longest + 1)
        last = len(text) - 1 if found is None else found.start()
        while at <= last:
            match = self.first.search(text, at)
            if match is None or match.start() > last:
                return None
            at = match.start()
            if text[at:] in self.starts:
                return at
            at += 1
        return None


def build_scanner(literals: Iterable[str]) -> Scanner:
    """Compile a set of literals; an empty set finds nothing."""
    known = frozenset(literals)
    first_chars = frozenset(text[0] for text in known)
    longest_first = sorted(known, key=len, reverse=True)
    return Scanner(
        literals=known,
        starts=frozenset(text[:end] for text in known for end in range(1, len(text))),
        first_chars=first_chars,
        longest=max(map(len, known), default=0),
        whole=_any_of(longest_first),
        first=_any_of(sorted(first_chars)),
    )


@lru_cache(maxsize=1024)
def scanner_of(literals: frozenset[str]) -> Scanner:
    """A scanner for these literals, the same one each time."""
    return build_scanner(literals)


def _any_of(texts: list[str]) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, texts)) if texts else "(?!)")
