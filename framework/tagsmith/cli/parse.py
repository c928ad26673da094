"""`tagsmith parse`: read a model's output."""

from __future__ import annotations

import json
from collections.abc import Iterator
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
)
from tagsmith.cli.request_options import read_request_options, request_options
from tagsmith.wire.finish import FINISH_REASONS
from tagsmith.wire.options import OffsetUnit

if TYPE_CHECKING:
    from tagsmith.events import Event
    from tagsmith.message import Message


@click.command()
@click.argument("output", metavar="FILE")
@family_option
@families_option
@request_options
@format_option("text", "json", "openai", "cohere")
@click.option(
    "--stream",
    metavar="N",
    type=click.IntRange(min=1),
    help="Feed the output N characters at a time and print each event as it comes.",
)
@click.option(
    "--finish-reason",
    type=click.Choice(FINISH_REASONS),
    default="stop",
    show_default=True,
    help="Why the model stopped.",
)
@click.option(
    "--engine",
    metavar="NAME",
    help="What reads the output: native, melody, or a plug-in's; the family's own by default.",
)
@click.option(
    "--units",
    type=click.Choice([unit.value for unit in OffsetUnit]),
    help="What the offsets of citations count, in the formats openai and cohere.  "
    "[default: code-points]",
)
def command(
    output: str,
    family: str,
    model: str | None,
    families: tuple[str, ...],
    output_format: str,
    stream: int | None,
    finish_reason: str,
    engine: str | None,
    units: str | None,
    **request: Any,
) -> None:
    """Print the reasoning, content, tool calls and citations in a model's output.

    FILE holds the output as the model wrote it, special tokens included; - is standard input.
    With --stream and a format for machines, each line is one event and the last the message.

    \b
    Example:
      tagsmith parse --family Cohere2ForCausalLM --stream 4 output.txt
    """
    if units is not None and output_format not in ("openai", "cohere"):
        fail("--units: the format counts code points; give --format openai or --format cohere")
    found = pick_family(family, families, model)
    parser = found.parser(engine=engine, **read_request_options(found, **request))
    text = read_text(output)
    for piece in _pieces(text, stream):
        _print_events(parser.feed(piece), stream, output_format)
    _print_events(parser.finish(finish_reason), stream, output_format)
    message = parser.message
    if output_format == "text":
        lines = ([""] if stream else []) + list(_lines(message))
        click.echo("\n".join(lines), color=True)  # Else terminal codes of the model are dropped.
        return
    shape = _shape(message, output_format, units or OffsetUnit.CODE_POINTS)
    if stream:
        click.echo(_shown(shape))
    else:
        echo_json(shape)


def _pieces(text: str, size: int | None) -> Iterator[str]:
    if size is None:
        yield text
        return
    for start in range(0, len(text), size):
        yield text[start : start + size]


def _print_events(events: list[Event], stream: int | None, output_format: str) -> None:
    from tagsmith.events import event_to_dict

    for event in events if stream else ():
        fields = event_to_dict(event)
        if output_format == "text":
            kind = fields.pop("type")
            shown = "  ".join(_shown(value) for value in fields.values() if value != ())
            click.echo(f"{kind:<16} {shown}")
        else:
            click.echo(_shown(fields))


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _shape(message: Message, output_format: str, units: str) -> dict[str, Any]:
    if output_format == "json":
        return message.to_dict()
    shape = message.to_openai if output_format == "openai" else message.to_cohere
    return shape(units=units)


def _lines(message: Message) -> Iterator[str]:
    """The message for people: a heading for each part there is."""
    if message.reasoning is not None:
        yield from ("reasoning", _indented(message.reasoning))
    if message.content is not None:
        yield from ("content", _indented(message.content))
    if message.tool_calls:
        yield "tool calls"
    for call in message.tool_calls:
        note = "" if call.complete else "  (incomplete)"
        yield _indented(f"{call.id}  {call.name}  {call.arguments}{note}")
    if message.citations:
        yield "citations"
    for citation in message.citations:
        places = ", ".join(f"{bucket}:[{index}]" for bucket, index in citation.positions)
        names = ", ".join(
            str(source.get("id") or source.get("type")) for source in citation.sources
        )
        where = f"{citation.target} {citation.start}-{citation.end}"
        yield _indented(f"{where}  {_shown(citation.text)}  {places}  {names}".rstrip())
    if message.diagnostics:
        yield "diagnostics"
    for diagnostic in message.diagnostics:
        yield _indented(f"{diagnostic.code} at {diagnostic.offset}: {diagnostic.message}")
    yield f"finish reason: {message.finish_reason}"


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.split("\n"))
