"""Whether the text of a family file can be used as it stands."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tagsmith.family import Family
from tagsmith.lint.run import lint
from tagsmith.loading import load_families


@dataclass(frozen=True, slots=True)
class Checked:
    """The family of a text, and what lint says of it."""

    family: Family | None
    """None where it cannot be used."""
    problems: tuple[str, ...]
    """Each with its code; that there are no golden cases yet is none."""


def check_text(text: str, name: str) -> Checked:
    """Load and lint the text of a family file.

    >>> check_text("tagsmith: 1\\nid: acme\\n", "acme").problems
    ()
    """
    with TemporaryDirectory() as directory:
        path = Path(directory, f"{name}.yaml")
        path.write_text(text, encoding="utf-8")
        report = lint([path], ignore=["TS801"])
        found = load_families([path]).families
    problems = tuple(f"{problem.code} {problem.message}" for problem in report.problems)
    return Checked(Family(found[0].spec) if found else None, problems)
