"""The text of a family file as lint shows and mends it: its lines, and where its values end."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import yaml

from tagsmith.errors import Location
from tagsmith.loading.reader import LINE_END

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class Scalar:
    """Where a single value, or a key, stands in a text: offsets of its first character and past
    its last one. `is_block` says that it is written below a `|` or `>`."""

    start: int
    end: int
    is_block: bool


@dataclass(frozen=True)
class SourceText:
    r"""The text of one file. Lines end where YAML says, and columns count characters, both from 1.

    >>> source = SourceText("tagsmith: 1\nid: 'acme'\n")
    >>> source.lines, source.offset(2, 5)
    (('tagsmith: 1', "id: 'acme'", ''), 16)
    >>> source.end_column(Location("acme.yaml", 2, 5))
    11
    """

    text: str

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The lines, without their ends."""
        return tuple(LINE_END.split(self.text))

    @cached_property
    def line_starts(self) -> tuple[int, ...]:
        """The offset of each line's first character."""
        return (0, *(found.end() for found in LINE_END.finditer(self.text)))

    def offset(self, line: int, column: int) -> int:
        """How many characters stand before a place."""
        return self.line_starts[line - 1] + column - 1

    def place(self, offset: int) -> tuple[int, int]:
        """The line and the column of the character at an offset."""
        line = bisect_right(self.line_starts, offset)
        return line, offset - self.line_starts[line - 1] + 1

    def line_start(self, offset: int) -> int:
        """The offset of the first character of the line that an offset is in."""
        return self.line_starts[self.place(offset)[0] - 1]

    def line_after(self, offset: int) -> int:
        """The offset of the first character of the next line."""
        line, _ = self.place(offset)
        return self.line_starts[line] if line < len(self.line_starts) else len(self.text)

    def line(self, number: int) -> str | None:
        """A line, or None where there is none of this number."""
        return self.lines[number - 1] if 0 < number <= len(self.lines) else None

    @cached_property
    def scalars(self) -> tuple[Scalar, ...]:
        """Every key and single value, in order; where the text is not YAML, those before that."""
        found: list[Scalar] = []
        try:
            for token in yaml.scan(self.text, Loader=_LOADER):
                if isinstance(token, yaml.ScalarToken):
                    start, end = token.start_mark.index, token.end_mark.index
                    found.append(Scalar(start, end, self.text[start : start + 1] in ("|", ">")))
        except yaml.YAMLError:
            pass
        return tuple(found)

    def scalar_at(self, offset: int) -> Scalar | None:
        """The key or value that the character at an offset is part of."""
        index = bisect_right(self.scalars, offset, key=lambda scalar: scalar.start) - 1
        if index >= 0 and offset < self.scalars[index].end:
            return self.scalars[index]
        return None

    def end_column(self, location: Location) -> int:
        """The column past what stands at a place, at the end of its line at the latest."""
        line = self.line(location.line) or ""
        start = self.offset(location.line, location.column) if line else 0
        scalar = self.scalar_at(start) if line else None
        if scalar is None or scalar.start != start:
            return location.column + 1
        length = min(scalar.end - scalar.start, len(line) - location.column + 1)
        return location.column + max(length, 1)
