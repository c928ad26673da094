"""The line that counts what was found."""

from __future__ import annotations

from tagsmith.lint.run import Report


def counts(report: Report) -> str:
    """How many files were read, and how many problems there are.

    >>> counts(Report((), ()))
    '0 files, no problems'
    """
    found = len(report.problems)
    problems = counted(found, "problem") if found else "no problems"
    return f"{counted(len(report.files), 'file')}, {problems}"


def counted(number: int, thing: str) -> str:
    """A number of things.

    >>> counted(1, "file"), counted(0, "file")
    ('1 file', '0 files')
    """
    return f"{number} {thing}{'' if number == 1 else 's'}"
