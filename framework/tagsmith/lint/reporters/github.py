"""Annotations of GitHub Actions: workflow commands that mark the lines of a pull request.

The form, and what is escaped, follow GitHub's documentation of workflow commands.
"""

from __future__ import annotations

from tagsmith.errors import FamilyFileError
from tagsmith.lint.reporters.counting import counts
from tagsmith.lint.reporters.places import shown_path
from tagsmith.lint.run import Report
from tagsmith.wording import one_line

_IN_MESSAGE = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_IN_PROPERTY = _IN_MESSAGE | {":": "%3A", ",": "%2C"}


def github_report(report: Report) -> str:
    """A workflow command for each problem, and a line that counts them.

    >>> from tagsmith.errors import Location
    >>> error = FamilyFileError("TS101", "unknown key 'a:b', 100%", Location("f.yaml", 3, 1))
    >>> print(github_report(Report((), (error,))).splitlines()[0])
    ::error file=f.yaml,line=3,col=1,title=TS101 unknown-key::unknown key 'a:b', 100%25
    """
    return "\n".join([*(_command(problem, report) for problem in report.problems), counts(report)])


def _command(problem: FamilyFileError, report: Report) -> str:
    source = report.texts.get(problem.file)
    properties = {
        "file": shown_path(problem.file),
        "line": problem.line,
        "col": problem.column,
        "title": f"{problem.code} {report.catalog[problem.code].name}",
    }
    if source is not None and source.line(problem.line) is not None:
        end = source.end_column(problem.location) - 1
        properties["endColumn"] = max(end, problem.column)
    given = ",".join(f"{key}={_escaped(str(v), _IN_PROPERTY)}" for key, v in properties.items())
    return f"::error {given}::{_escaped(one_line(problem.message), _IN_MESSAGE)}"


def _escaped(text: str, escapes: dict[str, str]) -> str:
    return "".join(escapes.get(char, char) for char in text)
