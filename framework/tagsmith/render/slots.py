"""What others say is kept out of a renderer's hands, and put into what it makes of the rest.

The renderer is given a slot, characters for private use, in place of each text. So it is known of
every character of the prompt whether the template wrote it, and what the renderer would lose of a
text or a number on the way is kept.
"""

from __future__ import annotations

import re
from typing import Any

from tagsmith.render.breaking import Piece, Voice, said_json, said_text

_OPEN, _CLOSE = "\ue000", "\ue001"
_FIRST_NUMBER = 7_770_000_000_000_000_000
_SLOT = re.compile(f'{{"{_OPEN}([0-9]+){_CLOSE}": 0}}|{_OPEN}([0-9]+){_CLOSE}|(777[0-9]{{16}})')


class Slots:
    """The slots of one prompt, and what goes into them.

    >>> slots = Slots()
    >>> prompt = f"<user>{slots.text(said_text('Hi'))}<end>"
    >>> [piece.text for piece in slots.fill(prompt)]
    ['<user>', 'Hi', '<end>']
    """

    __slots__ = ("_contents",)

    def __init__(self) -> None:
        self._contents: list[tuple[Piece, ...]] = []

    def text(self, *pieces: Piece) -> str:
        """The slot for a text; of an empty text, the text itself."""
        if not any(piece.text for piece in pieces):
            return ""
        return f"{_OPEN}{self._keep(pieces)}{_CLOSE}"

    def words(self, text: str) -> str:
        """The slot for others' words."""
        return self.text(said_text(text))

    def object(self, *pieces: Piece) -> dict[str, Any]:
        """The slot for a JSON object, or for what the template writes in its place."""
        return {f"{_OPEN}{self._keep(pieces)}{_CLOSE}": 0}

    def number(self, value: float) -> int:
        """The slot for a number."""
        return _FIRST_NUMBER + self._keep((said_json(value),))

    def fill(self, prompt: str) -> list[Piece]:
        """The pieces of a prompt: the template's own, and what goes into its slots."""
        pieces: list[Piece] = []
        end = 0
        for match in _SLOT.finditer(prompt):
            number = match[1] or match[2]
            index = int(match[3]) - _FIRST_NUMBER if number is None else int(number)
            if index >= len(self._contents):
                continue
            pieces.append(Piece(prompt[end : match.start()], Voice.TEMPLATE))
            pieces += self._contents[index]
            end = match.end()
        pieces.append(Piece(prompt[end:], Voice.TEMPLATE))
        return pieces

    def _keep(self, pieces: tuple[Piece, ...]) -> int:
        self._contents.append(pieces)
        return len(self._contents) - 1
