"""`tagsmith families`: which families can be used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from tagsmith.cli.common import (
    echo_json,
    echo_table,
    families_option,
    format_option,
    load_registry,
)
from tagsmith.wording import one_line, shortened

if TYPE_CHECKING:
    from tagsmith.loading import FoundFamily

_LONGEST_TITLE = 40
"""How many characters of a title the table shows."""


@click.command()
@families_option
@format_option("text", "json")
def command(families: tuple[str, ...], output_format: str) -> None:
    """List the families that can be used, what each serves, and where each is from.

    Of several architectures the table names the first; --format json has all, the models, and the
    files. Problems with family files and plug-ins are told on standard error.

    \b
    Example:
      tagsmith families --families my_families/
    """
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
