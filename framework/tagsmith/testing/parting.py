"""Where in an output a run parts from what it should be."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tagsmith.events import ContentDelta, Event, ReasoningDelta, ToolCallDelta, join_events
from tagsmith.parser import Parser
from tagsmith.testing.showing import excerpt


@dataclass(frozen=True, slots=True)
class Parting:
    """The delta after which a run can no longer become what it should be."""

    delta: int | None
    """Its number, from 1; None where the run parts only as the output ends."""
    count: int
    """How many deltas there are."""
    start: int
    """Its first character in the output, from 0."""
    end: int

    def lines(self, text: str, fed: str = "") -> Iterator[str]:
        """The lines that show it in its output, and how that is fed where nothing else says so.

        >>> print("\\n".join(Parting(2, 3, 1, 2).lines("Hi!")))
          they part at delta 2 of 3, character 1 of the output:
            'Hi!'
              ^
        """
        parted = f"  fed {fed}, they part" if fed else "  they part"
        if self.delta is None:
            yield f"{parted} where the output ends"
            return
        part = f"character {self.start}"
        if self.end - self.start > 1:
            part = f"characters {self.start} to {self.end - 1}"
        yield f"{parted} at delta {self.delta} of {self.count}, {part} of the output:"
        line, mark = excerpt(text, self.start, self.end)
        yield f"    {line}"
        yield f"    {mark}"


Feed = Callable[[Parser, int], list[Event]]
"""Feeds a parser the delta of this number, from 0."""


def find_parting(
    new_parser: Callable[[], Parser],
    deltas: Sequence[str],
    may_become: Callable[[Parser, list[Event]], bool],
    feed: Feed | None = None,
) -> Parting:
    """The smallest number of deltas after which a run has parted from what it should be.

    Args:
        new_parser: a parser, before its first delta.
        deltas: the text of each delta.
        may_become: whether a parser that has told these events can still become that.
        feed: how the parser is fed, by the text of the delta unless given.
    """

    def has_parted(count: int) -> bool:
        parser = new_parser()
        events: list[Event] = []
        for number in range(count):
            events += feed(parser, number) if feed else parser.feed(deltas[number])
        return not may_become(parser, events)

    # What has been told is never taken back, so once they part they stay apart.
    count = bisect_left(range(len(deltas) + 1), True, key=has_parted)
    if count > len(deltas):
        return Parting(None, len(deltas), sum(map(len, deltas)), sum(map(len, deltas)))
    start = sum(map(len, deltas[: max(count - 1, 0)]))
    return Parting(count, len(deltas), start, start + len(deltas[count - 1]) if count else start)


def events_may_become(whole: Sequence[Event], events: Sequence[Event]) -> bool:
    """Whether events can go on to what `whole` is when both are joined.

    >>> events_may_become([ContentDelta("Hi")], [ContentDelta("H")])
    True
    >>> events_may_become([ContentDelta("Hi")], [ContentDelta("Ho")])
    False
    """
    expected, found = join_events(whole), join_events(events)
    if len(found) > len(expected) or found[:-1] != expected[: max(len(found) - 1, 0)]:
        return False
    return not found or _may_grow_to(expected[len(found) - 1], found[-1])


def _may_grow_to(whole: Event, part: Event) -> bool:
    if isinstance(whole, ToolCallDelta) and isinstance(part, ToolCallDelta):
        return whole.index == part.index and whole.arguments.startswith(part.arguments)
    if isinstance(whole, ReasoningDelta | ContentDelta) and isinstance(part, type(whole)):
        return whole.text.startswith(part.text)
    return whole == part
