"""What a worker does with a chunk, for each format in and out."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Any

from tagsmith.batch.arrow import (
    CellWriter,
    cells_table,
    convert_table,
    from_stream,
    read_table,
    read_whole_table,
    to_stream,
)
from tagsmith.batch.chunks import Chunk, Result
from tagsmith.batch.jsonl import LineWriter, read_lines
from tagsmith.batch.options import RowOptions
from tagsmith.batch.rows import BadRowError, Fault, Row, RowReader
from tagsmith.batch.tally import Tally


class Format(StrEnum):
    """How rows are stored."""

    JSONL = "jsonl"
    PARQUET = "parquet"


class Conversion:
    """Turns chunks of outputs into chunks of messages. It loads its families: make it where it
    works."""

    def __init__(self, options: RowOptions, source: Format, sink: Format) -> None:
        self._options = options
        self._reader = RowReader(options)
        self._source = source
        self._sink = sink

    def __call__(self, chunk: Chunk) -> Result:
        """Read a chunk."""
        if self._source is Format.JSONL:
            return self._from_rows(read_lines(chunk))
        table = from_stream(chunk.data)
        if self._sink is Format.JSONL:
            return self._from_rows(read_whole_table(table, chunk.row))
        return self._from_table(table, chunk.row, read_table(table, self._options, chunk.row))

    def lost(self, chunk: Chunk) -> Result:
        """What is written of a chunk of one row that no worker survives: it is not looked into."""
        fault = BadRowError(Fault.WORKER_LOST, "every worker that read the row was killed")
        rows: list[tuple[int, Row]] = [(chunk.row, fault)]
        if self._source is Format.PARQUET and self._sink is Format.PARQUET:
            return self._from_table(from_stream(chunk.data), chunk.row, rows)
        return self._from_rows(rows)

    def _from_rows(self, rows: Iterable[tuple[int, Row]]) -> Result:
        tally = Tally()
        if self._sink is Format.JSONL:
            lines = self._reader.convert(rows, LineWriter(self._options), tally)
            return Result(b"".join(lines), tally)
        cells = list(self._reader.convert(rows, CellWriter(self._options, with_row=True), tally))
        return Result(to_stream(cells_table(cells, self._options.into, with_row=True)), tally)

    def _from_table(self, table: Any, first: int, rows: Iterable[tuple[int, Row]]) -> Result:
        tally = Tally()
        return Result(to_stream(convert_table(table, rows, self._reader, first, tally)), tally)


def lose(options: RowOptions, source: Format, sink: Format, chunk: Chunk) -> Result:
    """The result for a row that no worker survives; made so rarely that nothing is kept for it."""
    return Conversion(options, source, sink).lost(chunk)
