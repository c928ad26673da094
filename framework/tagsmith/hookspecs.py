"""The hooks a plug-in can implement. Mark each implementation with `@tagsmith.hookimpl`.

A plug-in is a module or an object that an installed package names in the entry-point group
`tagsmith`:

    [project.entry-points.tagsmith]
    acme = "acme_families.plugin"

A package that holds nothing but YAML needs no hook: it names itself in the group
`tagsmith.families`:

    [project.entry-points."tagsmith.families"]
    acme = "acme_families"

Hooks are called once, without arguments, when plug-ins are loaded. A hook that raises, or returns
what it should not, makes its plug-in fail as a whole; every other works.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    from tagsmith.encodings import Encoding
    from tagsmith.engines import EngineMaker
    from tagsmith.lint.rules import Rule

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


@hookspec
def tagsmith_engines() -> Mapping[str, EngineMaker]:  # type: ignore[empty-body]
    """The engines this plug-in brings, each by the name that family files give it.

    `tagsmith.engines` says what an engine is, and shows a whole one.

    @tagsmith.hookimpl
    def tagsmith_engines():
        return {"acme-lines": lines_engine}
    """


@hookspec
def tagsmith_lint_rules() -> Iterable[Rule]:  # type: ignore[empty-body]
    """The lint rules this plug-in brings, for every family that is linted where it is installed.

    `tagsmith.lint.rules` says what a rule is. Its code is capitals and then digits, and does not
    begin with TS.

    @tagsmith.hookimpl
    def tagsmith_lint_rules():
        return [Rule("ACME001", "no-title", "A family without a title.", no_title)]
    """
