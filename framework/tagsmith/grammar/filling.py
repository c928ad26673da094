"""Templates as formats: their literals, with something in each hole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tagsmith.engine.templates import SOFT_NEWLINE, Hole
from tagsmith.grammar.formats import Piece, blanks

Steps = Sequence[str | Hole]


def fill(steps: Steps, holes: Mapping[Hole, Piece]) -> list[Piece]:
    r"""The pieces of a template. Where it has a soft newline, blanks may stand; the newlines beside
    a value are the value's own to write.

    >>> fill(["<p=", Hole.KEY, ">", "\n", Hole.VALUE, "</p>"], {Hole.KEY: "a", Hole.VALUE: "b"})
    ['<p=', 'a', '>', 'b', '</p>']
    """
    pieces: list[Piece] = []
    for index, step in enumerate(steps):
        if isinstance(step, Hole):
            pieces.append(holes[step])
        elif step != SOFT_NEWLINE:
            pieces.append(step)
        elif Hole.VALUE not in steps[max(index - 1, 0) : index + 2]:
            pieces.append(blanks())
    return pieces


def newlines_beside_value(steps: Steps) -> tuple[str, str]:
    """The newline before a value, and the one after it, where the template writes them."""
    at = steps.index(Hole.VALUE)
    before, after = steps[max(at - 1, 0) : at], steps[at + 1 : at + 2]
    return "\n" * (SOFT_NEWLINE in before), "\n" * (SOFT_NEWLINE in after)
