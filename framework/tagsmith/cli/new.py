"""`tagsmith new`: a plug-in package for a family, or a draft of one from a chat template."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tagsmith.cli.common import FINE, PROBLEMS_FOUND, exists, fail, read_text
from tagsmith.wording import one_line, shortened

if TYPE_CHECKING:
    from tagsmith.authoring import Draft, Package, TemplateFile


@click.command()
@click.argument("name", required=False)
@click.option(
    "--like", metavar="FAMILY", help="Extend this family: an id, an architecture or a model."
)
@click.option(
    "--from-template",
    metavar="PATH",
    help="Draft the family from a chat template: Jinja, a tokenizer_config.json, or a directory.",
)
@click.option("--directory", metavar="DIR", help="Where the package goes, else tagsmith-NAME.")
@click.option("--output", metavar="FILE", help="Where the draft goes, else standard output.")
def command(
    name: str | None,
    like: str | None,
    from_template: str | None,
    directory: str | None,
    output: str | None,
) -> int:
    """Write a plug-in package for a new family called NAME.

    It holds the family's file, golden cases and tests, and installs, lints and passes as it stands.
    Without a NAME, only the draft of a chat template is written. Exit code 1 when something is
    missing in a draft: what, stands in it and on standard error.

    \b
    Examples:
      tagsmith new my-family --like qwen3-coder
      tagsmith new --from-template tokenizer_config.json --output my_family.yaml
    """
    _check_usage(name, like, from_template, directory, output)
    if name is None:
        return _draft(str(from_template), output)
    from tagsmith.authoring import package_from, package_like
    from tagsmith.registry import load_registry

    registry = load_registry()
    if from_template is None:
        _write(package_like(name, str(like), registry), directory)
        return FINE
    package, draft = package_from(name, _template(from_template), registry)
    _write(package, directory)
    return _told(draft)


def _check_usage(
    name: str | None,
    like: str | None,
    from_template: str | None,
    directory: str | None,
    output: str | None,
) -> None:
    if (like is None) == (from_template is None):
        raise click.UsageError("give one of --like FAMILY and --from-template PATH")
    if name is None and like is not None:
        raise click.UsageError("give the new family a NAME: tagsmith new NAME --like FAMILY")
    if name is None and directory is not None:
        raise click.UsageError("--directory is for a package; give it a NAME, or use --output")
    if name is not None and output is not None:
        raise click.UsageError("--output is for a draft alone; leave out NAME, or use --directory")


def _template(path: str) -> TemplateFile:
    from tagsmith.authoring import parse_template, read_template

    if path == "-":
        return parse_template(read_text(path, "--from-template"), "standard input")
    return read_template(Path(path))


def _draft(path: str, output: str | None) -> int:
    from tagsmith.authoring import draft_family
    from tagsmith.authoring.names import UNNAMED

    if output is not None and exists(output):
        fail(f"--output {shortened(output)}: is there already; name another file")
    draft = draft_family(_template(path), UNNAMED.family, UNNAMED.title)
    if output is None:
        click.echo(draft.text, nl=False)
    else:
        Path(output).write_text(draft.text, encoding="utf-8", newline="\n")
    return _told(draft)


def _told(draft: Draft) -> int:
    for what in draft.missing:
        click.echo(f"tagsmith: missing: {one_line(what)}", err=True)
    return PROBLEMS_FOUND if draft.missing else FINE


def _write(package: Package, directory: str | None) -> None:
    from tagsmith.authoring import write_package

    target = Path(package.names.distribution if directory is None else directory)
    write_package(package, target)
    for file in package.files:
        click.echo(target / file)
