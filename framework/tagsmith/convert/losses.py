"""What a conversion cannot say in the other format."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Loss:
    """A part of what is converted that the result does not have."""

    key: str
    """Where it stands: a key of the family file, or of the response template."""
    what: str
    """What becomes of it."""

    def __str__(self) -> str:
        return f"{self.key}: {self.what}"
