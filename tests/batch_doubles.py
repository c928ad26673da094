"""Stand-ins for a worker's work, importable where it is done, and for the pool."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

from tagsmith.batch.chunks import Chunk, Place, Result, Work
from tagsmith.batch.tally import Tally
from tagsmith.errors import RequestError


def upper(chunk: Chunk) -> Result:
    """Slow for early chunks, so that later ones are ready before; a word may kill it or fail it."""
    if b"KILL" in chunk.data:
        os.kill(os.getpid(), signal.SIGKILL)
    if b"FAIL" in chunk.data:
        raise ValueError("FAIL")
    if b"slow" in chunk.data:
        time.sleep(0.2)
    return Result(chunk.data.upper(), Tally(rows=chunk.data.count(b"\n")))


def make_upper() -> Work:
    return upper


def make_killed_once(marker: str) -> Work:
    """The first worker that meets a chunk is killed, and no other."""

    def work(chunk: Chunk) -> Result:
        if not Path(marker).exists():
            Path(marker).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return upper(chunk)

    return work


def make_nothing() -> Work:
    raise RequestError("family", "cannot be used here")


def make_dead() -> Work:
    os._exit(3)


def chunks(*texts: str) -> list[Chunk]:
    """Chunks of lines, numbered on."""
    found, place = [], Place()
    for text in texts:
        data = text.encode()
        end = Place(place.offset + len(data), place.row + data.count(b"\n"))
        found.append(Chunk(data, place.row, end))
        place = end
    return found


class InProcess:
    """A pool's stand-in that does the work here, and is killed after so many chunks."""

    def __init__(self, make: Any, workers: int, **_: Any) -> None:
        self._work: Work = make()
        self._left = workers

    def __enter__(self) -> InProcess:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def run(self, chunks: Any) -> Any:
        for chunk in chunks:
            if not self._left:
                raise KeyboardInterrupt
            self._left -= 1
            yield chunk, [self._work(chunk)]
