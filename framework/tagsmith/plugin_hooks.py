"""What the hooks of a plug-in return, checked."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tagsmith.engine.arguments import Encoding
from tagsmith.engine.guarded_arguments import GuardedEncoding
from tagsmith.engine.layouts import ENCODINGS
from tagsmith.engine.plugin_engines import EngineMaker
from tagsmith.hookspecs import PROJECT
from tagsmith.loading.files import Source
from tagsmith.spec.policies import EngineName

if TYPE_CHECKING:
    from tagsmith.lint.rules import Rule

_RULE_CODE = re.compile("[A-Z]+[0-9]+")
_OWN_CODES = "TS"


class PluginError(Exception):
    """What a plug-in did wrong."""


@dataclass(frozen=True, slots=True)
class Brought:
    """What one plug-in brings."""

    sources: tuple[Source, ...] = ()
    encodings: Mapping[str, Encoding] = field(default_factory=dict)
    engines: Mapping[str, EngineMaker] = field(default_factory=dict)
    rules: tuple[Rule, ...] = ()


@dataclass(slots=True)
class Taken:
    """The names that are given already, and who has each."""

    encodings: dict[str, str] = field(default_factory=lambda: dict.fromkeys(ENCODINGS, PROJECT))
    engines: dict[str, str] = field(default_factory=lambda: dict.fromkeys(EngineName, PROJECT))
    rules: dict[str, str] = field(default_factory=dict)

    def add(self, brought: Brought, owner: str) -> None:
        """What a plug-in brings has its names from now on."""
        self.encodings |= dict.fromkeys(brought.encodings, owner)
        self.engines |= dict.fromkeys(brought.engines, owner)
        self.rules |= {rule.code: owner for rule in brought.rules}


def read_hooks(call: Callable[[str], Sequence[object]], taken: Taken) -> Brought:
    """What a plug-in brings.

    Args:
        call: calls one hook of the plug-in; what each implementation returned.
        taken: the names that it may not give.

    Raises `PluginError` for what no hook may return.
    """
    encodings = _named("tagsmith_encodings", "encoding", call, taken.encodings)
    engines = _named("tagsmith_engines", "engine", call, taken.engines)
    return Brought(
        sources=tuple(path for found in call("tagsmith_families") for path in _paths(found)),
        encodings={name: GuardedEncoding(name, made) for name, made in encodings.items()},
        engines=engines,
        rules=_rules(call("tagsmith_lint_rules"), taken.rules),
    )


def _paths(result: object) -> list[Source]:
    wanted = "tagsmith_families must return a list of paths"
    found: list[Source] = []
    for source in _listed(result, wanted):
        if isinstance(source, str | os.PathLike) and "\0" not in os.fsdecode(source):
            found.append(Path(source))
        elif isinstance(source, Traversable):
            found.append(source)
        else:
            raise PluginError(f"{wanted}; {source!r} is no path")
    return found


def _named(
    hook: str, thing: str, call: Callable[[str], Sequence[object]], taken: Mapping[str, str]
) -> dict[str, Any]:
    wanted = f"{hook} must return a mapping from names to {thing}s"
    named: dict[str, Any] = {}
    for result in call(hook):
        if not isinstance(result, Mapping):
            raise PluginError(f"{wanted}, not {type(result).__name__}")
        for name, made in result.items():
            if not isinstance(name, str) or not name:
                raise PluginError(f"{wanted}; {name!r} is no name")
            if not callable(made):
                raise PluginError(f"{wanted}; {made!r}, which it calls {name!r}, is no {thing}")
            if name in taken:
                # Its families would be read with what another brings.
                raise PluginError(
                    f"the {thing} {name!r} is brought by {taken[name]} too; rename it"
                )
            named[name] = made
    return named


def _rules(results: Sequence[object], taken: Mapping[str, str]) -> tuple[Rule, ...]:
    if not results:
        return ()
    from tagsmith.lint.rules import Rule

    wanted = "tagsmith_lint_rules must return a list of rules"
    rules: dict[str, Rule] = {}
    for rule in (rule for result in results for rule in _listed(result, wanted)):
        if not isinstance(rule, Rule):
            raise PluginError(f"{wanted}; {rule!r} is no tagsmith.lint.rules.Rule")
        if not isinstance(rule.code, str) or not _RULE_CODE.fullmatch(rule.code):
            raise PluginError(f"the code {rule.code!r} of a lint rule is not as ACME001")
        if rule.code.startswith(_OWN_CODES):
            raise PluginError(f"the code {rule.code} of a lint rule is Tagsmith's; rename it")
        if rule.code in taken:
            raise PluginError(
                f"the lint rule {rule.code} is brought by {taken[rule.code]} too; rename it"
            )
        if rule.code in rules:
            raise PluginError(f"two lint rules have the code {rule.code}; rename one of them")
        rules[rule.code] = rule
    return tuple(rules.values())


def _listed(result: object, wanted: str) -> list[object]:
    if isinstance(result, str | bytes | Mapping) or not isinstance(result, Iterable):
        raise PluginError(f"{wanted}, not {type(result).__name__}")
    return list(result)
