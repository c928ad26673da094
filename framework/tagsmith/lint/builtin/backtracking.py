"""Whether a regular expression can take very long: without running it, and never wrong about one
that it calls quick.

The expression is read as an automaton of its characters' places (Glushkov, 1961). It can take
exponential time where one text leads round from a place to itself in two ways (Weber and Seidl,
1991), and long where several choices follow each other.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

MAX_PLACES = 200
"""The longest expression that is looked through, in places for a character."""
_MOST_STEPS = 100_000
"""How many ways between places are followed: looking through takes no second itself."""
_MOST_CHOICES_IN_LOOPS = 2
_MOST_CHOICES = 8
_START = -1

_ASCII = [chr(code) for code in range(128)]
_BEYOND_ASCII = 1 << 128
_ATOM = re.compile(
    r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|0[0-7]{0,2}|[^A-Z1-9buxNU0-9]|[nrtfvadswDSW])"
    r"|\[\^?\]?(?:\\.|[^\]\\])*\]|[^\\^$*+?{}\[\]|()]|[}\]]|\{(?!\d*,?\d*\})",
    re.DOTALL,
)
_GROUP = re.compile(r"\((?:\?:|\?P<\w+>|(?!\?))")
_REPEAT = re.compile(r"(?:[*+?]|\{(\d*)(,?)(\d*)\})[?+]?")

Edges = Mapping[int, Sequence[int]]
Pair = tuple[int, int]
_Node = TypeVar("_Node")


_TOO_MANY = "it has too many choices to look through"


class _NotReadError(Exception):
    """The expression holds what is not looked through; the message says what."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of an expression: whether it may be empty, the places it may begin and end at."""

    empty: bool
    first: tuple[int, ...] = ()
    last: tuple[int, ...] = ()


@dataclass(slots=True)
class _Reader:
    """Reads an expression into places, each with the characters it takes, and ways between them."""

    text: str
    at: int = 0
    chars: list[int] = field(default_factory=list)
    ways: Counter[Pair] = field(default_factory=Counter)
    steps: int = 0

    def whole(self) -> _Part:
        part = self._choices()
        if self.at < len(self.text):
            raise _NotReadError(f"it cannot be followed from {self.text[self.at :][:10]!r} on")
        return part

    def _choices(self) -> _Part:
        parts = [self._sequence()]
        while self.text.startswith("|", self.at):
            self.at += 1
            parts.append(self._sequence())
        first = tuple(place for part in parts for place in part.first)
        last = tuple(place for part in parts for place in part.last)
        return _Part(any(part.empty for part in parts), first, last)

    def _sequence(self) -> _Part:
        part = _Part(empty=True)
        while self.at < len(self.text) and self.text[self.at] not in "|)":
            after = self._repeated()
            self._lead(part, after)
            part = _Part(
                part.empty and after.empty,
                part.first + (after.first if part.empty else ()),
                after.last + (part.last if after.empty else ()),
            )
        return part

    def _repeated(self) -> _Part:
        part = self._single()
        while match := _REPEAT.match(self.text, self.at):
            self.at = match.end()
            least, most = _counts(match)
            if most is not None and most > 1 and part.empty:
                raise _NotReadError(f"what {match[0]} repeats may be empty")
            if most is None or most > 1:
                self._lead(part, part)
            part = _Part(part.empty or least == 0, part.first, part.last)
        return part

    def _single(self) -> _Part:
        if group := _GROUP.match(self.text, self.at):
            self.at = group.end()
            part = self._choices()
            if not self.text.startswith(")", self.at):
                raise _NotReadError("a group is not closed")
            self.at += 1
            return part
        if self.text[self.at] in "^$":
            self.at += 1
            return _Part(empty=True)
        atom = _ATOM.match(self.text, self.at)
        if atom is None:
            raise _NotReadError(
                f"{self.text[self.at :][:10]!r} is more than characters and repeats"
            )
        if len(self.chars) == MAX_PLACES:
            raise _NotReadError(f"it is longer than {MAX_PLACES} characters and classes")
        self.at = atom.end()
        place = len(self.chars)
        self.chars.append(_characters(atom[0]))
        return _Part(False, (place,), (place,))

    def _lead(self, before: _Part, after: _Part) -> None:
        self.steps += len(before.last) * len(after.first)
        if self.steps > _MOST_STEPS:
            raise _NotReadError(_TOO_MANY)
        self.ways.update((one, other) for one in before.last for other in after.first)


def may_be_empty(pattern: str) -> bool:
    """Whether a pattern that can be looked through matches the empty text; without running it.

    >>> may_be_empty("[0-9]*"), may_be_empty("a|b?c")
    (True, False)
    """
    try:
        return _Reader(pattern).whole().empty
    except (_NotReadError, RecursionError):
        return False


