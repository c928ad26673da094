"""The arguments of a call to one tool, as its grammar writes them."""

from __future__ import annotations

import marshal
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tagsmith.grammar.formats import Piece
from tagsmith.grammar.schemas.limits import Limitation
from tagsmith.request import CallableTool


@dataclass(frozen=True, slots=True)
class WrittenArguments:
    """What stands where a call's arguments do, and what of the tool's schema it does not hold."""

    packed: bytes
    limits: tuple[Limitation, ...] = ()

    @classmethod
    def pack(cls, pieces: Iterable[Piece], limits: Iterable[Limitation] = ()) -> WrittenArguments:
        """Take a copy of the pieces."""
        return cls(marshal.dumps(list(pieces)), tuple(dict.fromkeys(limits)))

    def pieces(self) -> list[Piece]:
        """A fresh copy, the caller's own."""
        return list(marshal.loads(self.packed))


ArgumentsWriter = Callable[[CallableTool], WrittenArguments]
