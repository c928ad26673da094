"""The reference pages name everything there is: every key and value of the format, every code; and
their examples are read as they say."""

from __future__ import annotations

import re
import sys
from enum import EnumMeta
from pathlib import Path

import pytest

from tagsmith.engine.layouts import ENCODINGS
from tagsmith.engine.templates import Hole
from tagsmith.events import DiagnosticCode
from tagsmith.registry import load_registry
from tagsmith.spec import policies

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "examples"))
import reference  # noqa: E402

DOCS = ROOT / "docs"
FORMAT = (DOCS / "family-format.md").read_text()
FAMILY = re.compile(r"^```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
READ = re.compile(
    r"^```yaml\n([^`]*)^```$\n+^```text\n([^`]*)^```$\n+^```text\n([^`]*)^```$", re.MULTILINE
)
WEATHER = {
    "name": "weather",
    "parameters": {
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "days": {"type": "integer"},
            "tags": {"type": "array"},
        },
    },
}


def read_example(family: str, directory: Path) -> str:
    """Put the family of an example into a file; returns its id."""
    (directory / "family.yaml").write_text(family, encoding="utf-8")
    (name,) = re.findall("^id: (.*)$", family, re.MULTILINE)
    return str(name)


@pytest.mark.parametrize("family", FAMILY.findall(FORMAT))
def test_every_family_of_the_reference_can_be_used(family: str, tmp_path: Path) -> None:
    name = read_example(family, tmp_path)
    assert load_registry([tmp_path]).get(name).id == name


@pytest.mark.parametrize(("family", "output", "calls"), READ.findall(FORMAT))
def test_an_output_of_the_reference_holds_the_calls_that_it_says(
    family: str, output: str, calls: str, tmp_path: Path
) -> None:
    name = read_example(family, tmp_path)
    message = load_registry([tmp_path]).get(name).parse(output, tools=[WEATHER])
    found = [f"{call.id} {call.name} {call.arguments}" for call in message.tool_calls]
    assert found == calls.splitlines()
    assert message.diagnostics == ()


def test_every_layout_and_encoding_has_an_example() -> None:
    families = "".join(family for family, _, _ in READ.findall(FORMAT))
    assert all(f"layout: {layout}" in families for layout in policies.CallLayout)
    assert all(f"encoding: {encoding}" in families for encoding in ENCODINGS)
    assert len(READ.findall(FORMAT)) == len(FAMILY.findall(FORMAT)) - 1


@pytest.mark.parametrize("hole", Hole, ids=str)
def test_every_hole_is_in_the_reference(hole: Hole) -> None:
    assert f"`{{{hole}}}`" in FORMAT


def test_every_key_is_in_one_table_of_the_reference() -> None:
    shown = [row.partition("`")[0] for row in FORMAT.split("\n| `")[1:]]
    keys = [key.path for key in reference.all_keys()]
    assert sorted(name for name in shown if name in keys) == sorted(keys)


@pytest.mark.parametrize("key", reference.all_keys(), ids=lambda key: key.path)
def test_a_key_has_all_that_the_reference_shows(key: reference.Key) -> None:
    assert key.type
    assert key.meaning
    assert (reference.example(key) == "") == (key.type == "mapping")


@pytest.mark.parametrize(
    "enum",
    [
        value
        for value in vars(policies).values()
        if isinstance(value, EnumMeta) and value.__members__
    ],
    ids=lambda enum: enum.__name__,
)
def test_every_named_value_is_in_the_reference(enum: EnumMeta) -> None:
    for member in enum.__members__.values():
        assert f"`{member}`" in FORMAT


@pytest.mark.parametrize("code", DiagnosticCode, ids=str)
def test_every_diagnostic_is_in_its_table(code: DiagnosticCode) -> None:
    assert f"\n| `{code}` |" in (DOCS / "diagnostics.md").read_text()
