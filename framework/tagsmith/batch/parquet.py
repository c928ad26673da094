"""Parquet files: read a few rows at a time, and written as a directory of parts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from tagsmith.batch.arrow import from_stream, load_pyarrow, to_stream
from tagsmith.batch.chunks import BatchError, Chunk, Place
from tagsmith.batch.jsonl import CHUNK
from tagsmith.batch.output import Kind
from tagsmith.wording import shortened

MAGIC = b"PAR1"
_MOST_ROWS = 1 << 10
"""How many rows are decoded at a time: what is stored once may stand in each of them."""
_ROW_GROUP = 16 << 20
"""About how many bytes a row group has before it is compressed."""


class ParquetSource:
    """The rows of one Parquet file."""

    def __init__(self, file: BinaryIO) -> None:
        pyarrow = load_pyarrow()
        try:
            self._file = pyarrow.parquet.ParquetFile(file)
        except pyarrow.ArrowException as error:
            raise BatchError(f"the Parquet file is damaged ({error})") from None
        names = self._file.schema_arrow.names
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise BatchError(f"the Parquet file has two columns '{shortened(twice)}'; rename one")
        self._error = pyarrow.ArrowException
        self._pyarrow = pyarrow

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return int(self._file.metadata.num_rows)

    def chunks(self, start: Place) -> Iterator[Chunk]:
        """The chunks from here on; what is before is passed over.

        Raises:
            BatchError: the file is damaged.
        """
        if not self.rows:
            yield Chunk(to_stream(self._file.schema_arrow.empty_table()), start.row, start)
        groups, passed = self._groups_after(start.offset)
        row, skip = start.row, start.offset - passed
        try:
            for batch in self._file.iter_batches(self._rows_of_chunk(), row_groups=groups):
                left = batch.slice(skip)
                skip = max(skip - batch.num_rows, 0)
                if not left.num_rows:
                    continue
                table = self._pyarrow.Table.from_batches([left])
                step = max(CHUNK * table.num_rows // max(table.nbytes, 1), 1)
                for begin in range(0, table.num_rows, step):
                    piece = table.slice(begin, step)
                    first, row = row, row + piece.num_rows
                    yield Chunk(to_stream(piece), first, Place(row - 1, row))
        except self._error as error:
            raise BatchError(f"row {row}: the Parquet file is damaged ({error})") from None

    def _groups_after(self, offset: int) -> tuple[list[int], int]:
        """The row groups that are not yet read whole, and how many rows stand before them."""
        passed = 0
        for group in range(self._file.num_row_groups):
            rows = self._file.metadata.row_group(group).num_rows
            if passed + rows > offset:
                return list(range(group, self._file.num_row_groups)), passed
            passed += rows
        return [], passed

    def _rows_of_chunk(self) -> int:
        metadata = self._file.metadata
        groups = map(metadata.row_group, range(metadata.num_row_groups))
        size: int = sum(group.total_byte_size for group in groups)
        return max(min(CHUNK * self.rows // max(size, 1), _MOST_ROWS), 1)


class PartsWriter:
    """Writes tables to the parts of a directory, one part for each commit."""

    def __init__(self, directory: Path, parts: int) -> None:
        """Go on behind so many parts; others are removed, as their rows are not counted."""
        self._pyarrow = load_pyarrow()
        self._directory = directory
        self._parts = parts
        self._tables: list[Any] = []
        self._size = 0
        self._file: Any = None
        found = sorted(directory.glob("part-*.parquet"))
        if len(found) < parts:
            raise BatchError(f"{directory}: lacks parts that the last run has left; remove it")
        for path in found[parts:]:
            path.unlink()

    def write(self, data: bytes) -> None:
        """Take a table, as a stream."""
        table = from_stream(data)
        self._tables.append(table)
        self._size += table.nbytes
        if self._size >= _ROW_GROUP:
            self._write_group()

    def commit(self) -> int:
        """Finish the part: how many there are now."""
        self._write_group()
        if self._file is not None:
            self._file.close()
            self._file = None
            self._parts += 1
        return self._parts

    def close(self) -> None:
        """Leave what was not committed."""
        if self._file is not None:
            self._file.close()

    def _write_group(self) -> None:
        if not self._tables:
            return
        table = self._pyarrow.concat_tables(self._tables)
        self._tables, self._size = [], 0
        if self._file is None:
            path = self._directory / f"part-{self._parts:05}.parquet"
            self._file = self._pyarrow.parquet.ParquetWriter(path, table.schema)
        self._file.write_table(table, row_group_size=max(table.num_rows, 1))


PARTS = Kind(PartsWriter, Path.mkdir)
