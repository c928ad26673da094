"""Where a finding about several parts of a family is told."""

from __future__ import annotations

from tagsmith.errors import Location
from tagsmith.lint.rules import LintSubject
from tagsmith.loading.nodes import Path


def place(subject: LintSubject, *paths: Path) -> Location:
    """The first of these values that the family's own file gives, as its author can mend that.

    Where all are inherited, the first of them, in the file that it is from.
    """
    found = [subject.locate(path) for path in paths]
    return next((location for location in found if location.file == subject.path), found[0])
