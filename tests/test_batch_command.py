"""`tagsmith batch`: what it reads and writes, what it reports, and wrong use in one line."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from batch_doubles import InProcess
from batch_rows import FAMILY, READ_OPTIONS, TOOLS, answer, mixed_rows, read_jsonl, write_jsonl
from tagsmith.batch import run
from tagsmith.batch.chunks import BatchError
from tagsmith.batch.output import Start
from tagsmith.cli import main

GOOD = [{"id": n, "output": answer(str(n))} for n in range(3)]


class AllInProcess(InProcess):
    """Never killed."""

    def __init__(self, make: Any, _: int, **others: Any) -> None:
        super().__init__(make, 10_000, **others)


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "Pool", AllInProcess)


@pytest.fixture
def source(tmp_path: Path) -> str:
    return str(write_jsonl(tmp_path / "in.jsonl", GOOD))


def batch(*arguments: str, stdin: str | bytes = "") -> Result:
    return CliRunner().invoke(main, ["batch", *arguments], input=stdin)


def test_workers_read_a_file(source: str, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    done = batch(source, "--family", FAMILY, "--workers", "2", "-o", str(out))
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr == "3 rows: 3 messages, 0 bad rows\n"
    rows = read_jsonl(out)
    assert [(row["id"], row["message"]["content"]) for row in rows] == [
        (0, "0"),
        (1, "1"),
        (2, "2"),
    ]


@pytest.mark.usefixtures("in_process")
def test_standard_input_and_output() -> None:
    given = "".join(json.dumps(row) + "\n" for row in GOOD)
    done = batch("-", "--family", FAMILY, "--as", "openai", stdin=given)
    assert done.exit_code == 0
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["message"]["content"] for row in rows] == ["0", "1", "2"]


@pytest.mark.usefixtures("in_process")
def test_bad_rows_are_told_with_their_place(tmp_path: Path) -> None:
    source, report = write_jsonl(tmp_path / "in.jsonl", mixed_rows(6)), tmp_path / "report.json"
    out = tmp_path / "out.jsonl"
    options = [*READ_OPTIONS, "--report", str(report), "-o", str(out)]
    done = batch(str(source), *options)
    assert done.exit_code == 1
    assert done.stderr.splitlines()[:6] == [
        "6 rows: 4 messages, 2 bad rows",
        "bad rows",
        "  no-family  1",
        "  no-output  1",
        "diagnostics",
        "  truncated  1 in 1 rows",
    ]
    assert f"{source}:6: no-output: column 'output' holds NoneType, not text" in done.stderr
    assert len(read_jsonl(out)) == 6
    found = json.loads(report.read_text())
    assert found["bad_rows"] == {"no-family": 1, "no-output": 1}
    assert [problem["row"] for problem in found["problems"]] == [5, 6]
    as_json = batch(str(source), *READ_OPTIONS, "--format", "json", "-o", str(tmp_path / "2.jsonl"))
    assert json.loads(as_json.stderr) == found


@pytest.mark.usefixtures("in_process")
def test_a_run_may_stop_at_a_bad_row(tmp_path: Path) -> None:
    source, report = tmp_path / "in.jsonl", tmp_path / "report.json"
    write_jsonl(source, [*GOOD, {"id": 4}, *GOOD])
    options = ["--on-bad-row", "stop", "--report", str(report)]
    done = batch(str(source), "--family", FAMILY, *options)
    assert done.exit_code == 1
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [0, 1, 2]
    told = json.loads(report.read_text())
    assert (told["rows"], told["bad_rows"]) == (4, {"no-output": 1})
    assert done.stderr.startswith(f"{source}:4: no-output: no column 'output'; the row has: id;")


@pytest.mark.usefixtures("in_process")
def test_half_a_surrogate_pair_in_a_report(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text('{"\\ud800": "x"}\n')
    report = tmp_path / "report.json"
    done = batch(str(tmp_path / "in.jsonl"), "--family", FAMILY, "--report", str(report))
    assert done.exit_code == 1
    [problem] = json.loads(report.read_text())["problems"]
    assert problem["message"] == "no column 'output'; the row has: \ud800"


def test_a_stream_that_is_closed_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdin", None)
        patch.setattr(sys, "stdout", None)
        with pytest.raises(BatchError, match="standard input is closed"), run.open_input("-"):
            pass
        with (
            pytest.raises(BatchError, match="standard output is closed"),
            run.open_output("-", Start.ANEW, {}),
        ):
            pass


@pytest.mark.usefixtures("in_process")
def test_a_column_that_no_row_has_is_told(source: str) -> None:
    done = batch(source, "--family", FAMILY, "--read", "tools=functions")
    assert done.exit_code == 1
    assert done.stderr.endswith("in.jsonl: no row has a column 'functions'; check --read\n")


@pytest.mark.usefixtures("in_process")
def test_tools_for_all_rows_and_a_family_file(tmp_path: Path) -> None:
    family, tools = tmp_path / "mine.yaml", tmp_path / "tools.json"
    family.write_text("tagsmith: 1\nid: mine\nextends: qwen3-coder\n")
    tools.write_text(json.dumps(TOOLS))
    call = "<tool_call>\n<function=f>\n<parameter=a>\n5\n</parameter>\n</function>\n</tool_call>"
    source = write_jsonl(tmp_path / "in.jsonl", [{"text": call}])
    options = ["--column", "text", "--into", "said", "--tools", str(tools)]
    done = batch(str(source), "--family", "mine", "--families", str(family), *options)
    assert done.exit_code == 0, done.stderr
    [row] = map(json.loads, done.stdout.splitlines())
    assert row["said"]["tool_calls"][0]["arguments"] == '{"a": 5}'


@pytest.mark.usefixtures("in_process")
def test_a_finished_run_is_not_begun_again(source: str, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    assert batch(source, "--family", FAMILY, "-o", str(out), "--resume").exit_code == 0
    before = out.read_bytes()
    again = batch(source, "--family", FAMILY, "-o", str(out), "--resume")
    assert (again.exit_code, again.stderr) == (
        0,
        f"{out}: is there already; nothing is left to do\n",
    )
    refused = batch(source, "--family", FAMILY, "-o", str(out))
    assert refused.exit_code == 2
    assert "is there already; remove it" in refused.stderr
    assert out.read_bytes() == before


@pytest.mark.usefixtures("in_process")
def test_a_device_takes_the_output(source: str) -> None:
    done = batch(source, "--family", FAMILY, "-o", "/dev/null")
    assert (done.exit_code, done.stderr) == (0, "3 rows: 3 messages, 0 bad rows\n")


@pytest.mark.usefixtures("in_process")
def test_an_empty_input_has_no_rows(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").touch()
    for name in ("out.jsonl", "out.parquet"):
        done = batch(str(tmp_path / "in.jsonl"), "--family", FAMILY, "-o", str(tmp_path / name))
        assert (done.exit_code, done.stderr) == (0, "0 rows: 0 messages, 0 bad rows\n")
        assert (tmp_path / name).exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["SOURCE"], "family: give a family, or read it of each row"),
        (["SOURCE", "--family", "cohere-comand-a"], "no family answers to 'cohere-comand-a'"),
        (["SOURCE", "--family", FAMILY, "--families", "no.yaml"], "no such file"),
        (["SOURCE", "--family", FAMILY, "--read", "text"], "--read text: give one of family, "),
        (["SOURCE", "--family", FAMILY, "--read", "tools="], "--read tools=: give one of family, "),
        (["SOURCE", "--family", FAMILY, "--into", "error"], "--into: the column 'error'"),
        (["SOURCE", "--family", FAMILY, "--into", "diagnostics"], "the column 'diagnostics'"),
        (["SOURCE", "--family", FAMILY, "--report", "SOURCE"], "--report: "),
        (["SOURCE", "--family", FAMILY, "--report", "new", "-o", "new"], "--report: new is"),
        (["SOURCE", "--family", FAMILY, "--resume", "-o", "SOURCE"], "--output: "),
        (["SOURCE", "--family", FAMILY, "--resume", "-o", "DIRECTORY"], "is a directory"),
        (["SOURCE", "--family", FAMILY, "--resume", "-o", "FILE.parquet"], "no directory of"),
        (["SOURCE", "--family", FAMILY, "--report", "DIRECTORY"], "Is a directory"),
        (["SOURCE", "--family", FAMILY, "--resume"], "nothing can go on from a stream"),
        (["SOURCE", "--family", FAMILY, "--workers", "0"], "--workers"),
        (["SOURCE", "--family", FAMILY, "--tools", "SOURCE"], "not JSON"),
        (["SOURCE", "--family", FAMILY, "-o", "no/such/out.jsonl"], "No such file"),
        (["SOURCE", "--family", FAMILY, "--report", "no/such/r.json"], "No such file"),
        (["no.jsonl", "--family", FAMILY], "no.jsonl: No such file"),
        (["GZIP", "--family", FAMILY], "zcat"),
        (["-", "--family", FAMILY, "--tools", "-"], "--tools: standard input is the input"),
    ],
)
@pytest.mark.usefixtures("in_process")
def test_wrong_use_is_told_in_one_line(
    arguments: list[str], told: str, source: str, tmp_path: Path
) -> None:
    (tmp_path / "in.gz").write_bytes(b"\x1f\x8b\x08\0")
    (tmp_path / "x.parquet").touch()
    names = {
        "SOURCE": source,
        "GZIP": str(tmp_path / "in.gz"),
        "DIRECTORY": str(tmp_path),
        "FILE.parquet": str(tmp_path / "x.parquet"),
    }
    done = batch(*(names.get(word, word) for word in arguments))
    assert (done.exit_code, done.stdout) == (2, "")
    assert told in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.usefixtures("in_process")
def test_without_pyarrow_only_parquet_is_missing(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("pyarrow", "pyarrow.parquet"):
        monkeypatch.setitem(sys.modules, name, None)
    done = batch(source, "--family", FAMILY, "-o", str(tmp_path / "out.parquet"))
    assert done.exit_code == 2
    assert "pip install 'tagsmith[parquet]'" in done.stderr
    assert batch(source, "--family", FAMILY).exit_code == 0


def test_help_has_an_example() -> None:
    assert "tagsmith batch outputs.jsonl --family" in batch("--help").stdout
