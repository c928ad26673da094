"""The rule of regions that no output can reach."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tagsmith.engine.tables import calls_stand_anywhere
from tagsmith.lint.rules import Finding, LintSubject, Rule
from tagsmith.spec.models import FamilySpec
from tagsmith.spec.policies import InitialRegion, OnOpener, Unmarked

_REASONING, _CONTENT, _CALLS = "reasoning", "content", "tool_calls"
_SHOWN = {_CONTENT: "content", _CALLS: "tool calls"}


def unreachable(subject: LintSubject) -> Iterator[Finding]:
    """A region that nothing leads to: once reasoning has begun, it goes on for ever."""
    spec = subject.spec
    if not _may_reason(spec):
        return
    reached = _reached(_REASONING, _ways(spec))
    lost = [region for region in _given(spec) if region not in reached]
    if lost:
        names = " and ".join(_SHOWN[region] for region in lost)
        what = f"no {names} can follow reasoning: {_why(spec)}"
        path = ("tag_style", _REASONING) if spec.tag_style.reasoning else ("initial_region",)
        yield Finding(what, subject.locate(path))


def _may_reason(spec: FamilySpec) -> bool:
    return spec.tag_style.reasoning is not None or spec.initial_region is InitialRegion.REASONING


def _given(spec: FamilySpec) -> list[str]:
    """The regions besides reasoning that an output of this family may have."""
    return [_CONTENT] if spec.tool_calls is None else [_CONTENT, _CALLS]


def _ways(spec: FamilySpec) -> Mapping[str, frozenset[str]]:
    """What may follow each region in one turn."""
    style = spec.tag_style
    opened = {_CONTENT} if style.content else set()
    if style.tool_calls is not None or calls_stand_anywhere(spec):
        opened.add(_CALLS)
    bare = spec.tool_calls is not None and spec.tool_calls.unmarked is Unmarked.AT_START
    after_content = opened | ({_CALLS} if bare else set())
    on_opener = OnOpener.END if style.reasoning is None else style.reasoning.on_opener
    after_reasoning = opened if on_opener is OnOpener.END else set()
    if _closers(spec) - set(spec.tokens.turn_end):
        after_reasoning = after_reasoning | {_CONTENT}
    return {
        _REASONING: frozenset(after_reasoning),
        _CONTENT: frozenset(after_content),
        _CALLS: frozenset({_CONTENT}),
    }


def _reached(start: str, ways: Mapping[str, frozenset[str]]) -> set[str]:
    reached: set[str] = set()
    waiting = [start]
    while waiting:
        for region in ways[waiting.pop()] - reached:
            reached.add(region)
            waiting.append(region)
    return reached


def _closers(spec: FamilySpec) -> set[str]:
    reasoning = spec.tag_style.reasoning
    pairs = () if reasoning is None else reasoning.pairs
    return {pair.end for pair in pairs if pair.end is not None}


def _why(spec: FamilySpec) -> str:
    if _closers(spec):
        return "its closer ends the turn; remove it from tokens.turn_end, or give another closer"
    if spec.tag_style.reasoning is None:
        return "no marker ends it; give tag_style.reasoning, or write 'initial_region: content'"
    return "nothing ends it; give tag_style.reasoning.end"


RULES = (
    Rule(
        "TS804",
        "unreachable-region",
        "A region that no output can reach.",
        unreachable,
    ),
)
