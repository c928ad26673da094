"""`tagsmith bench`: what it measures, and that it is what it says. Never how long it takes."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner, Result

import tagsmith
from tagsmith.bench import contenders, measure, tags
from tagsmith.bench import report as reporting
from tagsmith.bench.contenders import NotMeasuredError, VllmNames, melody_text
from tagsmith.bench.measure import Task, measure_memory
from tagsmith.bench.report import QUICK, Report, run
from tagsmith.bench.tags import measure_tags, vllm_converter
from tagsmith.bench.tools import ToolSet, make_tools
from tagsmith.bench.workload import (
    CHARACTERS_PER_TOKEN,
    TOOLS,
    Parts,
    WorkloadError,
    is_meant,
    parts_of,
    prose,
    write,
)
from tagsmith.cli import main
from tagsmith.errors import MissingDependencyError
from tagsmith.family import Family
from tagsmith.testing.writing import WritingError

FAMILY = "cohere-command-a"
FAMILIES = [found.spec.id for found in tagsmith.load_registry().families()]
NAMES = VllmNames("a", "b")
TAG_FIGURES = [
    "tag, new schemas",
    "tag, known schemas",
    "tag, equal request",
    "its text, equal request",
]
VLLM_MODULES = ("vllm.entrypoints.openai.chat_completion.protocol", "vllm.parser.parser_manager")


def bench(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["bench", *arguments])


def quick_report(vllm: VllmNames | None = None) -> Report:
    return run(tagsmith.get_family(FAMILY), QUICK, vllm)


def test_json_has_every_figure() -> None:
    done = bench("--family", FAMILY, "--quick", "--format", "json")
    assert (done.exit_code, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert found["family"] == FAMILY
    assert found["rounds"] == 1
    assert set(found["machine"]) == {"cpu", "cores", "system"}
    assert set(found["versions"]) == {"python", "tagsmith", "cohere-melody", "vllm", "xgrammar"}
    assert {figure["name"]: figure["unit"] for figure in found["figures"]} == {
        "floor": "µs/delta",
        "cohere-melody": "µs/delta",
        "events": "µs/delta",
        "chunks": "µs/delta",
        "parse at once": "ms",
        "40 argument tokens, events": "µs/token",
        "40 argument tokens, parse at once": "µs/token",
        "80 argument tokens, events": "µs/token",
        "80 argument tokens, parse at once": "µs/token",
    }
    for figure in found["figures"]:
        assert figure["median"] >= figure["best"] > 0
    against = {figure["name"]: set(figure["against"]) for figure in found["figures"]}
    assert against["events"] == against["chunks"] == {"floor", "cohere-melody"}
    assert against["parse at once"] == set()
    assert set(found["memory"]) == {"answer", "peak_above_answer", "resident_growth"}
    assert found["workload"]["reasoning_tokens"] == 1500
    assert found["not_measured"] == {}
    assert [tags["tool_set"] for tags in found["tags"]] == ["alike", "different"]
    for measured in found["tags"]:
        assert measured["tools"] == QUICK.tools
        assert [figure["name"] for figure in measured["building"]] == TAG_FIGURES
        assert [figure["name"] for figure in measured["compiling"]] == ["tag, compiled"]
        assert set(measured["sizes"]) == {"tag"}


def test_text_has_a_table() -> None:
    done = bench("--family", FAMILY, "--quick", "--rounds", "2")
    assert (done.exit_code, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == f"{FAMILY}, rounds: 2"
    head, *tables = [line for line in lines if line.startswith("MEASURED")]
    assert len(tables) == len(ToolSet)
    assert head.split("  ")[-1] == "X COHERE-MELODY"
    for name in ("floor", "cohere-melody", "events", "chunks", "parse at once"):
        assert any(line.startswith(name) for line in lines)
    assert any(line.startswith("streaming an answer of 0.0") for line in lines)
    for tool_set in ToolSet:
        assert any(line.startswith(f"structural tag of 3 {tool_set} tools, tag ") for line in lines)
    assert lines[-1].startswith("tag, compiled")


@pytest.mark.parametrize("given", ["qwen3", "qwen3,", ""])
def test_two_names_are_needed_of_vllm(given: str) -> None:
    done = bench("--family", FAMILY, "--quick", "--vllm", given)
    assert done.exit_code == 2
    assert "two names" in done.stderr


def test_help_has_an_example() -> None:
    assert "tagsmith bench --family" in bench("--help").stdout


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize(
    "sizes",
    [
        {"reasoning": 40, "content": 20, "arguments": 60},
        {"reasoning": 10, "content": 20},
        {"arguments": 60},
    ],
    ids=lambda sizes: "-".join(sizes),
)
def test_an_output_of_every_family_is_read_as_it_was_meant(
    name: str, sizes: dict[str, int]
) -> None:
    family = tagsmith.get_family(name)
    workload = write(family, parts_of(**sizes))
    assert "".join(workload.deltas) == workload.text
    assert {len(delta) for delta in workload.deltas[:-1]} == {CHARACTERS_PER_TOKEN}
    parser = family.parser(tools=TOOLS)
    for delta in workload.deltas:
        parser.feed(delta)
    parser.finish("stop")
    assert is_meant(parser.message, workload.parts)
    assert not parser.message.diagnostics


def test_parts_have_their_sizes() -> None:
    for tokens in (1, 4, 250):
        assert len(prose(tokens)) in range(tokens * CHARACTERS_PER_TOKEN - 3, tokens * 4 + 1)
        assert prose(tokens) == prose(tokens).strip()
    assert prose(0) == ""
    parts = parts_of(reasoning=30, arguments=500)
    assert (len(parts.reasoning), parts.content) == (120, "")
    assert len(json.dumps(parts.arguments)) == pytest.approx(2000, abs=60)


def changed(**update: Any) -> Family:
    spec = tagsmith.get_family(FAMILY).spec
    return Family(spec.model_copy(update=update))


def test_what_cannot_be_written_is_told() -> None:
    with pytest.raises(WritingError, match="no tool calls"):
        write(changed(tool_calls=None), parts_of(arguments=60))


def test_what_is_read_otherwise_is_not_measured() -> None:
    tokens = tagsmith.get_family(FAMILY).spec.tokens
    hiding = changed(tokens=tokens.model_copy(update={"hidden": ("harbour",)}))
    with pytest.raises(WorkloadError, match="not read as it was meant"):
        write(hiding, parts_of(content=10))


def test_tasks_are_timed_in_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    baselines = {"base": "the base"}
    ran: list[str] = []

    def task(name: str, *seconds: float) -> Task:
        times = iter((0.0, *seconds))

        def work() -> None:
            nonlocal now
            ran.append(name)
            now += next(times)

        return Task(name, "s", scale=1, count=10, run=work, baseline=baselines.get(name))

    monkeypatch.setattr(measure, "perf_counter", lambda: now)
    tasks = [task("base", 10, 20, 10), task("other", 30, 20, 20), task("third", 1, 1, 1)]
    base, other, _ = measure.measure(tasks, rounds=3)
    assert ran == ["base", "other", "third"] * 4
    assert (base.best, base.median, base.against) == (1.0, 1.0, {})
    assert (other.best, other.median) == (2.0, 2.0)
    assert other.against == {"the base": 2.0}, "the median of 3, 1 and 2 times"


def test_figures_of_other_units_are_not_compared() -> None:
    base = measure.microseconds("base", "delta", 1, int, baseline="base")
    other = measure.milliseconds("other", int, baseline="base")
    assert [figure.against for figure in measure.measure([base, other], rounds=1)] == [{}, {}]


def test_memory_is_that_of_a_streamed_answer() -> None:
    memory = measure_memory(tagsmith.get_family(FAMILY), 30_000)
    assert memory.answer == pytest.approx(30_000, abs=5_000)


def test_without_melody_the_rest_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent() -> Any:
        raise MissingDependencyError("install cohere-melody")

    monkeypatch.setattr("tagsmith.engine.melody_filter.load_melody", absent)
    report = quick_report()
    assert report.not_measured == {"cohere-melody": "install cohere-melody"}
    assert "events" in {figure.name for figure in report.figures}


def test_melody_reads_the_same_parts_in_its_own_format() -> None:
    parts = parts_of(reasoning=20, content=20, arguments=60)
    assert is_meant(tagsmith.get_family(FAMILY).parse(melody_text(parts)), parts)
    assert melody_text(Parts()) == ""


class FakeVllm:
    """As much of vLLM as is used of it."""

    def __init__(self) -> None:
        self.read: list[tuple[str, bool]] = []
        self.parsed: list[str] = []
        self.asked: dict[str, Any] = {}

    def install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("vllm", *VLLM_MODULES):
            for end in range(1, name.count(".") + 2):
                package = ".".join(name.split(".")[:end])
                monkeypatch.setitem(sys.modules, package, SimpleNamespace())
        protocol = SimpleNamespace(ChatCompletionRequest=SimpleNamespace)
        manager = SimpleNamespace(ParserManager=SimpleNamespace(get_parser=self.get_parser))
        monkeypatch.setitem(sys.modules, VLLM_MODULES[0], protocol)
        monkeypatch.setitem(sys.modules, VLLM_MODULES[1], manager)

    def get_parser(self, **asked: Any) -> Any:
        self.asked = asked
        return lambda tokenizer, tools: self

    def parse_delta(self, text: str, ids: list[int], request: Any, *, finished: bool) -> None:
        assert request.tools == TOOLS
        self.read.append((text, finished))

    def parse(self, text: str, request: Any, *, enable_auto_tools: bool) -> None:
        assert enable_auto_tools
        self.parsed.append(text)


def test_vllm_reads_the_same_output(monkeypatch: pytest.MonkeyPatch) -> None:
    vllm = FakeVllm()
    vllm.install(monkeypatch)
    report = quick_report(NAMES)
    assert vllm.asked["reasoning_parser_name"] == "a"
    assert vllm.asked["tool_parser_name"] == "b"
    count = report.workload["deltas"]
    assert "".join(text for text, _ in vllm.read[:count]) == vllm.parsed[0]
    assert [finished for _, finished in vllm.read[:count]] == [False] * (count - 1) + [True]
    against = {figure.name: set(figure.against) for figure in report.figures}
    assert "vllm" in against["events"]
    assert against["parse at once"] == {"vllm"}


def test_without_vllm_the_rest_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vllm", None)
    assert quick_report(NAMES).not_measured["vllm"].startswith("not installed")


def test_another_vllm_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    vllm = FakeVllm()
    vllm.install(monkeypatch)
    monkeypatch.setattr(vllm, "get_parser", None)
    vllm.install(monkeypatch)
    assert "TypeError" in quick_report(NAMES).not_measured["vllm"]


def test_what_is_not_measured_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    report = replace(quick_report(), not_measured={"vllm": "not installed"})
    monkeypatch.setattr(reporting, "run", lambda *_: report)
    done = bench("--family", FAMILY)
    assert done.stdout.splitlines()[-1] == "vllm is not measured: not installed"
    assert contenders.VLLM in report.versions


def parameters_of(tools: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [tool["function"]["parameters"] for tool in tools]


def leaves(schema: dict[str, Any]) -> int:
    inside = [*schema.get("properties", {}).values(), *filter(None, [schema.get("items")])]
    return sum(map(leaves, inside)) if inside else 1


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("tool_set", "objects", "schemas"), [(ToolSet.ALIKE, 12, 1), (ToolSet.DIFFERENT, 4, 55)]
)
def test_the_tools_of_a_tag_have_twelve_nested_properties_each(
    tool_set: ToolSet, objects: int, schemas: int
) -> None:
    tools = make_tools(tool_set, 55)
    assert len({tool["function"]["name"] for tool in tools}) == len(tools) == 55
    found = parameters_of(tools)
    assert len(set(map(json.dumps, found))) == schemas
    for schema, other in zip(found, parameters_of(make_tools(tool_set, 55, 1)), strict=True):
        jsonschema.Draft202012Validator.check_schema(schema)
        assert (leaves(schema), len(schema["properties"])) == (12, objects)
        assert other != schema


def test_a_family_without_calls_has_no_tag_to_measure() -> None:
    reasons: dict[str, str] = {}
    assert measure_tags(changed(tool_calls=None), 3, 1, reasons) == []
    assert "writes no tool calls" in reasons["structural tag"]


def test_without_xgrammar_a_tag_is_built_and_not_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xgrammar", None)
    reasons: dict[str, str] = {}
    for found in measure_tags(tagsmith.get_family(FAMILY), 3, 1, reasons):
        assert [figure.name for figure in found.building] == TAG_FIGURES
        assert found.compiling == []
    assert reasons["compiling a tag"].startswith("xgrammar is not installed")


def convert_to(monkeypatch: pytest.MonkeyPatch, made: Any) -> list[str]:
    """Put a converter in the place of vLLM's; the architectures that it is asked for."""
    asked: list[str] = []

    def convert(*, tools: Any, model_architecture: str) -> Any:
        asked.append(model_architecture)
        return json.dumps(made) if made else None

    module = SimpleNamespace(convert_schema_to_structural_tags=convert)
    monkeypatch.setattr(tags, "import_module", lambda name: module)
    return asked


def test_vllms_tag_of_the_same_tools_is_measured_beside(monkeypatch: pytest.MonkeyPatch) -> None:
    family = tagsmith.get_family(FAMILY)
    asked = convert_to(monkeypatch, family.structural_tag())
    converter = vllm_converter(family)
    assert set(asked) == set(family.spec.match.architectures)
    monkeypatch.undo()
    for found in measure_tags(family, 3, 1, {}, converter):
        assert set(found.sizes) == {"tag", "vllm"}
        for figures in (found.building, found.compiling):
            assert {name for figure in figures for name in figure.against} == {"vllm"}


def test_where_vllm_has_no_converter_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    convert_to(monkeypatch, None)
    with pytest.raises(NotMeasuredError, match="no converter for"):
        vllm_converter(tagsmith.get_family(FAMILY))
    monkeypatch.setattr(tags, "import_module", lambda name: SimpleNamespace())
    with pytest.raises(NotMeasuredError, match="AttributeError"):
        vllm_converter(tagsmith.get_family(FAMILY))
