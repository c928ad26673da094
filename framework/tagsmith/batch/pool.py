"""Worker processes: chunks out, results back in the order of the chunks.

So many chunks are on their way as are needed to keep all workers busy, and no more. The chunk of a
worker that was killed goes to a new one; where that is killed, too, the chunk is cut in halves, and
so on down to the row that no worker survives.
"""

from __future__ import annotations

import multiprocessing
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait

from tagsmith.batch.chunks import BatchError, Chunk, Result, Work
from tagsmith.errors import TagsmithError

MakeWork = Callable[[], Work]
"""Makes, in a worker, what reads its chunks; goes there by pickle."""
_WINDOW = 4
"""How many chunks for each worker are on their way, or wait for an earlier one."""
_MOST_LOST = 100
"""After so many rows that no worker survives, the run is given up."""
_MOST_FAILED_STARTS = 3
_READY = "ready"


@dataclass(slots=True)
class Part:
    """A chunk or a piece of one, and how many workers it has cost."""

    chunk: Chunk
    deaths: int = 0


@dataclass(slots=True, eq=False)
class Job:
    """A chunk on its way: the parts that are still to be read, and the results so far."""

    chunk: Chunk
    parts: deque[Part]
    results: list[Result] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Worker:
    """A worker process; `job` is what it works at, None while it starts or waits."""

    process: multiprocessing.process.BaseProcess
    connection: Connection
    is_ready: bool = False
    job: Job | None = None


class Pool:
    """Some worker processes; each starts when there is a chunk for it.

    Parameters: `make` makes the work in each worker. `split` cuts a chunk in two, or gives back
    the one row that it is; `lost` is the result for a row that no worker survives. Close it by
    `with`: the workers end with it.
    """

    def __init__(
        self,
        make: MakeWork,
        workers: int,
        *,
        split: Callable[[Chunk], list[Chunk]],
        lost: Callable[[Chunk], Result],
    ) -> None:
        self._make = make
        self._split = split
        self._lost = lost
        self._lost_count = 0
        self._failed_starts = 0
        self._jobs: deque[Job] = deque()
        self._waiting: deque[Job] = deque()
        self._most = workers
        self._window = workers * _WINDOW
        self._workers: list[Worker] = []

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.process.kill()
        for worker in self._workers:
            worker.process.join()
            worker.connection.close()

    @property
    def process_ids(self) -> list[int]:
        """The workers that there are."""
        return [worker.process.pid or 0 for worker in self._workers]

    def run(self, chunks: Iterable[Chunk]) -> Iterator[tuple[Chunk, list[Result]]]:
        """Each chunk with its results, in order.

        Raises:
            BatchError: a worker cannot start, or too many rows cost their worker's life.
        """
        source = iter(chunks)
        self._fill(source)
        while self._jobs:
            self._receive()
            self._fill(source)
            while self._jobs and not self._jobs[0].parts:
                job = self._jobs.popleft()
                yield job.chunk, job.results
                self._fill(source)

    def _fill(self, source: Iterator[Chunk]) -> None:
        """Give every idle worker something to do, and read on as far as the window goes.

        A worker is started for each chunk that waits for none that is still starting."""
        self._assign()
        while len(self._jobs) < self._window and (chunk := next(source, None)) is not None:
            job = Job(chunk, deque([Part(chunk)]))
            self._jobs.append(job)
            self._waiting.append(job)
            self._assign()

    def _assign(self) -> None:
        for worker in list(self._workers):
            if worker.is_ready and worker.job is None and self._waiting:
                worker.job = self._waiting.popleft()
                self._send(worker)
        starting = sum(not worker.is_ready for worker in self._workers)
        if starting < len(self._waiting) and len(self._workers) < self._most:
            self._start()

    def _send(self, worker: Worker) -> None:
        assert worker.job is not None
        try:
            worker.connection.send(worker.job.parts[0].chunk)
        except OSError:
            self._bury(worker)

    def _receive(self) -> None:
        by_connection = {worker.connection: worker for worker in self._workers}
        for connection in wait(list(by_connection)):
            worker = by_connection[connection]  # type: ignore[index]
            try:
                received = worker.connection.recv()
            except (EOFError, OSError):
                self._bury(worker)
                continue
            if isinstance(received, TagsmithError):
                raise received
            if received == _READY:
                worker.is_ready = True
                self._failed_starts = 0
            else:
                self._take(worker, received)

    def _take(self, worker: Worker, result: Result) -> None:
        job = worker.job
        assert job is not None
        job.results.append(result)
        job.parts.popleft()
        if job.parts:
            self._send(worker)
        else:
            worker.job = None

    def _bury(self, worker: Worker) -> None:
        """The worker is dead: another takes its place, and its job."""
        worker.connection.close()
        worker.process.join()
        if not worker.is_ready:
            self._failed_starts += 1
        if self._failed_starts > _MOST_FAILED_STARTS:
            code = worker.process.exitcode
            raise BatchError(f"workers end before they have begun (exit code {code})")
        self._workers.remove(worker)
        job = worker.job
        if job is None:
            return
        self._cut(job)
        if job.parts:
            self._waiting.appendleft(job)

    def _cut(self, job: Job) -> None:
        """Once a part is tried again as it is, then it is cut; a row that is left is lost."""
        part = job.parts[0]
        part.deaths += 1
        if part.deaths < 2:
            return
        halves = self._split(part.chunk)
        job.parts.popleft()
        if len(halves) > 1:
            job.parts.extendleft(Part(half, deaths=1) for half in reversed(halves))
            return
        self._lost_count += 1
        if self._lost_count > _MOST_LOST:
            raise BatchError(f"workers were killed at more than {_MOST_LOST} rows; see to memory")
        job.results.append(self._lost(part.chunk))

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        try:
            here, there = context.Pipe()
            process = context.Process(target=serve, args=(there, self._make), daemon=True)
            with there, _no_interrupts():
                process.start()
        except OSError as error:
            raise BatchError(
                f"worker {len(self._workers) + 1} cannot start ({error.strerror}); give fewer: "
                "--workers"
            ) from None
        self._workers.append(Worker(process, here))


def serve(connection: Connection, make: MakeWork) -> None:
    """A worker's life: it ends with the process that started it."""
    try:
        work = make()
    except TagsmithError as error:
        connection.send(BatchError(str(error)))
        return
    try:
        connection.send(_READY)
        while True:
            connection.send(_result(work, connection.recv()))
    except (EOFError, OSError, MemoryError):
        return


def _result(work: Work, chunk: Chunk) -> Result | BatchError:
    """What becomes of a chunk. One that takes too much memory ends the worker, and is cut."""
    try:
        return work(chunk)
    except MemoryError:
        raise
    except Exception as error:
        return BatchError(f"row {chunk.row} and on: {type(error).__name__}: {error}")


@contextmanager
def _no_interrupts() -> Iterator[None]:
    """Processes started here do not hear an interrupt from the terminal: their parent does."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
