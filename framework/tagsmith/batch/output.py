"""Where results go: to a stream, or to a file that a killed run can go on from.

A file is written as `OUT.partial` and takes its name when it is whole. Beside it stands
`OUT.progress`: how far the input was read, how much of the output belongs to that, and what was
counted so far. It is replaced every few seconds; what the output holds beyond it is cut off when
the run goes on, so that no row is there twice and none is torn.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from tagsmith.batch.chunks import BatchError, Place
from tagsmith.batch.tally import Tally


class Start(StrEnum):
    """Where a run begins: `anew`, or where the one that was killed has stopped (`resume`)."""

    ANEW = "anew"
    RESUME = "resume"


class Writer(Protocol):
    """Writes results one after the other."""

    def write(self, data: bytes) -> None:
        """Write the next result."""
        ...

    def commit(self) -> int:
        """Make sure of what was written; how much it is, for another writer to go on behind it."""
        ...

    def close(self) -> None:
        """Leave what was not committed."""
        ...


class LinesWriter:
    """Writes lines to a file, behind so many bytes that are there already."""

    def __init__(self, path: Path, size: int) -> None:
        if path.stat().st_size < size:
            raise BatchError(f"{path}: is shorter than the last run has left it; remove it")
        self._file = path.open("r+b", buffering=0)
        self._file.truncate(size)
        self._file.seek(size)

    def write(self, data: bytes) -> None:
        """Write some lines."""
        write_all(self._file, data)

    def commit(self) -> int:
        """See to it that they are on the disk."""
        os.fsync(self._file.fileno())
        return self._file.tell()

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def write_all(file: Any, data: bytes) -> None:
    """Write all of it to a file without a buffer, however little it takes at a time."""
    view = memoryview(data)
    while view:
        view = view[file.write(view) :]


def _is_empty(path: Path) -> bool:
    return not (any(path.iterdir()) if path.is_dir() else path.stat().st_size)


@dataclass(slots=True)
class Progress:
    """How far a run has come."""

    place: Place = field(default_factory=Place)
    written: int = 0
    tally: Tally = field(default_factory=Tally)


class Output(Protocol):
    """What a run writes to."""

    progress: Progress

    def write(self, data: bytes) -> None:
        """Write the next result."""
        ...

    def checkpoint(self) -> None:
        """Remember the progress: all that was written belongs to it."""
        ...

    def finish(self) -> None:
        """All is written."""
        ...

    def close(self) -> None:
        """Leave the output as it is."""
        ...


class StreamOutput:
    """Standard output, or a device: what is written is gone."""

    def __init__(self, file: Any) -> None:
        self.progress = Progress()
        self._file = file

    def write(self, data: bytes) -> None:
        """Write the next result."""
        write_all(self._file, data)

    def checkpoint(self) -> None:
        """Nothing goes on from a stream."""

    def finish(self) -> None:
        """All is written."""

    def close(self) -> None:
        """The file belongs to the caller."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What is written: `open` opens a writer behind so much of a path, `create` makes an empty
    one, and fails with `FileExistsError` where it is told not to find one."""

    open: Callable[[Path, int], Writer]
    create: Callable[..., None]


LINES = Kind(LinesWriter, Path.touch)


class FileOutput:
    """A file, or a directory of parts, that a killed run can go on from. One run at a time has it.

    Parameters: `agreed` is what two runs have to agree in for one to go on from the other.

    Raises `BatchError` where there is something of this name already, another run is writing it,
    or the run that is to go on was another one.
    """

    def __init__(
        self,
        path: Path,
        kind: Kind,
        start: Start,
        agreed: Mapping[str, Any],
    ) -> None:
        self._path = path
        self._partial = path.with_name(f"{path.name}.partial")
        self._saved = path.with_name(f"{path.name}.progress")
        self._agreed = json.loads(json.dumps(agreed))
        self._refuse_output()
        self._create(kind, start)
        with ExitStack() as held:
            held.callback(os.close, self._locked())
            self._refuse_output()  # Another run may have ended just now.
            if start is Start.RESUME:
                self.progress = self._restored()
            else:
                self._saved.unlink(missing_ok=True)
                self.progress = Progress()
            self._writer = kind.open(self._partial, self.progress.written)
            held.callback(self._writer.close)
            self._save()
            self._held = held.pop_all()

    def write(self, data: bytes) -> None:
        """Write the next result."""
        self._writer.write(data)

    def checkpoint(self) -> None:
        """Remember the progress: all that was written belongs to it."""
        self.progress.written = self._writer.commit()
        self._save()

    def finish(self) -> None:
        """All is written: the output takes its name."""
        self._writer.commit()
        self._writer.close()
        self._partial.replace(self._path)
        self._saved.unlink()

    def close(self) -> None:
        """Leave the output as it is."""
        self._held.close()

    def _refuse_output(self) -> None:
        if self._path.exists():
            raise BatchError(f"{self._path}: is there already; remove it, or give another name")

    def _create(self, kind: Kind, start: Start) -> None:
        try:
            kind.create(self._partial, exist_ok=start is Start.RESUME)
        except FileExistsError:
            raise BatchError(
                f"{self._partial}: an earlier run has not ended; give --resume to go on with it, "
                "or remove it"
            ) from None

    def _locked(self) -> int:
        """What is written, open and locked: the lock ends with the process that holds it."""
        descriptor = os.open(self._partial, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            raise BatchError(f"{self._partial}: another run is writing it") from None
        except OSError:
            pass  # The file system has no locks.
        return descriptor

    def _restored(self) -> Progress:
        if _is_empty(self._partial):
            return Progress()
        if not self._saved.exists():
            raise BatchError(
                f"{self._partial}: there is no {self._saved.name} to go on by; remove it to begin "
                "anew"
            )
        try:
            saved = json.loads(self._saved.read_text(encoding="utf-8"))
            progress = Progress(
                Place(*saved["place"]), saved["written"], Tally.restored(saved["tally"])
            )
            agreed = saved["agreed"]
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise BatchError(f"{self._saved}: cannot be read ({error}); remove it") from None
        for name, value in self._agreed.items():
            if agreed.get(name) != value:
                raise BatchError(
                    f"{self._partial}: the run that wrote it had another {name}; repeat its "
                    "options, or remove it to begin anew"
                )
        return progress

    def _save(self) -> None:
        """Replace the file as a whole, so that it is never half written."""
        progress = self.progress
        saved = {
            "place": [progress.place.offset, progress.place.row],
            "written": progress.written,
            "tally": progress.tally.saved(),
            "agreed": self._agreed,
        }
        new = self._saved.with_name(f"{self._saved.name}.new")
        with new.open("w", encoding="utf-8") as file:
            json.dump(saved, file)
            file.flush()
            os.fsync(file.fileno())
        new.replace(self._saved)
