"""Watching the edges of texts that a chat template puts together.

A text that ends as a marker begins, or begins as one ends, is harmless until something stands
beside it. What that is only the finished prompt says. So the characters in question go through the
template as characters for private use, and are known again behind it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tagsmith.engine.scanner import Scanner
from tagsmith.errors import RequestError
from tagsmith.render.breaking import Piece, Voice, json_text, with_texts

_PRIVATE = range(0xF0000, 0x10FF00, 0x80)
_ESCAPED = frozenset("\"\\'&")
"""What templates escape, which they could not if they did not see it."""


@dataclass(frozen=True, slots=True)
class Watch:
    """Marks the edges of texts, and finds them in a prompt.

    `marks` are the characters that stand for those of markers. Letters, blanks and what a template
    escapes have none: templates ask for the first and trim the second, and markers have others.
    """

    markers: Scanner
    ends: frozenset[str]
    marks: Mapping[str, str]

    def mark(self, value: Any) -> Any:
        """A JSON value with the edges of its texts and keys marked."""
        return with_texts(value, self._marked)

    def pieces(self, prompt: str) -> list[Piece]:
        """The prompt as it is to be, in which the edges are others' words."""
        known = {spelling: char for char, mark in self.marks.items() for spelling in _spelled(mark)}
        parts = re.split(f"({'|'.join(map(re.escape, known))})", prompt) if known else [prompt]
        return [
            Piece(known[part], Voice.TEXT) if part in known else Piece(part, Voice.TEMPLATE)
            for part in parts
        ]

    def _marked(self, text: str) -> str:
        for start, end in self._edges(text):
            marked = "".join(self.marks.get(char, char) for char in text[start:end])
            text = text[:start] + marked + text[end:]
        return text

    def _edges(self, text: str) -> Iterator[tuple[int, int]]:
        """Where a text could be a part of a marker, as it is and should its blanks be trimmed."""
        trimmed = text.strip()
        blanks = len(text) - len(text.lstrip())
        for base, inner in {(0, text), (blanks, trimmed)}:
            length, most = len(inner), min(len(inner), self.markers.longest)
            if any(inner in literal for literal in self.markers.literals):
                yield base, base + length
                continue
            head = next((n for n in range(most, 0, -1) if inner[:n] in self.ends), 0)
            tail = next((n for n in range(most, 0, -1) if inner[-n:] in self.markers.starts), 0)
            yield base, base + head
            yield base + length - tail, base + length


def build_watch(variables: Mapping[str, Any], markers: Scanner) -> Watch:
    """The watch for what one template is given.

    Raises:
        RequestError: no characters for private use are left.
    """
    literals = markers.literals
    signs = sorted({char for literal in literals for char in literal if _is_sign(char)})
    said = json_text(variables).replace("\\\\", "\\")
    for base in _PRIVATE:
        marks = {char: chr(base + number) for number, char in enumerate(signs)}
        if not any(spelling in said for mark in marks.values() for spelling in _spelled(mark)):
            ends = frozenset(literal[n:] for literal in literals for n in range(1, len(literal)))
            return Watch(markers, ends, marks)
    raise RequestError("messages", "hold all characters for private use; leave some out")


def _spelled(mark: str) -> tuple[str, ...]:
    """What a template may write for a character: itself, or an escape of JSON or Python."""
    return mark, json.dumps(mark)[1:-1], repr(mark)[1:-1]


def _is_sign(char: str) -> bool:
    return not (char.isalnum() or char.isspace() or char in _ESCAPED)
