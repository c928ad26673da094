"""JSON lines: read in chunks of whole lines, and turned into lines with messages."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator
from typing import Any, BinaryIO

from tagsmith.batch.chunks import BatchError, Chunk, Place
from tagsmith.batch.options import ERROR, RowOptions
from tagsmith.batch.rows import BadRowError, Fault, Row
from tagsmith.batch.shapes import SHAPES
from tagsmith.message import Message

CHUNK = 1 << 20
"""About how many bytes a chunk has."""
MAX_LINE = 64 << 20
"""The longest line that is read, in bytes."""
_BOM = b"\xef\xbb\xbf"
_GZIP = b"\x1f\x8b"


def _plain(value: Any) -> str:
    """What Parquet holds and JSON has no word for: bytes as base64, all else as it is shown."""
    return b64encode(value).decode() if isinstance(value, bytes) else str(value)


_to_text = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, separators=(",", ":"), default=_plain
).encode
_to_ascii = json.JSONEncoder(separators=(",", ":"), default=_plain).encode


class LineSource:
    """A file of lines.

    A line ends with LF or CRLF, the last one by the end of the file, too. Of a line that is too
    long only so much is kept that it is told as that.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def chunks(self, start: Place) -> Iterator[Chunk]:
        """The chunks from here on; what is before is passed over.

        Raises:
            BatchError: the input is compressed, or does not reach so far.
        """
        self._skip(start)
        place = start
        while data := self._file.read(CHUNK):
            if place.offset == 0 and data.startswith(_GZIP):
                raise BatchError("the input is compressed (gzip); give it to standard input: zcat")
            passed = 0
            if not data.endswith(b"\n"):
                data += self._file.readline(MAX_LINE)
                if not data.endswith(b"\n"):
                    passed = self._pass_line()
            place = Place(
                place.offset + len(data) + passed,
                place.row + data.count(b"\n") + (passed > 0),
            )
            lines = data.removeprefix(_BOM) if start.row == 1 else data
            yield Chunk(lines, start.row, place)
            start = place
        if place == Place():
            yield Chunk(b"", start.row, place)

    def _pass_line(self) -> int:
        """Read to the end of the line: how much that was."""
        passed = 0
        while piece := self._file.readline(CHUNK):
            passed += len(piece)
            if piece.endswith(b"\n"):
                break
        return passed

    def _skip(self, start: Place) -> None:
        if self._file.seekable():
            self._file.seek(start.offset)
            return
        left = start.offset
        while left:
            piece = self._file.read(min(left, CHUNK))
            if not piece:
                raise BatchError("the input ends before the place where the last run has stopped")
            left -= len(piece)


def split_lines(chunk: Chunk) -> list[Chunk]:
    """The chunk in two, or itself alone where it is one line."""
    lines = [line + b"\n" for line in chunk.data.removesuffix(b"\n").split(b"\n")]
    if len(lines) < 2:
        return [chunk]
    half = len(lines) // 2
    first, second = b"".join(lines[:half]), b"".join(lines[half:])
    return [Chunk(first, chunk.row, chunk.end), Chunk(second, chunk.row + half, chunk.end)]


def read_lines(chunk: Chunk) -> Iterator[tuple[int, Row]]:
    """The rows of a chunk with their numbers; blank lines are none."""
    for number, line in enumerate(chunk.data.split(b"\n"), chunk.row):
        if line and not line.isspace():
            yield number, _row(line)


def _row(line: bytes) -> Row:
    if len(line) > MAX_LINE:
        return BadRowError(Fault.TOO_LONG, f"the line has more than {MAX_LINE >> 20} MiB")
    try:
        row = json.loads(line.decode())
    except UnicodeDecodeError as error:
        return BadRowError(Fault.NOT_UTF8, f"byte {error.start} is not UTF-8")
    except json.JSONDecodeError as error:
        return BadRowError(Fault.NOT_JSON, f"{error.msg} (character {error.pos})")
    except RecursionError:
        return BadRowError(Fault.NOT_JSON, "nested too deeply")
    except ValueError as error:
        return BadRowError(Fault.NOT_JSON, str(error))
    if type(row) is dict:
        return row
    return BadRowError(Fault.NOT_AN_OBJECT, f"the line holds {type(row).__name__}, no object")


class LineWriter:
    """Writes rows as lines of JSON."""

    def __init__(self, options: RowOptions) -> None:
        self._options = options
        self._shape = SHAPES[options.shape]

    def message(self, _: int, row: dict[str, Any], message: Message) -> bytes:
        """The line of a row that was read."""
        kept = kept_columns(row, self._options)
        kept.pop(ERROR, None)  # In what is written it means that the row is bad.
        kept[self._options.into] = self._shape(message)
        return to_json(kept) + b"\n"

    def error(self, _: int, row: dict[str, Any], error: dict[str, Any]) -> bytes:
        """The line of a bad row; `row` is what could be read of it."""
        kept = kept_columns(row, self._options)
        kept[self._options.into] = None
        kept[ERROR] = error
        return to_json(kept) + b"\n"


def kept_columns(row: dict[str, Any], options: RowOptions) -> dict[str, Any]:
    """The columns that are passed on."""
    if options.keep is not None:
        return {name: row[name] for name in options.keep if name in row}
    row.pop(options.column, None)
    return row


def to_json(value: Any) -> bytes:
    r"""A value as JSON in UTF-8, on one line. Half of a surrogate pair stays as it was escaped.

    >>> to_json({"a": "\ud800"}), to_json(["é"])
    (b'{"a":"\\ud800"}', b'["\xc3\xa9"]')
    """
    try:
        return _to_text(value).encode()
    except UnicodeEncodeError:
        return _to_ascii(value).encode()
