"""Adding an architecture is a YAML edit: no Python, no install."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import tagsmith
from tagsmith.cli import main

ROOT = Path(__file__).parent.parent
COHERE_3 = """\
tagsmith: 1
id: cohere-3
extends: cohere-command-a
match:
  architectures: [Cohere3ForCausalLM]
tag_style:
  content:
    - {start: <|START_RESPONSE|>, end: <|END_RESPONSE|>}
    - {start: <|START_TEXT|>, end: <|END_TEXT|>}
    - {start: <|START_ANSWER|>, end: <|END_ANSWER|>}
"""
OUTPUT = (
    '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "f", "parameters": {}}]<|END_ACTION|>'
    "<|START_ANSWER|>It is <co>so</co: 0:[1]>.<|END_ANSWER|>"
)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "cohere3.yaml").write_text(COHERE_3)
    return tmp_path / "mine"


@pytest.mark.parametrize("way", ["option", "environment"])
def test_a_ten_line_file(directory: Path, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(COHERE_3.splitlines()) <= 10
    options = ["--family", "Cohere3ForCausalLM"]
    if way == "option":
        options += ["--families", str(directory)]
    else:
        monkeypatch.setenv("TAGSMITH_FAMILIES", str(directory))

    parsed = CliRunner().invoke(main, ["parse", *options, "--format", "json", "-"], input=OUTPUT)
    assert (parsed.exit_code, parsed.stderr) == (0, "")
    message = json.loads(parsed.stdout)
    assert message["content"] == "It is so."
    assert [call["name"] for call in message["tool_calls"]] == ["f"]
    assert message["citations"][0]["positions"] == [[0, 1]]

    tools = directory.parent / "tools.json"
    tools.write_text(json.dumps([{"name": "f", "parameters": {}}]))
    tag = CliRunner().invoke(main, ["structural-tag", *options, "--tools", str(tools)])
    assert (tag.exit_code, tag.stderr) == (0, "")
    assert json.loads(tag.stdout)["type"] == "structural_tag"
    assert "<|START_ACTION|>" in tag.stdout


def test_from_python(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    family = tagsmith.load_registry([directory]).get("Cohere3ForCausalLM")
    assert family.parse(OUTPUT).content == "It is so."
    monkeypatch.setenv("TAGSMITH_FAMILIES", str(directory))
    assert tagsmith.get_family("cohere-3").spec == family.spec
    monkeypatch.delenv("TAGSMITH_FAMILIES")
    with pytest.raises(tagsmith.UnknownFamilyError, match="cohere-command-a"):
        tagsmith.get_family("Cohere3ForCausalLM")


def test_the_example_is_the_one_the_documents_show() -> None:
    example = (ROOT / "examples" / "families" / "cohere3.yaml").read_text()
    body = example.partition("\n")[2]
    assert body in (ROOT / "README.md").read_text()
    assert body in (ROOT / "docs" / "tutorial-architecture.md").read_text()
