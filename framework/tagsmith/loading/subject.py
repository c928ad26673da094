"""What a check is given, one family with the places it was written at, and what it may find."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tagsmith.codes import Code
from tagsmith.engine.layouts import Encodings
from tagsmith.loading.nodes import Node, Path, descend, dotted
from tagsmith.spec.models import FamilySpec


@dataclass(frozen=True, slots=True)
class Finding:
    """Parts that do not fit together, and the path of the part to mend."""

    code: Code
    path: Path
    message: str


@dataclass(frozen=True, slots=True)
class Listed:
    """One of the texts under a key that takes a text or a list of them, as it was written."""

    path: Path
    text: str

    @property
    def name(self) -> str:
        """How a message calls it."""
        return dotted(self.path)


@dataclass(frozen=True, slots=True)
class Subject:
    """A family with everything it inherits, and the argument encodings that it may name."""

    spec: FamilySpec
    root: Node
    encodings: Encodings

    def listed(self, path: Path, texts: Sequence[str] | None) -> Iterator[Listed]:
        """The texts under a key: `call` where one text was written, `call[1]` in a list."""
        node = descend(self.root, path)
        is_list = node is not None and isinstance(node.value, tuple)
        for index, text in enumerate(texts or ()):
            yield Listed((*path, index) if is_list else path, text)

    def chosen_beside(self, path: Path, choice: Path) -> bool:
        """Whether a key was written by whoever wrote the choice that it depends on.

        What a family inherits was written for a choice that the family may have replaced.
        """
        node, chosen = descend(self.root, path), descend(self.root, choice)
        writers = {self.root.location.file, chosen and chosen.location.file}
        return node is not None and node.location.file in writers


def differs(model: Any, key: str) -> bool:
    """Whether a key of a part of the format has another value than its default."""
    return bool(getattr(model, key) != type(model).model_fields[key].default)
