"""Which families there are, and which one a name means."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from threading import RLock
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
    Library,
    LoadResult,
    Problem,
    Root,
    Source,
    serves_model,
    unique_errors,
)
from tagsmith.plugin_choice import ALLOWED, DISABLED
from tagsmith.plugins import Plugin, encodings_of, engines_of, load_plugins
from tagsmith.tokenizers import marker_ids
from tagsmith.wording import nearest, shortened

ENVIRONMENT = "TAGSMITH_FAMILIES"
"""Names family files and directories, separated as in PATH."""

_VARIABLES = (ENVIRONMENT, ALLOWED, DISABLED)
_KEPT_ANSWERS = 512
"""For how many names it is kept which families they may mean."""
_PLUGINS = 0
"""The layer of the families that plug-ins bring."""


@dataclass(frozen=True, slots=True)
class _Everything:
    """All that the files say: what only all of them together can tell."""

    families: tuple[FoundFamily, ...]
    problems: tuple[FamilyFileError, ...]
    file_problems: tuple[Problem, ...]
    broken: Mapping[str, FamilyFileError]
    """Why a family of this id cannot be used."""


class Registry:
    """The families of one load. Immutable; the files are opened by the load, and what they say is
    read as data, and compiled, when it is asked for.

    >>> registry = load_registry()
    >>> "cohere-command-a" in registry.ids()
    True
    """

    def __init__(self, library: Library, plugins: Sequence[Plugin] = ()) -> None:
        self.plugins = tuple(plugins)
        self._library = library
        self._encodings, self._engines = encodings_of(plugins), engines_of(plugins)
        self._everything: _Everything | None = None
        self._answers: dict[str, list[FoundFamily]] = {}
        self._compiled: dict[str, Family] = {}
        self._lock = RLock()

    @property
    def problems(self) -> tuple[FamilyFileError, ...]:
        """What is wrong with any family file, by file, line and column; reads all of them."""
        return self._all().problems

    def ids(self) -> tuple[str, ...]:
        """The ids of the families that can be used; reads every file."""
        return tuple(found.spec.id for found in self.families())

    def families(self) -> tuple[FoundFamily, ...]:
        """The families that can be used, by id, with where each was found; nothing is compiled."""
        return self._all().families

    def families_of(self, plugin: Plugin) -> tuple[FoundFamily, ...]:
        """The families that a plug-in brings, by id."""
        rank = self.plugins.index(plugin)
        return tuple(f for f in self.families() if (f.layer, f.rank) == (_PLUGINS, rank))

    def problems_of(self, plugin: Plugin) -> tuple[FamilyFileError, ...]:
        """What is wrong with the family files that a plug-in brings."""
        rank = self.plugins.index(plugin)
        return unique_errors(
            problem.error
            for problem in self._all().file_problems
            if (problem.found.layer, problem.found.rank) == (_PLUGINS, rank)
        )

    def problems_of_named(self) -> tuple[Problem, ...]:
        """What is wrong with what was named: by TAGSMITH_FAMILIES, and as paths.

        A file of a directory is read only where a family that was asked for needs it.
        """
        loaded = self._everything
        if loaded is None:
            problems = self._library.named(_PLUGINS + 1).problems
        else:
            problems = loaded.file_problems
        return tuple(p for p in problems if p.found.layer != _PLUGINS)

    def get(self, name: str, *, model: str | None = None, tokenizer: Any = None) -> Family:
        """The one family that a name means: an id, an architecture, or a model's name.

        Where several families serve an architecture, `model` (the model's name) decides, then
        `tokenizer` (by the tokens that a family says its tokenizer must hold). Only the files of
        families that the name may mean are read as data, and those that they extend.

        Raises UnknownFamilyError, AmbiguousFamilyError, and the FamilyFileError of a family whose
        file cannot be used.
        """
        require_text("name", name)
        if model is not None:
            require_text("model", model)
        candidates = self._answering(name)
        if candidates[0].spec.id != name:
            candidates = _with_tokens(name, _with_model(candidates, model), tokenizer)
        if len(candidates) > 1:
            raise AmbiguousFamilyError(_ambiguous(name, candidates))
        return self._compile(candidates[0])

    def _answering(self, name: str) -> list[FoundFamily]:
        """The families that a name may mean, at least one; a name is looked up once."""
        found = self._answers.get(name)
        if found is None:
            found = self._look_up(name)
            with self._lock:
                if len(self._answers) >= _KEPT_ANSWERS:
                    self._answers.clear()
                self._answers[name] = found
        return found

    def _look_up(self, name: str) -> list[FoundFamily]:
        few = self._library.about(name)
        found = [] if few.problems else _answering(few.families, name)
        if found:
            return found
        loaded = self._all()
        if name in loaded.broken:
            raise loaded.broken[name]
        found = _answering(loaded.families, name)
        if not found:
            raise UnknownFamilyError(self._unknown(name))
        return found

    def _all(self) -> _Everything:
        with self._lock:
            if self._everything is None:
                self._everything = _all_of(self._library.everything())
            return self._everything

    def _compile(self, found: FoundFamily) -> Family:
        with self._lock:
            if found.spec.id not in self._compiled:
                family = Family(found.spec, found.source, self._encodings, self._engines)
                self._compiled[found.spec.id] = family
            return self._compiled[found.spec.id]

    def _unknown(self, name: str) -> str:
        known = {family_id: family_id for family_id in self.ids()}
        for found in self.families():
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


def load_registry(
    paths: Iterable[Source] = (), *, plugins: Sequence[Plugin] | None = None
) -> Registry:
    """A registry of the installed plug-ins, of TAGSMITH_FAMILIES, and of more files or directories.

    A family of a later source replaces one of the same id in an earlier; among the plug-ins the
    first keeps an id. What is wrong with a path or a file is in the registry's `problems`.
    `plugins` are those that were loaded before.
    """
    if isinstance(paths, str):
        raise TypeError(f"paths must be a list of paths: [{paths!r}]")
    plugins = load_plugins() if plugins is None else plugins
    layers = installed_layers(plugins).below(Root(path, "--families") for path in paths)
    return Registry(Library(layers), plugins)


def installed_layers(plugins: Sequence[Plugin]) -> Layers:
    """What need not be named: the plug-ins' families, encodings and engines, then those of
    TAGSMITH_FAMILIES."""
    named = filter(None, os.environ.get(ENVIRONMENT, "").split(os.pathsep))
    brought = (
        Root(source, plugin.name, rank)
        for rank, plugin in enumerate(plugins)
        for source in plugin.sources
    )
    own = Layers(encodings=encodings_of(plugins), engines=engines_of(plugins))
    layers = own.below(brought)
    return layers.below(Root(path, ENVIRONMENT) for path in named)


def default_registry() -> Registry:
    """The registry of plug-ins and TAGSMITH_FAMILIES, loaded once for each value of the latter, and
    of the variables that choose the plug-ins."""
    return _default_registry(*(os.environ.get(name, "") for name in _VARIABLES))


def get_family(name: str, *, model: str | None = None, tokenizer: Any = None) -> Family:
    """The one family that a name means, among the plug-ins' and those of TAGSMITH_FAMILIES.

    See `Registry.get` for what a name can be, how `model` and `tokenizer` decide, and what is
    raised.

    >>> get_family("Cohere2ForCausalLM").id
    'cohere-command-a'
    """
    return default_registry().get(name, model=model, tokenizer=tokenizer)


@lru_cache(maxsize=8)
def _default_registry(*_: str) -> Registry:
    return load_registry()


def _all_of(result: LoadResult) -> _Everything:
    families = tuple(sorted(result.families, key=lambda found: found.spec.id))
    usable = {found.spec.id for found in families}
    return _Everything(
        families=families,
        problems=unique_errors([*result.errors, *clashes(result.claims)]),
        file_problems=result.problems,
        broken={
            problem.family_id: problem.error
            for problem in reversed(result.problems)
            if problem.family_id and problem.family_id not in usable
        },
    )


def _answering(families: Sequence[FoundFamily], name: str) -> list[FoundFamily]:
    """The family of this id, or else those that serve this architecture, or else this model."""
    return (
        [found for found in families if found.spec.id == name]
        or [found for found in families if name in found.spec.match.architectures]
        or [found for found in families if serves_model(found.spec.match, name)]
    )


def _with_model(candidates: list[FoundFamily], model: str | None) -> list[FoundFamily]:
    """Those that serve the model; all where none says so."""
    if model is None:
        return candidates
    return [found for found in candidates if serves_model(found.spec.match, model)] or candidates


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


def _ambiguous(name: str, candidates: list[FoundFamily]) -> str:
    ids = ", ".join(found.spec.id for found in candidates)
    return (
        f"'{shortened(name)}' may mean any of these families: {ids}; give one of these ids, or the "
        "model's name (model=, --model), or its tokenizer (tokenizer=)"
    )
