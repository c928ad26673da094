"""Plug-in packages that bring one family, complete: they install, lint and pass their own tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tagsmith.authoring.bounded_render import render_bounded
from tagsmith.authoring.draft import Draft, Render, draft_family
from tagsmith.authoring.family_yaml import commented_out, family_values, write_family
from tagsmith.authoring.golden import golden_cases, write_cases
from tagsmith.authoring.names import Names, read_name
from tagsmith.authoring.package_files import PYPROJECT, README, TESTS
from tagsmith.authoring.template_file import TemplateFile
from tagsmith.errors import RequestError, TagsmithError
from tagsmith.family import Family
from tagsmith.hookspecs import PROJECT
from tagsmith.registry import Registry
from tagsmith.spec.models import FamilySpec

_SHOWN_KEYS = ("tokens", "initial_region", "tag_style", "tool_calls", "citations", "whitespace")
_MATCH_COMMENT = (
    "Put here what the model's config.json has under 'architectures', and the model's names.",
)
_CASES_HEAD = (
    "What outputs of {title} must give. These were made of the family's file; put real outputs of",
    "the model in their place. 'tagsmith test --update' writes what comes out.",
)


@dataclass(frozen=True, slots=True)
class Package:
    """A package that is to be written."""

    names: Names
    files: Mapping[str, str]
    """The text of each file, by its path in the package."""
    family: Family


def package_like(name: str, like: str, registry: Registry) -> Package:
    """A package whose family extends another.

    Args:
        name: the new family's id; the package is named after it.
        like: the family to extend, as `Registry.get` takes it.
        registry: the families there are.

    Raises:
        RequestError: the name is none, or taken; or the family to extend is no plug-in's.
        FamilyLookupError: no single family answers to `like`.
    """
    names = _free(name, registry)
    base = registry.get(like)
    dependencies = _dependencies(base, registry)
    spec = base.spec.model_copy(
        update={"id": names.family, "title": names.title, "extends": base.id}
    )
    values: dict[str, Any] = {
        "tagsmith": spec.tagsmith,
        "id": names.family,
        "title": names.title,
        "extends": base.id,
        "match": _match(names),
    }
    said = family_values(base.spec)
    inherited = commented_out({key: said[key] for key in _SHOWN_KEYS if key in said})
    text = write_family(values, {("match",): _MATCH_COMMENT}) + "\n".join(
        [
            "",
            f"# What differs from {base.id} comes here, and nothing else: mappings merge with its",
            "# own, lists replace them, null removes. It says:",
            "#",
            *(f"# {line}".rstrip() for line in inherited),
            "",
        ]
    )
    family = Family(spec, None, base.encodings, base.engines)
    return _package(names, family, text, dependencies)


def package_from(
    name: str, template: TemplateFile, registry: Registry, *, render: Render = render_bounded
) -> tuple[Package, Draft]:
    """A package whose family is a draft, made from a chat template.

    Args:
        name: the new family's id.
        template: the chat template.
        registry: the families there are.
        render: what renders the template.

    Raises:
        RequestError: the name is none, or taken; or the template gives no draft that can be used.
        MissingDependencyError: jinja2 is not installed.
    """
    names = _free(name, registry)
    draft = draft_family(template, names.family, names.title, match=_match(names), render=render)
    try:
        family = Family(FamilySpec.model_validate(dict(draft.values)))
    except (ValueError, TagsmithError):
        reason = draft.missing[0] if draft.missing else "it is none"
        raise RequestError("from_template", f"the draft is no family yet: {reason}") from None
    return _package(names, family, draft.text, ()), draft


def write_package(package: Package, directory: Path) -> None:
    """Write the files of a package into a directory, which is made, or is empty.

    Raises:
        RequestError: something is there already.
        OSError: the files cannot be written.
    """
    if directory.exists() or directory.is_symlink():
        if not directory.is_dir():
            raise RequestError("directory", f"'{directory}' is no directory; name another")
        if any(directory.iterdir()):
            raise RequestError("directory", f"'{directory}' is not empty; name another")
    for name, text in package.files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")


def _free(name: str, registry: Registry) -> Names:
    names = read_name(name)
    if names.family in registry.ids():
        what = f"there is a family '{names.family}' already; choose another name"
        raise RequestError("name", what)
    return names


def _match(names: Names) -> dict[str, Any]:
    return {"architectures": [names.architecture], "models": [names.models]}


def _dependencies(base: Family, registry: Registry) -> tuple[str, ...]:
    """The distribution that brings a family, where it is not Tagsmith itself."""
    for plugin in registry.plugins:
        if any(found.spec.id == base.id for found in registry.families_of(plugin)):
            named = plugin.distribution
            return () if named in (None, PROJECT) else (str(named),)
    raise RequestError(
        "like",
        f"'{base.id}' is read from {base.source}, which will not be installed beside the package; "
        "name a family of a plug-in",
    )


def _package(names: Names, family: Family, text: str, dependencies: Sequence[str]) -> Package:
    head = [line.format(title=names.title) for line in _CASES_HEAD]
    cases = golden_cases(family)
    source = f"src/{names.module}"
    words = {
        "family": names.family,
        "title": names.title,
        "stem": names.stem,
        "module": names.module,
        "distribution": names.distribution,
        "dependencies": ", ".join(f'"{name}"' for name in dependencies),
    }
    files = {
        "pyproject.toml": PYPROJECT.substitute(words),
        "README.md": README.substitute(words),
        f"{source}/__init__.py": f'"""The {names.title} family for Tagsmith, as data alone."""\n',
        f"{source}/{names.stem}.yaml": text,
        f"{source}/{names.stem}.cases.yaml": write_cases(cases, head),
        f"tests/test_{names.stem}.py": TESTS.substitute(words),
    }
    return Package(names, files, family)
