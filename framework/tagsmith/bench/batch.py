"""What `tagsmith batch` costs, beside reading and re-writing the same file by the same pool.

The file is a mix of outputs of all families, written from their own files: reasoning long and
short, answers, calls, and answers that cite. What each says is checked when it is written.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tagsmith.batch.chunks import BatchError, Chunk, Result, Work
from tagsmith.batch.jsonl import split_lines
from tagsmith.batch.options import Field, RowOptions
from tagsmith.batch.output import Start
from tagsmith.batch.run import Steps, open_input, open_output, run, steps
from tagsmith.batch.tally import Tally
from tagsmith.batch.work import Format
from tagsmith.bench.report import machine, versions
from tagsmith.bench.workload import TOOLS, WorkloadError, parts_of, prose, write
from tagsmith.family import Family
from tagsmith.testing.writing import WritingError

KINDS: dict[str, dict[str, int]] = {
    "long reasoning": {"reasoning": 1500, "content": 300},
    "reasoning and a call": {"reasoning": 300, "content": 60, "arguments": 200},
    "short answer": {"content": 100},
    "call": {"arguments": 60},
    "cited answer": {"content": 300},
}
"""What outputs hold, in tokens; one of each in turn."""
_CITED = prose(1000).split(". ")[1]
_DOCUMENTS = [{"id": f"doc-{number}", "data": {"text": prose(25)}} for number in range(3)]
_SMALL = 10
"""The memory of the whole file is held against that of this part of it."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What a run took, in seconds: by the clock, and of all its processes together."""

    clock: float
    processor: float


@dataclass(frozen=True, slots=True)
class PeakMemory:
    """The most memory that a process held while a file of `size` bytes was parsed: the one that
    reads and writes, and the largest worker."""

    size: int
    parent: int
    worker: int


@dataclass(frozen=True, slots=True)
class BatchReport:
    """What a run found. Sizes are in bytes."""

    machine: dict[str, Any]
    versions: dict[str, str]
    families: int
    rows: int
    size: int
    workers: int
    rewriting: Cost
    parsing: Cost
    memory: list[PeakMemory]

    @property
    def ratio(self) -> float:
        """How many times as long parsing takes, by the clock."""
        return self.parsing.clock / self.rewriting.clock

    def to_dict(self) -> dict[str, Any]:
        """Everything, as JSON-ready values."""
        return {**asdict(self), "ratio": self.ratio}


def measure_batch(families: Sequence[Family], size: int, workers: int) -> BatchReport:
    """Write a file of about `size` bytes, and measure.

    Raises:
        BatchError: a row could not be read.
    """
    with TemporaryDirectory() as directory:
        small, whole = Path(directory, "small.jsonl"), Path(directory, "outputs.jsonl")
        write_rows(small, families, size // _SMALL)
        rows = write_rows(whole, families, size)
        memory = [_parse(small, workers)[1]]
        rewriting, _ = _run(whole, _REWRITE, workers)
        parsing, peak = _parse(whole, workers)
        return BatchReport(
            machine=machine(),
            versions=versions(),
            families=len(families),
            rows=rows,
            size=whole.stat().st_size,
            workers=workers,
            rewriting=rewriting,
            parsing=parsing,
            memory=[*memory, peak],
        )


def write_rows(path: Path, families: Sequence[Family], size: int) -> int:
    """Write rows until the file has so many bytes; says how many they are."""
    written = count = 0
    with path.open("w", encoding="utf-8") as file:
        for count, row in enumerate(cycle(mixed_rows(families)), start=1):
            written += file.write(json.dumps({"id": count, **row}) + "\n")
            if written >= size:
                break
    return count


def mixed_rows(families: Sequence[Family]) -> list[dict[str, Any]]:
    """A row of each kind for each family, as far as it writes such outputs."""
    rows = []
    for kind, sizes in KINDS.items():
        for family in families:
            try:
                text = write(family, parts_of(**sizes)).text
            except (WritingError, WorkloadError):
                continue
            row: dict[str, Any] = {"family": family.id, "finish_reason": "stop"}
            if kind == "cited answer":
                if family.spec.citations is None:
                    continue
                text = _cited(family, text)
                row["documents"] = _DOCUMENTS
            if "arguments" in sizes:
                row["tools"] = TOOLS
            rows.append({**row, "output": text})
    return rows


def _cited(family: Family, text: str) -> str:
    assert family.spec.citations is not None
    markup = family.spec.citations.markup
    close = markup.close.replace("{positions}", "0:[0,2]")
    return text.replace(_CITED, f"{markup.open}{_CITED}{close}")


def _parse(path: Path, workers: int) -> tuple[Cost, PeakMemory]:
    read = {field: field.value for field in (Field.FAMILY, Field.TOOLS, Field.DOCUMENTS)}
    read[Field.FINISH_REASON] = Field.FINISH_REASON.value
    cost, tally = _run(path, steps(RowOptions(read=read), Format.JSONL, Format.JSONL), workers)
    if tally.bad or tally.diagnostics:
        raise BatchError(f"the outputs are not read as they were meant: {tally.to_dict()}")
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    # Linux counts in KiB, macOS in bytes.
    peaks = [used.ru_maxrss * (1 if sys.platform == "darwin" else 1024) for used in usage]
    return cost, PeakMemory(path.stat().st_size, *peaks)


def _run(path: Path, with_steps: Steps, workers: int) -> tuple[Cost, Tally]:
    out = path.with_name("out.jsonl")
    clock, processor = time.perf_counter(), _processor_time()
    with open_input(str(path)) as given, open_output(str(out), Start.ANEW, {}) as output:
        tally = run(given, output, with_steps, workers)
    cost = Cost(time.perf_counter() - clock, _processor_time() - processor)
    out.unlink()
    return cost, tally


def _processor_time() -> float:
    """Seconds that this process, and those that it has waited for, have computed."""
    return sum(os.times()[:4])


def rewrite(chunk: Chunk) -> Result:
    """The least that can be done with lines of JSON: they are read, and written again."""
    lines = [json.dumps(json.loads(line)) for line in chunk.data.split(b"\n") if line]
    return Result("\n".join([*lines, ""]).encode(), Tally(rows=len(lines)))


def _make_rewrite() -> Work:
    return rewrite


def _not_lost(chunk: Chunk) -> Result:
    raise BatchError(f"row {chunk.row}: a worker was killed; see to memory")


_REWRITE = Steps(make=_make_rewrite, split=split_lines, lost=_not_lost)
