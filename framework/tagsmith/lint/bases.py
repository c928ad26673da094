"""Families that lean on a plug-in of somebody else: what one file cannot know of itself."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tagsmith.codes import Code
from tagsmith.errors import FamilyFileError
from tagsmith.hookspecs import PROJECT
from tagsmith.loading import LoadResult
from tagsmith.loading.nodes import locate
from tagsmith.plugins import Plugin

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def absent_bases(
    result: LoadResult, layer: int, plugins: Sequence[Plugin]
) -> Iterator[FamilyFileError]:
    """Families of a layer that extend one of a plug-in which need not be installed where they are:
    the project they are in, by the pyproject.toml above them, does not depend on it.
    """
    by_name = {plugin.name: plugin for plugin in plugins}
    known = {found.spec.id: found for found in result.families}
    for found in result.families:
        base = known.get(found.spec.extends or "")
        plugin = by_name.get(base.origin) if base is not None and base.layer < layer else None
        if found.layer != layer or plugin is None or plugin.distribution == PROJECT:
            continue
        package = plugin.distribution or plugin.name
        project = _project(Path(found.source))
        if project and not _depends(project, package):
            what = (
                f"'{found.spec.extends}' is brought by the plug-in '{plugin.name}' ({package}), "
                f"which may not be installed where this family is; add '{package}' to the "
                "dependencies in this package's pyproject.toml, or extend a family of your own"
            )
            yield FamilyFileError(Code.EXTENDS_ABSENT, what, locate(found.root, ["extends"]))


def _depends(project: Mapping[str, Any], package: str) -> bool:
    """Whether a project depends on a package, or is that package."""
    dependencies = project.get("dependencies")
    wanted = [project.get("name"), *(dependencies if isinstance(dependencies, list) else ())]
    names = (_NAME.match(text) for text in wanted if isinstance(text, str))
    return _normal(package) in {_normal(name[0]) for name in names if name}


def _project(file: Path) -> dict[str, Any]:
    """What the nearest pyproject.toml above a file says of its project; nothing without one."""
    for directory in file.absolute().parents:
        place = directory / "pyproject.toml"
        if place.is_file():
            try:
                project = tomllib.loads(place.read_text(encoding="utf-8")).get("project")
            except (OSError, ValueError):
                return {}
            return project if isinstance(project, dict) else {}
    return {}


def _normal(name: str) -> str:
    """The name of a distribution as the index compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()
