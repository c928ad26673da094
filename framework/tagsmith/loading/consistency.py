"""Whether the parts of one family fit together, beyond the shape of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tagsmith.codes import Code
from tagsmith.loading import calls, markers
from tagsmith.loading.files import SUFFIXES
from tagsmith.loading.subject import Finding, Subject
from tagsmith.spec.policies import EngineName


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
    if subject.spec.engine is EngineName.MELODY and subject.spec.melody is None:
        what = "engine: melody needs to know its preset; write 'melody: {preset: ...}'"
        yield Finding(Code.MELODY_WITHOUT_PRESET, ("engine",), what)


def _entries(subject: Subject) -> Iterator[Finding]:
    for key in ("architectures", "models", "tokens"):
        entries = getattr(subject.spec.match, key)
        for index, entry in enumerate(entries):
            if entry in entries[:index]:
                what = f"'{entry}' stands in match.{key} already; keep one"
                yield Finding(Code.DUPLICATE_ENTRY, ("match", key, index), what)


_CHECKS: tuple[tuple[tuple[str, ...], Callable[[Subject], Iterator[Finding]]], ...] = (
    (("tool_calls", "tag_style"), calls.calls_can_be_found),
    (("engine", "melody"), _melody_preset),
    ((), _id_is_no_path),
    ((), _entries),
    *(((), check) for check in markers.CHECKS),
)
"""Each check with the sections whose absence it would take for a fault."""
