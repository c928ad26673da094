"""The hooks a plug-in can implement. Mark each implementation with `@tagsmith.hookimpl`.

A plug-in is a module or an object that an installed package names in the entry-point group
`tagsmith`:

    [project.entry-points.tagsmith]
    acme = "acme_families.plugin"

A package that holds nothing but YAML needs no hook: it names itself in the group
`tagsmith.families`:

    [project.entry-points."tagsmith.families"]
    acme = "acme_families"
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    from tagsmith.encodings import Encoding

PROJECT = "tagsmith"

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def tagsmith_families() -> Iterable[str | os.PathLike[str] | Traversable]:  # type: ignore[empty-body]
    """The family files this plug-in brings: paths of YAML files, or of directories of them.

    @tagsmith.hookimpl
    def tagsmith_families():
        return [importlib.resources.files(__package__) / "families"]
    """


@hookspec
def tagsmith_encodings() -> Mapping[str, Encoding]:  # type: ignore[empty-body]
    """The argument encodings this plug-in brings, each by the name that family files give it.

    `tagsmith.encodings` says what an encoding is, and shows a whole one.

    @tagsmith.hookimpl
    def tagsmith_encodings():
        return {"acme-pairs": pairs_encoding}
    """
