"""Rewrites what cases expect to what is found, in the text of their file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import unified_diff
from pathlib import Path
from typing import Any

from tagsmith.family import Family
from tagsmith.loading.nodes import descend, plain
from tagsmith.message import Message
from tagsmith.registry import Registry
from tagsmith.testing.case_files import CaseFile, CaseFileError, parse_cases
from tagsmith.testing.cases import Case
from tagsmith.testing.check import find_failure, find_unequal_cutting
from tagsmith.testing.differences import (
    CALL_KEYS,
    CITATION_KEYS,
    codes_differ,
    message_differences,
)
from tagsmith.testing.suite import CaseRun, Plan
from tagsmith.testing.yaml_edits import change
from tagsmith.testing.yaml_values import UnwritableError

_BOM = "\ufeff".encode()
_ORDERS = {
    None: tuple(Case.model_fields),
    "tool_calls": CALL_KEYS,
    "citations": (*CITATION_KEYS, "sources"),
}


@dataclass(slots=True)
class FileUpdate:
    """A case file, what it would hold, and what it would not."""

    file: CaseFile
    text: str
    updated: list[str] = field(default_factory=list)
    """The ids of the cases that were rewritten."""
    left: dict[str, str] = field(default_factory=dict)
    """Why a case that fails was not: by its id, in lines."""

    @property
    def diff(self) -> str:
        """What changes, as a unified diff."""
        before, after = (
            text.splitlines(keepends=True) for text in (self.file.yaml.text, self.text)
        )
        return "".join(unified_diff(before, after, self.file.name, self.file.name))

    def write(self) -> None:
        """Write the file, if anything in it changes."""
        path = Path(self.file.name)
        if self.updated:
            bom = _BOM if path.read_bytes().startswith(_BOM) else b""
            path.write_bytes(bom + self.text.encode("utf-8"))

    def to_dict(self) -> dict[str, Any]:
        """It all, for machines."""
        told = {"updated": self.updated, "left": self.left, "diff": self.diff}
        return {"file": self.file.name, **told}


def plan_updates(plan: Plan, registry: Registry) -> list[FileUpdate]:
    """What becomes of each case file with a case in the plan; nothing is written."""
    families: dict[str, dict[str, Family]] = {file.name: {} for file in plan.files}
    for run in plan.runs:
        if isinstance(run, CaseRun):
            families[run.file][run.case.id] = registry.get(run.family)
    return [update_file(file, families[file.name]) for file in plan.files if families[file.name]]


def update_file(file: CaseFile, families: Mapping[str, Family]) -> FileUpdate:
    """Rewrite the cases of a file that fail the same way in every cutting; nothing is written.

    What was checked stays checked, and what a case leaves out stays out unless the message has it.

    Args:
        file: the file as it was read.
        families: the family of each case that is looked at, by the case's id.
    """
    update = FileUpdate(file, file.yaml.text)
    for number, case in enumerate(file.cases):
        family = families.get(case.id)
        failure = None if family is None else find_failure(case, family)
        if family is None or failure is None:
            continue
        unequal = find_unequal_cutting(case, family)
        if unequal is not None:
            update.left[case.id] = f"the message depends on the cutting:\n{unequal}"
            continue
        message = family.parse(case.text, finish_reason=case.finish_reason, **case.request)
        text = _rewritten(update.text, file.name, number, message)
        if text is None:
            update.left[case.id] = f"change it by hand:\n{failure}"
        else:
            update.text = text
            update.updated.append(case.id)
    return update


def _rewritten(text: str, name: str, number: int, message: Message) -> str | None:
    """The text with one case as it should be, and every other as it was; None where that fails."""
    file = parse_cases(text, name)
    node = descend(file.yaml.root, (number,))
    assert node is not None
    try:
        new = change(file.yaml, (number,), _expecting(plain(node), message), _ORDERS)
        cases = parse_cases(new, name).cases
    except (UnwritableError, CaseFileError):
        return None
    # A value that several cases share by an anchor is one that cannot be changed for one of them.
    others = (*cases[:number], *cases[number + 1 :])
    same = others == (*file.cases[:number], *file.cases[number + 1 :])
    kept = same and not list(message_differences(cases[number], message))
    return new if kept else None


def _expecting(case: dict[str, Any], message: Message) -> dict[str, Any]:
    """The case as its file gives it, expecting this message."""
    new = dict(case)
    for key in ("reasoning", "content"):
        if key in case or getattr(message, key) is not None:
            new[key] = getattr(message, key)
    for key, found in (("tool_calls", _calls(case, message)), ("citations", _cited(case, message))):
        if key in case or found:
            new[key] = found
    codes = list(dict.fromkeys(d.code.value for d in message.diagnostics))
    expected = case.get("diagnostics")
    if expected is not None and codes_differ(expected, codes):
        new["diagnostics"] = codes
    return new


def _calls(case: dict[str, Any], message: Message) -> list[dict[str, Any]]:
    found = []
    for number, call in enumerate(message.tool_calls):
        old = _item(case, "tool_calls", number)
        new = old | {"id": call.id, "name": call.name, "arguments": call.arguments}
        if "complete" in old or not call.complete:
            new["complete"] = call.complete
        found.append(new)
    return found


def _cited(case: dict[str, Any], message: Message) -> list[dict[str, Any]]:
    found = []
    for number, citation in enumerate(message.citations):
        old = _item(case, "citations", number)
        new = old | {"start": citation.start, "end": citation.end, "text": citation.text}
        new["target"] = citation.target.value
        if "positions" in old or citation.positions:
            new["positions"] = [list(position) for position in citation.positions]
        if old.get("sources") is not None:
            new["sources"] = list(citation.sources)
        found.append(new)
    return found


def _item(case: dict[str, Any], key: str, number: int) -> dict[str, Any]:
    items = case.get(key) or []
    return dict(items[number]) if number < len(items) else {}
