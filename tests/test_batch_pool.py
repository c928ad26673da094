"""The pool: results in order, bounded, and no row lost where workers are killed."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from functools import partial
from multiprocessing.context import SpawnProcess
from pathlib import Path

import pytest

from batch_doubles import chunks, make_dead, make_killed_once, make_nothing, make_upper
from tagsmith.batch import pool as pool_module
from tagsmith.batch.chunks import BatchError, Chunk, Result
from tagsmith.batch.jsonl import split_lines
from tagsmith.batch.pool import MakeWork, Pool
from tagsmith.batch.tally import Tally


def lost(chunk: Chunk) -> Result:
    return Result(b"lost %d\n" % chunk.row, Tally(rows=1))


def make_pool(make: MakeWork, workers: int = 2) -> Pool:
    return Pool(make, workers, split=split_lines, lost=lost)


def written(pool: Pool, given: list[Chunk]) -> list[bytes]:
    """What each chunk has become."""
    return [b"".join(result.data for result in results) for _, results in pool.run(given)]


def test_results_come_in_the_order_of_the_chunks_and_few_are_on_their_way() -> None:
    texts = ["slow\n", *(f"row {number}\n" for number in range(40))]
    read = 0
    ahead = []

    def reading() -> Iterator[Chunk]:
        nonlocal read
        for chunk in chunks(*texts):
            read += 1
            yield chunk

    with make_pool(make_upper) as pool:
        found = []
        for chunk, results in pool.run(reading()):
            found.append(results[0].data)
            ahead.append(read - len(found))
            assert chunk.data == results[0].data.lower()
    assert found == [text.upper().encode() for text in texts]
    assert max(ahead) <= 2 * pool_module._WINDOW


@pytest.mark.heavy
def test_the_chunk_of_a_worker_that_was_killed_is_read_by_another(tmp_path: Path) -> None:
    make = partial(make_killed_once, str(tmp_path / "killed"))
    with make_pool(make) as pool:
        assert written(pool, chunks("a\n", "b\n", "c\n")) == [b"A\n", b"B\n", b"C\n"]
    assert (tmp_path / "killed").exists()


def test_no_more_workers_start_than_there_are_chunks() -> None:
    with make_pool(make_upper, workers=64) as pool:
        assert pool.process_ids == []
        assert written(pool, chunks("a\n")) == [b"A\n"]
        assert len(pool.process_ids) == 1


def test_a_worker_that_there_is_no_room_for_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: object) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(SpawnProcess, "start", full)
    told = r"worker 1 cannot start \(Too many open files\); give fewer: --workers"
    with make_pool(make_upper) as pool, pytest.raises(BatchError, match=told):
        written(pool, chunks("a\n"))


def test_work_that_fails_ends_the_run_and_no_worker() -> None:
    with make_pool(make_upper) as pool, pytest.raises(BatchError, match=r"row 1 and on: .*: FAIL"):
        written(pool, chunks("FAIL\n"))


@pytest.mark.heavy
def test_of_a_chunk_that_kills_all_but_the_row_that_does_it_are_read() -> None:
    given = chunks("a\n", "b\nc\nKILL\nd\ne\n", "KILL\n", "f\n")
    with make_pool(make_upper) as pool:
        found = written(pool, given)
    lines = [part.replace(b"\n", b" ").split() for part in found]
    assert lines == [
        [b"A"],
        [b"B", b"C", b"lost", b"4", b"D", b"E"],
        [b"lost", b"7"],
        [b"F"],
    ]


@pytest.mark.heavy
def test_a_run_in_which_every_row_kills_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_module, "_MOST_LOST", 1)
    with make_pool(make_upper) as pool, pytest.raises(BatchError, match="more than 1 rows"):
        written(pool, chunks("KILL\n", "KILL\n"))


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (make_nothing, "family: cannot be used here"),
        pytest.param(make_dead, "exit code 3", marks=pytest.mark.heavy),
    ],
)
def test_workers_that_cannot_begin_end_the_run(make: MakeWork, told: str) -> None:
    with make_pool(make, workers=1) as pool, pytest.raises(BatchError, match=told):
        written(pool, chunks("a\n"))


@pytest.mark.parametrize(
    ("data", "parts"),
    [
        (b"a\n", [(b"a\n", 5)]),
        (b"a", [(b"a", 5)]),
        (b"a\nb\n", [(b"a\n", 5), (b"b\n", 6)]),
        (b"a\nb\nc", [(b"a\n", 5), (b"b\nc\n", 6)]),
        (b"\na\n", [(b"\n", 5), (b"a\n", 6)]),
        (b"a\r\nb\rc\n", [(b"a\r\n", 5), (b"b\rc\n", 6)]),
    ],
)
def test_lines_are_cut_in_halves(data: bytes, parts: list[tuple[bytes, int]]) -> None:
    chunk = chunks(data.decode())[0]
    found = split_lines(Chunk(data, 5, chunk.end))
    assert [(part.data, part.row) for part in found] == parts
