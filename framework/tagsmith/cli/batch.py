"""`tagsmith batch`: files of raw outputs to files of messages."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tagsmith.cli.common import (
    FINE,
    PROBLEMS_FOUND,
    fail,
    families_option,
    format_option,
    load_registry,
    pick_family,
    shown_path,
)
from tagsmith.cli.request_options import read_tools_option
from tagsmith.wording import one_line, shortened

if TYPE_CHECKING:
    from tagsmith.batch.chunks import Place
    from tagsmith.batch.options import Field, RowOptions
    from tagsmith.batch.tally import Tally

_STANDARD = "-"


class _Stopped(BaseException):
    """A signal has ended the run."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@click.command()
@click.argument("source", metavar="INPUT")
@click.option(
    "--output",
    "-o",
    "target",
    metavar="OUT",
    default=_STANDARD,
    help="The file to write.  [default: standard output]",
)
@click.option("--family", metavar="NAME", help="The family of rows that do not name their own.")
@click.option("--model", metavar="NAME", help="The model of rows that do not name their own.")
@families_option
@click.option("--tools", metavar="FILE", help="The tools of rows without their own: a JSON list.")
@click.option(
    "--column", metavar="COLUMN", default="output", show_default=True, help="It holds the outputs."
)
@click.option(
    "--read",
    "reads",
    metavar="FIELD[=COLUMN]",
    multiple=True,
    help="Read this of each row, too: family, model, tools, tool_choice, prompt, documents, "
    "messages, stop or finish_reason; may be given again.",
)
@click.option(
    "--as",
    "shape",
    type=click.Choice(["message", "openai", "cohere"]),
    default="message",
    show_default=True,
    help="How a message is written.",
)
@click.option(
    "--into", metavar="COLUMN", default="message", show_default=True, help="It gets the messages."
)
@click.option(
    "--keep",
    metavar="COLUMN",
    multiple=True,
    help="Pass on this column; may be given again.  [default: all but that of the outputs]",
)
@click.option(
    "--on-bad-row",
    type=click.Choice(["keep", "drop", "stop"]),
    default="keep",
    show_default=True,
    help="Keep a row that cannot be read, with its error; drop it; or stop there.",
)
@click.option(
    "--workers", metavar="N", type=click.IntRange(1, 512), help="Processes.  [default: the cores]"
)
@click.option("--resume", is_flag=True, help="Go on where a run that was killed has stopped.")
@click.option("--report", metavar="FILE", help="Write the report there, too, as JSON.")
@format_option("text", "json")
def command(
    source: str,
    target: str,
    workers: int | None,
    resume: bool,
    report: str | None,
    output_format: str,
    **asked: Any,
) -> int:
    """Read a file of raw outputs, and write their messages.

    INPUT is a file of JSON lines, one object each, or of Parquet; - is standard input. OUT is
    written in the order of the input, as JSON lines, or as a directory of Parquet files where its
    name ends in .parquet. The report goes to standard error. Exit code 1 when rows are bad.

    \b
    Example:
      tagsmith batch outputs.jsonl --family Cohere2ForCausalLM -o messages.jsonl
    """
    from tagsmith.batch.output import Start
    from tagsmith.batch.run import (
        StoppedError,
        is_done,
        is_stream,
        open_input,
        open_output,
        run,
        sink_format,
        steps,
    )

    options = _options(source, **asked)
    _refuse_same({"INPUT": source, "--output": target, "--report": report})
    if not is_stream(target) and is_done(target) and resume:
        click.echo(f"{target}: is there already; nothing is left to do", err=True)
        return FINE
    if report is not None:
        with Path(report).open("ab"):  # What cannot be written is told before the work.
            pass
    shown = shown_path(source)
    try:
        with _signals(), open_input(source) as given:
            agreed = {**options.saved(), "input": given.total}
            start = Start.RESUME if resume else Start.ANEW
            with open_output(target, start, agreed) as output, _bar(given.total) as progress:
                tally = run(
                    given,
                    output,
                    steps(options, given.format, sink_format(target)),
                    workers or _cores(),
                    on_bad_row=options.on_bad_row,
                    on_progress=progress,
                )
    except StoppedError as error:
        click.echo(f"{shown}:{one_line(str(error))}; the run has stopped there", err=True)
        _save(error.tally, report)
        return PROBLEMS_FOUND
    except _Stopped as signalled:
        more = "" if is_stream(target) else "; give --resume to go on"
        click.echo(f"stopped by {signal.Signals(signalled.number).name}{more}", err=True)
        return 128 + signalled.number
    _save(tally, report)
    click.echo(
        _as_json(tally) if output_format == "json" else "\n".join(tally.lines(shown)), err=True
    )
    return PROBLEMS_FOUND if tally.has_problems else FINE


def _refuse_same(paths: dict[str, str | None]) -> None:
    """Refuse one file under two names, such as a report that would replace the input."""
    seen: dict[str, str] = {}
    for name, path in paths.items():
        if path is None or path == _STANDARD or (Path(path).exists() and not Path(path).is_file()):
            continue
        other = seen.setdefault(os.path.realpath(path), name)
        if other != name:
            fail(f"{name}: {shown_path(path)} is {other}, too; give another file")


def _options(
    source: str,
    *,
    family: str | None,
    families: tuple[str, ...],
    tools: str | None,
    reads: tuple[str, ...],
    keep: tuple[str, ...],
    **plain: Any,
) -> RowOptions:
    from tagsmith.batch.options import RowOptions

    if source == tools == _STANDARD:
        fail("--tools: standard input is the input; give the path of a file")
    if family is None:
        load_registry(families)
    else:
        pick_family(family, families, plain["model"])
    return RowOptions(
        family=family,
        families=families,
        tools=read_tools_option(tools),
        read=dict(map(_read, reads)),
        keep=keep or None,
        **plain,
    )


def _read(asked: str) -> tuple[Field, str]:
    """A field and its column: `tools`, or `tools=functions`."""
    from tagsmith.batch.options import Field

    name, equals, column = asked.partition("=")
    known = {field.value: field for field in Field}
    if name not in known or (equals and not column):
        fail(
            f"--read {shortened(asked)}: give one of {', '.join(known)}, and its column if that "
            "has another name, as in tools=functions"
        )
    return known[name], column or name


def _cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def _bar(total: int | None) -> Iterator[Callable[[Place], None]]:
    """A progress bar on standard error, where that is a terminal and the length is known."""
    if not total or sys.stderr is None or not sys.stderr.isatty():
        yield lambda _: None
        return
    with click.progressbar(length=total, file=sys.stderr) as bar:
        yield lambda place: bar.update(place.offset - bar.pos)


@contextmanager
def _signals() -> Iterator[None]:
    """An interrupt, or the wish that the process end, ends the run in order."""

    def stop(number: int, _: object) -> None:
        raise _Stopped(number)

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _save(tally: Tally, report: str | None) -> None:
    """Write the report; half of a surrogate pair is escaped there as JSON does it."""
    if report is not None:
        text = _as_json(tally) + "\n"
        Path(report).write_text(text, encoding="utf-8", errors="backslashreplace")


def _as_json(tally: Tally) -> str:
    return json.dumps(tally.to_dict(), indent=2, ensure_ascii=False)
