"""`tagsmith render`: the prompt that a request becomes."""

from __future__ import annotations

import click

from tagsmith.cli.common import (
    echo_json,
    families_option,
    family_option,
    format_option,
    pick_family,
    read_json,
    read_special_tokens,
    read_text,
    special_tokens_option,
)
from tagsmith.render.options import MarkerPolicy, Switch
from tagsmith.wire.options import OffsetUnit


@click.command()
@click.argument("request", metavar="FILE")
@family_option
@families_option
@click.option(
    "--chat-template",
    metavar="FILE",
    help="The model's chat template, in place of the family's own renderer.",
)
@special_tokens_option
@click.option(
    "--reasoning",
    type=click.Choice([switch.value for switch in Switch]),
    help="Whether the model is to think; else the request says it.",
)
@click.option(
    "--markers",
    type=click.Choice([policy.value for policy in MarkerPolicy]),
    default=MarkerPolicy.ESCAPE.value,
    show_default=True,
    help="What becomes of markers in what a user, a tool or a document says.",
)
@click.option(
    "--units",
    type=click.Choice([unit.value for unit in OffsetUnit]),
    default=OffsetUnit.CODE_POINTS.value,
    show_default=True,
    help="What the offsets of earlier citations count.",
)
@format_option("text", "json")
def command(
    request: str,
    family: str,
    model: str | None,
    families: tuple[str, ...],
    chat_template: str | None,
    special_tokens: tuple[str, ...],
    reasoning: str | None,
    markers: str,
    units: str,
    output_format: str,
) -> None:
    """Print the prompt for a chat request: it ends where the model begins to write.

    FILE holds the body of a Chat Completions or a Cohere v2 request, or a list of messages; - is
    standard input. The text is the prompt to the letter: no line end is added.

    \b
    Example:
      tagsmith render --family Cohere2ForCausalLM request.json
    """
    from tagsmith.render import read_body

    found = pick_family(family, families, model)
    body = read_json(request)
    options = read_body({"messages": body} if isinstance(body, list) else body)
    if reasoning is not None:
        options["reasoning"] = reasoning
    template = None if chat_template is None else read_text(chat_template, "--chat-template")
    tokens = read_special_tokens(special_tokens)
    prompt = found.render(
        **options, chat_template=template, special_tokens=tokens, markers=markers, units=units
    )
    if output_format == "json":
        echo_json({"family": found.id, "prompt": prompt})
    else:
        click.echo(prompt, nl=False, color=True)  # Else terminal codes in it are dropped.
