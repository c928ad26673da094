"""`tagsmith convert`: families in other formats, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from tagsmith.cli.common import (
    FINE,
    PROBLEMS_FOUND,
    echo_json,
    families_option,
    format_option,
    pick_family,
    read_json,
)
from tagsmith.wording import one_line

if TYPE_CHECKING:
    from tagsmith.convert import Loss
    from tagsmith.family import Family

_FAMILY, _TEMPLATE = "family", "response_template"


@click.command()
@click.argument("source")
@click.option(
    "--from",
    "source_format",
    type=click.Choice([_FAMILY, _TEMPLATE]),
    default=_FAMILY,
    show_default=True,
    help="What SOURCE is.",
)
@click.option(
    "--to",
    "target_format",
    type=click.Choice([_TEMPLATE, _FAMILY]),
    required=True,
    help="What to print.",
)
@click.option(
    "--reader",
    type=click.Choice(["transformers", "serving"]),
    default="transformers",
    show_default=True,
    help="Who is to read the template; serving: vLLM and SGLang, whose readers are narrower.",
)
@click.option("--model", metavar="NAME", help="The model's name, where several families may be.")
@families_option
@format_option("text", "json")
def command(
    source: str,
    source_format: str,
    target_format: str,
    reader: str,
    model: str | None,
    families: tuple[str, ...],
    output_format: str,
) -> int:
    """Convert SOURCE: a family, by id, architecture or model, or the file of a response template.

    A response template is what transformers keeps in a tokenizer_config.json, which may be given in
    its place; - is standard input. What the other format cannot say is told on standard error, with
    the key that it stands under. Exit code 1 when the family that comes out cannot be used yet.

    \b
    Examples:
      tagsmith convert qwen3 --to response_template
      tagsmith convert qwen3 --to response_template --reader serving
      tagsmith convert template.json --from response_template --to family
    """
    if source_format == target_format:
        raise click.UsageError(f"--from and --to are both {source_format}; give two formats")
    if target_format == _TEMPLATE:
        return _write(pick_family(source, families, model), reader, output_format)
    return _read(source, output_format)


def _write(family: Family, reader: str, output_format: str) -> int:
    from tagsmith.convert import to_response_template

    written = to_response_template(family.spec, reader=reader)
    if output_format == "json":
        echo_json({"response_template": written.template, "losses": _listed(written.losses)})
    else:
        echo_json(written.template)
        _tell(written.losses)
    return FINE


def _read(source: str, output_format: str) -> int:
    from tagsmith.authoring.checking import check_text
    from tagsmith.authoring.family_yaml import write_family
    from tagsmith.authoring.names import UNNAMED
    from tagsmith.convert import from_response_template

    read = from_response_template(read_json(source), UNNAMED.family, UNNAMED.title)
    head = [f"Lost: {loss}" for loss in read.losses]
    text = write_family(read.values, {}, ["Made from a response template.", *head])
    problems = check_text(text, UNNAMED.family).problems
    if output_format == "json":
        found = {"family": read.values, "losses": _listed(read.losses), "problems": problems}
        echo_json(found)
    else:
        click.echo(text, nl=False)
        _tell(read.losses)
        for problem in problems:
            click.echo(f"tagsmith: to mend: {one_line(problem)}", err=True)
    return PROBLEMS_FOUND if problems else FINE


def _listed(losses: Sequence[Loss]) -> list[dict[str, str]]:
    return [{"key": loss.key, "what": loss.what} for loss in losses]


def _tell(losses: Sequence[Loss]) -> None:
    for loss in losses:
        click.echo(f"tagsmith: lost: {one_line(str(loss))}", err=True)
