"""What a draft says, and for each part of it where it comes from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

LONGEST = 1000
"""The longest text that is guessed, in characters: a parser is built of them, and no marker and no
form of a call is nearly as long."""

Path = tuple[str, ...]


class Sureness(Enum):
    """How far a guess is to be trusted."""

    SEEN = ""
    """The template wrote it."""
    UNSURE = "unsure: "
    """It is likely, and nothing shows it."""


@dataclass(frozen=True, slots=True)
class Guess:
    """One part of a family file, and why it is what it is."""

    path: Path
    value: Any
    why: str
    sureness: Sureness = Sureness.SEEN


@dataclass(slots=True)
class Guesses:
    """Everything that is guessed, in order, and what could not be."""

    made: list[Guess] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    def add(self, path: str, value: Any, why: str, sureness: Sureness = Sureness.SEEN) -> None:
        """Guess the value of a key, named by its path with dots in it.

        A text that is longer than any marker is none, and the key is missing.
        """
        longest = max(map(len, _texts(value)), default=0)
        if longest > LONGEST:
            self.missing.append(f"{path}: a text of {longest} characters is no marker")
            return
        self.made.append(Guess(tuple(path.split(".")), value, why, sureness))

    def values(self) -> dict[str, Any]:
        """All of them as the plain data of a file."""
        values: dict[str, Any] = {}
        for guess in self.made:
            inner = values
            for key in guess.path[:-1]:
                inner = inner.setdefault(key, {})
            inner[guess.path[-1]] = guess.value
        return values

    def comments(self) -> dict[Path, list[str]]:
        """Why each is what it is, to stand above it."""
        return {guess.path: [guess.sureness.value + guess.why] for guess in self.made if guess.why}

    def markers(self) -> Iterator[str]:
        """Every text that was guessed."""
        for guess in self.made:
            yield from _texts(guess.value)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for inner in (
        value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    ):
        yield from _texts(inner)
