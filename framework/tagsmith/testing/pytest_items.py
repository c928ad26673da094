"""What the pytest plug-in collects: an item for each case, and for each law and family."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from tagsmith.errors import Location, TagsmithError
from tagsmith.family import Family
from tagsmith.registry import Registry, load_registry
from tagsmith.testing.case_files import CaseFileError, read_case_file
from tagsmith.testing.cases import Case
from tagsmith.testing.check import find_failure
from tagsmith.testing.found_files import families_beside
from tagsmith.testing.holding import find_broken
from tagsmith.testing.laws import LAWS
from tagsmith.testing.suite import look_at
from tagsmith.wording import one_line

_REGISTRIES = pytest.StashKey[dict[tuple[Path, ...], Registry]]()


class BrokenError(Exception):
    """A case or a law that is not kept; the text is all there is to tell."""


class CaseFileCollector(pytest.File):
    """A case file. One that cannot be used is an error, with the place of each problem in it."""

    def collect(self) -> Iterator[pytest.Item]:
        """Its cases, and the laws of each family that they name."""
        given = str(self.config.getini("tagsmith_samples"))
        if not given.isdecimal():
            raise self.CollectError(f"tagsmith_samples: {given!r} is no number; give 0 or more")
        for path in self.config.getini("tagsmith_families"):
            if not path.exists():
                raise self.CollectError(f"tagsmith_families: {path}: no such file or directory")
        try:
            file = read_case_file(_shown(self.path))
        except CaseFileError as error:
            raise self.CollectError("\n".join(map(str, error.problems))) from None
        for number, case in enumerate(file.cases):
            location = file.location(number)
            yield CaseItem.from_parent(self, name=case.id, case=case, location=location)
        samples = int(given)
        for name in dict.fromkeys(case.family for case in file.cases) if samples else ():
            for law in LAWS:
                label = f"law-{law}[{name}]"
                yield LawItem.from_parent(self, name=label, law=law, family=name, samples=samples)

    @cached_property
    def family_paths(self) -> tuple[Path, ...]:
        """Where the families are loaded from, beside those that are installed."""
        named = self.config.getini("tagsmith_families")
        return (*named, *families_beside(_shown(self.path)))

    def family(self, name: str) -> Family:
        """The family of this name; what is loaded is kept for the other files of its directory."""
        paths = self.family_paths
        registries = self.config.stash.setdefault(_REGISTRIES, {})
        if paths not in registries:
            registries[paths] = load_registry(paths)
        return registries[paths].get(name)


class _Item(pytest.Item):
    """What shows a failure as it is told, without the place in Python that found it."""

    parent: CaseFileCollector

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> Any:  # type: ignore[override]
        """The failure in its own words."""
        if isinstance(excinfo.value, BrokenError):
            return str(excinfo.value)
        return super().repr_failure(excinfo)


class CaseItem(_Item):
    """One case, over every way of feeding it."""

    def __init__(self, *, case: Case, location: Location, **rest: Any) -> None:
        super().__init__(**rest)
        self._case = case
        self._location = location

    def runtest(self) -> None:
        """Hold the family to the case."""
        try:
            family = self.parent.family(self._case.family)
            failure = find_failure(self._case, family)
        except TagsmithError as error:
            raise BrokenError(f"{self._location}: cannot be run: {one_line(str(error))}") from None
        if failure is not None:
            look = look_at(failure, family, self.parent.family_paths)
            raise BrokenError("\n".join([f"{self._location}: {failure}", *look]))

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where the case stands."""
        return self.path, self._location.line - 1, self.name


class LawItem(_Item):
    """One law that a family is held to."""

    def __init__(self, *, law: str, family: str, samples: int, **rest: Any) -> None:
        super().__init__(**rest)
        self._law = law
        self._family = family
        self._samples = samples

    def runtest(self) -> None:
        """Hold the family to the law; that there is no such family, its cases tell."""
        try:
            family = self.parent.family(self._family)
        except TagsmithError as error:
            pytest.skip(one_line(str(error)))
        failure = find_broken(family, self._law, samples=self._samples, seed=0)
        if failure is not None:
            raise BrokenError(str(failure))

    def reportinfo(self) -> tuple[Path, int, str]:
        """The file that names the family."""
        return self.path, 0, self.name


def _shown(path: Path) -> Path:
    """The path as a failure names it: from where pytest runs, if it lies below that."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
