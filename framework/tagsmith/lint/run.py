"""Linting: load the files beside the installed families, and keep what concerns the files."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tagsmith.errors import FamilyFileError
from tagsmith.lint.checks import clashes
from tagsmith.loading import Layers, Root, Source, load_layers, unique_errors


@dataclass(frozen=True, slots=True)
class LintReport:
    """What linting found: how many files it read, and every problem, by file, line and column."""

    files: int
    problems: tuple[FamilyFileError, ...]


def lint(paths: Iterable[Source], installed: Layers | None = None) -> LintReport:
    """Check family files, and directories of them.

    They may extend installed families, and replace those of the same id, so that the source of an
    installed package can be linted beside it; and they may name installed argument encodings.

    >>> [problem.code for problem in lint(["no/such/file.yaml"]).problems]
    [<Code.UNREADABLE: 'TS001'>]
    """
    layers = (installed or Layers()).below(Root(path, "lint") for path in paths)
    result = load_layers(layers)
    own = len(layers.roots) - 1
    files = {found.name for found in result.files if found.layer == own}
    errors = [problem.error for problem in result.problems if problem.found.layer == own]
    errors += [error for error in clashes(result.claims) if error.file in files]
    return LintReport(len(files), unique_errors(errors))
