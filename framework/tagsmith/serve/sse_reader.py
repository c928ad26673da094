"""Server-sent events out of bytes as they arrive, however they are cut.

Source: the event stream format of the HTML standard, section 9.2, as far as servers of completions
use it. A field `error` is data of an event `error`: some servers send `error: {...}`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

_BOM: Final = b"\xef\xbb\xbf"


class FrameTooLongError(ValueError):
    """An event is longer than allowed."""


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One event: its name, empty for a plain one, and its data."""

    name: str
    data: str


class SseReader:
    r"""Reads one stream. `limit` is the longest event, in bytes.

    >>> reader = SseReader(limit=100)
    >>> reader.feed(b"data: caf\xc3"), reader.feed(b"\xa9\r\n\r"), reader.feed(b"\ndata: x\n")
    ([], [ServerEvent(name='', data='café')], [])
    """

    __slots__ = ("_data", "_limit", "_name", "_rest", "_size", "_started", "_swallow")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._rest = bytearray()
        self._data: list[str] = []
        self._name = ""
        self._size = 0
        self._started = self._swallow = False

    def feed(self, chunk: bytes) -> list[ServerEvent]:
        """The events that these bytes complete.

        Raises:
            FrameTooLongError: an event, or a line, is longer than the limit.
        """
        events = []
        for line in self._lines(self._begin(chunk)):
            event = self._take(line)
            if event is not None:
                events.append(event)
        if self._size + len(self._rest) > self._limit:
            raise FrameTooLongError(f"longer than {self._limit} bytes")
        return events

    def _begin(self, chunk: bytes) -> bytes:
        """The bytes without a mark of their order, and without the rest of a line's `\\r\\n`."""
        if not self._started:
            chunk = bytes(self._rest) + chunk
            self._started = not _BOM.startswith(chunk)
            self._rest = bytearray(b"" if self._started else chunk)
            chunk = chunk.removeprefix(_BOM) if self._started else b""
        if self._swallow and chunk:
            self._swallow = False
            chunk = chunk.removeprefix(b"\n")
        return chunk

    def _lines(self, chunk: bytes) -> list[bytes]:
        """The lines that these bytes complete. Each byte is looked at once."""
        # Of bytes, splitlines cuts at \n, \r and \r\n alone, as the format does.
        lines = chunk.splitlines(keepends=True)
        if not lines:
            return []
        last = b"" if lines[-1].endswith((b"\n", b"\r")) else lines.pop()
        if lines:
            self._swallow = not last and chunk.endswith(b"\r")
            lines[0] = bytes(self._rest) + lines[0]
            self._rest.clear()
        self._rest += last
        return [line.rstrip(b"\r\n") for line in lines]

    def _take(self, line: bytes) -> ServerEvent | None:
        if not line:
            return self._dispatch()
        self._size += len(line)
        if self._size > self._limit:
            raise FrameTooLongError(f"longer than {self._limit} bytes")
        field, _, value = line.partition(b":")
        text = value.removeprefix(b" ").decode("utf-8", "replace")
        if field == b"data":
            self._data.append(text)
        elif field == b"event":
            self._name = text
        elif field == b"error":
            self._name = "error"
            self._data.append(text)
        return None

    def _dispatch(self) -> ServerEvent | None:
        event = ServerEvent(self._name, "\n".join(self._data)) if self._data else None
        self._data, self._name, self._size = [], "", 0
        return event
