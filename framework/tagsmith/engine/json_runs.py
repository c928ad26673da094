"""What the `json` layout's reader passes over at once, compiled beside a family's markers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from tagsmith.engine.runs import none_of, run_beside

BLANK = " \t\n\r"
_STRING = r'"(?:[^"\\]++|\\[\s\S])*+"'
BLANKS = re.compile(f"[{BLANK}]+")
MAX_BLANKS = 64
"""How many blanks may stand before what says what stood before them."""
FEW_BLANKS = re.compile(f"[{BLANK}]{{0,{MAX_BLANKS}}}")
BETWEEN = BLANK + ",;[]"
IN_STRING = re.compile(r'(?:[^"\\]++|\\.)*+', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Runs:
    """What can be passed over at once; a marker's first character always ends a run."""

    top: re.Pattern[str]
    to_close: re.Pattern[str]
    blank: re.Pattern[str]
    scalar: re.Pattern[str]
    nested: re.Pattern[str]
    to_brace: re.Pattern[str]
    to_any_brace: re.Pattern[str]
    to_quote: re.Pattern[str]
    to_value: re.Pattern[str]
    """From a key to its value: the colon with the blanks around it."""
    to_key: re.Pattern[str]
    """From a value to the next key."""


@lru_cache(maxsize=64)
def runs_beside(first_chars: frozenset[str]) -> Runs:
    """The runs for a scanner whose literals start with these characters."""
    signs = first_chars.isdisjoint(BLANK + ":,")
    return Runs(
        top=run_beside(f"[{re.escape(BETWEEN)}]", first_chars),
        to_close=run_beside(f"[{re.escape(BETWEEN.replace(']', ''))}]", first_chars),
        blank=run_beside(f"[{BLANK}]", first_chars),
        scalar=run_beside("[-+.0-9A-Za-z_]", first_chars),
        nested=run_beside("(?:" + none_of('"{}[]') + f"|{_STRING})", first_chars),
        to_brace=run_beside(none_of("{"), first_chars),
        to_any_brace=run_beside(none_of("{}"), first_chars),
        to_quote=run_beside(none_of('"'), first_chars),
        to_value=re.compile(f"[{BLANK}]*:[{BLANK}]*" if signs else "(?!)"),
        to_key=re.compile(f"[{BLANK}]*,[{BLANK}]*" if signs else "(?!)"),
    )
