"""Samples of what a structural tag lets through: random walks through its compiled grammar."""

from __future__ import annotations

import json
from bisect import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from random import Random
from typing import Any

from tagsmith.grammar.check import byte_vocabulary, compile_structural_tag
from tagsmith.request.vocabulary import walk

MOST_TOKENS = 8192
"""How long a sample may become before it is given up."""
LONGEST_STROLL = 120
"""After how many choices, at most, a walk heads for the end."""

FRAGMENTS = (
    "two words ", "12", "-0.5e3", "</", "<|", "{}", '{"', "\\n", '\\"', "\\\\", "\\u00e9",
    "\\ud83d", "é", "查", "😀", "\u2028", "\n\n", "  ", "\r\n", "null", "true", "```json\n", ", ",
    "}]",
)  # fmt: skip
"""Pieces of text that are worth a try."""

State = tuple[tuple[int, ...], bool, bool]
"""The mask of tokens, whether a character is unfinished, and whether the walk heads for the end."""

_NO_TEXT = frozenset({0xC0, 0xC1, *range(0xF5, 0x100)})
_HALF_TEXT = frozenset({0xE0, 0xED, 0xF0, 0xF4})
"""What not every byte may follow: taken where the grammar says so itself."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One walk through a grammar."""

    text: str
    """What it wrote."""
    finished: bool
    """Whether it came to the end. One that did not, because the grammar goes on for ever or leads
    nowhere, is no output that the tag accepts."""


def sample_texts(
    tag: dict[str, Any], count: int, *, seed: int | str, markers: Sequence[str] = ()
) -> list[Sample]:
    """Write texts that a structural tag accepts, token by token, as a model held to it would.

    Every text that the tag accepts may come. Markers, and what the tag itself spells, come more
    often than chance would have it, and after some choices a walk takes a short way out.

    Args:
        tag: A structural tag, from `Family.structural_tag`.
        count: How many.
        seed: The same seed gives the same samples.
        markers: The strings that are one token each, such as `family.markers`.

    Raises:
        MissingDependencyError: xgrammar is not installed.
        RequestError: xgrammar cannot compile the tag.

    >>> digits = {"type": "regex", "pattern": "[0-9]{3}"}
    >>> [sample] = sample_texts({"type": "structural_tag", "format": digits}, 1, seed=1)
    >>> len(sample.text), sample.finished
    (3, True)
    """
    vocabulary = byte_vocabulary([*markers, *_spelled(tag["format"]), *FRAGMENTS])
    compiled = compile_structural_tag(tag, vocabulary)
    chances = _Chances(vocabulary)
    random = Random(seed)
    return [_walk(compiled, chances, random) for _ in range(count)]


def _walk(compiled: Any, chances: _Chances, random: Random) -> Sample:
    import xgrammar

    matcher = xgrammar.GrammarMatcher(compiled)
    mask = xgrammar.allocate_token_bitmask(1, chances.end + 1)
    row = mask[0]
    written = bytearray()
    choices = random.randrange(LONGEST_STROLL)
    for _ in range(MOST_TOKENS):
        mask.fill_(-1)  # Where everything is allowed, xgrammar leaves the mask as it is.
        matcher.fill_next_token_bitmask(mask)
        state = (tuple(row.tolist()), _is_inside_character(written), choices <= 0)
        token, chosen = chances.pick(state, random)
        if token is None:
            break
        if token == chances.end:
            return Sample(written.decode(), True)
        matcher.accept_token(token)
        written += chances.vocabulary[token]
        choices -= chosen
    return Sample(written.decode("utf-8", "replace"), False)


def _is_inside_character(written: bytearray) -> bool:
    for back in range(1, min(3, len(written)) + 1):
        byte = written[-back]
        if byte < 0x80 or byte >= 0xC0:
            return back < (1 if byte < 0x80 else 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4)
    return False


