"""`tagsmith plugins`: what is installed, and how it loaded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from tagsmith.cli.common import (
    FINE,
    PROBLEMS_FOUND,
    echo_json,
    echo_table,
    format_option,
)
from tagsmith.wording import one_line

if TYPE_CHECKING:
    from tagsmith.plugins import Plugin
    from tagsmith.registry import Registry

_LISTED = 3
"""How many families of a plug-in the table names; of more it says how many there are."""


@click.command()
@format_option("text", "json")
def command(output_format: str) -> int:
    """List the installed plug-ins: versions, what each brings, errors, and the time to load it.

    An error is why it did not load, or what is wrong with a family file that it brings. Exit code 1
    when there is one. A plug-in that takes long is named while it loads, on standard error.

    TAGSMITH_PLUGINS=a,b loads no others than these and Tagsmith's own; TAGSMITH_DISABLE_PLUGINS=a,b
    leaves these out, and 1 all but Tagsmith's own.

    \b
    Example:
      tagsmith plugins --format json
    """
    from tagsmith.plugin_choice import plugin_choice
    from tagsmith.plugins import load_plugins
    from tagsmith.registry import load_registry

    plugins = load_plugins(waiting=_tell)
    registry = load_registry(plugins=plugins)
    rows = [_as_dict(plugin, registry) for plugin in plugins]
    if output_format == "json":
        echo_json(rows)
    else:
        echo_table([_as_row(row) for row in rows])
    for line in plugin_choice().unknown(plugin.name for plugin in plugins):
        click.echo(f"tagsmith: warning: {one_line(line)}", err=True)
    return PROBLEMS_FOUND if any(row["error"] for row in rows) else FINE


def _tell(name: str) -> None:
    click.echo(
        f"tagsmith: the plug-in {name} takes long to load; if it does not end, interrupt, and set "
        f"TAGSMITH_DISABLE_PLUGINS={name}",
        err=True,
    )


def _as_dict(plugin: Plugin, registry: Registry) -> dict[str, Any]:
    problems = registry.problems_of(plugin)
    return {
        "name": plugin.name,
        "distribution": plugin.distribution,
        "version": plugin.version,
        "group": plugin.group,
        "value": plugin.value,
        "sources": [str(source) for source in plugin.sources],
        "families": [found.spec.id for found in registry.families_of(plugin)],
        "encodings": sorted(plugin.encodings),
        "engines": sorted(plugin.engines),
        "rules": [rule.code for rule in plugin.rules],
        "milliseconds": round(plugin.seconds * 1000, 1),
        "disabled": plugin.disabled,
        "error": plugin.error or "; ".join(map(str, problems)) or None,
    }


def _as_row(row: dict[str, Any]) -> dict[str, Any]:
    """A plug-in as the table has it: what is wrong comes last, as it may be long."""
    state = "fine"
    if row["disabled"]:
        state = f"disabled: {row['disabled']}"
    elif row["error"]:
        state = f"error: {row['error']}"
    return {
        "name": row["name"],
        "distribution": row["distribution"],
        "version": row["version"],
        "value": row["value"],
        "brings": "; ".join(_brought(row)),
        "milliseconds": row["milliseconds"],
        "state": state,
    }


def _brought(row: dict[str, Any]) -> Iterator[str]:
    for kind in ("families", "encodings", "engines", "rules"):
        names = row[kind]
        if len(names) > _LISTED:
            yield f"{len(names)} {kind}"
        elif names:
            yield f"{kind} {', '.join(names)}"
