"""`extends`: from what each file says to what each family is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from pathlib import Path

from tagsmith.codes import Code
from tagsmith.errors import FamilyFileError
from tagsmith.loading.files import (
    SUFFIXES,
    FamilyFile,
    FoundFile,
    absolute,
    identity,
    read_file,
)
from tagsmith.loading.nodes import Node, merge, without
from tagsmith.wording import nearest, shortened

_TOLD_AGAIN = 32
"""How far the problems of a family that cannot be used are told of those that extend it."""
_SHOWN = 10
"""How many families of a circle are named."""

OWN_KEYS = ("tagsmith", "id", "title", "extends", "match")
"""What a file says of itself; a family that extends it does not inherit these."""


@dataclass(frozen=True, slots=True)
class Inherited:
    """A family with everything it inherits, and what is wrong with it or with what it extends.

    `root` is None where nothing can be made of it.
    """

    root: Node | None
    problems: tuple[FamilyFileError, ...]
    depth: int = 0
    """How many families it extends, one after the other."""


class Inheritance:
    """Resolves `extends` over the files of one load; a file reached only by its path is read."""

    def __init__(self, files: Iterable[FamilyFile]) -> None:
        self._by_id: dict[str, FamilyFile] = {}
        self._by_path: dict[str, FamilyFile] = {}
        self._done: dict[str, Inherited] = {}
        for file in files:
            self._by_path[identity(file.found.path)] = file
            if family_id := file.text_at("id"):
                self._by_id.setdefault(family_id, file)

    def resolve(self, file: FamilyFile) -> Inherited:
        """Everything a family says: its own keys laid on those it inherits."""
        chain: dict[str, FamilyFile] = {}
        current: FamilyFile | None = file
        while current is not None and current.name not in self._done:
            if current.name in chain:
                before = list(chain).index(current.name)
                self._refuse_cycle(list(chain.values())[before:])
                break
            chain[current.name] = current
            current = self._target(current)
        base = self._done[current.name] if current is not None else None
        for member in reversed(chain.values()):
            # What stands in a circle, or found nothing to extend, is in `_done` already.
            base = self._done.setdefault(member.name, _laid_on(base, member))
        return self._done[file.name]

    def _target(self, file: FamilyFile) -> FamilyFile | None:
        wanted = file.text_at("extends")
        if not wanted:
            return None
        target = self._read(file, wanted) if is_path(wanted) else self._by_id.get(wanted)
        if target is None:
            problem = file.problem_at("extends", Code.EXTENDS_UNKNOWN, self._unknown(file, wanted))
            self._done[file.name] = Inherited(None, (*file.problems, problem))
        return target

    def _read(self, file: FamilyFile, wanted: str) -> FamilyFile | None:
        found = beside(file.found, wanted)
        if found is None:
            return None
        key = identity(found.path)
        if key not in self._by_path:
            self._by_path[key] = read_file(found)
        return self._by_path[key]

    def _refuse_cycle(self, cycle: list[FamilyFile]) -> None:
        for place, file in enumerate(cycle):
            around = [cycle[at % len(cycle)] for at in range(place, place + len(cycle))[:_SHOWN]]
            names = [f.text_at("id") or f.name for f in around]
            left_out = ["..."] if len(cycle) > _SHOWN else []
            circle = " -> ".join([*names, *left_out, names[0]])
            what = f"families extend each other in a circle: {circle}; break it in one of them"
            problem = file.problem_at("extends", Code.EXTENDS_CYCLE, what)
            self._done[file.name] = Inherited(None, (*file.problems, problem))

    def _unknown(self, file: FamilyFile, wanted: str) -> str:
        others = {known: known for known in sorted(self._by_id) if known != file.text_at("id")}
        return (
            f"there is no family or file '{shortened(wanted)}' to extend; "
            f"{nearest(wanted, others)}; give an id, or a path ending in .yaml, relative to this "
            "file"
        )


def _laid_on(base: Inherited | None, file: FamilyFile) -> Inherited:
    if base is None or file.root is None:
        return Inherited(file.root, file.problems)
    depth = base.depth + 1
    # Of a long chain that cannot be used, what is wrong far down is told there alone.
    is_told = base.root is not None or depth < _TOLD_AGAIN
    problems = (*(base.problems if is_told else ()), *file.problems)
    if base.root is None:
        wanted = shortened(file.text_at("extends") or "")
        what = f"extends '{wanted}', which cannot be used; mend that one first"
        problem = file.problem_at("extends", Code.EXTENDS_BROKEN, what)
        return Inherited(None, (*problems, problem), depth)
    return Inherited(merge(without(base.root, OWN_KEYS), file.root), problems, depth)


def is_path(wanted: str) -> bool:
    """Whether what a family extends is the path of a file; else it is an id."""
    return wanted.endswith(SUFFIXES) or "/" in wanted


def beside(file: FoundFile, wanted: str) -> FoundFile | None:
    """The file of the path `wanted`, relative to the directory of a file, if there is one."""
    path = _beside(file.path, wanted)
    if not wanted.endswith(SUFFIXES) or not _is_file(path):
        return None  # no other file is read
    name = str(_beside(Path(file.name), wanted) if isinstance(file.path, Path) else path)
    return FoundFile(absolute(path), name, file.origin, file.layer)


def _beside(path: Traversable, wanted: str) -> Traversable:
    if isinstance(path, Path):
        return path.parent / wanted
    # A file inside an archive; zipfile.Path has a parent although the protocol does not say so.
    parent: Traversable = getattr(path, "parent", path)
    return parent.joinpath(wanted)


def _is_file(path: Traversable) -> bool:
    try:
        return path.is_file()
    except Exception:  # a name longer than the system allows, what an archive's code raises
        return False
