"""Where reasoning ends in a sequence of token ids: when a server may switch a grammar on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tagsmith.engine.tables import Meaning, Region, marker_meanings
from tagsmith.spec.models import FamilySpec
from tagsmith.tokenizers import marker_ids, plain_ids


@dataclass(frozen=True, slots=True)
class ReasoningGate:
    """What marker ids of one tokenizer say about reasoning; markers it does not hold are absent.

    A model that skips thinking, or never closes it, has left reasoning when it opens another
    region, so those openers end it too.
    """

    starts: frozenset[int]
    ends: frozenset[int]
    other_starts: frozenset[int]
    turn_starts: frozenset[int]
    markers: frozenset[int]

    def is_end(self, token_ids: Sequence[int]) -> bool:
        """Whether the turn that these ids end in is past its reasoning."""
        for token_id in reversed(_ids(token_ids)):
            if token_id in self.ends or token_id in self.other_starts:
                return True
            if token_id in self.starts or token_id in self.turn_starts:
                return False
        return False

    def count(self, token_ids: Sequence[int]) -> int:
        """How many tokens of the last turn stand inside reasoning, markers not counted."""
        counter = ReasoningCounter(self)
        counter.add(token_ids)
        return counter.count


class ReasoningCounter:
    """Counts the reasoning tokens of a turn that grows: each token is looked at once.

    >>> gate = ReasoningGate(*(frozenset({n}) for n in (1, 2, 3, 4)), frozenset({1, 2, 3, 4}))
    >>> counter = ReasoningCounter(gate)
    >>> counter.add([1, 9, 9]), counter.add([9, 2, 9]), counter.count
    (None, None, 3)
    """

    __slots__ = ("_depth", "_gate", "count")

    def __init__(self, gate: ReasoningGate) -> None:
        self._gate = gate
        self._depth = 0
        self.count = 0

    def add(self, token_ids: Sequence[int]) -> None:
        """Take the next tokens."""
        gate, count, depth = self._gate, self.count, self._depth
        for token_id in _ids(token_ids):
            if token_id not in gate.markers:
                count += depth > 0
            elif token_id in gate.turn_starts:
                count = depth = 0
            elif token_id in gate.starts:
                depth += 1
            elif token_id in gate.ends:
                depth = max(depth - 1, 0)
            elif token_id in gate.other_starts:
                depth = 0
        self.count, self._depth = count, depth


def _ids(token_ids: Sequence[int]) -> Sequence[int]:
    """A list as it is: a server asks after each step, and the answer is near its end."""
    return token_ids if isinstance(token_ids, list | tuple) else plain_ids(token_ids)


def build_reasoning_gate(spec: FamilySpec, tokenizer: Any) -> ReasoningGate:
    """The gate of a family under a tokenizer."""
    meanings = marker_meanings(spec)
    known = marker_ids(tokenizer, meanings)

    def ids(has: Callable[[Meaning], bool]) -> frozenset[int]:
        return frozenset(i for i, marker in known.items() if has(meanings[marker]))

    # A turn may start with several tokens; those of them that are markers tell it.
    starts = "\n".join(spec.tokens.turn_start)
    return ReasoningGate(
        starts=ids(lambda meaning: meaning.opens is Region.REASONING),
        ends=ids(lambda meaning: Region.REASONING in meaning.closes),
        other_starts=ids(lambda meaning: meaning.opens in (Region.CONTENT, Region.CALLS)),
        turn_starts=frozenset(i for i, marker in known.items() if marker in starts),
        markers=frozenset(known),
    )
