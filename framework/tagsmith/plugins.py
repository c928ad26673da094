"""Plug-ins are loaded here and nowhere else; one that fails never keeps another from loading."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points
from importlib.resources.abc import Traversable
from pathlib import Path
from time import perf_counter

import pluggy

from tagsmith import hookspecs
from tagsmith.engine.arguments import Encoding
from tagsmith.engine.layouts import ENCODINGS
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
    encodings: Mapping[str, Encoding]
    """The argument encodings it brings, by name."""
    error: str | None
    """Why it did not load; None when it did."""
    seconds: float
    """How long it took to load."""


@dataclass(frozen=True, slots=True)
class _Brought:
    """What one plug-in brings."""

    sources: tuple[Source, ...] = ()
    encodings: Mapping[str, Encoding] = field(default_factory=dict)


_Loader = Callable[[EntryPoint], _Brought]


def load_plugins() -> tuple[Plugin, ...]:
    """Load every installed plug-in, Tagsmith's own first, then by name: the first keeps a name.

    What fails is recorded in its `error`, and brings nothing.

    >>> [plugin.group for plugin in load_plugins() if plugin.value == "tagsmith_families.plugin"]
    ['tagsmith']
    """
    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    taken = dict.fromkeys(ENCODINGS, hookspecs.PROJECT)

    def hooked(entry: EntryPoint) -> _Brought:
        return _from_hooks(manager, entry, taken)

    loaders: dict[str, _Loader] = {hookspecs.PROJECT: hooked, DATA_GROUP: _from_package}
    entries = [entry for group in loaders for entry in entry_points(group=group)]
    plugins: list[Plugin] = []
    for entry in sorted(entries, key=_order):
        plugins.append(_load(entry, loaders[entry.group]))
        taken.update(dict.fromkeys(plugins[-1].encodings, entry.name))
    return tuple(plugins)


def encodings_of(plugins: Iterable[Plugin]) -> dict[str, Encoding]:
    """Tagsmith's own argument encodings and those that plug-ins bring, by name.

    >>> sorted(encodings_of([]))
    ['bare-keys', 'json', 'tagged']
    """
    brought = (plugin.encodings.items() for plugin in plugins)
    return ENCODINGS | {name: encoding for items in brought for name, encoding in items}


def _order(entry: EntryPoint) -> tuple[bool, str, str, str]:
    own = entry.dist is not None and entry.dist.name == hookspecs.PROJECT
    return not own, entry.name, entry.group, entry.value


def _load(entry: EntryPoint, load: _Loader) -> Plugin:
    started = perf_counter()
    brought = _Brought()
    error = None
    try:
        # What it prints is no part of any command's result.
        with redirect_stdout(sys.stderr):
            brought = load(entry)
    except BaseException as fault:  # SystemExit, KeyboardInterrupt and Rust panics included
        error = one_line(f"{type(fault).__name__}: {fault}")
    distribution = entry.dist
    return Plugin(
        name=entry.name,
        group=entry.group,
        value=entry.value,
        distribution=distribution.name if distribution else None,
        version=distribution.version if distribution else None,
        sources=brought.sources,
        encodings=brought.encodings,
        error=error,
        seconds=perf_counter() - started,
    )


def _from_hooks(
    manager: pluggy.PluginManager, entry: EntryPoint, taken: Mapping[str, str]
) -> _Brought:
    """What a plug-in's hooks return. `taken` are the names of encodings, and who has each."""
    plugin = entry.load()
    others = [other for other in manager.get_plugins() if other is not plugin]
    if manager.register(plugin) is None:
        raise PluginError("its name is blocked")

    def results(hook: str) -> Iterator[object]:
        yield from manager.subset_hook_caller(hook, others)()

    try:
        manager.check_pending()
        sources = [source for found in results("tagsmith_families") for source in _paths(found)]
        encodings: dict[str, Encoding] = {}
        for found in results("tagsmith_encodings"):
            encodings |= _named_encodings(found, taken)
        return _Brought(tuple(sources), encodings)
    except BaseException:
        manager.unregister(plugin)
        raise


def _paths(result: object) -> list[Source]:
    wanted = "tagsmith_families must return a list of paths"
    if isinstance(result, str | bytes) or not isinstance(result, Iterable):
        raise PluginError(f"{wanted}, not {type(result).__name__}")
    sources = list(result)
    for source in sources:
        if not isinstance(source, str | os.PathLike | Traversable):
            raise PluginError(f"{wanted}; {source!r} is no path")
    return sources


def _named_encodings(result: object, taken: Mapping[str, str]) -> dict[str, Encoding]:
    wanted = "tagsmith_encodings must return a mapping from names to encodings"
    if not isinstance(result, Mapping):
        raise PluginError(f"{wanted}, not {type(result).__name__}")
    encodings = dict(result)
    for name, encoding in encodings.items():
        if not isinstance(name, str) or not name:
            raise PluginError(f"{wanted}; {name!r} is no name")
        if not callable(encoding):
            raise PluginError(f"{wanted}; {encoding!r}, which it calls {name!r}, is no encoding")
        if name in taken:
            # Its families would be read with the encoding of another.
            raise PluginError(f"the encoding {name!r} is brought by {taken[name]} too; rename it")
    return encodings


def _from_package(entry: EntryPoint) -> _Brought:
    """The directory of a package that holds nothing but YAML; none of its code is run."""
    spec = importlib.util.find_spec(entry.value)
    if spec is None:
        raise PluginError(f"there is no package '{entry.value}'")
    places = [Path(place) for place in spec.submodule_search_locations or ()]
    if not any(place.is_dir() for place in places):
        raise PluginError(f"'{entry.value}' is no package with a directory")
    return _Brought(tuple(place for place in places if place.is_dir()))
