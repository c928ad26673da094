"""Finding literals in text that arrives in pieces, at the speed of one compiled expression."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Scanner:
    """Finds the leftmost, longest literal of a set, or the start of one at the end of a buffer.

    >>> scanner = build_scanner(["<co>", "</co: "])
    >>> scanner.find("a <co>b", 0, final=False)
    (2, 6, '<co>')
    >>> scanner.find("a </c", 0, final=False)
    (2, 5, None)
    >>> scanner.find("a </c", 0, final=True) is None
    True
    """

    partial: re.Pattern[str]
    whole: re.Pattern[str]
    extendable: frozenset[str]
    literals: frozenset[str]
    first_chars: frozenset[str]
    longest: int

    def find(self, text: str, pos: int, *, final: bool) -> tuple[int, int, str | None] | None:
        """The next literal as (start, end, literal), or a held prefix as (start, end, None).

        With `final` no more text will come, and a prefix at the end is no find.
        """
        pattern = self.whole if final else self.partial
        return self._read(pattern.search(text, pos), text, final=final)

    def match(self, text: str, pos: int, *, final: bool) -> tuple[int, int, str | None] | None:
        """As `find`, but only where the literal starts at `pos`."""
        pattern = self.whole if final else self.partial
        return self._read(pattern.match(text, pos), text, final=final)

    def _read(
        self, match: re.Match[str] | None, text: str, *, final: bool
    ) -> tuple[int, int, str | None] | None:
        if match is None:
            return None
        start, end = match.span()
        literal = match.group()
        undecided = not final and end == len(text) and literal in self.extendable
        return start, end, None if undecided or literal not in self.literals else literal


NOTHING = re.compile(r"(?!)")


def build_scanner(literals: Iterable[str]) -> Scanner:
    """Compile a set of literals; an empty set finds nothing."""
    known = frozenset(literals)
    if not known:
        return Scanner(NOTHING, NOTHING, frozenset(), known, frozenset(), 0)
    whole = "|".join(re.escape(text) for text in sorted(known, key=len, reverse=True))
    extendable = {a for a in known for b in known if a != b and b.startswith(a)}
    return Scanner(
        partial=re.compile(partial_pattern(known)),
        whole=re.compile(whole),
        extendable=frozenset(extendable),
        literals=known,
        first_chars=frozenset(text[0] for text in known),
        longest=max(map(len, known)),
    )


def partial_pattern(literals: Iterable[str]) -> str:
    """An expression that matches any of the literals, or a start of one that ends the text.

    >>> [bool(re.match(partial_pattern(["<co>"]), text)) for text in ("<co>", "<c", "<x")]
    [True, True, False]
    """
    trie: dict[str, Any] = {}
    for literal in literals:
        node = trie
        for char in literal:
            node = node.setdefault(char, {})
        node[""] = {}
    return _alternatives(trie, root=True)


def _alternatives(node: dict[str, Any], *, root: bool = False) -> str:
    branches = [
        re.escape(char) + _alternatives(child) for char, child in sorted(node.items()) if char
    ]
    if root:
        return "(?:" + "|".join(branches) + ")"
    if not branches:
        return ""
    # Longer literals first; a literal that ends here, or text that ends here, is the fallback.
    return "(?:" + "|".join([*branches, "" if "" in node else r"\Z"]) + ")"
