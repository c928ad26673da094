"""`tagsmith structural-tag`: the grammar side of a family, for one request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from tagsmith.cli.common import (
    FINE,
    PROBLEMS_FOUND,
    echo_json,
    fail,
    families_option,
    family_option,
    format_option,
    pick_family,
    read_json,
    read_text,
)
from tagsmith.cli.request_options import read_choice, read_tools_option
from tagsmith.request import ReasoningMode, Strictness, ToolChoiceMode, Unenforceable

if TYPE_CHECKING:
    from tagsmith.grammar import CheckResult

_YES, _NO = "yes", "no"
_SHOWN = 24


@click.command()
@family_option
@families_option
@click.option("--tools", metavar="FILE", help="The request's tools, a JSON list.")
@click.option(
    "--tool-choice",
    metavar="auto|none|required|NAME",
    default=ToolChoiceMode.AUTO.value,
    show_default=True,
    help="Whether a tool must be called, or which.",
)
@click.option("--response-format", metavar="FILE", help="The request's response_format, as JSON.")
@click.option(
    "--parallel-tool-calls",
    type=click.Choice([_YES, _NO]),
    default=_YES,
    show_default=True,
    help="Whether one turn may hold several calls.",
)
@click.option(
    "--strict",
    type=click.Choice([which.value for which in Strictness]),
    default=Strictness.PER_TOOL.value,
    show_default=True,
    help="Whether tools that say strict: false are held to their schemas too.",
)
@click.option(
    "--reasoning",
    type=click.Choice([mode.value for mode in ReasoningMode]),
    default=ReasoningMode.GATED.value,
    show_default=True,
    help="Where the grammar meets reasoning.",
)
@click.option(
    "--unenforceable",
    type=click.Choice([policy.value for policy in Unenforceable]),
    default=Unenforceable.ERROR.value,
    show_default=True,
    help="What to do when a schema asks what no grammar holds.",
)
@click.option(
    "--check",
    "checked",
    metavar="FILE",
    multiple=True,
    help=(
        "Instead of printing the tag, try a whole output against it, to the letter: a line end at "
        "the file's end counts. May be given again."
    ),
)
@format_option("text", "json")
def command(
    family: str,
    model: str | None,
    families: tuple[str, ...],
    tools: str | None,
    tool_choice: str,
    response_format: str | None,
    parallel_tool_calls: str,
    strict: str,
    reasoning: str,
    unenforceable: str,
    checked: tuple[str, ...],
    output_format: str,
) -> int:
    """Print the structural tag that holds a model to a family's format and to a request.

    With --check, compile it in xgrammar and say of each file whether it is an output that the tag
    accepts; exit code 1 when one is refused.

    \b
    Example:
      tagsmith structural-tag --family Cohere2ForCausalLM --tools tools.json
    """
    from tagsmith.grammar import build_structural_tag, check_structural_tag, list_limitations
    from tagsmith.request import read_request

    found = pick_family(family, families, model)
    known = read_tools_option(tools)
    request = read_request(
        tools=known,
        tool_choice=read_choice(tool_choice, known),
        response_format=_read_format(response_format),
        parallel_tool_calls=parallel_tool_calls == _YES,
        strict=strict,
        reasoning=reasoning,
        unenforceable=unenforceable,
    )
    for line in list_limitations(found.spec, request):
        if request.unenforceable is Unenforceable.ERROR:
            fail(f"{line}; change the schema, or say --unenforceable report to go without")
        click.echo(f"not enforced: {line}", err=True)
    tag = build_structural_tag(found.spec, request)
    if not checked:
        echo_json(tag)
        return FINE
    texts = [read_text(path, "--check") for path in checked]
    results = check_structural_tag(tag, texts, markers=found.markers)
    if output_format == "json":
        echo_json([_as_dict(*row) for row in zip(checked, results, strict=True)])
    else:
        for path, text, result in zip(checked, texts, results, strict=True):
            click.echo(f"{path}: {_verdict(text, result)}")
    return FINE if all(result.accepted for result in results) else PROBLEMS_FOUND


def _read_format(path: str | None) -> Any:
    return None if path is None else read_json(path, "--response-format")


def _as_dict(path: str, result: CheckResult) -> dict[str, Any]:
    return {"file": path, "accepted": result.accepted, "stopped_at": result.stopped_at}


def _verdict(text: str, result: CheckResult) -> str:
    if result.accepted or result.stopped_at is None:
        return "accepted"
    offset = result.stopped_at
    before = text[max(0, offset - _SHOWN) : offset]
    if offset == len(text):
        return f"refused: it ends too early, at character {offset}, after {before!r}"
    after = text[offset : offset + _SHOWN]
    return f"refused at character {offset}: after {before!r} comes {after!r}"
