"""The tables of bare cohere_melody against both engines are what the script prints."""

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent
SCRIPT = ROOT / "examples" / "compare_melody.py"
CELL = re.compile(r"(?<!\\)\|")


def load_script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("compare_melody", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def verdicts(lines: list[str]) -> dict[str, list[str]]:
    """The rows of a table as the script prints it, without the times."""
    rows = [[cell.strip() for cell in CELL.split(line)[1:-1]] for line in lines]
    return {row[0]: row[1::2] for row in rows if len(row) == 7 and set(row[0]) != {"-"}}


def documented(name: str) -> dict[str, list[str]]:
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    found = verdicts([line for line in lines if line.startswith("|")])
    found.pop("input", None)
    return found


def test_the_documentation_shows_every_row() -> None:
    assert list(documented("docs/melody.md")) == [row.name for row in load_script().ROWS]


@pytest.mark.heavy
def test_tagsmith_is_right_on_every_row_but_where_a_preset_drops_text() -> None:
    script = load_script()
    for row in script.ROWS:
        assert script.read_one("native", row)["verdict"] == "right", row.name
        verdict = script.read_one("melody", row)["verdict"]
        assert verdict.startswith("right") or verdict.endswith("`engine-drop`"), row.name


def test_the_readme_shows_what_the_reference_shows() -> None:
    reference, shown = documented("docs/melody.md"), documented("README.md")
    assert len(shown) >= 8
    assert {name: reference[name] for name in shown} == shown


@pytest.mark.heavy
def test_the_table_is_what_the_script_prints() -> None:
    found = verdicts(load_script().table())
    found.pop("input")
    assert found == documented("docs/melody.md")
