"""Runs the cases and the laws of many families, in one process or several."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from shlex import join
from time import perf_counter
from typing import Any

from tagsmith.errors import Location, RequestError, TagsmithError
from tagsmith.family import Family
from tagsmith.registry import Registry, load_registry
from tagsmith.testing.case_files import CaseFile, CaseFileError, read_case_file
from tagsmith.testing.cases import Case
from tagsmith.testing.check import CaseFailure, find_failure
from tagsmith.testing.commands import command_for
from tagsmith.testing.found_files import FoundFiles
from tagsmith.testing.holding import find_broken
from tagsmith.wording import one_line


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to run."""

    laws: Sequence[str] = ()
    """The laws that families are held to, by name."""
    samples: int = 20
    """How many texts each law is tried on."""
    seed: int = 0
    pattern: str | None = None
    """What the name of a case or law must hold, letter case apart."""
    family: str | None = None
    """The one family that runs: whatever `Registry.get` takes."""
    loaded: Sequence[str | Path] = ()
    """The family files, and directories of them, that stand beside those that are installed."""
    command: Sequence[str] = ("tagsmith", "test")
    """The words of the command that runs all this."""

    def again(self, *words: str) -> str:
        """The command that runs a part of it."""
        return f"  again: {join([*self.command, *words])}"

    def takes(self, name: str) -> bool:
        """Whether the pattern takes this name."""
        return self.pattern is None or self.pattern.lower() in name.lower()


@dataclass(frozen=True, slots=True)
class CaseRun:
    """A case that is to run."""

    name: str
    """`FILE::ID`."""
    file: str
    location: Location
    case: Case
    family: str

    @property
    def group(self) -> str:
        """What it is reported with."""
        return self.file


@dataclass(frozen=True, slots=True)
class LawRun:
    """A law that a family is to be held to."""

    name: str
    """`FAMILY::LAW`."""
    family: str
    law: str

    @property
    def group(self) -> str:
        """What it is reported with."""
        return f"laws of {self.family}"


AnyRun = CaseRun | LawRun
_Told = tuple[str | None, Mapping[str, Any]]
"""A failure for people and for machines."""

_A_TIME = 4
"""How many runs a process takes at once."""


@dataclass(frozen=True, slots=True)
class Result:
    """What came of one run: nothing to tell, or a failure in lines."""

    run: AnyRun
    seconds: float
    told: str | None = None
    """The failure for people."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """The failure for machines."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What there is to run, and what cannot."""

    runs: tuple[AnyRun, ...]
    files: tuple[CaseFile, ...]
    """The case files that could be read."""
    problems: tuple[str, ...]
    """What is wrong with case files and family files, each in a line with its place."""
    without_cases: tuple[str, ...]
    """The families that were found and have no case."""


def make_plan(found: FoundFiles, registry: Registry, wanted: Wanted) -> Plan:
    """Read the case files, find their families, and choose what runs.

    Raises:
        FamilyLookupError: no family, or more than one, answers to `wanted.family`.
    """
    only = None if wanted.family is None else registry.get(wanted.family).id
    files, problems = _read(found.cases)
    problems += [one_line(str(p.error)) for p in registry.problems_of_named()]
    cases: list[CaseRun] = []
    for file in files:
        runs, unknown = _case_runs(file, registry)
        cases += runs
        problems += unknown
    own = _ids_of(registry, found.families)
    with_cases = {run.family for run in cases}
    ids = sorted({*own, *with_cases})
    laws = [LawRun(f"{i}::{law}", i, law) for i in ids for law in wanted.laws]
    every: list[AnyRun] = [*cases, *laws]
    chosen = (run for run in every if only in (None, run.family) and wanted.takes(run.name))
    told = own if wanted.pattern is None else []
    without = (i for i in told if i not in with_cases and only in (None, i))
    return Plan(tuple(chosen), tuple(files), tuple(dict.fromkeys(problems)), tuple(without))


