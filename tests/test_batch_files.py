"""Files in and out: lines and Parquet read from any place, and output that a run goes on from."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from batch_doubles import InProcess
from batch_rows import FAMILY, TOOLS, answer, mixed_rows, read_jsonl, write_jsonl
from tagsmith.batch import jsonl, parquet, run
from tagsmith.batch import rows as batch_rows_module
from tagsmith.batch.arrow import convert_table, from_stream, read_table, split_table, to_stream
from tagsmith.batch.chunks import BatchError, Chunk, Place, Result
from tagsmith.batch.jsonl import LineSource
from tagsmith.batch.options import RowOptions
from tagsmith.batch.output import LINES, FileOutput, Start
from tagsmith.batch.parquet import ParquetSource, PartsWriter
from tagsmith.batch.rows import RowReader
from tagsmith.batch.run import StoppedError, open_input, open_output, sink_format, steps
from tagsmith.batch.tally import Tally
from tagsmith.batch.work import Conversion, Format
from tagsmith.registry import default_registry

READ = {"family": "family", "tools": "tools", "documents": "documents"}


class Unseekable(io.BytesIO):
    """As standard input is, where it is a pipe."""

    def seekable(self) -> bool:
        return False

    def seek(self, *_: Any) -> int:
        raise OSError("not seekable")


def numbered(chunks: list[Chunk]) -> list[tuple[int, bytes]]:
    """The lines of chunks with their numbers."""
    return [
        (number, line.rstrip(b"\r"))
        for chunk in chunks
        for number, line in enumerate(chunk.data.split(b"\n"), chunk.row)
        if line.strip()
    ]


TEXTS = {
    b"": [],
    b"\n\n": [],
    b"{}": [(1, b"{}")],
    b"a\nbb\n\nccc": [(1, b"a"), (2, b"bb"), (4, b"ccc")],
    b"\xef\xbb\xbfa\r\n\r\nb\r\n": [(1, b"a"), (3, b"b")],
    b"a" * 50 + b"\n" + b"b" * 9 + b"\n\xef\xbb\xbfc\n": [
        (1, b"a" * 50),
        (2, b"b" * 9),
        (3, b"\xef\xbb\xbfc"),
    ],
}


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("kind", [io.BytesIO, Unseekable])
def test_lines_are_read_from_every_place(
    kind: type[io.BytesIO], text: bytes, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jsonl, "CHUNK", size)
    chunks = list(LineSource(kind(text)).chunks(Place()))
    assert numbered(chunks) == TEXTS[text]
    assert chunks[-1].end.offset == len(text)
    for number, chunk in enumerate(chunks):
        rest = list(LineSource(kind(text)).chunks(chunk.end))
        if chunk.end != Place():
            assert numbered(rest) == numbered(chunks[number + 1 :])


@pytest.mark.parametrize("size", [5, 13, 100])
def test_of_a_line_that_is_too_long_only_that_is_kept(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jsonl, "CHUNK", size)
    monkeypatch.setattr(jsonl, "MAX_LINE", 20)
    text = b'{"n":1}\n' + b"x" * 1000 + b'\n{"n":2}\n' + b"y" * 500
    chunks = list(LineSource(io.BytesIO(text)).chunks(Place()))
    rows = [row for chunk in chunks for row in jsonl.read_lines(chunk)]
    told = [(number, row if isinstance(row, dict) else row.fault.value) for number, row in rows]
    assert told == [(1, {"n": 1}), (2, "too-long"), (3, {"n": 2}), (4, "too-long")]
    assert chunks[-1].end.offset == len(text)
    if size < 100:
        assert max(len(chunk.data) for chunk in chunks) < 60


def test_what_cannot_be_read_as_lines() -> None:
    with pytest.raises(BatchError, match="zcat"):
        list(LineSource(io.BytesIO(b"\x1f\x8b\x08\0")).chunks(Place()))
    with pytest.raises(BatchError, match="ends before"):
        list(LineSource(Unseekable(b"a\n")).chunks(Place(10, 2)))


def table_of(rows: list[dict[str, Any]]) -> pa.Table:
    names = dict.fromkeys(name for row in rows for name in row)
    return pa.Table.from_pylist([{name: row.get(name) for name in names} for row in rows])


@pytest.fixture(autouse=True)
def one_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """The families are loaded once, not for each reader."""
    monkeypatch.setattr(batch_rows_module, "load_registry", lambda _: default_registry())


def convert(table: pa.Table, **options: Any) -> tuple[pa.Table, Tally]:
    reader, tally = RowReader(RowOptions(**options)), Tally()
    rows = read_table(table, reader.options, 1)
    return convert_table(table, rows, reader, 1, tally), tally


def test_a_table_keeps_its_columns_and_their_types() -> None:
    table = table_of(mixed_rows(6))
    table = table.append_column("at", pa.array([1] * 6, pa.timestamp("ns")))
    found, tally = convert(table, read=READ)
    kept = ["id", "family", "documents", "tools", "at"]
    assert sorted(found.column_names[:-3]) == sorted(kept)
    assert found.column_names[-3:] == ["message", "error", "diagnostics"]
    for name in kept:
        assert found.column(name).equals(table.column(name))
    assert [code for codes in found.column("diagnostics").to_pylist() for code in codes] == [
        "truncated"
    ]
    assert (tally.rows, tally.bad) == (6, 2)
    dropped, _ = convert(table, read=READ, on_bad_row="drop", keep=["id"])
    assert dropped.column("id").to_pylist() == [0, 1, 2, 3]
    assert dropped.column_names == ["id", "message", "error", "diagnostics"]
    empty, _ = convert(table.slice(0, 0), read=READ)
    assert empty.schema == found.schema


def test_objects_of_a_column_are_read_as_they_were_before_arrow() -> None:
    """Arrow gives all objects the keys of each; those that are null were not there."""
    other = [
        {"name": "g", "parameters": {"type": "object", "properties": {"b": {"type": "string"}}}}
    ]
    call = "<tool_call>\n<function=f>\n<parameter=a>\n5\n</parameter>\n</function>\n</tool_call>"
    rows = [{"output": call, "tools": TOOLS}, {"output": call, "tools": other}]
    found, _ = convert(table_of(rows), family="qwen3-coder", read={"tools": "tools"})
    messages = [json.loads(text) for text in found.column("message").to_pylist()]
    assert messages[0]["tool_calls"][0]["arguments"] == '{"a": 5}'
    assert messages[0]["diagnostics"] == []
    assert messages[1]["diagnostics"][0]["code"] == "unknown-tool"


def test_a_column_of_null_is_there_and_is_null() -> None:
    table = table_of([{"output": answer("Hi"), "id": None, "tools": None}])
    options = RowOptions(family=FAMILY, read={"tools": "tools"})
    result = Conversion(options, Format.PARQUET, Format.JSONL)(Chunk(to_stream(table), 1, Place()))
    assert list(json.loads(result.data)) == ["id", "tools", "message"]
    assert not result.tally.has_problems


def test_what_a_table_has_instead_of_the_output_is_told() -> None:
    _, tally = convert(table_of([{"text": "Hi", "id": 5}]), family=FAMILY)
    assert tally.problems[0].message == "no column 'output'; the row has: text, id"


TIME = pa.timestamp("ns")


@pytest.mark.parametrize(
    ("kind", "value", "shown"),
    [
        (pa.list_(TIME), [1], ["1970-01-01 00:00:00.000000001"]),
        (pa.large_list(TIME), [1], ["1970-01-01 00:00:00.000000001"]),
        (pa.list_(TIME, 1), [1], ["1970-01-01 00:00:00.000000001"]),
        (pa.struct({"a": pa.list_(pa.date32())}), {"a": [1]}, {"a": ["1970-01-02"]}),
        (pa.map_(pa.string(), TIME), [("k", 1)], [["k", "1970-01-01 00:00:00.000000001"]]),
        (pa.duration("ns"), 1, "1"),
        (pa.timestamp("ms"), 10**15, "<value out of range: 1000000000000000>"),
        (pa.month_day_nano_interval(), (1, 2, 3), [1, 2, 3]),
        (pa.dictionary(pa.int8(), pa.string()), "x", "x"),
        (pa.binary(), b"\xff", "/w=="),
    ],
)
def test_types_that_json_has_not(kind: pa.DataType, value: Any, shown: Any) -> None:
    table = pa.table({"output": [answer("Hi")] * 2, "a": pa.array([value, None], kind)})
    work = Conversion(RowOptions(family=FAMILY), Format.PARQUET, Format.JSONL)
    result = work(Chunk(to_stream(table), 1, Place()))
    assert [json.loads(line)["a"] for line in result.data.splitlines()] == [shown, None]
    kept, _ = convert(table, family=FAMILY, read={"documents": "a"}, keep=["a", "a"])
    assert kept.column_names == ["a", "message", "error", "diagnostics"]
    assert kept.column("a").equals(table.column("a"))


def test_columns_of_one_name_are_told(tmp_path: Path) -> None:
    path = tmp_path / "in.parquet"
    pq.write_table(pa.table([pa.array(["x"])] * 2, names=["a", "a"]), path)
    with pytest.raises(BatchError, match="two columns 'a'; rename one"), open_input(str(path)):
        pass


def test_what_is_stored_once_for_many_rows_makes_no_large_chunks(tmp_path: Path) -> None:
    path = tmp_path / "in.parquet"
    pq.write_table(pa.table({"output": ["x" * 10_000] * 5000}), path)
    assert path.stat().st_size < 100_000
    with path.open("rb") as file:
        chunks = list(ParquetSource(file).chunks(Place()))
    assert max(len(chunk.data) for chunk in chunks) < 2 * parquet.CHUNK
    assert chunks[-1].end == Place(5000, 5001)


def test_tables_are_cut_in_halves() -> None:
    chunk = Chunk(to_stream(table_of([{"n": n} for n in range(3)])), 5, Place(8, 8))
    halves = split_table(chunk)
    assert [half.row for half in halves] == [5, 6]
    assert [from_stream(half.data).column("n").to_pylist() for half in halves] == [[0], [1, 2]]
    assert split_table(halves[0]) == halves[:1]


@pytest.fixture
def parquet_file(tmp_path: Path) -> Path:
    path = tmp_path / "in.parquet"
    pq.write_table(table_of([{"n": n} for n in range(100)]), path, row_group_size=17)
    return path


@pytest.mark.parametrize("size", [1, 40, 1 << 20])
def test_parquet_is_read_from_every_place(
    parquet_file: Path, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet, "CHUNK", size)

    def numbers(start: Place) -> list[list[int]]:
        with parquet_file.open("rb") as file:
            chunks = list(ParquetSource(file).chunks(start))
        rows = [from_stream(chunk.data).column("n").to_pylist() for chunk in chunks]
        assert [row[0] + 1 for row in rows] == [chunk.row for chunk in chunks]
        return rows

    for start in (0, 1, 16, 17, 18, 99, 100):
        rows = numbers(Place(start, start + 1))
        assert [n for chunk in rows for n in chunk] == list(range(start, 100))


def test_parquet_that_is_damaged(parquet_file: Path) -> None:
    parquet_file.write_bytes(parquet_file.read_bytes()[:-20])
    with pytest.raises(BatchError, match="damaged"), open_input(str(parquet_file)):
        pass


def test_parts_go_on_behind_those_that_count(tmp_path: Path) -> None:
    directory = tmp_path / "out.parquet"
    directory.mkdir()
    writer = PartsWriter(directory, 0)
    for n in range(3):
        writer.write(to_stream(table_of([{"n": n}])))
        if n < 2:
            assert writer.commit() == n + 1
    writer._write_group()
    writer.close()
    assert len(list(directory.iterdir())) == 3
    writer = PartsWriter(directory, 1)
    writer.write(to_stream(table_of([{"n": 9}])))
    assert writer.commit() == 2
    assert pq.read_table(directory).column("n").to_pylist() == [0, 9]
    with pytest.raises(BatchError, match="lacks parts"):
        PartsWriter(directory, 3)


def test_one_run_at_a_time_has_an_output(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    first = FileOutput(out, LINES, Start.ANEW, {})
    for start in Start:
        with pytest.raises(BatchError, match=r"another run is writing it|has not ended"):
            FileOutput(out, LINES, start, {})
    first.write(b"{}\n")
    first.close()
    with pytest.raises(BatchError, match="had another input"):
        FileOutput(out, LINES, Start.RESUME, {"input": 5})
    second = FileOutput(out, LINES, Start.RESUME, {})
    second.write(b"[]\n")
    second.finish()
    second.close()
    assert out.read_bytes() == b"[]\n"


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "Pool", InProcess)
    monkeypatch.setattr(os, "fsync", lambda _: None)
    monkeypatch.setattr(jsonl, "CHUNK", 200)
    monkeypatch.setattr(parquet, "CHUNK", 200)


def run_batch(source: Path, out: Path, start: Start, chunks: int, **options: Any) -> Tally:
    """Run, until so many chunks are read."""
    row_options = RowOptions(read=READ, **options)
    with open_input(str(source)) as given:
        agreed = {**row_options.saved(), "input": given.total}
        with open_output(str(out), start, agreed) as output:
            todo = steps(row_options, given.format, sink_format(str(out)))
            return run.run(given, output, todo, chunks, on_bad_row=row_options.on_bad_row)


def rows_of(path: Path) -> list[dict[str, Any]]:
    if path.suffix == ".parquet":
        found: list[dict[str, Any]] = pq.read_table(path).to_pylist()
        return found
    return read_jsonl(path)


@pytest.mark.usefixtures("in_process")
@pytest.mark.parametrize(
    ("read_from", "written_to", "policy", "every"),
    [
        ("jsonl", "jsonl", "keep", 0.0),
        ("jsonl", "jsonl", "drop", 1e9),
        ("jsonl", "parquet", "keep", 0.0),
        ("parquet", "parquet", "drop", 0.0),
        ("parquet", "parquet", "keep", 1e9),
        ("parquet", "jsonl", "drop", 0.0),
    ],
)
def test_a_run_that_was_killed_goes_on(
    read_from: str,
    written_to: str,
    policy: str,
    every: float,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(run, "CHECKPOINT_EVERY", every)
    rows = mixed_rows(60)
    source = tmp_path / f"in.{read_from}"
    if read_from == "jsonl":
        write_jsonl(source, rows)
    else:
        pq.write_table(table_of(rows), source, row_group_size=11)
    whole, out = tmp_path / f"whole.{written_to}", tmp_path / f"out.{written_to}"
    expected = run_batch(source, whole, Start.ANEW, 10_000, on_bad_row=policy)
    start, stops = Start.ANEW, 0
    while not out.exists():
        try:
            found = run_batch(source, out, start, 3 * 4**stops, on_bad_row=policy)
        except KeyboardInterrupt:
            stops += 1
            start = Start.RESUME
            partial = tmp_path / f"{out.name}.partial"
            if partial.is_file():  # A torn line, as a kill leaves it.
                partial.write_bytes(partial.read_bytes() + b'{"id": 1, "mess')
    assert stops >= 2
    assert rows_of(out) == rows_of(whole)
    assert found == expected
    assert {path.name for path in tmp_path.iterdir()} == {source.name, whole.name, out.name}


@pytest.mark.usefixtures("in_process")
def test_what_a_run_does_not_go_on_from(tmp_path: Path) -> None:
    source, out = write_jsonl(tmp_path / "in.jsonl", mixed_rows(60)), tmp_path / "out.jsonl"
    partial, saved = tmp_path / "out.jsonl.partial", tmp_path / "out.jsonl.progress"
    with pytest.raises(KeyboardInterrupt):
        run_batch(source, out, Start.ANEW, 3)
    with pytest.raises(BatchError, match="an earlier run has not ended; give --resume"):
        run_batch(source, out, Start.ANEW, 3)
    with pytest.raises(BatchError, match="had another shape"):
        run_batch(source, out, Start.RESUME, 3, shape="openai")
    write_jsonl(source, mixed_rows(61))
    with pytest.raises(BatchError, match="had another input"):
        run_batch(source, out, Start.RESUME, 3)
    write_jsonl(source, mixed_rows(60))
    progress = json.loads(saved.read_text())
    saved.write_text(json.dumps({**progress, "written": 10_000_000}))
    with pytest.raises(BatchError, match="is shorter than"):
        run_batch(source, out, Start.RESUME, 3)
    saved.write_text("{")
    with pytest.raises(BatchError, match="cannot be read"):
        run_batch(source, out, Start.RESUME, 3)
    saved.unlink()
    partial.write_text("what is of no run")
    with pytest.raises(BatchError, match="to go on by; remove it to begin anew"):
        run_batch(source, out, Start.RESUME, 3)
    assert partial.read_text() == "what is of no run"
    partial.unlink()
    saved.write_text(json.dumps(progress))
    run_batch(source, out, Start.RESUME, 10_000)
    assert len(read_jsonl(out)) == 60
    with pytest.raises(BatchError, match="is there already"):
        run_batch(source, out, Start.ANEW, 10_000)


@pytest.mark.usefixtures("in_process")
def test_a_new_run_forgets_the_progress_of_an_old_one(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    (tmp_path / "out.jsonl.progress").write_text('{"place": [5, 2], "written": 5}')
    output = FileOutput(out, LINES, Start.ANEW, {})
    output.close()
    assert json.loads((tmp_path / "out.jsonl.progress").read_text())["written"] == 0


@pytest.mark.usefixtures("in_process")
def test_a_bad_row_ends_the_run_where_it_is_told_so(tmp_path: Path) -> None:
    source, out = write_jsonl(tmp_path / "in.jsonl", mixed_rows(60)), tmp_path / "out.jsonl"
    with pytest.raises(StoppedError, match="no-family: no family answers"):
        run_batch(source, out, Start.ANEW, 10_000, on_bad_row="stop")
    assert not out.exists()


@pytest.mark.parametrize("source", Format)
@pytest.mark.parametrize("sink", Format)
def test_a_row_that_no_worker_survives_is_written_as_a_bad_one(
    source: Format, sink: Format
) -> None:
    row = {"id": 1, "output": answer("Hi")}
    data = to_stream(table_of([row])) if source is Format.PARQUET else json.dumps(row).encode()
    work = Conversion(RowOptions(family=FAMILY), source, sink)
    found: Result = work.lost(Chunk(data, 7, Place()))
    assert found.tally.bad_rows == {"worker-lost": 1}
    assert found.tally.problems[0].row == 7
    if sink is Format.JSONL:
        error = json.loads(found.data)["error"]
    else:
        [told] = from_stream(found.data).to_pylist()
        error = json.loads(told["error"])
        assert told.get("id", 1) == 1
    assert error["code"] == "worker-lost"


def test_what_parquet_holds_is_written_as_json() -> None:
    columns = {
        "output": pa.array(["Hi"]),
        "ns": pa.array([1], pa.timestamp("ns")),
        "day": pa.array([1], pa.date32()),
        "bytes": pa.array([b"\xff"]),
        "price": pa.array(["1.50"]).cast(pa.decimal128(5, 2)),
        "inner": pa.array([{"a": 1, "b": None}]),
    }
    work = Conversion(RowOptions(family=FAMILY), Format.PARQUET, Format.JSONL)
    row = json.loads(work(Chunk(to_stream(pa.table(columns)), 1, Place())).data)
    assert row.pop("message")["content"] == "Hi"
    assert row == {
        "ns": "1970-01-01 00:00:00.000000001",
        "day": "1970-01-02",
        "bytes": "/w==",
        "price": "1.50",
        "inner": {"a": 1},
    }
