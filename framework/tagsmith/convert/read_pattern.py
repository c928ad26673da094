"""Reads the regular expressions of response templates: those that are literals, blanks and groups.

What more there is in a pattern cannot be said in a family file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

MOST = 200
"""How many ways a pattern may be read in."""
DEEPEST = 50
"""How deep its groups may be nested."""

_TOKEN = re.compile(
    r"\\(?P<escape>.)|(?P<group>\(\?P<\w+>|\(\?P=\w+\)|\(\?[:=!]|\(\?<[=!]|\(\?|\()|(?P<close>\))|(?P<bar>\|)"
    r"|(?P<set>\[\^?\]?(?:\\.|[^\]\\])*\])|(?P<repeat>[*+?]\??|\{[0-9,]+\}\??)|(?P<char>[^\\\[])",
    re.DOTALL,
)
_SPECIAL = {"s": "blanks", "A": "start", "Z": "end", "n": "\n", "t": "\t", "r": "\r"}


class Mark(Enum):
    """What a pattern holds besides text."""

    BLANKS = "blanks"
    """Any blanks or none."""
    ANYTHING = "anything"
    """Any text."""
    START = "start"
    """The start of the whole text."""
    END = "end"
    """Its end."""


@dataclass(frozen=True, slots=True)
class Group:
    """A named group, whatever it takes."""

    name: str
    inside: tuple[Step, ...] = ()
    """What it takes, the first way."""


Step = str | Mark | Group


class UnreadablePatternError(ValueError):
    """A pattern that says more than a family file can."""


@dataclass(slots=True)
class _Reader:
    """Reads from left to right; each way is a list of steps."""

    pattern: str
    tokens: list[re.Match[str]] = field(default_factory=list)
    place: int = 0
    depth: int = 0

    def __post_init__(self) -> None:
        self.tokens = list(_TOKEN.finditer(self.pattern))
        if sum(len(token[0]) for token in self.tokens) < len(self.pattern):
            raise UnreadablePatternError("a set is not closed, or nothing follows a backslash")

    def alternatives(self) -> list[list[Step]]:
        """Everything up to the end of the group."""
        ways = self.sequence()
        while self._next("bar"):
            ways += self.sequence()
        return _few(ways)

    def sequence(self) -> list[list[Step]]:
        ways: list[list[Step]] = [[]]
        while self.place < len(self.tokens) and self.tokens[self.place].lastgroup not in (
            "bar",
            "close",
        ):
            piece = self._piece()
            ways = _few([[*way, *more] for way in ways for more in piece])
        return ways

    def _piece(self) -> list[list[Step]]:
        """One thing with what repeats it, in each way."""
        token = self.tokens[self.place]
        self.place += 1
        ways = self._single(token)
        repeat = self._next("repeat")
        return ways if repeat is None else _repeated(ways, repeat)

    def _single(self, token: re.Match[str]) -> list[list[Step]]:
        kind, text = token.lastgroup, token[0]
        if kind == "escape":
            char = token["escape"]
            if char in "sAZ":
                return [[Mark(_SPECIAL[char])]]
            if char.isalnum() and char not in _SPECIAL:
                return [[Mark.ANYTHING]]
            return [[_SPECIAL.get(char, char)]]
        if kind == "set":
            return [[Mark.BLANKS if set(text[1:-1]) <= set(" \\tnr") else Mark.ANYTHING]]
        if kind == "group":
            return self._group(text)
        if text in "^$":
            return [[Mark.START if text == "^" else Mark.END]]
        return [[Mark.ANYTHING]] if text == "." else [[text]]

    def _group(self, opener: str) -> list[list[Step]]:
        if opener.startswith("(?P="):
            return [[]]
        self.depth += 1
        if self.depth > DEEPEST:
            raise UnreadablePatternError(f"its groups are nested more than {DEEPEST} deep")
        inside = self.alternatives()
        self.depth -= 1
        if self._next("close") is None:
            raise UnreadablePatternError("a group is not closed")
        if opener.startswith("(?P<"):
            return [[Group(opener[4:-1], tuple(_joined(inside[0])))]]
        if opener in ("(?=", "(?!", "(?<=", "(?<!"):
            return [[]]
        if opener not in ("(", "(?:"):
            raise UnreadablePatternError(f"{opener!r} is not read")
        return inside

    def _next(self, kind: str) -> str | None:
        if self.place < len(self.tokens) and self.tokens[self.place].lastgroup == kind:
            self.place += 1
            return self.tokens[self.place - 1][0]
        return None


def read_pattern(pattern: str) -> list[list[Step]]:
    """The ways in which a pattern matches, each as texts and marks in order.

    What only looks ahead or behind is left out.

    Raises:
        UnreadablePatternError: it is more than literals, blanks and groups.

    >>> read_pattern(r"\\s*<f=(?P<name>\\w+)>|<g/?>")[0]
    [<Mark.BLANKS: 'blanks'>, '<f=', Group(name='name', inside=(<Mark.ANYTHING: 'anything'>,)), '>']
    >>> read_pattern("<g/?>")
    [['<g>'], ['<g/>']]
    """
    reader = _Reader(pattern)
    ways = reader.alternatives()
    if reader.place < len(reader.tokens):
        raise UnreadablePatternError("a group is closed that was not opened")
    return [list(_joined(way)) for way in ways]


def _repeated(ways: list[list[Step]], repeat: str) -> list[list[Step]]:
    steps = {step for way in ways for step in way}
    if steps <= {Mark.BLANKS, "\n", " ", "\t"}:
        return [[Mark.BLANKS]]
    if steps <= {Mark.ANYTHING}:
        return ways
    if repeat.startswith("?"):
        return [[], *ways]
    raise UnreadablePatternError(f"{repeat!r} repeats what is no blank")


def _few(ways: list[list[Step]]) -> list[list[Step]]:
    if len(ways) > MOST:
        raise UnreadablePatternError(f"it can be read in more than {MOST} ways")
    return ways


def _joined(way: list[Step]) -> Iterator[Step]:
    """The steps with texts that follow each other as one, and marks that do once."""
    text = ""
    last: Step | None = None
    for step in way:
        if isinstance(step, str):
            text += step
            continue
        if text:
            yield text
            text, last = "", None
        if step != last:
            yield step
        last = step
    if text:
        yield text


def top_level(pattern: str) -> list[str]:
    """The alternatives of a pattern that stand in no group.

    >>> top_level(r"a|(?:b|c)|\\|")
    ['a', '(?:b|c)', '\\\\|']
    """
    parts, depth = [""], 0
    for token in _TOKEN.finditer(pattern):
        depth += {"group": 0 if token[0].startswith("(?P=") else 1, "close": -1}.get(
            token.lastgroup or "", 0
        )
        if token.lastgroup == "bar" and depth == 0:
            parts.append("")
        else:
            parts[-1] += token[0]
    return parts


def literals(pattern: str) -> list[str]:
    """The texts that a pattern stands for, blanks around them left out.

    Raises:
        UnreadablePatternError: something else than blanks stands beside or within them.

    >>> literals(r"\\s*(?:<a>|<b>)\\s*|(?=<c>)|\\s+\\Z")
    ['<a>', '<b>']
    """
    found: list[str] = []
    for way in read_pattern(pattern):
        rest = [step for step in way if step not in (Mark.BLANKS, Mark.END, Mark.START)]
        if not rest:
            continue
        if len(rest) > 1 or not isinstance(rest[0], str):
            raise UnreadablePatternError("it is no literal")
        found.append(rest[0])
    return list(dict.fromkeys(found))
