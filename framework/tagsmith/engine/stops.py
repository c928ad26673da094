"""Watching for stop strings, each character once, however the text is cut."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class StopTable:
    """The stop strings of a request as an automaton (Aho and Corasick, 1975).

    For each state: what each character leads to, the state to fall back to, how many characters
    it stands for, and the longest stop string that ends in it.
    """

    children: tuple[dict[str, int], ...]
    fallbacks: tuple[int, ...]
    depths: tuple[int, ...]
    stops: tuple[str, ...]
    first: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class StopRead:
    """How much of a text was read, how much of the end of that must wait, and the stop found."""

    read: int
    waiting: int
    stop: str | None = None


class StopWatch:
    """Looks for the stop string that is complete first.

    >>> watch = StopWatch(build_stops(("END",)))
    >>> watch.read("a E"), watch.read("ND b")
    (StopRead(read=3, waiting=1, stop=None), StopRead(read=2, waiting=3, stop='END'))
    """

    __slots__ = ("_state", "_table")

    def __init__(self, table: StopTable) -> None:
        self._table = table
        self._state = 0

    def read(self, text: str) -> StopRead:
        """Read on. What waits may yet become a stop; where one is found, it is what waits."""
        table, state = self._table, self._state
        children, fallbacks = table.children, table.fallbacks
        at = 0
        while at < len(text):
            if not state:
                match = table.first.search(text, at)
                if match is None:
                    break
                at = match.start()
            char = text[at]
            while state and char not in children[state]:
                state = fallbacks[state]
            state = children[state].get(char, 0)
            at += 1
            if table.stops[state]:
                stop = table.stops[state]
                return StopRead(at, len(stop), stop)
        self._state = state
        return StopRead(len(text), table.depths[state])

    def forget(self) -> None:
        """What waited is text after all."""
        self._state = 0


@lru_cache(maxsize=64)
def build_stops(stops: tuple[str, ...]) -> StopTable:
    """Compile stop strings; kept, because requests give the same few."""
    children: list[dict[str, int]] = [{}]
    ends = [""]
    depths = [0]
    for stop in stops:
        state = 0
        for char in stop:
            if char not in children[state]:
                children[state][char] = len(children)
                children.append({})
                ends.append("")
                depths.append(depths[state] + 1)
            state = children[state][char]
        ends[state] = stop
    fallbacks = [0] * len(children)
    waiting = deque(children[0].values())
    while waiting:
        state = waiting.popleft()
        for char, child in children[state].items():
            back = fallbacks[state]
            while back and char not in children[back]:
                back = fallbacks[back]
            found = children[back].get(char, 0)
            fallbacks[child] = found
            ends[child] = ends[child] or ends[found]
            waiting.append(child)
    first = "".join(re.escape(char) for char in sorted(children[0]))
    return StopTable(
        tuple(children),
        tuple(fallbacks),
        tuple(depths),
        tuple(ends),
        re.compile(f"[{first}]" if first else "(?!)"),
    )
