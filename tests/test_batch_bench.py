"""`tagsmith bench --batch`: what is measured is what it says. Never how long it takes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tagsmith.batch.chunks import Chunk, Place
from tagsmith.bench import batch
from tagsmith.bench.batch import (
    KINDS,
    BatchReport,
    Cost,
    PeakMemory,
    mixed_rows,
    rewrite,
    write_rows,
)
from tagsmith.cli import main
from tagsmith.registry import default_registry

NAMES = ("cohere-command-a", "qwen3-coder", "gpt-oss")
REPORT = BatchReport(
    machine={"cpu": "A", "cores": 2, "system": "S"},
    versions={},
    families=3,
    rows=5,
    size=20_000_000,
    workers=2,
    rewriting=Cost(2.0, 3.0),
    parsing=Cost(9.0, 12.0),
    memory=[PeakMemory(2_000_000, 50_000_000, 40_000_000)],
)


def test_the_mix_has_every_kind_and_is_read_as_it_was_meant() -> None:
    families = [default_registry().get(name) for name in NAMES]
    rows = mixed_rows(families)
    assert len(rows) == 3 * len(KINDS) - 2
    cited = 0
    for row in rows:
        request = {name: row[name] for name in ("tools", "documents") if name in row}
        message = default_registry().get(row["family"]).parse(row["output"], **request)
        assert message.diagnostics == ()
        assert bool(message.tool_calls) == ("tools" in row)
        assert bool(message.citations) == ("documents" in row)
        cited += len(message.citations)
    assert cited > 1


def test_the_file_is_of_the_size(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    count = write_rows(path, [default_registry().get(NAMES[0])], 50_000)
    assert 50_000 <= path.stat().st_size < 70_000
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert [row["id"] for row in rows] == list(range(1, count + 1))


def test_rewriting_reads_and_writes_every_line() -> None:
    done = rewrite(Chunk(b'{"a":1}\n{"b": "\xc3\xa9"}\n', 1, Place()))
    assert done.data == b'{"a": 1}\n{"b": "\\u00e9"}\n'
    assert done.tally.rows == 2


def test_the_report_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def measured(*given: object) -> BatchReport:
        asked.append(given)
        return REPORT

    monkeypatch.setattr(batch, "measure_batch", measured)
    done = CliRunner().invoke(main, ["bench", "--batch", "20", "--workers", "3"])
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert lines[1] == "20 MB, 5 outputs of 3 families, 2 workers"
    assert lines[5].split("  ")[0] == "parsed"
    assert lines[5].split()[1:] == ["9.0", "2.2", "4.50", "12.0", "4.00"]
    assert lines[-1].endswith("at the peak 50 MB in the parent, 40 MB in the largest worker")
    [(families, size, workers)] = asked
    assert (size, workers) == (20_000_000, 3)
    assert isinstance(families, list)
    assert len(families) == len(default_registry().ids())
    as_json = CliRunner().invoke(main, ["bench", "--batch", "20", "--format", "json"])
    assert json.loads(as_json.stdout)["ratio"] == 4.5


def test_a_family_is_needed_where_one_is_measured() -> None:
    done = CliRunner().invoke(main, ["bench"])
    assert done.exit_code == 2
    assert "--family: give a family, or --batch for all of them" in done.stderr
