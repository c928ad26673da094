"""JSON, for programs."""

from __future__ import annotations

import json

from tagsmith.errors import FamilyFileError
from tagsmith.lint.run import Report


def json_report(report: Report) -> str:
    """One JSON object: `files`, how many were read, and `problems` with their parts.

    >>> print(json_report(Report((), ())))
    {
      "files": 0,
      "problems": []
    }
    """
    problems = [_as_dict(problem, report) for problem in report.problems]
    return json.dumps(
        {"files": len(report.files), "problems": problems}, indent=2, ensure_ascii=False
    )


def _as_dict(problem: FamilyFileError, report: Report) -> dict[str, str | int]:
    return {
        "file": problem.file,
        "line": problem.line,
        "column": problem.column,
        "code": str(problem.code),
        "name": report.catalog[problem.code].name,
        "message": problem.message,
    }
