"""Linting: load the files beside the installed families, and keep what concerns the files."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tagsmith.codes import Code
from tagsmith.errors import FamilyFileError, MissingDependencyError
from tagsmith.lint.bases import absent_bases
from tagsmith.lint.builtin import RULES
from tagsmith.lint.catalog import Catalog, catalog_of
from tagsmith.lint.checks import clashes
from tagsmith.lint.comments import heed, ignore_comments
from tagsmith.lint.probing import Probe, probe_rules, wanted_probes
from tagsmith.lint.rules import LintSubject, Rule
from tagsmith.lint.selection import read_selection
from tagsmith.lint.source import SourceText
from tagsmith.loading import Layers, LoadResult, Root, Source, load_layers, unique_errors
from tagsmith.loading.files import FoundFile, read_text
from tagsmith.plugins import Plugin
from tagsmith.wording import one_line

_ENDS_READING = {
    Code.SYNTAX,
    Code.EMPTY,
    Code.NOT_A_MAPPING,
    Code.SEVERAL_DOCUMENTS,
    Code.TOO_DEEP,
    Code.TOO_MANY_VALUES,
    Code.BAD_ALIAS,
    Code.FORMAT_VERSION,
    Code.EXTENDS_UNKNOWN,
    Code.EXTENDS_CYCLE,
    Code.EXTENDS_BROKEN,
}
"""What keeps the rest of a file from being looked at."""


@dataclass(frozen=True, slots=True)
class Report:
    """What linting found: the files it read, and every problem, by file, line and column."""

    files: tuple[FoundFile, ...]
    problems: tuple[FamilyFileError, ...]
    texts: Mapping[str, SourceText] = field(default_factory=dict)
    """The text of each of the files, and of each other that has a problem, by its path."""
    catalog: Catalog = field(default_factory=lambda: catalog_of(RULES))
    """Every code that could have been told."""


def lint(
    sources: Iterable[Source],
    layers: Layers | None = None,
    *,
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    rules: Sequence[Rule] = RULES,
    probes: Collection[Probe | str] = (),
    tokenizer: str | None = None,
    plugins: Sequence[Plugin] = (),
) -> Report:
    """Check family files, and directories of them.

    They may extend installed families, and replace those of the same id, so that the source of an
    installed package can be linted beside it; and they may name what plug-ins bring.

    Args:
        sources: the files and directories.
        layers: the installed families; by default none.
        select: the codes to tell, or what they begin with; by default all. What names the codes of
            a probe runs it.
        ignore: the codes not to tell.
        rules: the rules to check beside what loading tells.
        probes: the probes to run besides, which take seconds for each family.
        tokenizer: a tokenizer.json, or a directory that has one, to hold the families against.
        plugins: the installed plug-ins, to say when a family leans on one.

    Raises:
        RequestError: what is selected or ignored is no code.
        MissingDependencyError: a probe needs a library that is not installed.

    >>> [problem.code for problem in lint(["no/such/file.yaml"]).problems]
    [<Code.UNREADABLE: 'TS001'>]
    """
    known = catalog_of((*rules, *probe_rules(tuple(Probe), tokenizer or "")))
    selection = read_selection(select, ignore, known)
    rules = (*rules, *probe_rules(wanted_probes(probes, tokenizer, selection), tokenizer))
    layers = (layers or Layers()).below(Root(source, "lint") for source in sources)
    result = load_layers(layers)
    files = {found.name: found for found in result.files if found.layer == _own(layers)}
    found = [
        *_of_files(result, layers, files),
        *absent_bases(result, _own(layers), plugins),
        *_of_rules(result, layers, [rule for rule in rules if selection.wants(rule.code)]),
    ]
    told = unique_errors(error for error in found if selection.wants(error.code))
    texts = _texts(files, told)
    looked_for = _looked_for(result, rules, found)
    comments = {name: ignore_comments(texts[name]) for name in texts}
    kept, faults = heed(
        told, comments, known, lambda file, code: selection.wants(code) and looked_for(file, code)
    )
    faults = [fault for fault in faults if fault.file in files and selection.wants(fault.code)]
    return Report(tuple(files.values()), unique_errors([*kept, *faults]), texts, known)


def _looked_for(
    result: LoadResult, rules: Iterable[Rule], found: Iterable[FamilyFileError]
) -> Callable[[str, str], bool]:
    """Whether a code was looked for in a file: rules see families that can be used, and what ends
    the reading of a file hides the rest of it."""
    of_rules = {rule.code for rule in rules}
    usable = {family.source for family in result.families}
    cut_short = {error.file for error in found if error.code in _ENDS_READING}

    def looked_for(file: str, code: str) -> bool:
        if code in of_rules:
            return file in usable
        return code in list(Code) and file not in cut_short

    return looked_for


def _own(layers: Layers) -> int:
    """The layer of what is linted: the last."""
    return len(layers.roots) - 1


def _of_files(
    result: LoadResult, layers: Layers, files: Collection[str]
) -> Iterator[FamilyFileError]:
    """What loading tells of the files that are linted, alone and beside the others."""
    for problem in result.problems:
        if problem.found.layer == _own(layers):
            yield problem.error
    yield from (error for error in clashes(result.claims) if error.file in files)


def _of_rules(
    result: LoadResult, layers: Layers, rules: Sequence[Rule]
) -> Iterator[FamilyFileError]:
    """What the rules find in the families that are linted."""
    for family in result.families:
        if family.layer == _own(layers):
            subject = LintSubject(family, layers.encodings, layers.engines)
            for rule in rules:
                yield from _broken(rule, subject)


def _broken(rule: Rule, subject: LintSubject) -> Iterator[FamilyFileError]:
    try:
        for finding in rule.check(subject):
            yield FamilyFileError(rule.code, finding.message, finding.location)
    except MissingDependencyError:
        raise
    except Exception as fault:
        what = f"the rule {rule.code} ({rule.name}) failed: {type(fault).__name__}: {fault}"
        what = (
            f"{one_line(what)}; tell whoever brings it, and ignore {rule.code} until it is mended"
        )
        yield FamilyFileError(Code.RULE_FAILED, what, subject.locate(["id"]))


def _texts(
    files: Mapping[str, FoundFile], told: Iterable[FamilyFileError]
) -> dict[str, SourceText]:
    """The texts of these files, and of the others that a problem stands in."""
    beyond = {error.file for error in told} - files.keys()
    others = {name: FoundFile(Path(name), name, "", 0) for name in sorted(beyond)}
    read = {name: read_text(found) for name, found in {**files, **others}.items()}
    return {name: SourceText(text) for name, text in read.items() if isinstance(text, str)}
