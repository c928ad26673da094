"""What goes to a worker, and what comes back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tagsmith.batch.tally import Tally
from tagsmith.errors import TagsmithError


class BatchError(TagsmithError):
    """A run that cannot go on; what was written so far is kept, and `--resume` goes on from it."""


@dataclass(frozen=True, slots=True)
class Place:
    """How far an input was read: `offset` is where to read on, a byte or a row, and `row` the
    number of the next line or row, from 1."""

    offset: int = 0
    row: int = 1


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some rows of the input: lines, or an Arrow stream.

    `row` is the number of the first line or row, from 1; `end` is where the input stands after
    them.
    """

    data: bytes
    row: int
    end: Place


@dataclass(frozen=True, slots=True)
class Result:
    """What has become of a chunk: its part of the output, and what there is to count."""

    data: bytes
    tally: Tally


Work = Callable[[Chunk], Result]
"""Reads a chunk; never raises on what it holds."""
