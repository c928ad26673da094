"""Registers the families of this package, as any plug-in registers its own."""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable

from tagsmith.hookspecs import hookimpl


@hookimpl
def tagsmith_families() -> list[Traversable]:
    """The directory this package is installed in."""
    return [files(__package__)]
