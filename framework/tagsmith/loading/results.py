"""What loading is asked, and what it finds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from tagsmith.engine.layouts import ENCODINGS, Encodings
from tagsmith.engine.plugin_engines import Engines
from tagsmith.errors import FamilyFileError, Location
from tagsmith.loading.files import FoundFile, Root
from tagsmith.loading.nodes import Node, Path, locate
from tagsmith.spec.models import FamilySpec, Match


@dataclass(frozen=True, slots=True)
class Layers:
    """Where families are looked for, and the encodings and engines that they may name.

    A family of a later layer replaces that of the same id in an earlier.
    """

    roots: tuple[tuple[Root, ...], ...] = ()
    encodings: Encodings = field(default_factory=lambda: ENCODINGS)
    engines: Engines = field(default_factory=dict)
    """The engines of plug-ins; Tagsmith's own need not be told."""

    def below(self, roots: Iterable[Root]) -> Layers:
        """The same with one layer more, the last."""
        return replace(self, roots=(*self.roots, tuple(roots)))


@dataclass(frozen=True, slots=True)
class FoundFamily:
    """A family that can be used, and where it was found."""

    spec: FamilySpec
    source: str
    """The path of its file, as it was given."""
    origin: str
    """Who brought it: a plug-in's name, or the option that named its path."""
    layer: int
    root: Node
    """Everything the family says, with positions: an inherited key's is in the file it is from."""
    rank: int = 0
    """The rank of its file in the layer."""


@dataclass(frozen=True, slots=True)
class Claims:
    """What a file says it serves: known whatever else is wrong with it, as `match` is its own."""

    name: str
    """The family's id; the file's path where it gives none."""
    match: Match
    root: Node

    def locate(self, path: Path) -> Location:
        """Where a part of the file stands: `claims.locate(["match", "architectures", 0])`."""
        return locate(self.root, path)


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong, and with which family: the place may be in a file it extends."""

    error: FamilyFileError
    found: FoundFile
    """The file of the family that cannot be used because of it, or the place that has none."""
    family_id: str | None


@dataclass(frozen=True, slots=True)
class LoadResult:
    """Everything that a load found: the families that can be used, and every problem."""

    families: tuple[FoundFamily, ...]
    problems: tuple[Problem, ...]
    files: tuple[FoundFile, ...]
    """Each file that was read."""
    claims: tuple[Claims, ...]
    """What each file says it serves, but those that an id was refused to for a lower rank."""

    @property
    def errors(self) -> tuple[FamilyFileError, ...]:
        """The problems' errors, each once, by file, line and column."""
        return unique_errors(problem.error for problem in self.problems)


def unique_errors(errors: Iterable[FamilyFileError]) -> tuple[FamilyFileError, ...]:
    """The errors, each once, by file, line and column."""
    unique = {str(error): error for error in errors}
    return tuple(sorted(unique.values(), key=lambda e: (e.file, e.line, e.column, e.code)))
