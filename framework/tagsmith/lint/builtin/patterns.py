"""Rules of regular expressions: what ids that a grammar writes look like."""

from __future__ import annotations

from collections.abc import Iterator

from tagsmith.grammar.schemas.patterns import pattern_problem
from tagsmith.lint.builtin.backtracking import may_be_empty, slow_reason
from tagsmith.lint.rules import Finding, LintSubject, Rule
from tagsmith.wording import shortened

_PATH = ("tool_calls", "id", "pattern")


def matches_nothing(subject: LintSubject) -> Iterator[Finding]:
    """A pattern of ids that an empty text matches."""
    pattern = _pattern(subject)
    if pattern is not None and may_be_empty(pattern):
        yield _finding(subject, f"{_shown(pattern)} matches the empty text; ask for a character")


def is_slow(subject: LintSubject) -> Iterator[Finding]:
    """A pattern that may take very long to match."""
    pattern = _pattern(subject)
    reason = None if pattern is None else slow_reason(pattern)
    if pattern is not None and reason is not None:
        what = f"matching {_shown(pattern)} may take very long: {reason}; write one that can take "
        yield _finding(subject, f"{what}a text in one way, such as 'call_[0-9a-z]+'")


def has_no_grammar(subject: LintSubject) -> Iterator[Finding]:
    """A pattern that no grammar can hold."""
    pattern = _pattern(subject)
    if pattern is None:
        return
    reason = pattern_problem(pattern)
    if reason is None and (pattern.startswith("^") or pattern.endswith("$")):
        reason = "it is held as a whole, without anchors"
    if reason is not None:
        what = f"no grammar can hold {_shown(pattern)}: {reason}; write it with characters, "
        yield _finding(subject, f"{what}classes, groups and repeats alone")


def _pattern(subject: LintSubject) -> str | None:
    calls = subject.spec.tool_calls
    return None if calls is None else calls.id.pattern


def _shown(pattern: str) -> str:
    return repr(shortened(pattern))


def _finding(subject: LintSubject, what: str) -> Finding:
    return Finding(f"tool_calls.id.pattern: {what}", subject.locate(_PATH))


RULES = (
    Rule(
        "TS805",
        "empty-pattern",
        "A regular expression that matches the empty text.",
        matches_nothing,
    ),
    Rule(
        "TS806",
        "slow-pattern",
        "A regular expression that may take very long to match.",
        is_slow,
    ),
    Rule(
        "TS807",
        "pattern-without-grammar",
        "A regular expression that no grammar can hold.",
        has_no_grammar,
    ),
)