class _Chances:
    """How likely each token is, for each mask of those that are allowed; worked out once."""

    def __init__(self, vocabulary: list[bytes]) -> None:
        self.vocabulary = vocabulary
        self.end = len(vocabulary)
        fragments = {fragment.encode() for fragment in FRAGMENTS}
        self._fragments = {i for i, word in enumerate(vocabulary) if word in fragments}
        self._known: dict[State, tuple[list[int], list[float]]] = {}

    def pick(self, state: State, random: Random) -> tuple[int | None, bool]:
        """One of the tokens that are allowed, and whether there were others; None of none."""
        known = self._known.get(state)
        if known is None:
            mask, inside, leaving = state
            allowed = self._allowed(mask, inside)
            weigh = self._to_leave if leaving else self._to_stroll
            known = self._known[state] = (allowed, list(accumulate(weigh(allowed))))
        tokens, sums = known
        if len(tokens) < 2:
            return (tokens[0] if tokens else None), False
        return tokens[min(bisect(sums, random.random() * sums[-1]), len(tokens) - 1)], True

    def _allowed(self, mask: tuple[int, ...], inside: bool) -> list[int]:
        """In free text xgrammar takes any byte; here only those that make a character."""
        bits = sum((word & 0xFFFFFFFF) << 32 * i for i, word in enumerate(mask))
        allowed = [i for i in range(self.end + 1) if bits >> i & 1]
        makes_text = [i for i in allowed if inside == (0x80 <= i < 0xC0) and i not in _NO_TEXT]
        sure = [i for i in makes_text if i not in _HALF_TEXT]
        return sure or makes_text

    def _to_stroll(self, allowed: list[int]) -> Iterator[float]:
        """All bytes together have one chance; so have all literals, however many there are."""
        single = sum(_STROLLING[i] for i in allowed if i < 256)
        literals = sum(256 <= i < self.end and i not in self._fragments for i in allowed)
        for i in allowed:
            if i < 256:
                yield _STROLLING[i] / single
            elif i in self._fragments:
                yield 0.02
            else:
                yield 0.1 if i == self.end else 0.6 / literals

    def _to_leave(self, allowed: list[int]) -> Iterator[float]:
        """The end where it is allowed; else what may close something."""
        if self.end in allowed:
            return (float(i == self.end) for i in allowed)
        # Where many characters may stand, a bracket is text, and a quote may end it.
        weights = _LEAVING_TEXT if len(allowed) > 40 else _LEAVING
        others = (0.01 if i in self._fragments else 10.0 for i in allowed if i >= 256)
        return chain((weights[i] for i in allowed if i < 256), others)


def _spelled(format_: Any) -> Iterator[str]:
    """What the tag spells: its literals, and the names of properties as JSON writes them."""
    if isinstance(format_, list):
        for item in format_:
            yield from _spelled(item)
    if not isinstance(format_, dict):
        return
    for key, value in format_.items():
        if key == "json_schema":
            yield from _property_names(value)
        elif key in ("begin", "end", "value", "separator", "excludes", "triggers"):
            literals = [value] if isinstance(value, str) else value
            yield from (text for text in literals if isinstance(text, str) and len(text) > 1)
        else:
            yield from _spelled(value)


def _property_names(schema: Any) -> Iterator[str]:
    for _, inner in walk(schema):
        if isinstance(inner, dict):
            for name in inner.get("properties", ()):
                yield json.dumps(name, ensure_ascii=False)


def _weights(single: dict[bytes, float], printable: float, other: float) -> list[float]:
    """A weight for each byte: that of the group it is in, else whether it is printable."""
    weights = [printable if 0x20 < byte < 0x7F else other for byte in range(256)]
    for group, weight in single.items():
        for byte in group:
            weights[byte] = weight
    return weights


_STROLLING = _weights({b'"': 6, b" \t\r\n": 0.1}, 1, 0.03)
_LEAVING = _weights({b"}])": 100, b'"': 10, b",:<": 3, b"0123456789": 1}, 0.2, 0.01)
_LEAVING_TEXT = _weights({b'"': 60, b"}])<@": 1}, 0.2, 0.01)
