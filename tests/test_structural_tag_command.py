"""`tagsmith structural-tag`, as a user runs it."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import tagsmith
from tagsmith.cli import main
from tagsmith.grammar import check_structural_tag

TOOLS = [
    {
        "name": "get_weather",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
        },
    },
    {"name": "now"},
]
LOOSE = [TOOLS[0] | {"strict": False}]
GOOD = '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "now", "parameters": {}}]<|END_ACTION|>'

STOPS = GOOD.index("now") + 1


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write("tools.json", TOOLS)
    write("loose.json", LOOSE)
    Path("good.txt").write_text(GOOD)
    Path("bad.txt").write_text(GOOD.replace("now", "new"))
    Path("short.txt").write_text(GOOD[:-1])
    return tmp_path


def write(path: str, value: Any) -> None:
    Path(path).write_text(json.dumps(value))


def run(*args: str, **extra: Any) -> Result:
    return CliRunner().invoke(
        main, ["structural-tag", "--family", "Cohere2ForCausalLM", *args], **extra
    )


@pytest.mark.usefixtures("folder")
class TestPrinting:
    @pytest.mark.parametrize(
        ("options", "asked"),
        [
            ([], {}),
            (["--tools", "tools.json"], {"tools": TOOLS}),
            (
                ["--tools", "tools.json", "--tool-choice", "required"],
                {"tools": TOOLS, "tool_choice": "required"},
            ),
            (
                ["--tools", "tools.json", "--tool-choice", "now", "--parallel-tool-calls", "no"],
                {
                    "tools": TOOLS,
                    "tool_choice": {"type": "function", "name": "now"},
                    "parallel_tool_calls": False,
                },
            ),
            (["--reasoning", "auto"], {"reasoning": "auto"}),
            (["--tools", "loose.json"], {"tools": LOOSE}),
            (["--tools", "loose.json", "--strict", "all"], {"tools": LOOSE, "strict": "all"}),
        ],
    )
    def test_it_prints_what_the_library_builds(
        self, options: list[str], asked: dict[str, Any]
    ) -> None:
        result = run(*options)
        assert result.exit_code == 0
        expected = tagsmith.get_family("Cohere2ForCausalLM").structural_tag(**asked)
        assert json.loads(result.stdout) == expected

    def test_a_response_format_and_standard_input(self) -> None:
        result = run("--response-format", "-", input='{"type": "json_object"}')
        assert json.loads(result.stdout)["format"]["at_least_one"] is True

    def test_what_no_grammar_holds_is_reported_on_request(self) -> None:
        write("format.json", {"type": "json_schema", "schema": {"not": {}}})
        refused = run("--response-format", "format.json")
        assert refused.exit_code == 2
        assert refused.stderr == (
            "tagsmith: response_format: not: the grammar has no way to say it; change the schema, "
            "or say --unenforceable report to go without\n"
        )
        result = run("--response-format", "format.json", "--unenforceable", "report")
        assert result.exit_code == 0
        assert result.stderr == (
            "not enforced: response_format: not: the grammar has no way to say it\n"
        )

    @pytest.mark.parametrize(
        ("options", "says"),
        [
            (["--tools", "absent.json"], "absent.json"),
            (["--tools", "good.txt"], "not JSON"),
            (["--tools", "object.json"], "--tools object.json: holds an object, not a list"),
            (["--tools", "tools.json", "--tool-choice", "later"], "no tool is named 'later'"),
            (["--tool-choice", "required"], "there is no tool to call"),
            (["--reasoning", "deep"], "--reasoning"),
            (["--strict", "true"], "--strict"),
            (["--parallel-tool-calls", "maybe"], "--parallel-tool-calls"),
        ],
    )
    def test_wrong_use_is_told_in_one_line(self, options: list[str], says: str) -> None:
        write("object.json", {"name": "f"})
        result = run(*options)
        assert result.exit_code == 2
        assert result.stdout == ""
        assert says in result.stderr
        assert result.stderr.count("\n") == 1


@pytest.mark.usefixtures("folder")
class TestChecking:
    @pytest.fixture(autouse=True)
    def _xgrammar(self) -> None:
        pytest.importorskip("xgrammar", reason="needs xgrammar: pip install 'tagsmith[xgrammar]'")

    def test_it_says_which_files_are_accepted(self) -> None:
        checks = [part for name in ("good", "bad", "short") for part in ("--check", f"{name}.txt")]
        result = run("--tools", "tools.json", *checks)
        assert result.exit_code == 1
        good, bad, short = result.stdout.splitlines()
        assert good == "good.txt: accepted"
        assert bad.startswith(f"bad.txt: refused at character {STOPS}: ")
        assert short.startswith(
            f"short.txt: refused: it ends too early, at character {len(GOOD) - 1}"
        )
        rows = json.loads(run("--tools", "tools.json", *checks, "--format", "json").stdout)
        assert [row["stopped_at"] for row in rows] == [None, STOPS, len(GOOD) - 1]

    def test_all_accepted_is_exit_code_0(self) -> None:
        assert run("--tools", "tools.json", "--check", "good.txt").exit_code == 0

    def test_a_tag_that_does_not_compile_is_an_error(self) -> None:
        tag = {"type": "structural_tag", "format": {"type": "regex", "pattern": "("}}
        with pytest.raises(tagsmith.RequestError, match="xgrammar cannot compile it"):
            check_structural_tag(tag, [""])


def test_without_xgrammar_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xgrammar", None)
    tag = tagsmith.get_family("Cohere2ForCausalLM").structural_tag()
    with pytest.raises(
        tagsmith.MissingDependencyError, match=r"pip install 'tagsmith\[xgrammar\]'"
    ):
        check_structural_tag(tag, [""])
