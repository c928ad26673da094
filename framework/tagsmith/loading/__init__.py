"""From family files to checked families: reading, positions, `extends`, validation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tagsmith.codes import Code
from tagsmith.errors import FamilyFileError, Location
from tagsmith.loading.extends import Inheritance
from tagsmith.loading.files import FamilyFile, Root, Source, find_files, read_file
from tagsmith.loading.nodes import Node, Path, locate
from tagsmith.loading.validate import validate
from tagsmith.spec.models import FamilySpec

__all__ = [
    "FoundFamily",
    "LoadResult",
    "Problem",
    "Root",
    "Source",
    "load_families",
    "load_layers",
]


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

    def locate(self, path: Path) -> Location:
        """Where a part of the family stands: `family.locate(["match", "architectures", 0])`."""
        return locate(self.root, path)


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong, and with which family: the place may be in a file it extends."""

    error: FamilyFileError
    file: str
    """The file of the family that cannot be used because of it."""
    family_id: str | None
    layer: int


@dataclass(frozen=True, slots=True)
class LoadResult:
    """Everything that a load found: the families that can be used, and every problem."""

    families: tuple[FoundFamily, ...]
    problems: tuple[Problem, ...]
    files: tuple[tuple[str, int], ...]
    """Each file that was read, with its layer."""

    @property
    def errors(self) -> tuple[FamilyFileError, ...]:
        """The problems' errors, each once, by file, line and column."""
        return unique_errors(problem.error for problem in self.problems)


def load_families(paths: Iterable[Source]) -> LoadResult:
    """Load family files and directories of them (every *.yaml and *.yml below, no *.cases.yaml).

    Nothing is raised: what is wrong with a file is in the result, and the others load.

    >>> load_families(["no/such/file.yaml"]).errors[0].code
    <Code.UNREADABLE: 'TS001'>
    """
    return load_layers([[Root(path, "path") for path in paths]])


def load_layers(layers: Sequence[Iterable[Root]]) -> LoadResult:
    """Load several layers: a family of a later layer replaces that of the same id in an earlier.

    Two families of one id in one layer are a problem of both. Nothing is raised.
    """
    found, unreadable = find_files(layers)
    files = _not_replaced([read_file(file) for file in found])
    problems = [Problem(error, error.file, None, layer) for error, layer in unreadable]
    problems += _duplicate_ids(files)
    inheritance = Inheritance(files)
    families: list[FoundFamily] = []
    for file in files:
        inherited = inheritance.resolve(file)
        errors = list(inherited.problems)
        spec = None
        if inherited.root is not None:
            spec, invalid = validate(inherited.root)
            errors += invalid
        problems += [_problem(error, file) for error in unique_errors(errors)]
        if spec is not None and inherited.root is not None and not errors:
            place = file.found
            families.append(
                FoundFamily(spec, place.name, place.origin, place.layer, inherited.root)
            )
    return LoadResult(
        tuple(families), tuple(problems), tuple((file.name, file.found.layer) for file in files)
    )


def unique_errors(errors: Iterable[FamilyFileError]) -> tuple[FamilyFileError, ...]:
    """The errors, each once, by file, line and column."""
    unique = {str(error): error for error in errors}
    return tuple(sorted(unique.values(), key=lambda e: (e.file, e.line, e.column, e.code)))


def _not_replaced(files: list[FamilyFile]) -> list[FamilyFile]:
    """The files whose id no later layer gives again."""
    latest: dict[str, int] = {}
    for file in files:
        if family_id := file.text_at("id"):
            latest[family_id] = max(latest.get(family_id, 0), file.found.layer)
    return [file for file in files if file.found.layer >= latest.get(file.text_at("id") or "", 0)]


def _duplicate_ids(files: list[FamilyFile]) -> list[Problem]:
    by_id: dict[str, list[FamilyFile]] = {}
    for file in files:
        if family_id := file.text_at("id"):
            by_id.setdefault(family_id, []).append(file)
    problems = []
    for family_id, holders in by_id.items():
        for file in holders:
            others = ", ".join(other.name for other in holders if other is not file)
            if others:
                what = f"the id '{family_id}' is given by {others} too; rename one of them"
                error = file.problem_at("id", Code.DUPLICATE_ID, what)
                problems.append(_problem(error, file))
    return problems


def _problem(error: FamilyFileError, file: FamilyFile) -> Problem:
    return Problem(error, file.name, file.text_at("id"), file.found.layer)
