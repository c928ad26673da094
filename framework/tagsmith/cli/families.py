"""`tagsmith families`: which families can be used, and what a server must know of one."""

from __future__ import annotations

from dataclasses import asdict
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import click

from tagsmith.cli.common import (
    echo_json,
    echo_table,
    fail,
    families_option,
    format_option,
    load_registry,
    pick_family,
)
from tagsmith.wording import one_line, shortened

if TYPE_CHECKING:
    from tagsmith.loading import FoundFamily

_LONGEST_TITLE = 40
"""How many characters of a title the table shows."""


@click.group(invoke_without_command=True)
@families_option
@format_option("text", "json")
@click.pass_context
def command(ctx: click.Context, families: tuple[str, ...], output_format: str) -> None:
    """List the families that can be used, what each serves, and where each is from.

    Of several architectures the table names the first; --format json has all, the models, and the
    files. Problems with family files and plug-ins are told on standard error.

    \b
    Examples:
      tagsmith families --families my_families/
      tagsmith families show Cohere2ForCausalLM
    """
    if ctx.invoked_subcommand is None:
        _list(families, output_format)
    elif families:
        fail("give --families after show: tagsmith families show FAMILY --families PATH")


@command.command()
@click.argument("family", metavar="FAMILY")
@click.option(
    "--model",
    metavar="NAME",
    help="The model's name, where several families serve one architecture.",
)
@families_option
@format_option("text", "json")
def show(family: str, model: str | None, families: tuple[str, ...], output_format: str) -> None:
    """Show what any server must know about a family, derived from its file.

    FAMILY is an id, an architecture, or a model name.

    \b
    Example:
      tagsmith families show Cohere2ForCausalLM --format json
    """
    found = pick_family(family, families, model)
    facts = {"family": found.id, **asdict(found.serving)}
    if output_format == "json":
        echo_json(facts)
        return
    width = max(map(len, facts))
    for name, value in facts.items():
        lines = value if isinstance(value, tuple) else (value,)
        for label, line in zip_longest([name], lines or (None,), fillvalue=""):
            click.echo(f"{label:{width}}  {one_line(str(line or '-'))}")


def _list(families: tuple[str, ...], output_format: str) -> None:
    registry = load_registry(families)
    rows = [_as_dict(found) for found in registry.families()]
    if output_format == "json":
        echo_json(rows)
    else:
        echo_table([_as_row(row) for row in rows])
    for problem in registry.problems:
        click.echo(one_line(str(problem)), err=True)
    for plugin in registry.plugins:
        if plugin.error:
            click.echo(f"plug-in {plugin.name} did not load: {plugin.error}", err=True)


def _as_dict(found: FoundFamily) -> dict[str, Any]:
    return {
        "id": found.spec.id,
        "title": found.spec.title,
        "architectures": list(found.spec.match.architectures),
        "models": list(found.spec.match.models),
        "source": found.origin,
        "file": found.source,
    }


def _as_row(row: dict[str, Any]) -> dict[str, Any]:
    """A family as the table has it: what fits in a line."""
    first, *others = row["architectures"] or [""]
    return {
        "id": row["id"],
        "title": shortened(row["title"] or "", _LONGEST_TITLE),
        "architectures": first + (f" and {len(others)} more" if others else ""),
        "source": row["source"],
    }
