"""A whole run: an input, worker processes, an output."""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from tagsmith.batch.arrow import split_table
from tagsmith.batch.chunks import BatchError, Chunk, Place, Result
from tagsmith.batch.jsonl import LineSource, split_lines
from tagsmith.batch.options import OnBadRow, RowOptions
from tagsmith.batch.output import LINES, FileOutput, Output, Start, StreamOutput
from tagsmith.batch.parquet import MAGIC, PARTS, ParquetSource
from tagsmith.batch.pool import MakeWork, Pool
from tagsmith.batch.tally import Problem, Tally
from tagsmith.batch.work import Conversion, Format, lose

STANDARD = "-"
"""The name of standard input, and of standard output."""
CHECKPOINT_EVERY = 10.0
"""Seconds from one checkpoint to the next: about so much work is done anew after a kill."""
_SUFFIX = ".parquet"


class StoppedError(BatchError):
    """A bad row, where the options say that the run ends at one; `tally` counts up to it."""

    def __init__(self, problem: Problem, tally: Tally) -> None:
        super().__init__(f"{problem.row}: {problem.code}: {problem.message}")
        self.tally = tally


class Source(Protocol):
    """What a run reads."""

    def chunks(self, start: Place) -> Iterator[Chunk]:
        """The chunks from here on."""
        ...


@dataclass(frozen=True, slots=True)
class Input:
    """An input that is open. `total` is how far its places go, None where that is not known."""

    source: Source
    format: Format
    total: int | None


@dataclass(frozen=True, slots=True)
class Steps:
    """What is done with each chunk: the work, made in each worker; how a chunk is cut, and what
    stands for a row that is lost."""

    make: MakeWork
    split: Callable[[Chunk], list[Chunk]]
    lost: Callable[[Chunk], Result]


def steps(options: RowOptions, source: Format, sink: Format) -> Steps:
    """The steps that read outputs."""
    return Steps(
        make=partial(Conversion, options, source, sink),
        split=split_lines if source is Format.JSONL else split_table,
        lost=partial(lose, options, source, sink),
    )


@contextmanager
def open_input(path: str) -> Iterator[Input]:
    """Open a file of JSON lines or of Parquet, which its first bytes tell apart.

    Raises:
        BatchError, MissingDependencyError: it is Parquet, and cannot be read.
        OSError: it cannot be opened.
    """
    if path == STANDARD:
        if sys.stdin is None:
            raise BatchError("standard input is closed; give the path of a file")
        yield Input(LineSource(sys.stdin.buffer), Format.JSONL, None)
        return
    with Path(path).open("rb") as file:
        state = os.fstat(file.fileno())
        if not stat.S_ISREG(state.st_mode):
            yield Input(LineSource(file), Format.JSONL, None)
        elif file.peek(len(MAGIC)).startswith(MAGIC):
            source = ParquetSource(file)
            yield Input(source, Format.PARQUET, source.rows)
        else:
            yield Input(LineSource(file), Format.JSONL, state.st_size)


@contextmanager
def open_output(path: str, start: Start, agreed: Mapping[str, Any]) -> Iterator[Output]:
    """Open standard output, a device or a new file; one that ends in .parquet is a directory.

    Parameters: `agreed` is what two runs have to agree in for one to go on from the other.

    Raises:
        BatchError: there is such a file already, another run writes it, or there is nothing to go
            on from.
        OSError: it cannot be written.
    """
    if is_stream(path):
        if start is Start.RESUME:
            raise BatchError(f"{path}: nothing can go on from a stream; give the name of a file")
        with _stream(path) as file:
            yield StreamOutput(file)
        return
    kind = PARTS if sink_format(path) is Format.PARQUET else LINES
    output = FileOutput(Path(path), kind, start, agreed)
    try:
        yield output
    finally:
        output.close()


def sink_format(path: str) -> Format:
    """The format that is written to a file of this name."""
    return Format.PARQUET if path.endswith(_SUFFIX) else Format.JSONL


def is_done(path: str) -> bool:
    """Whether a run has written this output.

    Raises:
        BatchError: what is there is none of a run.
    """
    found, is_parquet = Path(path), sink_format(path) is Format.PARQUET
    if found.exists() and found.is_dir() is not is_parquet:
        what = "no directory of Parquet files" if is_parquet else "a directory"
        raise BatchError(f"{path}: is {what}; give another name")
    return found.exists()


def is_stream(path: str) -> bool:
    """Whether what is written there is gone: standard output, a pipe, a device."""
    named = Path(path)
    return path == STANDARD or (named.exists() and not named.is_file() and not named.is_dir())


@contextmanager
def _stream(path: str) -> Iterator[Any]:
    """A stream to write bytes to, each at once."""
    if path != STANDARD:
        with Path(path).open("wb", buffering=0) as file:
            yield file
        return
    if sys.stdout is None:
        raise BatchError("standard output is closed; give a file to write: -o OUT")
    sys.stdout.flush()
    yield getattr(sys.stdout.buffer, "raw", sys.stdout.buffer)


def run(
    given: Input,
    output: Output,
    steps: Steps,
    workers: int,
    *,
    on_bad_row: OnBadRow = OnBadRow.KEEP,
    on_progress: Callable[[Place], None] = lambda _: None,
) -> Tally:
    """Read all that is left of an input.

    Raises:
        StoppedError: a bad row, where those end the run.
        BatchError: the run cannot go on.
    """
    progress = output.progress
    saved = time.monotonic()
    chunks = given.source.chunks(progress.place)
    with Pool(steps.make, workers, split=steps.split, lost=steps.lost) as pool:
        for chunk, results in pool.run(chunks):
            for result in results:
                output.write(result.data)
                progress.tally.add(result.tally)
                if result.tally.bad and on_bad_row is OnBadRow.STOP:
                    raise StoppedError(result.tally.problems[0], progress.tally)
            progress.place = chunk.end
            on_progress(chunk.end)
            if time.monotonic() - saved >= CHECKPOINT_EVERY:
                output.checkpoint()
                saved = time.monotonic()
    output.finish()
    return progress.tally
