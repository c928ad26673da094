"""Markers that a response template lists, as a family file says them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any


def listed(value: str | Sequence[str] | None) -> list[str]:
    """The texts of a key that takes one, several, or none."""
    return [] if value is None else [value] if isinstance(value, str) else list(value)


def one_or_more(texts: Sequence[str]) -> str | list[str]:
    """Texts as a family file says them: one stands for a list of it."""
    return texts[0] if len(texts) == 1 else list(texts)


def pairs(opens: Sequence[str], closes: Sequence[str]) -> Iterator[dict[str, str]]:
    """Each opener with its closer: by place where there are as many, else the first."""
    for place, start in enumerate(opens):
        end = closes[place] if len(opens) == len(closes) else next(iter(closes), None)
        yield {"start": start, **({"end": end} if end is not None else {})}


def region(opens: Sequence[str], closes: Sequence[str]) -> dict[str, Any]:
    """A region with every spelling of its markers; nothing where there is no opener.

    >>> region(["<a>", "<b>"], ["</a>"])
    {'start': '<a>', 'end': '</a>', 'also': [{'start': '<b>', 'end': '</a>'}]}
    """
    first, *also = [*pairs(opens, closes)] or [{}]
    return {**first, **({"also": also} if also else {})}
