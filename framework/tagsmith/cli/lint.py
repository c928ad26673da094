"""`tagsmith lint`: check family files."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import IO, Any

import click

from tagsmith.cli.common import (
    FINE,
    PROBLEMS_FOUND,
    fail,
    format_option,
    read_bytes,
    require_path,
)


class StandardInput(Traversable):
    """Standard input as a family file; a path that it extends is relative to where we are."""

    name = "-"

    def __str__(self) -> str:
        return "-"

    def is_dir(self) -> bool:
        """No."""
        return False

    def is_file(self) -> bool:
        """Yes."""
        return True

    def iterdir(self) -> Iterator[Traversable]:
        """Nothing stands below it."""
        return iter(())

    def joinpath(self, *descendants: str | os.PathLike[str]) -> Traversable:
        """What stands beside it."""
        return Path(*descendants)

    def read_bytes(self) -> bytes:
        """Its bytes; they can be read once."""
        return read_bytes("-")

    def read_text(self, encoding: str | None = None) -> str:
        """Its text."""
        return self.read_bytes().decode(encoding or "utf-8")

    def open(self, mode: str = "r", *_: Any, **__: Any) -> IO[Any]:
        """Its bytes, as a stream."""
        return io.BytesIO(self.read_bytes())


@click.command()
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@format_option("text", "json")
def command(paths: tuple[str, ...], output_format: str) -> int:
    """Check family files, and directories of them; every problem is told at once.

    PATH is a file, a directory of files, or - for standard input.

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
        if path != "-":
            require_path(path)
    sources = [StandardInput() if path == "-" else path for path in paths]
    report = lint(sources, installed_layers(load_plugins()))
    if not report.files:
        fail(str(report.problems[0]))
    render = {"text": text_report, "json": json_report}[output_format]
    click.echo(render(report))
    return PROBLEMS_FOUND if report.problems else FINE
