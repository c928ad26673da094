"""Time and memory: tasks timed in turns, and what a parser holds while it reads a long answer."""

from __future__ import annotations

import gc
import os
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter

from tagsmith.bench.workload import TOOLS, cut, parts_of, prose, write
from tagsmith.family import Family
from tagsmith.parser import Parser


@dataclass(frozen=True, slots=True)
class Task:
    """Something to time. One run does `count` of what `unit` is a measure of.

    `baseline` is the name under which others of the same unit are compared with it, if they are.
    """

    name: str
    unit: str
    scale: float
    count: int
    run: Callable[[], object]
    baseline: str | None = None


@dataclass(frozen=True, slots=True)
class Figure:
    """What a task cost, in its unit: at best, and in the median of its rounds.

    `against` has, for each baseline of the same unit, the median over all rounds of how many times
    as much it cost.
    """

    name: str
    unit: str
    best: float
    median: float
    against: dict[str, float]


@dataclass(frozen=True, slots=True)
class Memory:
    """What streaming an answer took, in bytes: at its peak above the answer's own size, and of the
    process's resident memory (None where the system does not say)."""

    answer: int
    peak_above_answer: int
    resident_growth: int | None


def microseconds(
    name: str, per: str, count: int, run: Callable[[], object], baseline: str | None = None
) -> Task:
    """A task measured in microseconds for each of `count` things."""
    return Task(name, f"µs/{per}", 1e6, count, run, baseline)


def milliseconds(name: str, run: Callable[[], object], baseline: str | None = None) -> Task:
    """A task measured in milliseconds."""
    return Task(name, "ms", 1e3, 1, run, baseline)


def measure(tasks: Sequence[Task], rounds: int) -> list[Figure]:
    """Run all tasks in turns, once for each round and once before, and say what each cost.

    A slow moment of the machine so falls on all of them alike.
    """
    costs: list[list[float]] = [[] for _ in tasks]
    for task in tasks:
        task.run()
    for _ in range(rounds):
        gc.collect()
        for task, found in zip(tasks, costs, strict=True):
            start = perf_counter()
            task.run()
            found.append((perf_counter() - start) * task.scale / task.count)
    return [
        Figure(task.name, task.unit, min(found), median(found), _against(task, found, tasks, costs))
        for task, found in zip(tasks, costs, strict=True)
    ]


def _against(
    task: Task, found: Sequence[float], tasks: Sequence[Task], costs: Sequence[Sequence[float]]
) -> dict[str, float]:
    return {
        other.baseline: median(cost / base for cost, base in zip(found, others, strict=True))
        for other, others in zip(tasks, costs, strict=True)
        if other.baseline is not None and other is not task and other.unit == task.unit
    }


def measure_memory(family: Family, size: int) -> Memory:
    """Stream an answer of about `size` characters, a token at a time."""
    before = _resident()
    streamed = _streamed(family, size)
    after = _resident()
    del streamed
    tracemalloc.start()
    try:
        held, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        _, answer = _streamed(family, size)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    growth = None if before is None or after is None else after - before
    return Memory(answer, peak - held - answer, growth)


def _streamed(family: Family, size: int) -> tuple[Parser, int]:
    """A parser that has read the answer, and how long that was."""
    parser = family.parser(tools=TOOLS)
    count = 0
    for delta in _long_answer(family, size):
        parser.feed(delta)
        count += len(delta)
    parser.finish("length")
    return parser, count


def _long_answer(family: Family, size: int) -> Iterator[str]:
    block = prose(1000)
    workload = write(family, parts_of(reasoning=10, content=1000))
    before, _, after = workload.text.rpartition(block)
    yield from cut(before)
    for _ in range(max(size // len(block), 1)):
        yield from cut(block)
    yield from cut(after)


def _resident() -> int | None:
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")
