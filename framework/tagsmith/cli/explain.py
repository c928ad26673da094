"""`tagsmith explain`: what every character of an output was read as."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tagsmith.cli.common import (
    echo_json,
    fail,
    families_option,
    family_option,
    format_option,
    pick_family,
    read_text,
    shown_path,
)
from tagsmith.cli.request_options import read_request_options, request_options
from tagsmith.wire.finish import FINISH_REASONS

if TYPE_CHECKING:
    from tagsmith.engine.spans import Span
    from tagsmith.family import Family


class Color(StrEnum):
    """When the output is coloured."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


@click.command()
@click.argument("output", metavar="FILE")
@family_option
@families_option
@request_options
@format_option("text", "json")
@click.option(
    "--color",
    type=click.Choice([when.value for when in Color]),
    default=Color.AUTO.value,
    show_default=True,
    help="Show the output in colour in place of a table; auto: in a terminal, without NO_COLOR.",
)
@click.option(
    "--html",
    metavar="FILE",
    help="Write a page for people there in place of printing; - is standard output.",
)
@click.option(
    "--delta",
    metavar="N",
    type=click.IntRange(min=1),
    help="Characters of a delta in the page; 4 by default.",
)
@click.option(
    "--finish-reason",
    type=click.Choice(FINISH_REASONS),
    help="Why the model stopped, for the page's message; stop by default.",
)
def command(
    output: str,
    family: str,
    model: str | None,
    families: tuple[str, ...],
    output_format: str,
    color: str,
    html: str | None,
    delta: int | None,
    finish_reason: str | None,
    **request: Any,
) -> None:
    """Show the spans of a model's output: where each character went. The spans tile the output.

    With --html, write one self-contained page: the coloured text, the events delta by delta, the
    message, the diagnostics and the structural tag.

    \b
    Examples:
      tagsmith explain --family Cohere2ForCausalLM output.txt
      tagsmith explain --family Cohere2ForCausalLM output.txt --html report.html
    """
    if delta is not None and html is None:
        fail("--delta: says how the page cuts the output; give --html FILE too")
    if finish_reason is not None and html is None:
        fail(
            "--finish-reason: no span depends on it, the page's message does; give --html FILE too"
        )
    found = pick_family(family, families, model)
    options = read_request_options(found, **request)
    text = read_text(output)
    if html is not None:
        name = shown_path(Path(output).name)
        said = _given(delta=delta, finish_reason=finish_reason)
        _write_page(found, text, html, name=name, **said, **options)
        return
    spans = found.explain(text, **options)
    if output_format == "json":
        echo_json([asdict(span) for span in spans])
    elif _is_coloured(Color(color)):
        from tagsmith.report import render_terminal

        diagnostics = found.parse(text, engine="native", **options).diagnostics
        click.echo(render_terminal(spans, diagnostics), color=True)
    else:
        _print_table(spans)


def _print_table(spans: list[Span]) -> None:
    from tagsmith.report.characters import escape_signs

    for span in spans:
        shown = escape_signs(json.dumps(span.text, ensure_ascii=False))
        click.echo(f"{span.start:>7} {span.end:>7}  {span.kind.value:<16} {shown}")


def _write_page(family: Family, text: str, path: str, **options: Any) -> None:
    from tagsmith.report import build_report, render_page

    page = render_page(build_report(family, text, **options)).encode("utf-8")
    if path == "-":
        click.echo(page, nl=False)
    else:
        Path(path).write_bytes(page)


def _given(**options: Any) -> dict[str, Any]:
    """The options that have a value; the others keep the default of whom they go to."""
    return {name: value for name, value in options.items() if value is not None}


def _is_coloured(when: Color) -> bool:
    if when is not Color.AUTO:
        return when is Color.ALWAYS
    is_plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return sys.stdout.isatty() and not is_plain
