"""What the tests of lint's probes use: families to look at, and what rules find in them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from tagsmith.lint.rules import LintSubject, Rule
from tagsmith.loading import Layers, Root, load_layers
from tagsmith.plugins import load_plugins
from tagsmith.registry import installed_layers

BUILT_IN = Path(__file__).parent.parent / "families"


def subject_of(directory: Path, text: str) -> LintSubject:
    """A family that a text describes: what follows its first two lines."""
    path = directory / "family.yaml"
    path.write_text(text if "tagsmith: 1" in text else f"tagsmith: 1\nid: acme-one\n{text}")
    # The installed families are dozens of files.
    layers = _installed() if "extends:" in text else Layers()
    [subject] = _load(path, layers)
    return subject


@cache
def built_in(name: str) -> LintSubject:
    return next(subject for subject in _built_in() if subject.spec.id == name)


@cache
def _built_in() -> tuple[LintSubject, ...]:
    return _load(BUILT_IN, _installed())


@cache
def _installed() -> Layers:
    return installed_layers(load_plugins())


def _load(path: Path, installed: Layers) -> tuple[LintSubject, ...]:
    layers = installed.below([Root(path, "test")])
    result = load_layers(layers)
    own = len(layers.roots) - 1
    assert not [problem.error for problem in result.problems if problem.found.layer == own]
    return tuple(LintSubject(f, layers.encodings) for f in result.families if f.layer == own)


def found(rules: Iterable[Rule], subject: LintSubject) -> list[tuple[str, str, str]]:
    """Every finding: its code, its line and column in the family's file, its message."""
    return [
        (rule.code, str(finding.location).removeprefix(f"{subject.path}:"), finding.message)
        for rule in rules
        for finding in rule.check(subject)
    ]


def codes(rules: Iterable[Rule], subject: LintSubject) -> list[str]:
    return [code for code, _, _ in found(rules, subject)]
