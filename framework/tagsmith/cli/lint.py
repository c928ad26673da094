"""`tagsmith lint`: check family files."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from tagsmith.cli.common import (
    FINE,
    PROBLEMS_FOUND,
    exists,
    fail,
    format_option,
    read_bytes,
    require_path,
    shown_path,
)

if TYPE_CHECKING:
    from tagsmith.lint.fixing import Mending
    from tagsmith.lint.run import Report
    from tagsmith.loading.files import Source


@click.command()
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@click.option(
    "--select",
    metavar="CODES",
    multiple=True,
    help="Tell these codes alone: TS101, or what codes begin with, such as TS1; with commas.",
)
@click.option(
    "--ignore",
    metavar="CODES",
    multiple=True,
    help="Do not tell these codes.",
)
@click.option(
    "--probe",
    "probes",
    metavar="grammar|melody",
    multiple=True,
    help="Try each family out, too: with xgrammar, or with the preset of cohere-melody it names.",
)
@click.option(
    "--tokenizer",
    metavar="PATH",
    help="Hold the families against a model's tokenizer.json, or a directory with one.",
)
@click.option("--fix", is_flag=True, help="Mend in the files what can be mended for certain.")
@click.option("--diff", is_flag=True, help="Show what --fix would change, and write nothing.")
@format_option("text", "json", "github", "sarif")
def command(
    paths: tuple[str, ...],
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    probes: tuple[str, ...],
    tokenizer: str | None,
    fix: bool,
    diff: bool,
    output_format: str,
) -> int:
    """Check family files, and directories of them; every problem is told at once.

    PATH is a file, a directory of files, or - for standard input.

    A file may extend the families of installed plug-ins; one that has the id of an installed family
    stands in its place. Exit code 1 when there are problems. docs/lint.md explains each code; a
    comment '# tagsmith: ignore[CODE]' on the line keeps one silent.

    \b
    Example:
      tagsmith lint families/ my_family.yaml
    """
    for path in paths:
        if path != "-":
            require_path(path)
    if (fix or diff) and "-" in paths:
        fail("standard input cannot be mended; give --fix or --diff the paths of files")
    if tokenizer is not None and not exists(tokenizer):
        what = "no such file or directory; give a tokenizer.json or a directory that has one"
        fail(f"{shown_path(tokenizer, '--tokenizer')}: {what}")
    check = _linter(select=select, ignore=ignore, probes=probes, tokenizer=tokenizer)
    sources = [_source(path) for path in paths]
    report = check(sources)
    if not report.files:
        nothing = f"{shown_path(paths[0])}: no family file can be read; give another path"
        fail(str(report.problems[0]) if report.problems else nothing)
    if fix or diff:
        from tagsmith.lint.fixing import mend

        mending = mend(report, check)
        if diff:
            return _show(mending, bool(report.problems))
        for file in mending.files:
            file.write()
        _tell(mending, "mended")
        report = check(sources)
    _print(report, output_format)
    return PROBLEMS_FOUND if report.problems else FINE


def _source(path: str) -> Source:
    if path != "-":
        return path
    from tagsmith.lint.fixing.files import HeldFile

    return HeldFile(path, read_bytes(path))


def _linter(**options: Any) -> Callable[[Sequence[Source]], Report]:
    """What lints files beside the installed families, with the rules of the installed plug-ins."""
    from tagsmith.lint.builtin import RULES
    from tagsmith.lint.run import lint
    from tagsmith.plugins import load_plugins, rules_of
    from tagsmith.registry import installed_layers

    plugins = load_plugins()
    rules = (*RULES, *rules_of(plugins))
    return partial(lint, layers=installed_layers(plugins), rules=rules, plugins=plugins, **options)


def _show(mending: Mending, found: bool) -> int:
    for file in mending.files:
        click.echo(file.diff(), nl=False)
    _tell(mending, "can be mended")
    return PROBLEMS_FOUND if found else FINE


def _tell(mending: Mending, what: str) -> None:
    """Say on standard error how many problems were mended, or can be."""
    from tagsmith.lint.reporters.counting import counted

    left = len(mending.report.problems)
    click.echo(f"{counted(mending.mended, 'problem')} {what}, {left} left", err=True)


def _print(report: Report, output_format: str) -> None:
    from tagsmith.lint import reporters

    if output_format == "text":
        paint = reporters.painted if _is_coloured() else reporters.unpainted
        click.echo(reporters.text_report(report, paint), color=True)
        return
    render = {
        "json": reporters.json_report,
        "github": reporters.github_report,
        "sarif": reporters.sarif_report,
    }
    click.echo(render[output_format](report))


def _is_coloured() -> bool:
    """Whether the output is a terminal that wants colours."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return _is_terminal() and not plain


def _is_terminal() -> bool:
    return sys.stdout.isatty()
