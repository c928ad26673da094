"""`tagsmith.integrations.ray` on a real Ray, on this machine: the same as `tagsmith batch`."""

from __future__ import annotations

import json
import os
import re
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from batch_rows import FAMILY, READ, READ_OPTIONS, answer, mixed_rows, read_jsonl, write_jsonl
from tagsmith.cli import main

pytestmark = [pytest.mark.ray, pytest.mark.filterwarnings("default")]
ROWS = 240


@pytest.fixture(scope="module")
def ray(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    import ray

    tests = str(Path(__file__).parent)
    ray.init(
        num_cpus=2,
        include_dashboard=False,
        _node_ip_address="127.0.0.1",
        object_store_memory=200 << 20,
        log_to_driver=False,
        runtime_env={"env_vars": {"PYTHONPATH": os.pathsep.join([*sys_path(), tests])}},
    )
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield ray
    ray.shutdown()


def sys_path() -> list[str]:
    return [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_jsonl(tmp_path_factory.mktemp("ray") / "in.jsonl", mixed_rows(ROWS))


@pytest.fixture(scope="module")
def on_one_machine(source: Path) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """What `tagsmith batch` makes of the rows, and its report."""
    out, report = source.with_name("out.jsonl"), source.with_name("report.json")
    arguments = ["batch", str(source), "-o", str(out), "--report", str(report), "--workers", "2"]
    done = CliRunner().invoke(main, [*arguments, *READ_OPTIONS])
    assert done.exit_code == 1, done.output
    return read_jsonl(out), json.loads(report.read_text())


def same_rows(found: list[dict[str, Any]], expected: list[dict[str, Any]]) -> None:
    found = sorted(found, key=lambda row: row["id"])
    assert [row["id"] for row in found] == [row["id"] for row in expected]
    for row, other in zip(found, expected, strict=True):
        assert (None if row["message"] is None else json.loads(row["message"])) == other["message"]
        error = other.get("error")
        wanted = None if error is None else (error["code"], error["message"])
        told = None if row["error"] is None else tuple(json.loads(row["error"]).values())
        assert told == wanted


def same_counts(ray_report: dict[str, Any], expected: dict[str, Any]) -> None:
    for count in ("rows", "messages", "bad_rows", "diagnostics"):
        assert ray_report[count] == expected[count], count


def test_results_and_counts_are_those_of_one_machine(
    ray: Any, source: Path, on_one_machine: tuple[list[dict[str, Any]], dict[str, Any]]
) -> None:
    from tagsmith.integrations.ray import ParseOutputs, report

    parsed = (
        ray.data.read_json(str(source))
        .repartition(8)
        .map_batches(ParseOutputs(read=READ), batch_format="pyarrow", batch_size=16)
        .materialize()
    )
    rows, counts = on_one_machine
    same_rows(parsed.take_all(), rows)
    same_counts(report(parsed).to_dict(), counts)


def test_a_worker_that_is_killed_costs_no_row(
    ray: Any,
    source: Path,
    on_one_machine: tuple[list[dict[str, Any]], dict[str, Any]],
    tmp_path: Path,
) -> None:
    from tagsmith.integrations.ray import ParseOutputs, report

    parse = ParseOutputs(read=READ)

    def slowly(batch: Any) -> Any:
        (tmp_path / str(os.getpid())).touch()
        time.sleep(0.3)
        return parse(batch)

    killed: list[int] = []

    def kill_one() -> None:
        while not killed:
            for path in tmp_path.iterdir():
                os.kill(int(path.name), signal.SIGKILL)
                killed.append(int(path.name))
                break
            time.sleep(0.02)

    killer = threading.Thread(target=kill_one, daemon=True)
    killer.start()
    parsed = (
        ray.data.read_json(str(source))
        .repartition(8)
        .map_batches(slowly, batch_format="pyarrow", batch_size=None)
        .materialize()
    )
    killer.join(timeout=5)
    workers = {int(path.name) for path in tmp_path.iterdir()}
    assert len(killed) == 1
    assert workers - set(killed), "other workers have read on"
    rows, counts = on_one_machine
    same_rows(parsed.take_all(), rows)
    same_counts(report(parsed).to_dict(), counts)


def test_family_files_are_read_where_the_rows_are(ray: Any, tmp_path: Path) -> None:
    from tagsmith.integrations.ray import ParseOutputs

    (tmp_path / "mine.yaml").write_text("tagsmith: 1\nid: mine\nextends: cohere-command-a\n")
    step = ParseOutputs(family="mine", families=[str(tmp_path / "mine.yaml")], shape="openai")
    rows = [{"id": n, "output": answer(str(n))} for n in range(10)]
    parsed = ray.data.from_items(rows).map_batches(step, batch_format="pyarrow").take_all()
    contents = {row["id"]: json.loads(row["message"])["content"] for row in parsed}
    assert contents == {n: str(n) for n in range(10)}


def test_the_batch_format_is_told(ray: Any) -> None:
    from tagsmith.integrations.ray import ParseOutputs

    data = ray.data.from_items([{"output": "Hi"}]).map_batches(ParseOutputs(family=FAMILY))
    with pytest.raises(Exception, match="batch_format"):
        data.take_all()


def test_the_snippet_of_the_docs_runs(ray: Any, tmp_path: Path) -> None:
    page = (Path(__file__).parent.parent / "docs/batch.md").read_text(encoding="utf-8")
    [snippet] = re.findall(r"^```py\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    rows = [{"id": n, "text": answer(str(n)), "model": FAMILY, "tools": None} for n in range(4)]
    ray.data.from_items(rows).write_parquet(str(tmp_path / "outputs"))
    exec(snippet.replace("s3://logs", str(tmp_path)), {})
    written = ray.data.read_parquet(str(tmp_path / "messages")).take_all()
    contents = {row["id"]: json.loads(row["message"])["content"] for row in written}
    assert contents == {n: str(n) for n in range(4)}
