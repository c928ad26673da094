"""The documentation is true: its Python blocks run, its commands print what it says they print."""

import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import click
import pytest

from tagsmith.cli import main
from workspace import ROOT, clean_environ, copy_of_repository, new_environment

BLOCK = re.compile(r"^```(python|console|sh)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
DOCUMENTS = [
    path
    for pattern in ("README.md", "docs/**/*.md", "examples/**/README.md")
    for path in sorted(ROOT.glob(pattern))
]
# A block with one of these sets something up; it runs in a copy of the project, by test-heavy.
SET_UP = re.compile(r"^\$ (make|pip|python3? -m (venv|pip))\b", re.MULTILINE)
# These run this very test.
NOT_RUN = {"make test", "make test-heavy"}


@dataclass(frozen=True)
class Block:
    """One fenced block of a document."""

    file: Path
    line: int
    language: str
    text: str

    @property
    def is_set_up(self) -> bool:
        return self.language == "console" and bool(SET_UP.search(self.text))


def blocks_of(file: Path) -> list[Block]:
    text = file.read_text(encoding="utf-8")
    return [
        Block(file, text.count("\n", 0, match.start()) + 1, match[1], match[2])
        for match in BLOCK.finditer(text)
    ]


BLOCKS = [block for file in DOCUMENTS for block in blocks_of(file)]


def named(block: Block) -> Any:
    """The block as a parameter. Commands start a process each: those of the README run each time,
    those of the other pages by test-heavy."""
    is_quick = block.language == "python" or block.file == ROOT / "README.md"
    marks = () if is_quick else (pytest.mark.heavy,)
    return pytest.param(block, id=f"{block.file.relative_to(ROOT)}:{block.line}", marks=marks)


def commands_of(block: Block) -> list[tuple[str, list[str]]]:
    """Each command of a console block with the lines that follow it."""
    commands: list[tuple[str, list[str]]] = []
    for line in block.text.splitlines():
        if line.startswith("$ "):
            commands.append((line[2:], []))
        else:
            assert commands, f"{block.file}:{block.line}: a console block starts with a command"
            commands[-1][1].append(line)
    return commands


def matches(expected: list[str], found: list[str]) -> bool:
    """Whether the output is what the document shows; a line `...` stands for any lines."""
    parts = [r"(?:.*\n)*" if line == "..." else re.escape(line) + r"\n" for line in expected]
    return re.fullmatch("".join(parts), "".join(f"{line}\n" for line in found)) is not None


def run_console(block: Block, cwd: Path, programs: Path) -> None:
    for command, expected in commands_of(block):
        if command in NOT_RUN:
            continue
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=cwd,
            env=clean_environ(programs),
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        found = [line.rstrip() for line in done.stdout.splitlines()]
        shown = "\n".join(["$ " + command, *found])
        assert matches([line.rstrip() for line in expected], found), (
            f"{block.file}:{block.line}: the document shows\n{block.text}\nbut this comes:\n{shown}"
        )


@pytest.mark.parametrize(
    ("expected", "found", "same"),
    [
        ([], [], True),
        ([], ["a"], False),
        (["a", "..."], ["a"], True),
        (["a", "...", "d"], ["a", "b", "c", "d"], True),
        (["..."], [], True),
        (["a."], ["ab"], False),
    ],
)
def test_an_ellipsis_stands_for_any_lines(
    expected: list[str], found: list[str], same: bool
) -> None:
    assert matches(expected, found) is same


@pytest.mark.parametrize(
    "blocks",
    [
        pytest.param(list(blocks), id=str(file.relative_to(ROOT)))
        for file, blocks in groupby(
            (block for block in BLOCKS if block.language == "python"), key=lambda block: block.file
        )
    ],
)
def test_python_blocks_run(blocks: list[Block], monkeypatch: pytest.MonkeyPatch) -> None:
    """In order, in one namespace for each document."""
    monkeypatch.chdir(ROOT)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks:
        source = "\n" * block.line + block.text
        exec(compile(source, str(block.file), "exec"), namespace)


@pytest.mark.parametrize(
    "block", [named(b) for b in BLOCKS if b.language == "console" and not b.is_set_up]
)
def test_commands_print_what_the_document_shows(block: Block) -> None:
    run_console(block, ROOT, Path(sys.executable).parent)


SHELL_COMMANDS = [
    pytest.param(command, id=f"{block.file.name}:{block.line}")
    for block in BLOCKS
    if block.language == "sh"
    for command in block.text.replace("\\\n", " ").splitlines()
    if command.startswith("tagsmith ")
]


@pytest.mark.parametrize("command", SHELL_COMMANDS)
def test_a_command_that_needs_more_than_this_machine_is_well_formed(command: str) -> None:
    """Its options and values are the command's; it is not run, as it asks for a model server."""
    _, name, *arguments = shlex.split(command, comments=True)
    found = main.get_command(click.Context(main), name)
    assert found is not None
    found.make_context(name, arguments)


@pytest.mark.heavy
@pytest.mark.parametrize("block", [named(b) for b in BLOCKS if b.is_set_up])
def test_set_up_commands_work_in_a_fresh_copy(block: Block, tmp_path: Path) -> None:
    copy = copy_of_repository(tmp_path / "tagsmith")
    run_console(block, copy, new_environment(tmp_path / "venv"))
