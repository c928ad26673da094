"""`tagsmith plugins`: what is installed, and how it loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from tagsmith.cli.common import FINE, PROBLEMS_FOUND, echo_json, echo_table, format_option

if TYPE_CHECKING:
    from tagsmith.plugins import Plugin


@click.command()
@format_option("text", "json")
def command(output_format: str) -> int:
    """List the installed plug-ins: versions, what each brings, errors, and the time to load it.

    Exit code 1 when one did not load.

    \b
    Example:
      tagsmith plugins --format json
    """
    from tagsmith.plugins import load_plugins

    plugins = load_plugins()
    rows = [_as_dict(plugin) for plugin in plugins]
    if output_format == "json":
        echo_json(rows)
    else:
        echo_table(rows)
    return PROBLEMS_FOUND if any(plugin.error for plugin in plugins) else FINE


def _as_dict(plugin: Plugin) -> dict[str, Any]:
    return {
        "name": plugin.name,
        "distribution": plugin.distribution,
        "version": plugin.version,
        "group": plugin.group,
        "value": plugin.value,
        "families": [str(source) for source in plugin.sources],
        "milliseconds": round(plugin.seconds * 1000, 1),
        "error": plugin.error,
    }
