"""`tagsmith schema`: the JSON Schema of a file format."""

from __future__ import annotations

import click


@click.command()
@click.argument("name", type=click.Choice(["family", "cases"]))
def command(name: str) -> None:
    """Print the JSON Schema (draft 2020-12) of a file format, for editors and checkers.

    \b
    Example:
      tagsmith schema family > family.schema.json
    """
    from tagsmith.spec.schema import family_schema_text
    from tagsmith.testing import case_file_schema_text

    schemas = {"family": family_schema_text, "cases": case_file_schema_text}
    click.echo(schemas[name](), nl=False)
