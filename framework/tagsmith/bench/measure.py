"""Time and memory: tasks timed in turns, and what a parser holds while it reads a long answer."""

from __future__ import annotations

import gc
import os
import tracemalloc
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter

from tagsmith.bench.workload import TOOLS, cut, parts_of, prose, write
from tagsmith.family import Family
from tagsmith.parser import Parser


@dataclass(frozen=True, slots=True)
class Task:
    """Something to time. One run does `count` of what `unit` is a measure of."""

    name: str
    unit: str
    scale: float
    count: int
    run: Callable[[], object]


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


def microseconds(name: str, per: str, count: int, run: Callable[[], object]) -> Task:
    """A task measured in microseconds for each of `count` things."""
    return Task(name, f"µs/{per}", 1e6, count, run)


def milliseconds(name: str, run: Callable[[], object]) -> Task:
    """A task measured in milliseconds."""
    return Task(name, "ms", 1e3, 1, run)


def measure(tasks: Sequence[Task], baselines: Iterable[str], rounds: int) -> list[Figure]:
    """Run all tasks in turns, once for each round and once before, and say what each cost.

    A slow moment of the machine so falls on all of them alike.
    """
    seconds: dict[str, list[float]] = {task.name: [] for task in tasks}
    for task in tasks:
        task.run()
    for _ in range(rounds):
        gc.collect()
        for task in tasks:
            start = perf_counter()
            task.run()
            seconds[task.name].append(perf_counter() - start)
    costs = {
        task.name: [time * task.scale / task.count for time in seconds[task.name]] for task in tasks
    }
    units = {task.name: task.unit for task in tasks}
    named = [name for name in baselines if name in units]
    return [
        Figure(
            task.name,
            task.unit,
            min(costs[task.name]),
            median(costs[task.name]),
            {
                name: _ratio(costs[task.name], costs[name])
                for name in named
                if units[name] == task.unit and name != task.name
            },
        )
        for task in tasks
    ]


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


def _ratio(costs: Sequence[float], others: Sequence[float]) -> float:
    return median(cost / other for cost, other in zip(costs, others, strict=True))
