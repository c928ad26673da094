"""`tagsmith lint`: check family files."""

from __future__ import annotations

from pathlib import Path

import click

from tagsmith.cli.common import FINE, PROBLEMS_FOUND, fail, format_option


@click.command()
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@format_option("text", "json")
def command(paths: tuple[str, ...], output_format: str) -> int:
    """Check family files, and directories of them; every problem is told at once.

    A file may extend the families of installed plug-ins; one that has the id of an installed family
    stands in its place. Exit code 1 when there are problems. docs/lint.md explains each code.

    \b
    Example:
      tagsmith lint families/ my_family.yaml
    """
    from tagsmith.lint.reporters import json_report, text_report
    from tagsmith.lint.run import lint
    from tagsmith.plugins import load_plugins
    from tagsmith.registry import installed_layers

    for path in paths:
        if not Path(path).exists():
            fail(f"{path}: no such file or directory; give a family file or a directory of them")
    report = lint(paths, installed_layers(load_plugins()))
    if not report.files and not report.problems:
        fail(f"{', '.join(paths)}: no family file (*.yaml, *.yml) there; give another path")
    render = {"text": text_report, "json": json_report}[output_format]
    click.echo(render(report))
    return PROBLEMS_FOUND if report.problems else FINE
