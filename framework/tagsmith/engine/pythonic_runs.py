"""What the `pythonic` layout's reader passes over at once, compiled beside a family's markers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from tagsmith.engine.json_runs import BLANK
from tagsmith.engine.runs import none_of, run_beside

BETWEEN = BLANK + ",;[]"
_WORD_ENDS = BLANK + "\"',;=()[]{}"


@dataclass(frozen=True, slots=True)
class PythonicRuns:
    """Runs of text that hold no marker but, it may be, where they begin.

    `word` is a name or a keyword in the widest sense, `identifier` one that Python could know, with
    dots and hyphens.
    """

    blank: re.Pattern[str]
    between: re.Pattern[str]
    between_lists: re.Pattern[str]
    word: re.Pattern[str]
    identifier: re.Pattern[str]
    to_parenthesis: re.Pattern[str]
    to_quote: re.Pattern[str]
    any: re.Pattern[str]


@lru_cache(maxsize=64)
def pythonic_runs(first_chars: frozenset[str]) -> PythonicRuns:
    """The runs for a scanner whose literals start with these characters."""
    return PythonicRuns(
        blank=run_beside(f"[{BLANK}]", first_chars),
        between=run_beside(f"[{re.escape(BETWEEN)}]", first_chars),
        between_lists=run_beside(f"[{re.escape(BETWEEN.replace('[', ''))}]", first_chars),
        word=run_beside(none_of(_WORD_ENDS), first_chars),
        identifier=run_beside(r"[\w.\-]", first_chars),
        to_parenthesis=run_beside("[^()]", first_chars),
        to_quote=run_beside("[^'\"]", first_chars),
        any=run_beside(r"[\s\S]", first_chars),
    )
