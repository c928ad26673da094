"""`tagsmith explain`: what every character of an output was read as."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import click

from tagsmith.cli.common import (
    echo_json,
    families_option,
    family_option,
    format_option,
    pick_family,
    read_text,
)
from tagsmith.cli.request_options import read_request_options, request_options


@click.command()
@click.argument("output", metavar="FILE")
@family_option
@families_option
@request_options
@format_option("text", "json")
def command(
    output: str,
    family: str,
    model: str | None,
    families: tuple[str, ...],
    output_format: str,
    **request: Any,
) -> None:
    """Print the spans of a model's output: where each character went. The spans tile the output.

    \b
    Example:
      tagsmith explain --family Cohere2ForCausalLM output.txt
    """
    found = pick_family(family, families, model)
    options = read_request_options(found, **request)
    spans = found.explain(read_text(output), **options)
    if output_format == "json":
        echo_json([asdict(span) for span in spans])
        return
    for span in spans:
        shown = json.dumps(span.text, ensure_ascii=False)
        click.echo(f"{span.start:>7} {span.end:>7}  {span.kind.value:<16} {shown}")
