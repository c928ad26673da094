"""`tagsmith plugins`: what is installed, and how it loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from tagsmith.cli.common import (
    FINE,
    PROBLEMS_FOUND,
    echo_json,
    echo_table,
    format_option,
    load_registry,
)

if TYPE_CHECKING:
    from tagsmith.errors import FamilyFileError
    from tagsmith.plugins import Plugin


@click.command()
@format_option("text", "json")
def command(output_format: str) -> int:
    """List the installed plug-ins: versions, what each brings, errors, and the time to load it.

    An error is why it did not load, or what is wrong with a family file that it brings. Exit code 1
    when there is one.

    \b
    Example:
      tagsmith plugins --format json
    """
    registry = load_registry(())
    rows = [_as_dict(plugin, registry.problems_of(plugin)) for plugin in registry.plugins]
    if output_format == "json":
        echo_json(rows)
    else:
        echo_table(rows)
    return PROBLEMS_FOUND if any(row["error"] for row in rows) else FINE


def _as_dict(plugin: Plugin, problems: tuple[FamilyFileError, ...]) -> dict[str, Any]:
    return {
        "name": plugin.name,
        "distribution": plugin.distribution,
        "version": plugin.version,
        "group": plugin.group,
        "value": plugin.value,
        "families": [str(source) for source in plugin.sources],
        "milliseconds": round(plugin.seconds * 1000, 1),
        "error": plugin.error or "; ".join(map(str, problems)) or None,
    }
