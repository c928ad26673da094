"""The command line: families by path and environment, errors in one line, closed pipes."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from tagsmith.cli import COMMANDS, main
from tagsmith.cli.common import read_json, read_json_list, read_text

COHERE3 = """\
tagsmith: 1
id: cohere3
extends: cohere-command-a
match: {architectures: [Cohere3ForCausalLM]}
tag_style:
  content:
    - {start: <|START_RESPONSE|>, end: <|END_RESPONSE|>}
    - {start: <|START_ANSWER|>, end: <|END_ANSWER|>}
"""
OUTPUT = "<|START_THINKING|>Hm.<|END_THINKING|><|START_ANSWER|>Paris.<|END_ANSWER|>"


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TAGSMITH_FAMILIES", raising=False)


@pytest.fixture
def cohere3(tmp_path: Path) -> Path:
    directory = tmp_path / "mine"
    directory.mkdir()
    (directory / "cohere3.yaml").write_text(COHERE3)
    return directory


def run(*args: str | Path, text: str | bytes | None = None, **environ: str) -> Result:
    return CliRunner().invoke(main, [str(arg) for arg in args], input=text, env=environ)


def fails(result: Result, *parts: str) -> None:
    """One line on standard error that holds these parts, exit code 2, nothing else."""
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert len(result.stderr.splitlines()) == 1
    assert result.stderr.startswith("tagsmith: ")
    assert [part for part in parts if part not in result.stderr] == []


def test_families_lists_every_family_with_its_source(cohere3: Path) -> None:
    rows = json.loads(run("families", "--families", cohere3, "--format", "json").stdout)
    by_id = {row["id"]: row for row in rows}
    assert list(by_id) == sorted(by_id)
    assert by_id["cohere-command-a"] == {
        "id": "cohere-command-a",
        "title": "Cohere Command A",
        "architectures": ["Cohere2ForCausalLM"],
        "models": by_id["cohere-command-a"]["models"],
        "source": "builtin",
        "file": by_id["cohere-command-a"]["file"],
    }
    assert by_id["cohere3"] == {
        "id": "cohere3",
        "title": None,
        "architectures": ["Cohere3ForCausalLM"],
        "models": [],
        "source": "--families",
        "file": str(cohere3 / "cohere3.yaml"),
    }
    lines = run("families", "--families", cohere3).stdout.splitlines()
    assert lines[0].split() == ["ID", "TITLE", "ARCHITECTURES", "SOURCE"]
    [line] = [line for line in lines if line.startswith("cohere3 ")]
    assert line.split() == ["cohere3", "-", "Cohere3ForCausalLM", "--families"]


def test_the_table_of_families_is_no_wider_than_people_read(tmp_path: Path) -> None:
    architectures = [f"{n}{'x' * 30}ForCausalLM" for n in range(9)]
    long = {"tagsmith": 1, "id": "long", "title": "y" * 200, "extends": "qwen3"}
    family = long | {"match": {"architectures": [f"A{name}" for name in architectures]}}
    (tmp_path / "long.yaml").write_text(json.dumps(family))
    lines = run("families", "--families", tmp_path).stdout.splitlines()
    [line] = [line for line in lines if line.startswith("long ")]
    assert line.split()[1:] == [
        f"{'y' * 37}...", f"A{architectures[0]}", "and", "8", "more", "--families",
    ]  # fmt: skip
    assert max(map(len, lines)) <= 140


@pytest.mark.parametrize("by_environment", [False, True])
def test_a_new_architecture_is_one_yaml_file(cohere3: Path, by_environment: bool) -> None:
    option: list[Any] = [] if by_environment else ["--families", cohere3]
    environ = {"TAGSMITH_FAMILIES": str(cohere3)} if by_environment else {}
    name = ["--family", "Cohere3ForCausalLM"]
    message = run("parse", "-", *name, *option, "--format", "json", text=OUTPUT, **environ)
    assert json.loads(message.stdout)["content"] == "Paris."
    tools = cohere3 / "tools.json"
    tools.write_text('[{"name": "f", "parameters": {"type": "object"}}]')
    tag = run("structural-tag", *name, "--tools", tools, *option, **environ)
    assert json.loads(tag.stdout)["type"] == "structural_tag"


def test_broken_families_are_told_on_standard_error(cohere3: Path) -> None:
    (cohere3 / "bad.yaml").write_text("tagsmith: 1\nid: bad\ntitel: x\n")
    result = run("families", "--families", cohere3)
    assert result.exit_code == 0
    assert "cohere3" in result.stdout
    assert result.stderr.startswith(f"{cohere3}/bad.yaml:3:1: TS101 unknown key 'titel'")
    parse = ["parse", "-", "--families", cohere3, "--family"]
    fails(run(*parse, "bad", text="x"), "bad.yaml:3:1: TS101")
    fails(run(*parse, "Badd", text="x"), "no family answers to 'Badd'", "bad.yaml:3:1: TS101")


NAMED = {
    "a directory without a family": ("empty", True, "empty:1:1: TS001 no family file"),
    "a pipe in a directory": ("pipes", True, "pipes/pipe.yaml:1:1: TS001 cannot be read"),
    "a broken file": ("broken/bad.yaml", False, "broken/bad.yaml:3:1: TS101 unknown key"),
    "a pipe": ("pipes/pipe.yaml", False, "pipes/pipe.yaml:1:1: TS001 cannot be read"),
    "a file that extends a broken one": ("child.yaml", False, "child.yaml:3:10: TS203"),
}


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("broken", "empty", "pipes"):
        Path(name).mkdir()
    Path("broken/bad.yaml").write_text("tagsmith: 1\nid: bad\ntitel: x\n")
    Path("child.yaml").write_text("tagsmith: 1\nid: child\nextends: no.yaml\n")
    Path("no.yaml").write_text("- broken\n")
    os.mkfifo("pipes/pipe.yaml")


@pytest.mark.usefixtures("places")
@pytest.mark.parametrize("command", [("parse", "-"), ("explain", "-"), ("structural-tag",)])
@pytest.mark.parametrize(("path", "goes_on", "told"), NAMED.values(), ids=NAMED)
def test_what_is_wrong_with_named_families_is_told(
    path: str, goes_on: bool, told: str, command: tuple[str, ...]
) -> None:
    named = [*command, "--family", "cohere-north"]
    result = run(*named, "--families", path, text="x")
    if not goes_on:
        fails(result, told.partition(" ")[0].split(":")[0])
        result = run(*named, text="x", TAGSMITH_FAMILIES=path)
    assert (result.exit_code, result.stdout != "") == (0, True)
    assert told in result.stderr
    assert {line[:18] for line in result.stderr.splitlines()} == {"tagsmith: warning:"}


@pytest.mark.usefixtures("places")
def test_a_missing_path_in_the_environment_is_told_and_a_clean_run_is_quiet(cohere3: Path) -> None:
    parse = ["parse", "-", "--family", "cohere-north"]
    told = run(*parse, text="x", TAGSMITH_FAMILIES=f"no-such{os.pathsep}{cohere3}")
    assert told.exit_code == 0
    assert told.stderr.startswith("tagsmith: warning: no-such:1:1: TS001 no such file")
    assert run(*parse, "--families", cohere3, text="x").stderr == ""


WRONG = {
    "no command": ([], ["Missing command", "tagsmith --help"]),
    "unknown command": (["familes"], ["'familes'", "families, lint"]),
    "a long command": (["x" * 100_000], [f"'{'x' * 77}...'"]),
    "a long value": (["families", "--format", "x" * 100_000], [f"'{'x' * 77}...'"]),
    "a long value in one": (["families", f"--format={'x' * 100_000}"], [f"'{'x' * 77}...'"]),
    "a long option": (["families", f"--{'x' * 100_000}"], [f"'--{'x' * 75}...'"]),
    "a long path": (["families", "--families", "x" * 100_000], ["xxx...: no such file"]),
    "signs that do not show": (["families", "--families", "a\0b\x1b[1m"], [r"a\x00b\x1b[1m"]),
    "unknown option": (["--nope"], ["--nope", "tagsmith --help"]),
    "unknown option of a command": (["families", "--famlies", "x"], ["--famlies", "--families"]),
    "unknown option value": (["families", "--format", "xml"], ["'xml'", "'text', 'json'"]),
    "option without its value": (["families", "--families"], ["--families", "requires"]),
    "missing directory": (["families", "--families", "no-such"], ["no-such", "give a family file"]),
    "missing argument": (["schema"], ["Missing argument", "family"]),
    "one argument too many": (["schema", "family", "x"], ["x"]),
    "unknown schema": (["schema", "x"], ["'x'", "family"]),
}


@pytest.mark.parametrize(("args", "parts"), WRONG.values(), ids=WRONG)
def test_wrong_use_is_one_line_and_exit_code_2(args: list[str], parts: list[str]) -> None:
    result = run(*args)
    fails(result, *parts)
    assert len(result.stderr) < 1000


@click.command()
@click.argument("kind")
@click.argument("path")
def reading(kind: str, path: str) -> None:
    """Stands for any command that reads a file."""
    readers = {"text": read_text, "json": read_json, "list": read_json_list}
    click.echo(repr(readers[kind](path)))


INPUTS = {
    "missing": ("text", None, ["no such file", "give the path"]),
    "invalid utf-8": ("text", b"ab\xff", ["binary input", "byte 2", "UTF-8"]),
    "json that is none": ("json", b'{\n "a" 1}', ["input:2:6", "not JSON"]),
    "json that is empty": ("json", b"", ["input:1:1", "not JSON"]),
    "json that is binary": ("json", b"\x80", ["binary input"]),
    "json nested deeply": ("json", b"[" * 200_000, ["nested too deeply"]),
    "json with an endless number": ("json", b"1" * 10_000, ["cannot be read as JSON"]),
    "no list": ("list", b'{"a": 1}', ["an object, not a list", "[...]"]),
    "text for a list": ("list", b'"a"', ["a string, not a list"]),
    "null for a list": ("list", b"null", ["null, not a list"]),
}


@pytest.mark.parametrize(("kind", "data", "parts"), INPUTS.values(), ids=INPUTS)
def test_input_that_cannot_be_read(
    kind: str, data: bytes | None, parts: list[str], tmp_path: Path
) -> None:
    file = tmp_path / "input"
    if data is not None:
        file.write_bytes(data)
    result = CliRunner().invoke(reading, [kind, str(file)])
    assert (result.exit_code, result.stdout) == (2, "")
    assert len(result.stderr.splitlines()) == 1
    assert [part for part in parts if part not in result.stderr] == []


def test_a_directory_is_no_input(tmp_path: Path) -> None:
    result = CliRunner().invoke(reading, ["text", str(tmp_path)])
    assert (result.exit_code, "is a directory" in result.stderr) == (2, True)


TEXTS = ["", "a\r\nb\r", "nul \0 in it", "\ufeffmark", "日本 😀\u2028"]


@pytest.mark.parametrize("text", TEXTS)
def test_text_is_kept_to_the_letter(text: str, tmp_path: Path) -> None:
    (tmp_path / "input").write_bytes(text.encode())
    for source in (str(tmp_path / "input"), "-"):
        result = CliRunner().invoke(reading, ["text", source], input=text.encode())
        assert result.stdout == f"{text!r}\n"


def test_standard_input_is_read_once(cohere3: Path) -> None:
    result = run("parse", "-", "--family", "cohere-north", "--tools", "-", text="[]")
    fails(result, "standard input can be read once")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(command: str) -> None:
    result = run(command, "--help")
    assert (result.exit_code, result.stderr) == (0, "")
    assert re.search(rf"Examples?:\n    tagsmith {command}\b", result.stdout)


def test_help_names_every_command_and_version_is_told() -> None:
    assert [name for name in COMMANDS if f"  {name}  " not in run("--help").stdout] == []
    assert run("--version").stdout.startswith("tagsmith ")


def process(*args: str, **options: Any) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tagsmith", *args]
    return subprocess.Popen(command, stderr=subprocess.PIPE, **options)


def test_a_closed_pipe_ends_quietly() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with process("schema", "family", stdout=writer) as running:
        _, told = running.communicate()
    os.close(writer)
    assert (running.returncode, told) == (0, b"")


@pytest.mark.parametrize("command", ["parse --family cohere-north -", "lint -"])
def test_a_closed_standard_input_is_told_in_one_line(command: str) -> None:
    line = f'exec "{sys.executable}" -m tagsmith {command} <&-'
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("tagsmith: standard input is closed; give")
    assert len(done.stderr.splitlines()) == 1


def test_an_interrupt_ends_a_command_without_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("tagsmith.cli.families.load_registry", interrupted)
    result = run("families")
    assert (result.exit_code, result.stdout, result.stderr.strip()) == (130, "", "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no full device")
def test_a_full_disk_is_told_in_one_line() -> None:
    with Path("/dev/full").open("wb") as full, process("families", stdout=full) as running:
        _, told = running.communicate()
    assert running.returncode == 2
    assert len(told.splitlines()) == 1
    assert b"the output cannot be written (No space left on device); give it" in told


def test_a_terminal_that_cannot_show_a_character_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "f.yaml").write_text("tagsmith: 1\nid: f\ntitle: Ω\n", encoding="utf-8")
    environ = os.environ | {"PYTHONIOENCODING": "latin-1"}
    with process(
        "families", "--families", str(tmp_path), stdout=subprocess.PIPE, env=environ
    ) as running:
        shown, told = running.communicate()
    assert (running.returncode, told) == (0, b"")
    assert b"\\u03a9" in shown


def test_listing_commands_imports_none_of_them() -> None:
    code = (
        "import sys; from tagsmith.cli import main; main(['--help'], standalone_mode=False); "
        "print([m for m in sys.modules if m.startswith('tagsmith.cli.')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "['tagsmith.cli.common']"
