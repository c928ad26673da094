"""How Python calls look: what begins one, and what can be passed over at once in it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto
from functools import lru_cache

from tagsmith.engine.buffer import Buffer
from tagsmith.engine.json_runs import BLANK
from tagsmith.engine.runs import none_of, run_beside

BETWEEN = BLANK + ",;[]"
_WORD_ENDS = BLANK + "\"',;=()[]{}"

MAX_OPENING = 256
"""How far is looked for what begins a call where it may be text, in characters."""

_B = f"[{BLANK}]*+"
_OPENING = re.compile(
    rf"\[?{_B}(?:(?P<name>\w[\w.\-]*+){_B}"
    rf"(?:(?P<open>\(){_B}(?:(?P<end>\))|[\w.\-]++{_B}(?P<equals>=)?)?)?)?"
)


class Opening(Enum):
    """What stands where a call may begin."""

    CALL = auto()
    NONE = auto()
    UNDECIDED = auto()


def read_opening(
    buffer: Buffer, pos: int, tools: frozenset[str] | None, *, name_is_enough: bool
) -> Opening:
    """Whether a call begins here, with or without the bracket of a list.

    A name of these `tools` has to stand before its parenthesis, and if that is not enough, a
    keyword with its sign or the closing parenthesis after it.

    >>> read_opening(Buffer("[f(x"), 0, None, name_is_enough=False)
    <Opening.UNDECIDED: 3>
    >>> read_opening(Buffer("[f(x=1"), 0, None, name_is_enough=False)
    <Opening.CALL: 1>
    >>> read_opening(Buffer("[f(x"), 0, frozenset("g"), name_is_enough=True)
    <Opening.NONE: 2>
    """
    match = _OPENING.match(buffer.text, pos, pos + MAX_OPENING)
    if match is None:
        return Opening.NONE
    if match["open"]:
        if tools is not None and match["name"] not in tools:
            return Opening.NONE
        if name_is_enough or match["end"] or match["equals"]:
            return Opening.CALL
    goes_on = match.end() == len(buffer.text) < pos + MAX_OPENING and not buffer.final
    return Opening.UNDECIDED if goes_on else Opening.NONE


@dataclass(frozen=True, slots=True)
class PythonicRuns:
    """Runs of text that hold no marker but, it may be, where they begin.

    `word` is a name or a keyword, in the widest sense.
    """

    blank: re.Pattern[str]
    between: re.Pattern[str]
    between_lists: re.Pattern[str]
    word: re.Pattern[str]
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
        to_parenthesis=run_beside("[^()]", first_chars),
        to_quote=run_beside("[^'\"]", first_chars),
        any=run_beside(r"[\s\S]", first_chars),
    )
