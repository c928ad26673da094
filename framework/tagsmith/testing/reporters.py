"""Tells what came of cases and laws: lines for people, JSON and JUnit's XML for machines."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import groupby
from typing import Any
from xml.etree import ElementTree

from tagsmith.testing.suite import CaseRun, Plan, Result
from tagsmith.testing.update import FileUpdate

_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""The characters that XML cannot hold."""


def text_report(plan: Plan, results: Sequence[Result]) -> str:
    """Every failure and problem, and a line that counts.

    >>> print(text_report(Plan((), (), (), ("acme-chat",)), []))
    acme-chat: the family has no case; write one in a *.cases.yaml beside it
    0 cases and 0 laws of 0 families: nothing failed
    """
    lines = [f"{result.told}\n" for result in results if result.told]
    lines += plan.problems
    lines += [
        f"{family}: the family has no case; write one in a *.cases.yaml beside it"
        for family in plan.without_cases
    ]
    return "\n".join([*lines, _summary(plan, results)])


def json_report(plan: Plan, results: Sequence[Result]) -> str:
    """The same as one JSON object."""
    cases = sum(isinstance(result.run, CaseRun) for result in results)
    report = {
        "cases": cases,
        "laws": len(results) - cases,
        "failures": [_as_dict(result) for result in results if result.told],
        "problems": list(plan.problems),
        "families_without_cases": list(plan.without_cases),
    }
    return json.dumps(report, indent=2, ensure_ascii=False, default=str)


def junit_report(plan: Plan, results: Sequence[Result]) -> str:
    """The same as JUnit's XML: a suite for each case file and for the laws of each family."""
    root = ElementTree.Element("testsuites")
    for group, members in groupby(results, key=lambda result: result.run.group):
        told = list(members)
        failed = sum(result.told is not None for result in told)
        suite = _add_suite(root, group, tests=len(told), failures=failed)
        for result in told:
            _add_case(suite, group, result)
    if plan.problems:
        count = len(plan.problems)
        suite = _add_suite(root, "files", tests=count, errors=count)
        for problem in plan.problems:
            case = ElementTree.SubElement(suite, "testcase", classname="files", name=_xml(problem))
            ElementTree.SubElement(case, "error", message=_xml(problem))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True)


def text_update_report(updates: Sequence[FileUpdate], problems: Sequence[str]) -> str:
    """What changes, what does not although it fails, and a line that counts.

    >>> print(text_update_report([], []))
    0 cases to rewrite
    """
    lines = [update.diff for update in updates if update.diff]
    lines += [
        f"{update.file.name}::{case}: {why}\n"
        for update in updates
        for case, why in update.left.items()
    ]
    changed = sum(len(update.updated) for update in updates)
    left = sum(len(update.left) for update in updates)
    summary = f"{_counted(changed, 'case')} to rewrite"
    summary += f", {left} left as {'it is' if left == 1 else 'they are'}" if left else ""
    return "\n".join([*lines, *problems, summary])


def json_update_report(updates: Sequence[FileUpdate], problems: Sequence[str]) -> str:
    """The same as one JSON object."""
    files = [update.to_dict() for update in updates if update.updated or update.left]
    return json.dumps({"files": files, "problems": list(problems)}, indent=2, ensure_ascii=False)


def _add_suite(
    root: ElementTree.Element, name: str, *, tests: int, failures: int = 0, errors: int = 0
) -> ElementTree.Element:
    counts = {"tests": str(tests), "failures": str(failures), "errors": str(errors)}
    return ElementTree.SubElement(root, "testsuite", {"name": name, **counts})


def _add_case(suite: ElementTree.Element, group: str, result: Result) -> None:
    name = result.run.name.partition("::")[2]
    time = f"{result.seconds:.3f}"
    case = ElementTree.SubElement(suite, "testcase", classname=group, name=_xml(name), time=time)
    if result.told:
        first = result.told.partition("\n")[0]
        failure = ElementTree.SubElement(case, "failure", message=_xml(first))
        failure.text = _xml(result.told)


def _xml(text: str) -> str:
    return _NO_XML.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def _as_dict(result: Result) -> dict[str, Any]:
    run = result.run
    place: dict[str, Any] = {}
    if isinstance(run, CaseRun):
        location = run.location
        place = {"file": location.file, "line": location.line, "column": location.column}
    return {"name": run.name, "family": run.family, **place, **result.details}


def _summary(plan: Plan, results: Sequence[Result]) -> str:
    cases = sum(isinstance(result.run, CaseRun) for result in results)
    families = len({result.run.family for result in results})
    failed = sum(result.told is not None for result in results)
    counted = f"{_counted(cases, 'case')} and {_counted(len(results) - cases, 'law')} of "
    counted += f"{families} famil{'y' if families == 1 else 'ies'}: "
    told = [f"{failed} failed"] if failed else []
    told += [_counted(len(plan.problems), "problem")] if plan.problems else []
    return counted + (", ".join(told) or "nothing failed")


def _counted(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"
