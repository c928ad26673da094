"""Whether the parts of one family fit together, beyond the shape of each."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from tagsmith.codes import Code
from tagsmith.loading import calls, markers
from tagsmith.loading.files import SUFFIXES
from tagsmith.loading.nodes import dotted
from tagsmith.loading.subject import Finding, Subject
from tagsmith.spec.policies import EngineName
from tagsmith.wording import shortened


def findings(subject: Subject, ignored: frozenset[str]) -> list[Finding]:
    """What does not fit together. A check that needs an ignored section is left out."""
    found = [
        finding
        for sections, check in _CHECKS
        if ignored.isdisjoint(sections)
        for finding in check(subject)
    ]
    if subject.spec.tool_calls is not None:
        for sections, check_calls in calls.CHECKS:
            if ignored.isdisjoint(sections):
                found += check_calls(subject.spec.tool_calls, subject)
    return found


def _id_is_no_path(subject: Subject) -> Iterator[Finding]:
    name = subject.spec.id
    if name.endswith(SUFFIXES):
        what = f"id: '{name}' would be a path where another family extends it; drop the ending"
        yield Finding(Code.PATTERN, ("id",), what)


def _melody_preset(subject: Subject) -> Iterator[Finding]:
    if subject.spec.engine == EngineName.MELODY and subject.spec.melody is None:
        what = "engine: melody needs to know its preset; write 'melody: {preset: ...}'"
        yield Finding(Code.MELODY_WITHOUT_PRESET, ("engine",), what)


def _entries(subject: Subject) -> Iterator[Finding]:
    for key in ("architectures", "models", "tokens"):
        seen: set[str] = set()
        for index, entry in enumerate(getattr(subject.spec.match, key)):
            if entry in seen:
                what = f"'{shortened(entry)}' stands in match.{key} already; keep one"
                yield Finding(Code.DUPLICATE_ENTRY, ("match", key, index), what)
            seen.add(entry)


def _fallback_id(subject: Subject) -> Iterator[Finding]:
    """The ids of documents that have none differ by their place."""
    citations = subject.spec.citations
    form = citations.key_map.documents.fallback_id if citations is not None else None
    if form is None:
        return
    path = ("citations", "key_map", "documents", "fallback_id")
    for hole in _BRACED.findall(form):
        if hole != "{index}":
            what = f"{dotted(path)}: '{shortened(hole)}' is no hole of an id; allowed: {{index}}"
            yield Finding(Code.UNKNOWN_HOLE, path, what)
    if "{index}" not in form:
        what = f"{dotted(path)}: without {{index}} all documents have one id; put it where the "
        yield Finding(Code.MISSING_HOLE, path, f"{what}place of the document stands")


_BRACED = re.compile(r"\{[^{}]*\}")

_CHECKS: tuple[tuple[tuple[str, ...], Callable[[Subject], Iterator[Finding]]], ...] = (
    (("tool_calls", "tag_style"), calls.calls_can_be_found),
    (("engine", "melody"), _melody_preset),
    ((), _id_is_no_path),
    ((), _entries),
    ((), _fallback_id),
    *(((), check) for check in markers.CHECKS),
)
"""Each check with the sections whose absence it would take for a fault."""
