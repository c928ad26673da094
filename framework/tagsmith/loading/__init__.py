"""From family files to checked families: reading, positions, `extends`, validation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from tagsmith.codes import Code
from tagsmith.engine.layouts import ENCODINGS, Encodings
from tagsmith.errors import FamilyFileError, Location
from tagsmith.loading.extends import Inheritance
from tagsmith.loading.files import FamilyFile, FoundFile, Root, Source, find_files, read_file
from tagsmith.loading.nodes import Node, Path, locate
from tagsmith.loading.validate import read_match, validate
from tagsmith.spec.models import FamilySpec, Match

__all__ = [
    "Claims",
    "FoundFamily",
    "Layers",
    "LoadResult",
    "Problem",
    "Root",
    "Source",
    "load_families",
    "load_layers",
]


@dataclass(frozen=True, slots=True)
class Layers:
    """Where families are looked for, and the argument encodings that they may name.

    A family of a later layer replaces that of the same id in an earlier.
    """

    roots: tuple[tuple[Root, ...], ...] = ()
    encodings: Encodings = field(default_factory=lambda: ENCODINGS)

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


def load_families(paths: Iterable[Source]) -> LoadResult:
    """Load family files and directories of them (every *.yaml and *.yml below, no *.cases.yaml).

    Nothing is raised: what is wrong with a file is in the result, and the others load.

    >>> load_families(["no/such/file.yaml"]).errors[0].code
    <Code.UNREADABLE: 'TS001'>
    """
    return load_layers(Layers().below(Root(path, "path") for path in paths))


def load_layers(layers: Layers) -> LoadResult:
    """Load several layers.

    Two families of one id in one layer are a problem of the one of the higher rank, or of both.
    Nothing is raised.
    """
    found, unreadable = find_files(layers.roots)
    read = _not_replaced([read_file(file) for file in found])
    files = sorted(read, key=lambda file: file.found.rank)
    problems = [Problem(error, place, None) for error, place in unreadable]
    inheritance = Inheritance(files)
    holders = _by_id(files)
    families: list[FoundFamily] = []
    claims: list[Claims] = []
    for file in files:
        family_id = file.text_at("id")
        rivals = _rivals(file, holders.get(family_id or "", []))
        family, errors = _resolve(file, inheritance, layers.encodings)
        if rivals:
            errors.append(_duplicate_id(file, rivals))
        problems += [Problem(error, file.found, family_id) for error in unique_errors(errors)]
        if family is not None and not errors:
            families.append(family)
        if file.root is not None and not _outranked(file, rivals):
            claims += _claims(file.root, family_id or file.name)
    return LoadResult(
        tuple(families), tuple(problems), tuple(file.found for file in files), tuple(claims)
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


def _resolve(
    file: FamilyFile, inheritance: Inheritance, encodings: Encodings
) -> tuple[FoundFamily | None, list[FamilyFileError]]:
    """The family of a file, with all it inherits, and what is wrong with it."""
    inherited = inheritance.resolve(file)
    if inherited.root is None:
        own = validate(file.root, encodings)[1] if file.root is not None else []
        # What a file lacks by itself, or does not fit in it, it might have inherited.
        certain = [e for e in own if e.code.startswith("TS1") and e.code != Code.MISSING_KEY]
        return None, [*inherited.problems, *certain]
    spec, invalid = validate(inherited.root, encodings)
    errors = [*inherited.problems, *invalid]
    if spec is None:
        return None, errors
    place = file.found
    return FoundFamily(spec, place.name, place.origin, place.layer, inherited.root), errors


def _claims(root: Node, name: str) -> list[Claims]:
    match = read_match(root)
    return [] if match is None else [Claims(name, match, root)]


def _by_id(files: list[FamilyFile]) -> dict[str, list[FamilyFile]]:
    holders: dict[str, list[FamilyFile]] = {}
    for file in files:
        if family_id := file.text_at("id"):
            holders.setdefault(family_id, []).append(file)
    return holders


def _rivals(file: FamilyFile, holders: list[FamilyFile]) -> list[FamilyFile]:
    """The others that hold the same id and do not stand behind this file."""
    return [other for other in holders if other is not file and other.found.rank <= file.found.rank]


def _outranked(file: FamilyFile, rivals: list[FamilyFile]) -> bool:
    return any(rival.found.rank < file.found.rank for rival in rivals)


def _duplicate_id(file: FamilyFile, rivals: list[FamilyFile]) -> FamilyFileError:
    others = ", ".join(rival.name for rival in rivals)
    left_out = "which keeps it" if _outranked(file, rivals) else "too"
    what = f"the id '{file.text_at('id')}' is given by {others} {left_out}; rename one of them"
    return file.problem_at("id", Code.DUPLICATE_ID, what)
