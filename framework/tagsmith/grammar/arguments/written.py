"""The arguments of a call to one tool, as its grammar writes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tagsmith.grammar.formats import Piece
from tagsmith.grammar.schemas.limits import Limitation
from tagsmith.request import CallableTool


@dataclass(frozen=True, slots=True)
class WrittenArguments:
    """What stands where a call's arguments do, and what of the tool's schema it does not hold.

    The pieces are kept for other requests: nobody changes them.
    """

    pieces: tuple[Piece, ...]
    limits: tuple[Limitation, ...] = ()

    @classmethod
    def of(cls, pieces: Iterable[Piece], limits: Iterable[Limitation] = ()) -> WrittenArguments:
        """These pieces; a limitation that comes twice is named once."""
        return cls(tuple(pieces), tuple(dict.fromkeys(limits)))


ArgumentsWriter = Callable[[CallableTool], WrittenArguments]
