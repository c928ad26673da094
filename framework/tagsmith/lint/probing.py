"""The probes: rules that try a family out, and take seconds for each. They run when asked for."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from enum import StrEnum

from tagsmith.errors import RequestError
from tagsmith.lint.rules import Rule
from tagsmith.lint.selection import Selection
from tagsmith.request.plain import named


class Probe(StrEnum):
    """What a family is tried against."""

    GRAMMAR = "grammar"
    """xgrammar: its structural tags compile, and what they accept is read. TS5xx."""
    MELODY = "melody"
    """The preset of cohere-melody that it names reads what it says. TS6xx."""
    TOKENIZER = "tokenizer"
    """The tokenizer of a model has its markers. TS7xx."""


_GROUPS = {Probe.GRAMMAR: "TS5", Probe.MELODY: "TS6", Probe.TOKENIZER: "TS7"}


def wanted_probes(
    asked: Iterable[Probe | str], tokenizer: str | None, selection: Selection
) -> frozenset[Probe]:
    """The probes that are asked for: by name, by a tokenizer, or by a code that is selected.

    Raises `RequestError` for a probe that there is not, and for that of the tokenizer without one.

    >>> sorted(wanted_probes(["melody"], None, Selection(select=("TS501",))))
    [<Probe.GRAMMAR: 'grammar'>, <Probe.MELODY: 'melody'>]
    """
    wanted = {named(Probe, probe, "probe") for probe in asked}
    wanted |= {probe for probe, group in _GROUPS.items() if selection.names(group)}
    if tokenizer is not None:
        wanted.add(Probe.TOKENIZER)
    elif Probe.TOKENIZER in wanted:
        raise RequestError("tokenizer", "this probe needs one; give --tokenizer PATH")
    return frozenset(wanted)


def probe_rules(probes: Collection[Probe], tokenizer: str | None) -> tuple[Rule, ...]:
    """The rules of these probes."""
    rules: list[Rule] = []
    if Probe.GRAMMAR in probes:
        from tagsmith.lint.probes import grammar

        rules += grammar.RULES
    if Probe.MELODY in probes:
        from tagsmith.lint.probes import melody

        rules += melody.RULES
    if Probe.TOKENIZER in probes and tokenizer is not None:
        from tagsmith.lint.probes.tokenizer import tokenizer_rules

        rules += tokenizer_rules(tokenizer)
    return tuple(rules)
