"""Rows of an Arrow table: the columns that are read become messages, the others stay as they are.

The new columns are text: `message` and, of a bad row, `error` hold JSON, so that a table's types
never depend on its data. `diagnostics` lists the codes of what was not as the family says.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tagsmith.batch.chunks import Chunk
from tagsmith.batch.jsonl import kept_columns, to_json
from tagsmith.batch.options import DIAGNOSTICS, ERROR, ROW, RowOptions
from tagsmith.batch.rows import Row, RowReader
from tagsmith.batch.shapes import SHAPES
from tagsmith.batch.tally import Tally
from tagsmith.errors import MissingDependencyError
from tagsmith.message import Message

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(slots=True)
class Cells:
    """What stands in the new columns of one row; `number` says which it is."""

    number: int
    row: bytes | None = None
    message: bytes | None = None
    error: bytes | None = None
    codes: tuple[str, ...] = ()


class CellWriter:
    """Writes rows as cells of the new columns; of the others nothing, unless `with_row`."""

    def __init__(self, options: RowOptions, *, with_row: bool = False) -> None:
        self._options = options
        self._shape = SHAPES[options.shape]
        self._with_row = with_row

    def message(self, number: int, row: dict[str, Any], message: Message) -> Cells:
        """The cells of a row that was read."""
        codes = tuple(found.code.value for found in message.diagnostics)
        return Cells(number, self._row(row), to_json(self._shape(message)), codes=codes)

    def error(self, number: int, row: dict[str, Any], error: dict[str, Any]) -> Cells:
        """The cells of a bad row; where it stands says which it is."""
        told = {"code": error["code"], "message": error["message"]}
        return Cells(number, self._row(row), error=to_json(told))

    def _row(self, row: dict[str, Any]) -> bytes | None:
        return to_json(kept_columns(row, self._options)) if self._with_row else None


def convert_table(
    table: pa.Table,
    rows: Iterable[tuple[int, Row]],
    reader: RowReader,
    first: int,
    tally: Tally,
) -> pa.Table:
    """The table with messages in place of its outputs.

    Parameters: `rows` are the table's, from `read_table`; `first` is the number of the first.
    """
    import pyarrow as pa

    options = reader.options
    cells = list(reader.convert(rows, CellWriter(options), tally))
    if len(cells) < table.num_rows:
        table = table.take(pa.array([cell.number - first for cell in cells], pa.int64()))
    new = cells_table(cells, options.into)
    kept = options.keep
    if kept is None:
        kept = [name for name in table.column_names if name != options.column]
    held = set(table.column_names) - set(new.column_names)
    table = table.select([name for name in dict.fromkeys(kept) if name in held])
    for name in new.column_names:
        table = table.append_column(name, new.column(name))
    return table


def cells_table(cells: list[Cells], into: str, *, with_row: bool = False) -> pa.Table:
    """The new columns, of the same types whatever they hold."""
    import pyarrow as pa

    columns = {
        into: pa.array([cell.message for cell in cells], pa.string()),
        ERROR: pa.array([cell.error for cell in cells], pa.string()),
        DIAGNOSTICS: pa.array([cell.codes for cell in cells], pa.list_(pa.string())),
    }
    if with_row:
        columns = {ROW: pa.array([cell.row for cell in cells], pa.string()), **columns}
    return pa.table(columns)


def read_table(table: pa.Table, options: RowOptions, first: int) -> Iterator[tuple[int, Row]]:
    """The rows of a table with their numbers, as far as they are read."""
    wanted = dict.fromkeys((options.column, *options.read.values()))
    if options.column not in table.column_names:  # What there is instead is told of each row.
        wanted = dict.fromkeys(table.column_names)
    yield from _rows(table.select([name for name in wanted if name in table.column_names]), first)


def read_whole_table(table: pa.Table, first: int) -> Iterator[tuple[int, Row]]:
    """The rows of a table with their numbers, every column of them."""
    yield from _rows(table, first)


def _rows(table: pa.Table, first: int) -> Iterator[tuple[int, Row]]:
    names = table.column_names
    columns = [_values(column) for column in table.columns]
    for index in range(table.num_rows):
        values = (_without_nulls(column[index]) for column in columns)
        yield first + index, dict(zip(names, values, strict=True))


def _values(column: pa.ChunkedArray) -> list[Any]:
    """The values of a column; times are text, as Python has neither nanoseconds nor far years."""
    shown = _shown(column.type)
    return (column if shown == column.type else column.cast(shown)).to_pylist()  # type: ignore[no-any-return]


def _shown(kind: pa.DataType) -> pa.DataType:
    """The type of a column, with text in place of times, however deep they are."""
    import pyarrow as pa

    types = pa.types
    if types.is_temporal(kind) and not types.is_interval(kind):
        return pa.string()
    if types.is_dictionary(kind) and types.is_temporal(kind.value_type):
        return pa.string()
    if types.is_struct(kind):
        return pa.struct([field.with_type(_shown(field.type)) for field in kind])
    if types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_shown(kind.value_type)))
    if types.is_large_list(kind):
        return pa.large_list(kind.value_field.with_type(_shown(kind.value_type)))
    if types.is_fixed_size_list(kind):
        return pa.list_(kind.value_field.with_type(_shown(kind.value_type)), kind.list_size)
    if types.is_map(kind):
        return pa.map_(_shown(kind.key_type), _shown(kind.item_type))
    return kind


def _without_nulls(value: Any) -> Any:
    """A value as it was before Arrow gave all objects of a column the same keys."""
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    return value


def to_stream(table: pa.Table) -> bytes:
    """A table as bytes, for another process."""
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    found: bytes = sink.getvalue().to_pybytes()
    return found


def from_stream(data: bytes) -> pa.Table:
    """The table that these bytes are."""
    import pyarrow as pa

    return pa.ipc.open_stream(data).read_all()


def split_table(chunk: Chunk) -> list[Chunk]:
    """The chunk in two, or itself alone where it is one row."""
    table = from_stream(chunk.data)
    if table.num_rows < 2:
        return [chunk]
    half = table.num_rows // 2
    first, second = to_stream(table.slice(0, half)), to_stream(table.slice(half))
    return [Chunk(first, chunk.row, chunk.end), Chunk(second, chunk.row + half, chunk.end)]


def load_pyarrow() -> Any:
    """The library.

    Raises:
        MissingDependencyError: it is not installed.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingDependencyError(
            "Parquet needs pyarrow; run: pip install 'tagsmith[parquet]'"
        ) from None
    return pyarrow