def run_all(plan: Plan, registry: Registry, wanted: Wanted, *, jobs: int = 1) -> Iterator[Result]:
    """Run everything, and give the results in the order of the plan.

    Args:
        plan: what runs.
        registry: the families.
        wanted: how often, and from which seed, laws are tried.
        jobs: how many processes; of 1, none but this one.
    """
    if jobs == 1:
        yield from map(_Runner(registry, wanted), plan.runs)
        return
    with ProcessPoolExecutor(jobs, initializer=_start_worker, initargs=(wanted,)) as pool:
        yield from pool.map(_run_in_worker, plan.runs, chunksize=_A_TIME)


class _Runner:
    """Runs what it is given; no failure of one keeps others from running."""

    def __init__(self, registry: Registry, wanted: Wanted) -> None:
        self._registry = registry
        self._wanted = wanted

    def __call__(self, run: AnyRun) -> Result:
        start = perf_counter()
        told, details = self._case(run) if isinstance(run, CaseRun) else self._law(run)
        return Result(run, perf_counter() - start, told, details)

    def _case(self, run: CaseRun) -> _Told:
        family = self._registry.get(run.family)
        again = self._wanted.again("-k", run.name)
        try:
            failure = find_failure(run.case, family)
        except RequestError as error:
            reason = f"the request cannot be served: {one_line(str(error))}"
            heading = f"{run.location}: case {run.case.id}, family {family.id}: {reason}"
            return f"{heading}\n{again}", {"error": reason}
        if failure is None:
            return None, {}
        look = look_at(failure, family, self._wanted.loaded)
        return "\n".join([f"{run.location}: {failure}", again, *look]), failure.to_dict()

    def _law(self, run: LawRun) -> _Told:
        samples, seed = self._wanted.samples, self._wanted.seed
        family = self._registry.get(run.family)
        failure = find_broken(family, run.law, samples=samples, seed=seed)
        if failure is None:
            return None, {}
        options = ("--law", run.law, "--samples", str(samples), "--seed", str(seed))
        again = self._wanted.again("-k", run.name, *options)
        return f"{failure}\n{again}", failure.to_dict()


def look_at(failure: CaseFailure, family: Family, loaded: Iterable[str | Path]) -> list[str]:
    """The line with the command that shows the output of a failed case, where there is one.

    Args:
        failure: what failed.
        family: its family.
        loaded: the family files, and directories of them, that are not installed.
    """
    source = Path(family.source or "")
    around = {source.resolve(), *source.resolve().parents}
    is_named = any(Path(path).resolve() in around for path in loaded)
    command = command_for(failure, [str(source.parent)] if is_named else [])
    return [f"  look:  {command}"] if command else []


def _read(paths: Iterable[Path]) -> tuple[list[CaseFile], list[str]]:
    files: list[CaseFile] = []
    problems: list[str] = []
    for path in paths:
        try:
            files.append(read_case_file(path))
        except CaseFileError as error:
            problems += map(str, error.problems)
        except OSError as error:
            what = f"{path}: cannot be read ({error.strerror}); mend or remove the file"
            problems.append(one_line(what))
    return files, problems


def _case_runs(file: CaseFile, registry: Registry) -> tuple[list[CaseRun], list[str]]:
    """The cases of a file whose families there are; of the others, each family once, with why."""
    runs: list[CaseRun] = []
    ids: dict[str, str | None] = {}
    problems: list[str] = []
    for number, case in enumerate(file.cases):
        if case.family not in ids:
            try:
                ids[case.family] = registry.get(case.family).id
            except TagsmithError as error:
                ids[case.family] = None
                problems.append(one_line(f"{file.location(number, 'family')}: {error}"))
        family = ids[case.family]
        if family is not None:
            name = f"{file.name}::{case.id}"
            runs.append(CaseRun(name, file.name, file.location(number), case, family))
    return runs, problems


def _ids_of(registry: Registry, files: Iterable[Path]) -> list[str]:
    """The families that are read from these files."""
    resolved = {str(path.resolve()) for path in files}
    return [
        found.spec.id
        for found in registry.families()
        if str(Path(found.source).resolve()) in resolved
    ]


_worker: Callable[[AnyRun], Result] | None = None


def _start_worker(wanted: Wanted) -> None:
    global _worker
    _worker = _Runner(load_registry(wanted.loaded), wanted)


def _run_in_worker(run: AnyRun) -> Result:
    assert _worker is not None
    return _worker(run)
