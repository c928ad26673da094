"""`tagsmith bench`: what reading a family's output costs, and its structural tags."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from tagsmith.cli.common import (
    echo_json,
    echo_table,
    fail,
    families_option,
    format_option,
    load_registry,
    pick_family,
)

if TYPE_CHECKING:
    from tagsmith.bench.batch import BatchReport
    from tagsmith.bench.contenders import VllmNames
    from tagsmith.bench.measure import Figure, Memory
    from tagsmith.bench.report import Report
    from tagsmith.bench.tags import TagFigures

_KILOBYTE = 1e3
_MEGABYTE = 1e6
_WORKERS = 2


@click.command()
@click.option("--family", metavar="NAME", help="A family's id, an architecture, or a model name.")
@click.option("--model", metavar="NAME", help="The model's name, where several families serve one.")
@families_option
@click.option(
    "--batch",
    "batch_size",
    metavar="MB",
    type=click.IntRange(min=1),
    help="Measure tagsmith batch on a file of this size, of outputs of all families.",
)
@click.option(
    "--workers", metavar="N", type=click.IntRange(1, 512), help="Its processes.  [default: 2]"
)
@click.option(
    "--vllm",
    "vllm_parsers",
    metavar="REASONING,TOOLS",
    help="Measure vLLM's parsers of these names, too; REASONING may be empty.",
)
@click.option(
    "--rounds", type=click.IntRange(min=1), help="How often each figure is taken.  [default: 30]"
)
@click.option("--quick", is_flag=True, help="One round of little: to see that it runs.")
@format_option("text", "json")
def command(
    family: str | None,
    model: str | None,
    families: tuple[str, ...],
    batch_size: int | None,
    workers: int | None,
    vllm_parsers: str | None,
    rounds: int | None,
    quick: bool,
    output_format: str,
) -> None:
    """Measure what reading a family's output and making its structural tags costs.

    All is measured in one run, in turns, beside a floor and beside other parsers. With --batch the
    run measures tagsmith batch in their place. docs/performance.md says what the figures mean.

    \b
    Example:
      tagsmith bench --family Cohere2ForCausalLM
    """
    from tagsmith.bench.report import QUICK, Profile, run

    if batch_size is not None:
        _measure_batch(family, model, families, batch_size, workers or _WORKERS, output_format)
        return
    if family is None:
        fail("--family: give a family, or --batch for all of them")
    found = pick_family(family, families, model)
    profile = QUICK if quick else Profile()
    if rounds is not None:
        profile = replace(profile, rounds=rounds)
    report = run(found, profile, _vllm_names(vllm_parsers))
    if output_format == "json":
        echo_json(report.to_dict())
    else:
        _echo_text(report)


def _measure_batch(
    family: str | None,
    model: str | None,
    families: tuple[str, ...],
    size: int,
    workers: int,
    output_format: str,
) -> None:
    from tagsmith.bench.batch import measure_batch

    if family is None:
        registry = load_registry(families)
        chosen = [registry.get(found.spec.id) for found in registry.families()]
    else:
        chosen = [pick_family(family, families, model)]
    report = measure_batch(chosen, size * int(_MEGABYTE), workers)
    if output_format == "json":
        echo_json(report.to_dict())
    else:
        _echo_batch(report)


def _echo_batch(report: BatchReport) -> None:
    machine = report.machine
    click.echo(f"{machine['cpu']}, {machine['cores']} cores, {machine['system']}")
    click.echo(
        f"{report.size / _MEGABYTE:.0f} MB, {report.rows} outputs of {report.families} families, "
        f"{report.workers} workers\n"
    )
    least = report.rewriting
    costs = {"read and written again": least, "parsed": report.parsing}
    echo_table(
        [
            {
                "measured": name,
                "seconds": f"{cost.clock:.1f}",
                "mb/s": f"{report.size / _MEGABYTE / cost.clock:.1f}",
                "x rewriting": f"{cost.clock / least.clock:.2f}",
                "processor seconds": f"{cost.processor:.1f}",
                "x": f"{cost.processor / least.processor:.2f}",
            }
            for name, cost in costs.items()
        ]
    )
    click.echo()
    for peak in report.memory:
        click.echo(
            f"parsing {peak.size / _MEGABYTE:.0f} MB: at the peak {peak.parent / _MEGABYTE:.0f} MB "
            f"in the parent, {peak.worker / _MEGABYTE:.0f} MB in the largest worker"
        )


def _vllm_names(option: str | None) -> VllmNames | None:
    from tagsmith.bench.contenders import VllmNames

    if option is None:
        return None
    reasoning, _, tools = option.partition(",")
    if not tools:
        fail("--vllm: give two names, as in qwen3,hermes; the first may be empty, as in ,hermes")
    return VllmNames(reasoning or None, tools)


def _echo_text(report: Report) -> None:
    machine, size = report.machine, report.workload
    click.echo(f"{report.family}, rounds: {report.rounds}")
    click.echo(f"{machine['cpu']}, {machine['cores']} cores, {machine['system']}")
    click.echo(", ".join(f"{name} {version}" for name, version in report.versions.items()))
    click.echo(
        f"an output of {size['characters']} characters in {size['deltas']} deltas: "
        f"{size['reasoning_tokens']} reasoning, {size['content_tokens']} answer, "
        f"{size['arguments_tokens']} argument tokens\n"
    )
    _echo_figures(report.figures)
    click.echo()
    click.echo(_memory_line(report.memory))
    for tags in report.tags:
        click.echo(f"\nstructural tag of {tags.tools} {tags.tool_set} tools, {_sizes(tags)}\n")
        _echo_figures([*tags.building, *tags.compiling])
    for name, reason in report.not_measured.items():
        click.echo(f"{name} is not measured: {reason}")


def _echo_figures(figures: list[Figure]) -> None:
    from tagsmith.bench.contenders import BASELINES

    compared = {name for figure in figures for name in figure.against}
    baselines = [name for name in BASELINES if name in compared]
    echo_table([_row(figure, baselines) for figure in figures])


def _sizes(tags: TagFigures) -> str:
    return ", ".join(f"{name} {size / _KILOBYTE:.0f} KB" for name, size in tags.sizes.items())


def _row(figure: Figure, baselines: list[str]) -> dict[str, Any]:
    row = {
        "measured": figure.name,
        "best": f"{figure.best:.3f}",
        "median": f"{figure.median:.3f}",
        "unit": figure.unit,
    }
    for name in baselines:
        times = figure.against.get(name)
        row[f"x {name}"] = "" if times is None else f"{times:.3f}"
    return row


def _memory_line(memory: Memory) -> str:
    growth = memory.resident_growth
    resident = "" if growth is None else f", resident memory grew by {growth / _MEGABYTE:.2f} MB"
    return (
        f"streaming an answer of {memory.answer / _MEGABYTE:.2f} MB: at the peak "
        f"{memory.peak_above_answer / _MEGABYTE:.2f} MB above its own size{resident}"
    )
