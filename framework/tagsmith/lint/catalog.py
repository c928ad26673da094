"""Every code that lint can tell, with its name and what it says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tagsmith.codes import Code
from tagsmith.lint.rules import Rule


@dataclass(frozen=True, slots=True)
class Described:
    """A code, its name, and what it says in a sentence."""

    code: str
    name: str
    summary: str


Catalog = Mapping[str, Described]


def catalog_of(rules: Iterable[Rule]) -> Catalog:
    """The codes of loading, of lint itself and of these rules, in order; a code keeps its first.

    >>> catalog_of(())["TS101"]
    Described(code='TS101', name='unknown-key', summary='A key that the format does not have.')
    """
    own = [Described(str(code), _name(code), code.summary) for code in Code]
    described = own + [Described(rule.code, rule.name, rule.summary) for rule in rules]
    known: dict[str, Described] = {}
    for one in described:
        known.setdefault(one.code, one)
    return dict(sorted(known.items()))


def _name(code: Code) -> str:
    return code.name.lower().replace("_", "-")
