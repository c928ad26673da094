"""The family files of several layers, from which families are loaded: all of them, or a few."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from itertools import islice

from tagsmith.codes import Code
from tagsmith.engine.plugin_engines import compile_engine
from tagsmith.errors import FamilyFileError, RequestError
from tagsmith.loading.extends import Inheritance, beside, is_path
from tagsmith.loading.files import FamilyFile, find_files, identity
from tagsmith.loading.headers import OpenedFile, serves_model
from tagsmith.loading.nodes import Node, descend, shown
from tagsmith.loading.results import (
    Claims,
    FoundFamily,
    Layers,
    LoadResult,
    Problem,
    unique_errors,
)
from tagsmith.loading.validate import read_match, validate
from tagsmith.spec.models import FamilySpec
from tagsmith.spec.policies import EngineName
from tagsmith.wording import did_you_mean

_SHOWN = 10
"""How many files of one id a message names."""


class Library:
    """The family files of several layers, opened at once. Nothing is raised.

    Two families of one id in one layer are a problem of the one of the higher rank, or of both.
    """

    def __init__(self, layers: Layers) -> None:
        found, unreadable = find_files(layers.roots)
        self.unreadable = tuple(Problem(error, place, None) for error, place in unreadable)
        """The places that bring no family, and why."""
        self._layers = layers
        self._files = [OpenedFile(file) for file in found]

    def everything(self) -> LoadResult:
        """Every family, and every problem."""
        return self._load(self._files, self.unreadable)

    def about(self, name: str) -> LoadResult:
        """The families that a name may mean, and what they extend: no other file is read as data.

        As from `everything`, as far as no problem is told: what only all the families together
        can tell, such as which names are near, is not told here.
        """
        wanted = (
            self._where(lambda file: file.id == name)
            or self._where(lambda file: name in file.match.architectures)
            or self._where(lambda file: serves_model(file.match, name))
        )
        return self._load(self._with_relatives(wanted))

    def named(self, first: int) -> LoadResult:
        """From the layer `first` on: the files that were named, not by a directory, and those with
        no text."""
        wanted = self._where(
            lambda file: file.found.layer >= first and (file.found.is_root or file.is_unreadable)
        )
        return self._load(self._with_relatives(wanted), self.unreadable)

    def _where(self, wanted: Callable[[OpenedFile], bool]) -> list[OpenedFile]:
        return [file for file in self._files if wanted(file)]

    def _with_relatives(self, files: list[OpenedFile]) -> list[OpenedFile]:
        """These, all that have the same ids, and what any of them extends."""
        holders: dict[str | None, list[OpenedFile]] = {}
        for file in self._files:
            holders.setdefault(file.id, []).append(file)
        waiting, found = list(files), set()
        while waiting:
            file = waiting.pop()
            if file in found:
                continue
            found.add(file)
            waiting += holders.get(file.id, ()) if file.id else ()
            waiting += self._extended(file, holders)
        return [file for file in self._files if file in found]

    def _extended(
        self, file: OpenedFile, holders: Mapping[str | None, list[OpenedFile]]
    ) -> list[OpenedFile]:
        if not file.extends:
            return []
        if not is_path(file.extends):
            return holders.get(file.extends, [])
        base = beside(file.found, file.extends)
        if base is None:
            return []
        key = identity(base.path)
        if key not in self._by_path:
            self._by_path[key] = OpenedFile(base)
        return [self._by_path[key]]

    @cached_property
    def _by_path(self) -> dict[str, OpenedFile]:
        """The files, and those that one of them extends by its path."""
        return {identity(file.found.path): file for file in self._files}

    def _load(self, files: list[OpenedFile], problems: Iterable[Problem] = ()) -> LoadResult:
        return _load([file.file for file in files], self._layers, problems)


def _load(files: list[FamilyFile], layers: Layers, told: Iterable[Problem]) -> LoadResult:
    files = sorted(_not_replaced(files), key=lambda file: file.found.rank)
    problems = list(told)
    inheritance = Inheritance(files)
    holders = _by_id(files)
    families: list[FoundFamily] = []
    claims: list[Claims] = []
    for file in files:
        family_id = file.text_at("id")
        rivals = _rivals(file, holders.get(family_id or "", []))
        family, errors = _resolve(file, inheritance, layers)
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


def _not_replaced(files: list[FamilyFile]) -> list[FamilyFile]:
    """The files whose id no later layer gives again."""
    latest: dict[str, int] = {}
    for file in files:
        if family_id := file.text_at("id"):
            latest[family_id] = max(latest.get(family_id, 0), file.found.layer)
    return [file for file in files if file.found.layer >= latest.get(file.text_at("id") or "", 0)]


def _resolve(
    file: FamilyFile, inheritance: Inheritance, layers: Layers
) -> tuple[FoundFamily | None, list[FamilyFileError]]:
    """The family of a file, with all it inherits, and what is wrong with it."""
    inherited = inheritance.resolve(file)
    if inherited.root is None:
        own: list[FamilyFileError] = []
        if file.root is not None:
            own += validate(file.root, layers.encodings)[1]
            own += _engine_problems(file.root, None, layers)
        # What a file lacks by itself, or does not fit in it, it might have inherited.
        certain = [e for e in own if e.code.startswith("TS1") and e.code != Code.MISSING_KEY]
        return None, [*inherited.problems, *certain]
    spec, invalid = validate(inherited.root, layers.encodings)
    errors = [*inherited.problems, *invalid, *_engine_problems(inherited.root, spec, layers)]
    if spec is None:
        return None, errors
    place, root = file.found, inherited.root
    found = FoundFamily(spec, place.name, place.origin, place.layer, root, place.rank)
    return found, errors


def _engine_problems(
    root: Node, spec: FamilySpec | None, layers: Layers
) -> Iterator[FamilyFileError]:
    """Whether the engine is Tagsmith's own, or one that a plug-in brings and that takes this."""
    node = descend(root, ["engine"])
    name = node.value if node is not None else None
    if node is None or not isinstance(name, str) or name in list(EngineName):
        return
    if name not in layers.engines:
        allowed = sorted([*EngineName, *layers.engines])
        near = did_you_mean(name, allowed)
        hint = f"did you mean '{near}'? " if near else ""
        what = f"engine: {shown(node)} is not allowed; {hint}allowed: {', '.join(allowed)}; a "
        what += "plug-in can bring others, see tagsmith plugins"
        yield FamilyFileError(Code.NOT_ALLOWED, what, node.location)
    elif spec is not None:
        try:
            compile_engine(name, layers.engines[name], spec)
        except RequestError as error:
            yield FamilyFileError(Code.ENGINE_REFUSED, str(error), node.location)


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
    """Of the others that hold the same id and do not stand behind this file, the first few."""
    others = (other for other in holders if other is not file)
    return [*islice((o for o in others if o.found.rank <= file.found.rank), _SHOWN + 1)]


def _outranked(file: FamilyFile, rivals: list[FamilyFile]) -> bool:
    return any(rival.found.rank < file.found.rank for rival in rivals)


def _duplicate_id(file: FamilyFile, rivals: list[FamilyFile]) -> FamilyFileError:
    names = [rival.name for rival in rivals[:_SHOWN]]
    others = ", ".join([*names, "..."] if len(rivals) > _SHOWN else names)
    left_out = "which keeps it" if _outranked(file, rivals) else "too"
    what = f"the id '{file.text_at('id')}' is given by {others} {left_out}; rename one of them"
    return file.problem_at("id", Code.DUPLICATE_ID, what)
