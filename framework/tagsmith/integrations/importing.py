"""Doing something once a module of somebody else's has been imported, and not importing it for it.

Engines load plug-ins in every one of their processes, most of which never read an output.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


def when_imported(name: str, act: Callable[[], object]) -> None:
    """Call `act` when the module is there: at once, or when somebody has imported it.

    >>> when_imported("json", lambda: print("is there"))
    is there
    """
    if name in sys.modules:
        act()
    else:
        sys.meta_path.insert(0, _Waiting(name, act))


class _Waiting(MetaPathFinder):
    """Finds one module as others do, and acts when it has been run."""

    def __init__(self, name: str, act: Callable[[], object]) -> None:
        self._name = name
        self._act = act
        self._asking = False

    def find_spec(
        self, name: str, path: Any, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != self._name or self._asking:
            return None
        self._asking = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self._asking = False
        if spec is not None and spec.loader is not None:
            spec.loader = _Acting(spec.loader, self._done)
        return spec

    def _done(self) -> None:
        if self in sys.meta_path:
            sys.meta_path.remove(self)
            self._act()


class _Acting(Loader):
    """A module's own loader, and an act after it."""

    def __init__(self, loader: Loader, act: Callable[[], object]) -> None:
        self._loader = loader
        self._act = act

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        # What asks the module for its loader later, for its files, say, is to get its own.
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        self._act()
