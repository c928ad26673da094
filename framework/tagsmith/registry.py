"""Which families there are, and which one a name means."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from threading import Lock
from typing import Any

from tagsmith.errors import (
    AmbiguousFamilyError,
    FamilyFileError,
    UnknownFamilyError,
    require_text,
)
from tagsmith.family import Family
from tagsmith.lint.checks import clashes
from tagsmith.loading import (
    FoundFamily,
    Layers,
    LoadResult,
    Problem,
    Root,
    Source,
    load_layers,
    unique_errors,
)
from tagsmith.plugins import Plugin, encodings_of, load_plugins
from tagsmith.tokenizers import marker_ids
from tagsmith.wording import nearest, shortened

ENVIRONMENT = "TAGSMITH_FAMILIES"
"""Names family files and directories, separated as in PATH."""

_PLUGINS = 0
"""The layer of the families that plug-ins bring."""


class Registry:
    """The families of one load. Immutable; families are compiled when first asked for.

    >>> registry = load_registry()
    >>> "cohere-command-a" in registry.ids()
    True
    """

    def __init__(self, result: LoadResult, plugins: Sequence[Plugin] = ()) -> None:
        self.plugins = tuple(plugins)
        self._encodings = encodings_of(plugins)
        self.problems: tuple[FamilyFileError, ...] = unique_errors(
            [*result.errors, *clashes(result.claims)]
        )
        self._file_problems = result.problems
        self._families = tuple(sorted(result.families, key=lambda found: found.spec.id))
        usable = {found.spec.id for found in self._families}
        self._broken = {
            problem.family_id: problem.error
            for problem in reversed(result.problems)
            if problem.family_id and problem.family_id not in usable
        }
        self._compiled: dict[str, Family] = {}
        self._lock = Lock()

    def ids(self) -> tuple[str, ...]:
        """The ids of the families that can be used."""
        return tuple(found.spec.id for found in self._families)

    def families(self) -> tuple[FoundFamily, ...]:
        """The families that can be used, by id, with where each was found; nothing is compiled."""
        return self._families

    def problems_of(self, plugin: Plugin) -> tuple[FamilyFileError, ...]:
        """What is wrong with the family files that a plug-in brings."""
        rank = self.plugins.index(plugin)
        return unique_errors(
            problem.error
            for problem in self._file_problems
            if (problem.found.layer, problem.found.rank) == (_PLUGINS, rank)
        )

    def problems_of_named(self) -> tuple[Problem, ...]:
        """What is wrong with the files that were named: by TAGSMITH_FAMILIES, and as paths."""
        return tuple(p for p in self._file_problems if p.found.layer != _PLUGINS)

    def get(self, name: str, *, model: str | None = None, tokenizer: Any = None) -> Family:
        """The one family that a name means: an id, an architecture, or a model's name.

        Where several families serve an architecture, `model` (the model's name) decides, then
        `tokenizer` (by the tokens that a family says its tokenizer must hold).

        Raises UnknownFamilyError, AmbiguousFamilyError, and the FamilyFileError of a family whose
        file cannot be used.
        """
        require_text("name", name)
        if model is not None:
            require_text("model", model)
        if name in self._broken:
            raise self._broken[name]
        by_id = [found for found in self._families if found.spec.id == name]
        candidates = by_id or self._claiming(name)
        if not candidates:
            raise UnknownFamilyError(self._unknown(name))
        if not by_id:
            candidates = _with_tokens(name, _with_model(candidates, model), tokenizer)
        if len(candidates) > 1:
            raise AmbiguousFamilyError(_ambiguous(name, candidates))
        return self._compile(candidates[0])

    def _claiming(self, name: str) -> list[FoundFamily]:
        by_architecture = [
            found for found in self._families if name in found.spec.match.architectures
        ]
        return by_architecture or [found for found in self._families if _serves_model(found, name)]

    def _compile(self, found: FoundFamily) -> Family:
        with self._lock:
            if found.spec.id not in self._compiled:
                family = Family(found.spec, found.source, self._encodings)
                self._compiled[found.spec.id] = family
            return self._compiled[found.spec.id]

    def _unknown(self, name: str) -> str:
        known = {family_id: family_id for family_id in self.ids()}
        for found in self._families:
            for architecture in found.spec.match.architectures:
                known[architecture] = f"{found.spec.id} ({architecture})"
        message = (
            f"no family answers to '{shortened(name)}'; {nearest(name, known)}; to add one, write "
            f"a YAML file that extends a family and name it by --families or {ENVIRONMENT}, or "
            "install a plug-in"
        )
        return message + self._troubles()

    def _troubles(self) -> str:
        """What did not load, as it may be what was asked for."""
        failed = [plugin.name for plugin in self.plugins if plugin.error]
        told = f"; plug-ins that failed to load: {', '.join(failed)}" if failed else ""
        if self.problems:
            told += f"; problems in family files: {len(self.problems)}, first: {self.problems[0]}"
        return told


def load_registry(paths: Iterable[Source] = ()) -> Registry:
    """A registry of the installed plug-ins, of TAGSMITH_FAMILIES, and of more files or directories.

    A family of a later source replaces one of the same id in an earlier; among the plug-ins the
    first keeps an id. What is wrong with a path or a file is in the registry's `problems`.
    """
    if isinstance(paths, str):
        raise TypeError(f"paths must be a list of paths: [{paths!r}]")
    plugins = load_plugins()
    layers = installed_layers(plugins).below(Root(path, "--families") for path in paths)
    return Registry(load_layers(layers), plugins)


def installed_layers(plugins: Sequence[Plugin]) -> Layers:
    """What need not be named: the plug-ins' families and encodings, then TAGSMITH_FAMILIES."""
    named = filter(None, os.environ.get(ENVIRONMENT, "").split(os.pathsep))
    brought = (
        Root(source, plugin.name, rank)
        for rank, plugin in enumerate(plugins)
        for source in plugin.sources
    )
    layers = Layers(encodings=encodings_of(plugins)).below(brought)
    return layers.below(Root(path, ENVIRONMENT) for path in named)


def default_registry() -> Registry:
    """The registry of plug-ins and TAGSMITH_FAMILIES, loaded once for each value of the latter."""
    return _default_registry(os.environ.get(ENVIRONMENT, ""))


def get_family(name: str, *, model: str | None = None, tokenizer: Any = None) -> Family:
    """The one family that a name means, among the plug-ins' and those of TAGSMITH_FAMILIES.

    See `Registry.get` for what a name can be, how `model` and `tokenizer` decide, and what is
    raised.

    >>> get_family("Cohere2ForCausalLM").id
    'cohere-command-a'
    """
    return default_registry().get(name, model=model, tokenizer=tokenizer)


@lru_cache(maxsize=8)
def _default_registry(_: str) -> Registry:
    return load_registry()


def _with_model(candidates: list[FoundFamily], model: str | None) -> list[FoundFamily]:
    """Those that serve the model; all where none says so."""
    if model is None:
        return candidates
    return [found for found in candidates if _serves_model(found, model)] or candidates


def _with_tokens(name: str, candidates: list[FoundFamily], tokenizer: Any) -> list[FoundFamily]:
    """Those whose tokens the tokenizer holds, the most demanding first to be preferred."""
    if tokenizer is None:
        return candidates
    wanted = [token for found in candidates for token in found.spec.match.tokens]
    tokens = set(marker_ids(tokenizer, wanted).values()) if wanted else set()
    held = [found for found in candidates if tokens.issuperset(found.spec.match.tokens)]
    if not held:
        needs = "; ".join(
            f"{found.spec.id} needs {', '.join(found.spec.match.tokens)}" for found in candidates
        )
        raise UnknownFamilyError(
            f"no family of '{shortened(name)}' fits the tokenizer: {needs}; give a family's id, or "
            "the tokenizer of this model"
        )
    most = max(len(found.spec.match.tokens) for found in held)
    return [found for found in held if len(found.spec.match.tokens) == most]


def _serves_model(found: FoundFamily, model: str) -> bool:
    """Whether one of a family's model patterns matches; letter case does not count."""
    return any(fnmatchcase(model.lower(), glob.lower()) for glob in found.spec.match.models)


def _ambiguous(name: str, candidates: list[FoundFamily]) -> str:
    ids = ", ".join(found.spec.id for found in candidates)
    return (
        f"'{shortened(name)}' may mean any of these families: {ids}; give one of these ids, or the "
        "model's name (model=, --model), or its tokenizer (tokenizer=)"
    )
