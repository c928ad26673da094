"""Runs of characters that a reader passes over at once, beside a family's markers."""

from __future__ import annotations

import re
from functools import lru_cache


@lru_cache(maxsize=256)
def run_beside(allowed: str, first_chars: frozenset[str]) -> re.Pattern[str]:
    """A run, one character long at least, of what the expression `allowed` matches.

    A marker's first character ends it, but where the run begins: it is known to begin no marker.

    >>> run_beside("[^,]", frozenset("<")).match("<a b<c>,").group()
    '<a b'
    """
    stops = re.escape("".join(sorted(first_chars)))
    ahead = f"(?![{stops}])" if stops else ""
    return re.compile(f"{allowed}(?:{ahead}{allowed})*+")


def none_of(chars: str) -> str:
    """The expression for any other character than these.

    >>> none_of(",]")
    '[^,\\\\]]'
    """
    return f"[^{re.escape(chars)}]"


def run_end(run: re.Pattern[str], text: str, pos: int) -> int:
    """Where a run that may begin at `pos` ends: there, if it does not."""
    match = run.match(text, pos)
    return pos if match is None else match.end()