def slow_reason(pattern: str) -> str | None:
    """Why matching a pattern may take very long, or cannot be shown not to; None where it is quick.

    The pattern compiles in Python.

    >>> slow_reason("call_[a-z0-9]{24}"), slow_reason("(a|ab)[0-9]+")
    (None, None)
    >>> slow_reason("(a+)+")
    'a repeat within a repeat can take one text in many ways'
    >>> slow_reason(r"(a)\\1")
    "'\\\\\\\\1' is more than characters and repeats"
    """
    reader = _Reader(pattern)
    try:
        whole = reader.whole()
    except _NotReadError as reason:
        return str(reason)
    except RecursionError:
        return "it is nested too deeply"
    edges = defaultdict(list)
    for one, other in reader.ways:
        edges[one].append(other)
    if sum(map(len, edges.values())) ** 2 > _MOST_STEPS * 10:
        return _TOO_MANY
    around = _component_of(range(len(reader.chars)), edges)
    sizes = Counter(around.values())
    loops = {place for place in around if sizes[around[place]] > 1 or place in edges[place]}
    doubled = any(count > 1 and around[a] == around[b] for (a, b), count in reader.ways.items())
    if doubled or _returns_in_two_ways(reader.chars, edges, loops):
        return "a repeat within a repeat can take one text in many ways"
    nexts = {place: tuple(edges[place]) for place in around} | {_START: whole.first}
    choices = [place for place in nexts if _overlap(reader.chars, nexts[place])]
    in_loops = [place for place in choices if place in loops]
    if len(in_loops) > _MOST_CHOICES_IN_LOOPS or len(choices) > _MOST_CHOICES:
        return "several repeats after each other can take the same characters"
    return None


def _counts(match: re.Match[str]) -> tuple[int, int | None]:
    """How often a repeat takes what stands before it: at least, and at most where it says so."""
    if match[0][0] != "{":
        return int(match[0][0] == "+"), 1 if match[0][0] == "?" else None
    least, comma, most = match.groups()
    if not (least or comma):
        raise _NotReadError("'{}' counts nothing")
    if not comma:
        return int(least), int(least)
    return int(least or 0), int(most) if most else None


def _characters(atom: str) -> int:
    """The characters that an atom takes: a bit for each of ASCII, and one for all others."""
    taken = re.compile(atom, re.DOTALL)
    bits = sum(1 << ord(char) for char in _ASCII if taken.fullmatch(char))
    only_ascii = atom.isascii() and ((len(atom) == 1 and atom != ".") or _names_ascii(atom))
    return bits if only_ascii else bits | _BEYOND_ASCII


def _names_ascii(atom: str) -> bool:
    """Whether a class or an escape lists characters of ASCII and nothing else."""
    return (
        not atom.startswith("[^")
        and not re.search(r"\\[^\\\]\[^$.|?*+(){}/\-]", atom)
        and (atom[0] in "[\\")
    )


def _component_of(
    nodes: Iterable[_Node], edges: Mapping[_Node, Sequence[_Node]]
) -> dict[_Node, int]:
    """For each node, which of the sets it is in whose nodes all lead to each other (Kosaraju)."""
    order: list[_Node] = []
    seen: set[_Node] = set()
    back: defaultdict[_Node, list[_Node]] = defaultdict(list)
    for root in nodes:
        way = [(root, iter(edges.get(root, ())))] if root not in seen else []
        seen.add(root)
        while way:
            node, nexts = way[-1]
            after = next(nexts, None)
            if after is None:
                order.append(node)
                way.pop()
                continue
            back[after].append(node)
            if after not in seen:
                seen.add(after)
                way.append((after, iter(edges.get(after, ()))))
    component: dict[_Node, int] = {}
    for number, root in enumerate(reversed(order)):
        waiting = [root]
        while waiting:
            node = waiting.pop()
            if node not in component:
                component[node] = number
                waiting += back[node]
    return component


def _overlap(chars: Sequence[int], places: Sequence[int]) -> bool:
    """Whether two of these places take the same character."""
    seen = 0
    for place in places:
        if seen & chars[place]:
            return True
        seen |= chars[place]
    return False


def _returns_in_two_ways(chars: Sequence[int], edges: Edges, loops: set[int]) -> bool:
    """Whether one text leads from a place back to it in two ways: two who read it together, and
    take different ways, meet again where they parted."""

    def together(pair: Pair) -> Iterator[Pair]:
        one, other = pair
        for a in edges.get(one, ()):
            for b in edges.get(other, ()):
                if a in loops and b in loops and chars[a] & chars[b]:
                    yield a, b

    pairs: dict[Pair, list[Pair]] = {}
    waiting: list[Pair] = [(place, place) for place in loops]
    while waiting:
        pair = waiting.pop()
        if pair not in pairs:
            pairs[pair] = [*together(pair)]
            waiting += pairs[pair]
    component = _component_of(pairs, pairs)
    meeting = {component[pair] for pair in pairs if pair[0] == pair[1]}
    return any(component[pair] in meeting for pair in pairs if pair[0] != pair[1])
