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
WORD_ENDS = BLANK + "\"',;=()[]{}"
"""What ends a name or a keyword."""

MAX_OPENING = 256
"""How far is looked for what begins a call where it may be text, in characters."""

_NAME = r"(?P<plain>\w[\w.\-]*+)(?:[:/][\w.:/\-]*+)?+"
CALL_NAME = re.compile(_NAME)
"""What a name is that begins a call wherever one may stand."""
_B = f"[{BLANK}]*+"
_OPENING = re.compile(
    rf"\[?{_B}(?:(?P<name>{_NAME}){_B}"
    rf"(?:(?P<open>\(){_B}(?:(?P<end>\))|(?!\d)[\w.\-]++{_B}(?P<equals>=(?!=))?)?)?)?"
)


class Opening(Enum):
    """What stands where a call may begin."""

    CALL = auto()
    NONE = auto()
    UNDECIDED = auto()


class Unknown(Enum):
    """What makes a call of a name that is not known to be a tool's: how much speaks for a call."""

    NOTHING = auto()
    PLAIN_KEYWORD = auto()
    """A keyword with its sign behind the parenthesis, or `)`, and a name as Python has them."""
    KEYWORD = auto()
    """The same behind any name. Where the output ends, it is taken to be on its way."""
    PARENTHESIS = auto()


def read_opening(
    buffer: Buffer, pos: int, tools: frozenset[str] | None, unknown: Unknown
) -> Opening:
    """Whether a call begins here, with or without the bracket of a list.

    >>> read_opening(Buffer("[f(x"), 0, None, Unknown.KEYWORD)
    <Opening.UNDECIDED: 3>
    >>> read_opening(Buffer("[f(x=1"), 0, None, Unknown.KEYWORD)
    <Opening.CALL: 1>
    >>> read_opening(Buffer("[f(1"), 0, frozenset("f"), Unknown.KEYWORD)
    <Opening.CALL: 1>
    """
    match = _OPENING.match(buffer.text, pos, pos + MAX_OPENING)
    assert match is not None, "it matches nothing as well"
    may_go_on = match.end() == len(buffer.text) < pos + MAX_OPENING
    if not match["open"]:
        return Opening.UNDECIDED if may_go_on else Opening.NONE
    if unknown is Unknown.PARENTHESIS or (tools is not None and match["name"] in tools):
        return Opening.CALL
    plain = match["name"] == match["plain"]
    if unknown is Unknown.NOTHING or (unknown is Unknown.PLAIN_KEYWORD and not plain):
        return Opening.NONE
    if may_go_on and not buffer.final and not match["end"]:
        return Opening.UNDECIDED
    cut_off = may_go_on and unknown is Unknown.KEYWORD
    return Opening.CALL if match["end"] or match["equals"] or cut_off else Opening.NONE


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
        word=run_beside(none_of(WORD_ENDS), first_chars),
        to_parenthesis=run_beside("[^()]", first_chars),
        to_quote=run_beside("[^'\"]", first_chars),
        any=run_beside(r"[\s\S]", first_chars),
    )
