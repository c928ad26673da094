"""Telling what linting found: lines for people, JSON for machines."""

from __future__ import annotations

import json

from tagsmith.codes import Code
from tagsmith.errors import FamilyFileError
from tagsmith.lint.run import LintReport
from tagsmith.wording import one_line


def text_report(report: LintReport) -> str:
    """A line for each problem, `file:line:column: CODE message`, and one that counts them.

    >>> print(text_report(LintReport(2, ())))
    2 files, no problems
    """
    lines = [one_line(str(problem)) for problem in report.problems]
    count = _counted(len(report.problems), "problem") if report.problems else "no problems"
    return "\n".join([*lines, f"{_counted(report.files, 'file')}, {count}"])


def json_report(report: LintReport) -> str:
    """The same as one JSON object: `files`, and `problems` with their parts.

    >>> print(json_report(LintReport(1, ())))
    {
      "files": 1,
      "problems": []
    }
    """
    problems = [_as_dict(problem) for problem in report.problems]
    return json.dumps({"files": report.files, "problems": problems}, indent=2, ensure_ascii=False)


def _as_dict(problem: FamilyFileError) -> dict[str, str | int]:
    return {
        "file": problem.file,
        "line": problem.line,
        "column": problem.column,
        "code": str(problem.code),
        "name": Code(problem.code).name.lower().replace("_", "-"),
        "message": problem.message,
    }


def _counted(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"
