"""Plug-ins are loaded here and nowhere else; one that fails never keeps another from loading."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, distributions, entry_points
from pathlib import Path
from threading import Timer
from time import perf_counter
from typing import TYPE_CHECKING

import pluggy

from tagsmith import hookspecs
from tagsmith.engine.arguments import Encoding
from tagsmith.engine.layouts import ENCODINGS
from tagsmith.engine.plugin_engines import EngineMaker, fault_text
from tagsmith.loading.files import Source
from tagsmith.plugin_choice import plugin_choice
from tagsmith.plugin_hooks import Brought, PluginError, Taken, read_hooks

if TYPE_CHECKING:
    from tagsmith.lint.rules import Rule

DATA_GROUP = f"{hookspecs.PROJECT}.families"
SLOW_SECONDS = 5.0
"""How long a plug-in may take to load before somebody who waits is told which it is."""


@dataclass(frozen=True, slots=True)
class Plugin:
    """An installed plug-in and how it loaded."""

    name: str
    group: str
    """The entry-point group it is registered in."""
    value: str
    """The module, object or package that its entry point names."""
    distribution: str | None
    version: str | None
    brought: Brought = field(default_factory=Brought)
    """What it brings; nothing where it did not load."""
    disabled: str | None = None
    """Why it was not to be loaded; None when it was."""
    error: str | None = None
    """Why it did not load; None when it did."""
    seconds: float = 0.0
    """How long it took to load."""

    @property
    def sources(self) -> tuple[Source, ...]:
        """The family files and directories it brings."""
        return self.brought.sources

    @property
    def encodings(self) -> Mapping[str, Encoding]:
        """The argument encodings it brings, by name."""
        return self.brought.encodings

    @property
    def engines(self) -> Mapping[str, EngineMaker]:
        """The engines it brings, by name."""
        return self.brought.engines

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The lint rules it brings."""
        return self.brought.rules


_Loader = Callable[[EntryPoint], Brought]
Waiting = Callable[[str], None]
"""Is told the name of a plug-in that takes longer than SLOW_SECONDS, from another thread."""


def load_plugins(waiting: Waiting | None = None) -> tuple[Plugin, ...]:
    """Load every installed plug-in that may be, Tagsmith's own first, then by name: the first keeps
    a name. TAGSMITH_PLUGINS and TAGSMITH_DISABLE_PLUGINS say which may be.

    What fails is recorded in its `error`, and brings nothing.

    >>> [plugin.group for plugin in load_plugins() if plugin.value == "tagsmith_families.plugin"]
    ['tagsmith']
    """
    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    choice, taken = plugin_choice(), Taken()

    def hooked(entry: EntryPoint) -> Brought:
        return _from_hooks(manager, entry, taken)

    loaders: dict[str, _Loader] = {hookspecs.PROJECT: hooked, DATA_GROUP: _from_package}
    entries, plugins = _entries(loaders)
    for entry in sorted(entries, key=_order):
        disabled = choice.refusal(entry.name, is_own=_is_own(entry))
        if disabled:
            plugins.append(_described(entry, disabled=disabled))
            continue
        with _watched(entry.name, waiting):
            plugins.append(_load(entry, loaders[entry.group]))
        taken.add(plugins[-1].brought, entry.name)
    return tuple(plugins)


def encodings_of(plugins: Iterable[Plugin]) -> dict[str, Encoding]:
    """Tagsmith's own argument encodings and those that plug-ins bring, by name.

    >>> sorted(encodings_of([]))
    ['bare-keys', 'json', 'tagged']
    """
    return ENCODINGS | {
        name: encoding for plugin in plugins for name, encoding in plugin.encodings.items()
    }


def engines_of(plugins: Iterable[Plugin]) -> dict[str, EngineMaker]:
    """The engines that plug-ins bring, by name."""
    return {name: engine for plugin in plugins for name, engine in plugin.engines.items()}


def rules_of(plugins: Iterable[Plugin]) -> tuple[Rule, ...]:
    """The lint rules that plug-ins bring."""
    return tuple(rule for plugin in plugins for rule in plugin.rules)


def _entries(groups: Iterable[str]) -> tuple[list[EntryPoint], list[Plugin]]:
    """The entry points of these groups; and as a plug-in each package whose own cannot be read."""
    try:
        every = entry_points()
        return [entry for group in groups for entry in every.select(group=group)], []
    except Exception:
        return _entries_one_by_one(frozenset(groups))


def _entries_one_by_one(groups: frozenset[str]) -> tuple[list[EntryPoint], list[Plugin]]:
    entries: dict[str, list[EntryPoint]] = {}
    broken: list[Plugin] = []
    for package in distributions():
        if package.name in entries:
            continue  # An earlier place on the path has it.
        try:
            entries[package.name] = [e for e in package.entry_points if e.group in groups]
        except Exception as fault:
            entries[package.name] = []
            error = f"its entry points cannot be read ({fault_text(fault)})"
            broken.append(Plugin(package.name, "", "", package.name, package.version, error=error))
    return [entry for found in entries.values() for entry in found], broken


def _is_own(entry: EntryPoint) -> bool:
    return entry.dist is not None and entry.dist.name == hookspecs.PROJECT


def _order(entry: EntryPoint) -> tuple[bool, str, str, str]:
    return not _is_own(entry), entry.name, entry.group, entry.value


@contextmanager
def _watched(name: str, waiting: Waiting | None) -> Iterator[None]:
    """Tell who waits that this takes long; a load that runs cannot be ended."""
    if waiting is None:
        yield
        return
    timer = Timer(SLOW_SECONDS, waiting, [name])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _load(entry: EntryPoint, load: _Loader) -> Plugin:
    started = perf_counter()
    brought, error = Brought(), None
    try:
        # What it prints is no part of any command's result.
        with redirect_stdout(sys.stderr):
            brought = load(entry)
    except BaseException as fault:  # SystemExit, KeyboardInterrupt and Rust panics included
        error = fault_text(fault)
    return _described(entry, brought, error=error, seconds=perf_counter() - started)


def _described(
    entry: EntryPoint,
    brought: Brought | None = None,
    *,
    disabled: str | None = None,
    error: str | None = None,
    seconds: float = 0.0,
) -> Plugin:
    distribution = entry.dist
    return Plugin(
        name=entry.name,
        group=entry.group,
        value=entry.value,
        distribution=distribution.name if distribution else None,
        version=distribution.version if distribution else None,
        brought=brought or Brought(),
        disabled=disabled,
        error=error,
        seconds=seconds,
    )


def _from_hooks(manager: pluggy.PluginManager, entry: EntryPoint, taken: Taken) -> Brought:
    """What a plug-in's hooks return."""
    plugin = entry.load()
    others = [other for other in manager.get_plugins() if other is not plugin]
    if manager.register(plugin) is None:
        raise PluginError("its name is blocked")

    def call(hook: str) -> list[object]:
        return list(manager.subset_hook_caller(hook, others)())

    try:
        manager.check_pending()
        return read_hooks(call, taken)
    except BaseException:
        manager.unregister(plugin)
        raise


def _from_package(entry: EntryPoint) -> Brought:
    """The directory of a package that holds nothing but YAML; none of its code is run."""
    spec = importlib.util.find_spec(entry.value)
    if spec is None:
        raise PluginError(f"there is no package '{entry.value}'")
    places = [Path(place) for place in spec.submodule_search_locations or ()]
    if not any(place.is_dir() for place in places):
        raise PluginError(f"'{entry.value}' is no package with a directory")
    return Brought(tuple(place for place in places if place.is_dir()))
