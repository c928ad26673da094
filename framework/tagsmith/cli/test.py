"""`tagsmith test`: golden cases and the laws."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tagsmith.cli.common import (
    FINE,
    PROBLEMS_FOUND,
    fail,
    families_option,
    format_option,
    require_path,
)
from tagsmith.wording import nearest, shortened

if TYPE_CHECKING:
    from tagsmith.registry import Registry
    from tagsmith.testing.found_files import FoundFiles
    from tagsmith.testing.suite import Plan, Wanted


@click.command()
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@families_option
@click.option("--family", metavar="NAME", help="Test this family only.")
@click.option("-k", "pattern", metavar="TEXT", help="Run only what has TEXT in its name.")
@click.option(
    "--law", "laws", metavar="NAME", multiple=True, help="Try this law; may be given again."
)
@click.option(
    "--samples",
    metavar="N",
    type=click.IntRange(min=0),
    default=20,
    show_default=True,
    help="How many texts each law is tried on.",
)
@click.option("--seed", metavar="N", type=int, default=0, show_default=True, help="Chooses texts.")
@click.option(
    "--jobs",
    metavar="N",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="How many processes share the work.",
)
@click.option("--update", "rewrite", flag_value="update", help="Rewrite what cases expect.")
@click.option("--diff", "rewrite", flag_value="diff", help="Show what --update would change.")
@format_option("text", "json", "junit")
def command(
    paths: tuple[str, ...],
    families: tuple[str, ...],
    family: str | None,
    pattern: str | None,
    laws: tuple[str, ...],
    samples: int,
    seed: int,
    jobs: int,
    rewrite: str | None,
    output_format: str,
) -> int:
    """Hold families to their golden cases, and to the laws.

    PATH is a case file, a family file, or a directory of them: every *.cases.yaml below it. Each
    case is read in one piece, in every cutting, and by tokens. The laws are tried on texts made of
    the family's own markers. Exit code 1 when something fails.

    \b
    Example:
      tagsmith test families/ -k one-call
    """
    from tagsmith.registry import load_registry
    from tagsmith.testing.suite import Wanted, make_plan

    found = _find(paths, families)
    named = [word for path in families for word in ("--families", path)]
    wanted = Wanted(
        laws=() if rewrite or not samples else _laws(laws),
        samples=samples,
        seed=seed,
        pattern=pattern,
        family=family,
        loaded=(*families, *found.families, *found.beside),
        command=("tagsmith", "test", *paths, *named),
    )
    registry = load_registry(wanted.loaded)
    plan = make_plan(found, registry, wanted)
    if not plan.runs and not plan.problems:
        fail("nothing is chosen; choose less narrowly by -k, --family, --law and --samples")
    if rewrite is not None:
        return _rewrite(plan, registry, rewrite, output_format)
    return _run(plan, registry, wanted, jobs, output_format)


def _find(paths: tuple[str, ...], families: tuple[str, ...]) -> FoundFiles:
    from tagsmith.testing.found_files import find_test_files

    for path in paths:
        require_path(path)
    for path in families:
        require_path(path, "--families")
    found = find_test_files(paths)
    if not found.cases and not found.families:
        fail(f"{paths[0]}: no case file (*.cases.yaml) and no family file; give another path")
    return found


def _laws(names: tuple[str, ...]) -> tuple[str, ...]:
    from tagsmith.testing.holding import GRAMMAR
    from tagsmith.testing.laws import LAWS

    known = {law: law for law in (*LAWS, GRAMMAR)}
    for name in names:
        if name not in known:
            fail(f"--law {shortened(name)}: there is no such law; {nearest(name, known)}")
    return names or tuple(LAWS)


def _run(plan: Plan, registry: Registry, wanted: Wanted, jobs: int, output_format: str) -> int:
    from tagsmith.testing import reporters
    from tagsmith.testing.suite import run_all

    results = list(run_all(plan, registry, wanted, jobs=jobs))
    reports = {
        "text": reporters.text_report,
        "json": reporters.json_report,
        "junit": reporters.junit_report,
    }
    click.echo(reports[output_format](plan, results))
    failed = any(result.told for result in results)
    return PROBLEMS_FOUND if failed or plan.problems else FINE


def _rewrite(plan: Plan, registry: Registry, rewrite: str, output_format: str) -> int:
    """Rewrite the case files, or show how they would change."""
    from tagsmith.testing.reporters import json_update_report, text_update_report
    from tagsmith.testing.update import plan_updates

    if output_format == "junit":
        fail(f"--format junit: not with --{rewrite}; give text or json")
    updates = plan_updates(plan, registry)
    if rewrite == "update":
        for change in updates:
            change.write()
    report = text_update_report if output_format == "text" else json_update_report
    click.echo(report(updates, plan.problems))
    unmended = any(change.left or (change.updated and rewrite == "diff") for change in updates)
    return PROBLEMS_FOUND if unmended or plan.problems else FINE
