"""Long texts in blocks, so that a browser lays out only what is looked at."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from tagsmith.report.markup import escape

_FULL = 2_000
"""Characters after which a block ends with its line."""
_LONGEST = 4_000
"""Characters after which it ends anyhow: at a space, if there is one."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text in one element, given by its start tag and end tag; `first` goes before it
    where the stretch begins, and holds no text."""

    text: str
    start: str = ""
    end: str = ""
    first: str = ""


def in_chunks(pieces: Iterable[Piece], write: Callable[[str], str] = escape) -> str:
    """The pieces as HTML, in blocks that together hold the text to the letter.

    Args:
        pieces: In order; a piece that a block's end divides gets its tags again.
        write: Makes HTML of a stretch of text.

    >>> in_chunks([Piece("Hi "), Piece("you", "<b>", "</b>")])
    '<div class="chunk">Hi <b>you</b></div>'
    """
    pieces = list(pieces)
    cuts = deque(_cuts("".join(piece.text for piece in pieces)))
    # One of several is laid out when it is looked at. Where a line goes on in the next, that is
    # said.
    kind = "chunk part" if cuts else "chunk"
    out = [f'<div class="{kind}">']
    at = 0
    for piece in pieces:
        out.append(piece.first)
        end, rest = at + len(piece.text), piece.text
        while cuts and cuts[0] <= end:
            cut = cuts.popleft()
            head, rest = rest[: cut - at], rest[cut - at :]
            goes_on = "" if head.endswith("\n") else " goes-on"
            out += [piece.start, write(head), piece.end, f'</div><div class="{kind}{goes_on}">']
            at = cut
        if rest:
            out += [piece.start, write(rest), piece.end]
        at = end
    out.append("</div>")
    return "".join(out)


def _cuts(text: str) -> Iterator[int]:
    """Where blocks end, the end of the text left out."""
    start = 0
    while len(text) - start > _LONGEST:
        line_end = text.find("\n", start + _FULL, start + _LONGEST)
        space = text.rfind(" ", start + _FULL, start + _LONGEST)
        last = space if space >= 0 else start + _LONGEST - 1
        start = 1 + (last if line_end < 0 else line_end)
        yield start
