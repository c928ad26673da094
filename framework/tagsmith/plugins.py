"""Plug-ins are loaded here and nowhere else; one that fails never keeps another from loading."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from importlib.resources.abc import Traversable
from pathlib import Path
from time import perf_counter

import pluggy

from tagsmith import hookspecs
from tagsmith.loading.files import Source
from tagsmith.wording import one_line

DATA_GROUP = f"{hookspecs.PROJECT}.families"


class PluginError(Exception):
    """What a plug-in did wrong."""


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
    sources: tuple[Source, ...]
    """The family files and directories it brings."""
    error: str | None
    """Why it did not load; None when it did."""
    seconds: float
    """How long it took to load."""


def load_plugins() -> tuple[Plugin, ...]:
    """Load every installed plug-in, Tagsmith's own first, then by name: the first keeps an id.

    What fails is recorded in its `error`.

    >>> [plugin.group for plugin in load_plugins() if plugin.value == "tagsmith_families.plugin"]
    ['tagsmith']
    """
    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)

    def hooked(entry: EntryPoint) -> Sequence[Source]:
        return _from_hook(manager, entry)

    loaders = {hookspecs.PROJECT: hooked, DATA_GROUP: _from_package}
    entries = [entry for group in loaders for entry in entry_points(group=group)]
    return tuple(_load(entry, loaders[entry.group]) for entry in sorted(entries, key=_order))


def _order(entry: EntryPoint) -> tuple[bool, str, str, str]:
    own = entry.dist is not None and entry.dist.name == hookspecs.PROJECT
    return not own, entry.name, entry.group, entry.value


def _load(entry: EntryPoint, load: Callable[[EntryPoint], Sequence[Source]]) -> Plugin:
    started = perf_counter()
    sources: Sequence[Source] = ()
    error = None
    try:
        # What it prints is no part of any command's result.
        with redirect_stdout(sys.stderr):
            sources = load(entry)
    except BaseException as fault:  # SystemExit, KeyboardInterrupt and Rust panics included
        error = one_line(f"{type(fault).__name__}: {fault}")
    distribution = entry.dist
    return Plugin(
        name=entry.name,
        group=entry.group,
        value=entry.value,
        distribution=distribution.name if distribution else None,
        version=distribution.version if distribution else None,
        sources=tuple(sources),
        error=error,
        seconds=perf_counter() - started,
    )


def _from_hook(manager: pluggy.PluginManager, entry: EntryPoint) -> Sequence[Source]:
    """What a plug-in's `tagsmith_families` hook returns."""
    plugin = entry.load()
    others = [other for other in manager.get_plugins() if other is not plugin]
    if manager.register(plugin) is None:
        raise PluginError("its name is blocked")
    try:
        manager.check_pending()
        call = manager.subset_hook_caller("tagsmith_families", others)
        return [source for result in call() for source in _checked(result)]
    except BaseException:
        manager.unregister(plugin)
        raise


def _checked(result: object) -> list[Source]:
    wanted = "tagsmith_families must return a list of paths"
    if isinstance(result, str | bytes) or not isinstance(result, Iterable):
        raise PluginError(f"{wanted}, not {type(result).__name__}")
    sources = list(result)
    for source in sources:
        if not isinstance(source, str | os.PathLike | Traversable):
            raise PluginError(f"{wanted}; {source!r} is no path")
    return sources


def _from_package(entry: EntryPoint) -> Sequence[Source]:
    """The directory of a package that holds nothing but YAML; none of its code is run."""
    spec = importlib.util.find_spec(entry.value)
    if spec is None:
        raise PluginError(f"there is no package '{entry.value}'")
    places = [Path(place) for place in spec.submodule_search_locations or ()]
    if not any(place.is_dir() for place in places):
        raise PluginError(f"'{entry.value}' is no package with a directory")
    return [place for place in places if place.is_dir()]
