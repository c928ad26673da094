"""Files that are mended: as they would be, and as they are written."""

from __future__ import annotations

import io
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import unified_diff
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import IO, Any


@dataclass(frozen=True, slots=True)
class MendedFile:
    """A file before and after it was mended."""

    name: str
    """Its path as it was given."""
    path: Path
    before: bytes
    after: bytes

    def diff(self) -> str:
        """What changes, as a unified diff."""
        texts = (data.decode("utf-8").split("\n") for data in (self.before, self.after))
        before, after = (
            [*(f"{line}\n" for line in lines[:-1]), *filter(None, lines[-1:])] for lines in texts
        )
        lines = unified_diff(before, after, self.name, self.name)
        ended = (
            line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
            for line in lines
        )
        return "".join(ended)

    def write(self) -> None:
        """Put the file in place of what was read, whole or not at all; its permissions stay.

        Raises `OSError` where it cannot be written, or was changed since it was read.
        """
        target = Path(os.path.realpath(self.path))
        if not os.access(target, os.W_OK):
            raise PermissionError(13, "it may not be written", self.name)
        if target.read_bytes() != self.before:
            raise OSError(0, "it was changed while it was mended", self.name)
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(self.after)
            shutil.copymode(target, name)
            Path(name).replace(target)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise


class HeldFile(Traversable):
    """A file whose bytes are held: as it would be once mended, or standard input as `-`."""

    def __init__(self, name: str, data: bytes) -> None:
        self._path = Path(name)
        self._data = data

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self._path.name

    @property
    def parent(self) -> Path:
        """The directory it stands in."""
        return self._path.parent

    def __str__(self) -> str:
        return str(self._path)

    def is_dir(self) -> bool:
        """No."""
        return False

    def is_file(self) -> bool:
        """Yes."""
        return True

    def iterdir(self) -> Iterator[Traversable]:
        """Nothing stands below it."""
        return iter(())

    def joinpath(self, *descendants: str | os.PathLike[str]) -> Traversable:
        """What stands below it, if it were a directory."""
        return self._path.joinpath(*descendants)

    def read_bytes(self) -> bytes:
        """Its bytes."""
        return self._data

    def read_text(self, encoding: str | None = None) -> str:
        """Its text."""
        return self._data.decode(encoding or "utf-8")

    def open(self, mode: str = "r", *_: Any, **__: Any) -> IO[Any]:
        """Its bytes, as a stream."""
        return io.BytesIO(self._data)
