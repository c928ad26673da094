"""One run of the benchmark, and what it found."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from tagsmith.bench.contenders import (
    MELODY,
    VLLM,
    NotMeasuredError,
    VllmNames,
    floor_task,
    melody_task,
    vllm_tasks,
)
from tagsmith.bench.measure import (
    Figure,
    Memory,
    Task,
    measure,
    measure_memory,
    microseconds,
    milliseconds,
)
from tagsmith.bench.tags import TagFigures, measure_tags, vllm_converter
from tagsmith.bench.workload import TOOLS, Workload, parts_of, write
from tagsmith.family import Family
from tagsmith.wire.chat_chunks import ChatChunks

REASONING_TOKENS = 1500
CONTENT_TOKENS = 300
ARGUMENT_TOKENS = 200


@dataclass(frozen=True, slots=True)
class Profile:
    """How much is measured: rounds, argument tokens of the growing calls, characters of the answer
    that is streamed for its memory, tools of a structural tag."""

    rounds: int = 30
    growth: tuple[int, ...] = (200, 2000, 8000)
    answer: int = 10_000_000
    tools: int = 50


QUICK = Profile(rounds=1, growth=(40, 80), answer=20_000, tools=3)
"""Enough to see that it runs."""


@dataclass(frozen=True, slots=True)
class Report:
    """What a run found."""

    family: str
    rounds: int
    machine: dict[str, Any]
    versions: dict[str, str]
    workload: dict[str, int]
    figures: list[Figure]
    memory: Memory
    tags: list[TagFigures]
    not_measured: dict[str, str]

    def to_dict(self) -> dict[str, Any]:
        """Everything, as JSON-ready values."""
        return asdict(self)


def run(family: Family, profile: Profile, vllm: VllmNames | None = None) -> Report:
    """Measure a family.

    Parameters: `vllm` names the family's parsers in vLLM, if it is to be measured, too.

    Raises:
        WritingError, WorkloadError: no output of the family can be written.
    """
    sizes = {"reasoning": REASONING_TOKENS, "content": CONTENT_TOKENS, "arguments": ARGUMENT_TOKENS}
    workload = write(family, parts_of(**sizes))
    memory = measure_memory(family, profile.answer)
    not_measured: dict[str, str] = {}
    tasks = [floor_task(workload.deltas)]
    others: dict[str, Callable[[], list[Task]]] = {
        MELODY: lambda: [melody_task(parts_of(**sizes))],
    }
    if vllm is not None:
        others[VLLM] = lambda: vllm_tasks(family, workload, vllm)
    for name, make in others.items():
        try:
            tasks += make()
        except NotMeasuredError as error:
            not_measured[name] = str(error)
    tasks += _tasks(family, workload)
    for tokens in profile.growth:
        tasks += _growth_tasks(family, tokens)
    convert = None
    if vllm is not None:
        try:
            convert = vllm_converter(family)
        except NotMeasuredError as error:
            not_measured[f"{VLLM}, tag"] = str(error)
    return Report(
        family=family.id,
        rounds=profile.rounds,
        machine=machine(),
        versions=versions(),
        workload={
            **{f"{name}_tokens": tokens for name, tokens in sizes.items()},
            "characters": len(workload.text),
            "deltas": len(workload.deltas),
        },
        figures=measure(tasks, profile.rounds),
        memory=memory,
        tags=measure_tags(family, profile.tools, profile.rounds, not_measured, convert),
        not_measured=not_measured,
    )


def _tasks(family: Family, workload: Workload) -> list[Task]:
    deltas = workload.deltas

    def to_chunks() -> None:
        chunks = ChatChunks(id="chatcmpl-0", model=family.id, created=0)
        parser = family.parser(tools=TOOLS)
        feed, chunk = parser.feed, chunks.feed
        for delta in deltas:
            chunk(feed(delta))
        chunk(parser.finish("stop"))
        chunks.finish("stop")

    return [
        microseconds("events", "delta", len(deltas), lambda: _stream(family, deltas)),
        microseconds("chunks", "delta", len(deltas), to_chunks),
        milliseconds("parse at once", lambda: family.parse(workload.text, tools=TOOLS)),
    ]


def _growth_tasks(family: Family, tokens: int) -> list[Task]:
    """One call with arguments of so many tokens, for each of them."""
    workload = write(family, parts_of(arguments=tokens))
    deltas, text = workload.deltas, workload.text
    name = f"{tokens} argument tokens"
    return [
        microseconds(f"{name}, events", "token", tokens, lambda: _stream(family, deltas)),
        microseconds(
            f"{name}, parse at once", "token", tokens, lambda: family.parse(text, tools=TOOLS)
        ),
    ]


def _stream(family: Family, deltas: list[str]) -> None:
    parser = family.parser(tools=TOOLS)
    feed = parser.feed
    for delta in deltas:
        feed(delta)
    parser.finish("stop")


def machine() -> dict[str, Any]:
    """What the figures were taken on."""
    return {"cpu": _cpu(), "cores": os.cpu_count(), "system": platform.platform(terse=True)}


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()


def versions() -> dict[str, str]:
    """What was measured, and beside what."""
    found = {"python": f"{platform.python_implementation()} {platform.python_version()}"}
    for name in ("tagsmith", MELODY, VLLM, "xgrammar"):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found
