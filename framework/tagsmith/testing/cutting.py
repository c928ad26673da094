"""Ways of cutting one output into the deltas that a parser may be fed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import cycle, islice
from random import Random

SIZES = (2, 3, 7, 16)
SEEDS = range(5)
LONGEST_RANDOM_DELTA = 12
MOST_CUTS_IN_TWO = 1000
"""How many cuts in two are tried; those of a longer text are spread over it evenly."""


def whole(text: str) -> list[str]:
    """The text in one delta."""
    return [text]


def by_character(text: str) -> list[str]:
    """One delta a character.

    >>> by_character("abc")
    ['a', 'b', 'c']
    """
    return list(text)


def by_size(text: str, size: int) -> list[str]:
    """Deltas of `size` characters; the last may be shorter.

    >>> by_size("abcde", 2)
    ['ab', 'cd', 'e']
    """
    return [text[start : start + size] for start in range(0, len(text), size)]


def by_sizes(text: str, sizes: Sequence[int]) -> list[str]:
    """Deltas of these sizes, over and over; the last may be shorter.

    >>> by_sizes("abcdefg", [1, 2])
    ['a', 'bc', 'd', 'ef', 'g']
    """
    deltas, start = [], 0
    for size in cycle(sizes):
        if start >= len(text):
            break
        deltas.append(text[start : start + size])
        start += size
    return deltas


def every_two_way(text: str) -> Iterator[list[str]]:
    """Every cut of the text into two deltas.

    >>> list(every_two_way("abc"))
    [['a', 'bc'], ['ab', 'c']]
    """
    return ([text[:place], text[place:]] for place in range(1, len(text)))


def random_cuts(text: str, seed: int) -> list[str]:
    """Deltas of random lengths, empty ones among them; the same seed gives the same cuts.

    >>> "".join(random_cuts("a longer text", seed=1))
    'a longer text'
    """
    random = Random(seed)
    deltas, start = [], 0
    while start < len(text):
        end = start + random.randint(0, LONGEST_RANDOM_DELTA)
        deltas.append(text[start:end])
        start = end
    return deltas


def all_cuttings(text: str) -> Iterator[tuple[str, list[str]]]:
    """Every cutting above with a label that names it, for a test that must hold for each.

    >>> [label for label, deltas in all_cuttings("ab")][:3]
    ['whole', 'by character', 'by 2 characters']
    """
    yield "whole", whole(text)
    yield "by character", by_character(text)
    for size in SIZES:
        yield f"by {size} characters", by_size(text, size)
    step = -(-len(text) // MOST_CUTS_IN_TWO) or 1
    for deltas in islice(every_two_way(text), 0, None, step):
        yield f"in two after character {len(deltas[0])}", deltas
    for seed in SEEDS:
        yield f"at random, seed {seed}", random_cuts(text, seed)


def by_token(token_ids: Sequence[int]) -> list[list[int]]:
    """One group of ids a token.

    >>> by_token([7, 8])
    [[7], [8]]
    """
    return by_n_tokens(token_ids, 1)


def by_n_tokens(token_ids: Sequence[int], n: int) -> list[list[int]]:
    """Groups of `n` ids, as speculative decoding accepts several tokens in one step.

    >>> by_n_tokens([7, 8, 9], 2)
    [[7, 8], [9]]
    """
    return [list(token_ids[start : start + n]) for start in range(0, len(token_ids), n)]
