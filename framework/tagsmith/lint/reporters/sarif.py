"""SARIF 2.1.0, the exchange format of static analysis that code scanning services read.

It follows the OASIS standard "Static Analysis Results Interchange Format (SARIF) Version 2.1.0".
"""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError, metadata
from typing import Any

from tagsmith.errors import FamilyFileError
from tagsmith.lint.reporters.places import uri_of
from tagsmith.lint.run import Report

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_LINE_ENDS = ["\r\n", "\n", "\r", "\x85", "\u2028", "\u2029"]
"""What ends a line in YAML."""


def sarif_report(report: Report) -> str:
    """One SARIF log with one run: every rule that has a problem, and every problem.

    Paths are relative to the working directory, under the base `%SRCROOT%`; columns count code
    points.

    >>> log = json.loads(sarif_report(Report((), ())))
    >>> log["version"], log["runs"][0]["columnKind"], log["runs"][0]["results"]
    ('2.1.0', 'unicodeCodePoints', [])
    """
    codes = sorted({str(problem.code) for problem in report.problems})
    run = {
        "tool": {"driver": _driver(codes, report)},
        "columnKind": "unicodeCodePoints",
        "newlineSequences": _LINE_ENDS,
        "results": [_result(problem, codes, report) for problem in report.problems],
    }
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=2, ensure_ascii=False)


def _driver(codes: list[str], report: Report) -> dict[str, Any]:
    version, documentation = _about()
    driver: dict[str, Any] = {"name": "tagsmith"}
    if version is not None:
        driver["version"] = version
    if documentation is not None:
        driver["informationUri"] = documentation
    driver["rules"] = [_rule(code, report, documentation) for code in codes]
    return driver


def _rule(code: str, report: Report, documentation: str | None) -> dict[str, Any]:
    described = report.catalog[code]
    anchor = f"docs/lint.md#{code.lower()}"
    rule: dict[str, Any] = {
        "id": code,
        "name": "".join(word.capitalize() for word in described.name.split("-")),
        "shortDescription": {"text": described.summary},
        "fullDescription": {"text": described.summary},
        "defaultConfiguration": {"level": "error"},
    }
    if code.startswith("TS"):
        rule["help"] = {"text": f"{described.summary} See {anchor} in Tagsmith's documentation."}
        if documentation is not None:
            rule["helpUri"] = f"{documentation.rstrip('/')}/lint.md#{code.lower()}"
    return rule


def _result(problem: FamilyFileError, codes: list[str], report: Report) -> dict[str, Any]:
    return {
        "ruleId": str(problem.code),
        "ruleIndex": codes.index(str(problem.code)),
        "level": "error",
        "message": {"text": problem.message},
        "locations": [{"physicalLocation": _place(problem, report)}],
    }


def _place(problem: FamilyFileError, report: Report) -> dict[str, Any]:
    uri, is_relative = uri_of(problem.file)
    artifact = {"uri": uri} | ({"uriBaseId": "%SRCROOT%"} if is_relative else {})
    source = report.texts.get(problem.file)
    region = {"startLine": problem.line, "startColumn": problem.column}
    if source is not None and source.line(problem.line) is not None:
        region["endColumn"] = source.end_column(problem.location)
    return {"artifactLocation": artifact, "region": region}


def _about() -> tuple[str | None, str | None]:
    """The version that is installed, and where its documentation stands."""
    try:
        about = metadata("tagsmith")
    except PackageNotFoundError:
        return None, None
    links = dict(link.split(", ", 1) for link in about.get_all("Project-URL") or [])
    return about["Version"], links.get("Documentation")
