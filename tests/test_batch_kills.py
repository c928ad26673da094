"""`tagsmith batch` in processes of its own: killed, interrupted, cut off, and its memory."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from batch_rows import READ_OPTIONS, mixed_rows, read_jsonl, write_jsonl
from tagsmith.bench.batch import measure_batch
from tagsmith.registry import default_registry

pytestmark = pytest.mark.heavy
ROWS = 12_000
# Chunks are small and checkpoints come often, so that a short run is worth going on with.
OFTEN = """
import sys
import tagsmith.batch.jsonl
import tagsmith.batch.run
tagsmith.batch.jsonl.CHUNK = 1 << 15
tagsmith.batch.run.CHECKPOINT_EVERY = 0.1
from tagsmith.cli import main
if __name__ == "__main__":
    main(sys.argv[1:])
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_jsonl(tmp_path_factory.mktemp("batch") / "in.jsonl", mixed_rows(ROWS))


@pytest.fixture(scope="module")
def whole(source: Path) -> Path:
    """What a run makes of it that nothing disturbs."""
    out = source.with_name("whole.jsonl")
    arguments = [*READ_OPTIONS, "-o", str(out), "--report", str(out.with_name("whole.json"))]
    command = [sys.executable, "-m", "tagsmith", "batch", str(source), *arguments]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 1
    assert [row["id"] for row in read_jsonl(out)] == list(range(ROWS))
    return out


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "often.py"
    path.write_text(OFTEN)
    return path


def start(script: Path, source: Path, out: Path, *more: str) -> subprocess.Popen[str]:
    arguments = [str(source), *READ_OPTIONS, "-o", str(out), "--workers", "2", *more]
    return subprocess.Popen(
        [sys.executable, str(script), "batch", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def wait_until(done: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    end = time.monotonic() + 30
    while not done():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.01)


def rows_written(out: Path) -> int:
    """How many rows the progress of a run counts."""
    try:
        saved = json.loads(out.with_name(f"{out.name}.progress").read_text())
    except FileNotFoundError:
        return 0
    count: int = saved["tally"]["rows"]
    return count


def children(process: subprocess.Popen[str]) -> list[int]:
    """The workers of a run."""
    tasks = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return [pid for pid in map(int, tasks) if "spawn_main" in command_of(pid)]


def command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except FileNotFoundError:
        return ""


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGKILL, -9), (signal.SIGTERM, 143), (signal.SIGINT, 130)]
)
def test_a_run_that_was_ended_goes_on(
    number: signal.Signals, code: int, script: Path, source: Path, whole: Path, tmp_path: Path
) -> None:
    out, report = tmp_path / "out.jsonl", tmp_path / "report.json"
    more: list[str] = ["--report", str(report)]
    reached = 0
    for _ in range(2):
        process = start(script, source, out, *more)
        wait_until(lambda: rows_written(out) > reached, process)  # noqa: B023
        workers = children(process)
        if number is signal.SIGINT:  # As a terminal sends it: to all of them.
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)
        _, told = process.communicate(timeout=10)
        assert process.returncode == code
        wait_until_gone(workers)
        if number is not signal.SIGKILL:
            assert told == f"stopped by {number.name}; give --resume to go on\n"
        assert 0 < reached + rows_written(out) < 2 * ROWS
        reached = rows_written(out)
        more = ["--report", str(report), "--resume"]
    process = start(script, source, out, *more)
    process.communicate(timeout=60)
    assert process.returncode == 1
    assert out.read_bytes() == whole.read_bytes()
    assert json.loads(report.read_text()) == json.loads(whole.with_suffix(".json").read_text())


def wait_until_gone(workers: list[int]) -> None:
    end = time.monotonic() + 10
    while any(map(is_alive, workers)):
        assert time.monotonic() < end, "workers outlive the run"
        time.sleep(0.01)


def test_workers_that_are_killed_cost_no_row(
    script: Path, source: Path, whole: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.jsonl"
    process = start(script, source, out)
    for reached in (0, ROWS // 4):
        wait_until(lambda: rows_written(out) > reached, process)  # noqa: B023
        for pid in children(process):
            os.kill(pid, signal.SIGKILL)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 1, told
    assert out.read_bytes() == whole.read_bytes()


def test_whoever_reads_the_output_may_leave(source: Path) -> None:
    command = [sys.executable, "-m", "tagsmith", "batch", str(source), *READ_OPTIONS]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    told = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=20) == 0
    assert told == b""


def test_rows_come_through_pipes(source: Path, whole: Path) -> None:
    command = [sys.executable, "-m", "tagsmith", "batch", "-", *READ_OPTIONS]
    with source.open("rb") as given:
        done = subprocess.run(command, stdin=given, capture_output=True, check=False)
    assert done.stdout == whole.read_bytes()
    piped = subprocess.run(command, input=source.read_bytes(), capture_output=True, check=False)
    assert piped.stdout == whole.read_bytes()


def test_memory_does_not_grow_with_the_file() -> None:
    registry = default_registry()
    families = [registry.get(found.spec.id) for found in registry.families()]
    report = measure_batch(families, 100_000_000, 2)
    small, large = report.memory
    assert large.size > 9 * small.size
    assert large.parent < small.parent + (40 << 20)
    assert large.worker < small.worker + (60 << 20)
