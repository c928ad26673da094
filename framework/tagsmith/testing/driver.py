"""Runs a parser over a whole generation, as a server would."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tagsmith.events import Event
from tagsmith.family import Family
from tagsmith.message import Message
from tagsmith.testing.tokenizer import MockTokenizer

REPLACEMENT = "\ufffd"


@dataclass(frozen=True, slots=True)
class Run:
    """What a parser made of one generation."""

    events: tuple[Event, ...]
    """Every event, in order, as it came."""
    message: Message
    """The message they add up to."""


def run(
    family: Family, deltas: Iterable[str], *, finish_reason: str = "stop", **options: Any
) -> Run:
    """Feed text deltas to a new parser and finish it.

    Args:
        family: whose output it is.
        deltas: the output in pieces; see `tagsmith.testing.all_cuttings`.
        finish_reason: how the generation ended.
        options: keyword arguments of `family.parser`.

    >>> import tagsmith
    >>> run(tagsmith.get_family("cohere-command-a"), ["He", "y"]).message.content
    'Hey'
    """
    parser = family.parser(**options)
    events = [event for delta in deltas for event in parser.feed(delta)]
    events += parser.finish(finish_reason)
    return Run(tuple(events), parser.message)


def run_tokens(
    family: Family,
    groups: Iterable[Sequence[int]],
    tokenizer: MockTokenizer,
    *,
    finish_reason: str = "stop",
    **options: Any,
) -> Run:
    """Feed token ids, with the text a server would have decoded by then, and finish the parser.

    Args:
        family: whose output it is.
        groups: the ids of each decoding step; see `tagsmith.testing.by_n_tokens`.
        tokenizer: what the ids mean.
        finish_reason: how the generation ended.
        options: keyword arguments of `family.parser`.

    >>> import tagsmith
    >>> family = tagsmith.get_family("cohere-command-a")
    >>> tokenizer = MockTokenizer.for_family(family)
    >>> run_tokens(family, [[195], [169]], tokenizer).message.content
    'é'
    """
    parser = family.parser(tokenizer=tokenizer, **options)
    events = [
        event
        for text, group in decode_groups(groups, tokenizer)
        for event in parser.feed(text, token_ids=group)
    ]
    events += parser.finish(finish_reason)
    return Run(tuple(events), parser.message)


def decode_groups(
    groups: Iterable[Sequence[int]], tokenizer: MockTokenizer
) -> Iterator[tuple[str, list[int]]]:
    """Each step's ids with the text they complete: a server holds an unfinished character back."""
    waiting: list[int] = []
    for group in groups:
        waiting += group
        text = tokenizer.decode(waiting)
        if text.endswith(REPLACEMENT):
            text = ""
        else:
            waiting = []
        yield text, list(group)
