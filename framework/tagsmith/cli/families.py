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
from tagsmith.wording import one_line

if TYPE_CHECKING:
    from tagsmith.loading import FoundFamily


@click.command()
@families_option
@format_option("text", "json")
def command(families: tuple[str, ...], output_format: str) -> None:
    """List the families that can be used, where each is from, and what each serves.

    Problems with family files and plug-ins are told on standard error.

    \b
    Example:
      tagsmith families --families my_families/
    """
    registry = load_registry(families)
    rows = [_as_dict(found) for found in registry.families()]
    if output_format == "json":
        echo_json(rows)
    else:
        echo_table(rows)
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
