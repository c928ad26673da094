"""What the `json` layout's reader passes over at once, compiled beside a family's markers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

BLANK = " \t\n\r"
BETWEEN = BLANK + ",;[]"
IN_STRING = re.compile(r'(?:[^"\\]++|\\.)*+', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Runs:
    """What can be passed over at once; a marker's first character always ends a run."""

    top: re.Pattern[str]
    blank: re.Pattern[str]
    scalar: re.Pattern[str]
    nested: re.Pattern[str]
    to_brace: re.Pattern[str]
    to_any_brace: re.Pattern[str]
    to_quote: re.Pattern[str]


@lru_cache(maxsize=64)
def runs_beside(first_chars: frozenset[str]) -> Runs:
    """The runs for a scanner whose literals start with these characters."""
    stops = re.escape("".join(sorted(first_chars)))
    not_a_marker = f"[^{stops}]" if stops else r"[\s\S]"

    def run(allowed: str) -> re.Pattern[str]:
        return re.compile(f"{allowed}(?:(?={not_a_marker}){allowed})*+")

    return Runs(
        top=run(f"[{re.escape(BETWEEN)}]"),
        blank=run(f"[{BLANK}]"),
        scalar=run("[-+.0-9A-Za-z_]"),
        nested=run(r'[^"{}\[\]]'),
        to_brace=run(r"[^{]"),
        to_any_brace=run(r"[^{}]"),
        to_quote=run(r'[^"]'),
    )


def run_end(pattern: re.Pattern[str], text: str, pos: int) -> int:
    """Where a run from `pos` ends; at least one character on, for it is known to be no marker."""
    match = pattern.match(text, pos)
    return pos + 1 if match is None else match.end()
