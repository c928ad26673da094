"""The text that is being read: what has arrived and is not decided, and which markers in it are
tokens."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tagsmith.engine.scanner import Found, Scanner


@dataclass(slots=True, eq=False)
class TokenMarks:
    """Where the output has the token of a marker, when token ids say so.

    `tokens` are the markers that ids tell apart from text of the same spelling; `offsets` are the
    places in the output where what stands is what it says, not only spelled.
    """

    tokens: frozenset[str]
    offsets: set[int] = field(default_factory=set)

    def real(self, literal: str, at: int) -> bool:
        """Whether each token within this literal, found at offset `at`, is one in the output."""
        return all(at + start in self.offsets for start in self._within(literal))

    def forget(self, before: int) -> None:
        """Nothing before this offset will be asked for again."""
        if self.offsets:
            self.offsets = {at for at in self.offsets if at >= before}

    def _within(self, literal: str) -> Iterator[int]:
        for token in self.tokens:
            start = literal.find(token)
            while start >= 0:
                yield start
                start = literal.find(token, start + len(token))


@dataclass(slots=True, eq=False)
class Buffer:
    """A stretch of output. Its first character has the offset `base`; `final`: nothing follows."""

    text: str
    base: int = 0
    final: bool = False
    marks: TokenMarks | None = None

    def find(self, scanner: Scanner, pos: int) -> Found | None:
        """The next literal from `pos`, as `Scanner.find`; one that is only spelled is passed."""
        found = scanner.find(self.text, pos, final=self.final)
        while found is not None and not self._real(found):
            found = self._shorter(scanner, found[0]) or scanner.find(
                self.text, found[0] + 1, final=self.final
            )
        return found

    def last_find(self, scanner: Scanner, pos: int) -> Found:
        """As `find`; where no text follows, the start of a literal at the end is found as well.

        Without any, the end of the text.
        """
        end = len(self.text)
        found = self.find(scanner, pos)
        if found is None and self.final:
            found = scanner.find(self.text, pos, final=False)
        return found or (end, end, None)

    def match(self, scanner: Scanner, pos: int) -> Found | None:
        """As `find`, but only where the literal starts at `pos`."""
        if self.text[pos : pos + 1] not in scanner.first_chars:
            return None
        found = scanner.match(self.text, pos, final=self.final)
        if found is None or self._real(found):
            return found
        return self._shorter(scanner, pos)

    def _real(self, found: Found) -> bool:
        start, _, literal = found
        return self.marks is None or literal is None or self.marks.real(literal, self.base + start)

    def _shorter(self, scanner: Scanner, pos: int) -> Found | None:
        """The longest literal at `pos` whose tokens are real."""
        real = [
            literal
            for literal in scanner.literals
            if self.text.startswith(literal, pos) and self._real((pos, pos, literal))
        ]
        if not real:
            return None
        literal = max(real, key=len)
        return pos, pos + len(literal), literal
