"""The page that compares with others is what its script prints, for all that is installed here."""

from __future__ import annotations

import re
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "examples"))
import peer_readers  # noqa: E402
import peer_tags  # noqa: E402

PAGE = (ROOT / "docs" / "comparison.md").read_text(encoding="utf-8")
READERS = {"transformers": "transformers", "vllm": "vLLM", "tagsmith": "Tagsmith"}

pytestmark = pytest.mark.heavy


def columns(lines: list[str]) -> dict[str, list[str]]:
    """The cells of a table, by the head of their column."""
    rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    head, _, *body = rows
    return {name: [row[number] for row in body] for number, name in enumerate(head)}


def documented(heading: str) -> dict[str, list[str]]:
    section = PAGE.partition(f"## {heading}\n")[2]
    table = re.search(r"(?:^\|.*\n)+", section, re.MULTILINE)
    assert table is not None
    return columns(table[0].splitlines())


@pytest.mark.parametrize("form", peer_readers.FORMATS, ids=lambda form: form.family)
@pytest.mark.parametrize("reader", READERS)
def test_a_reader_makes_of_the_outputs_what_is_shown(
    reader: str, form: peer_readers.Format
) -> None:
    if find_spec(reader) is None:
        pytest.skip(f"{reader} is not installed")
    shown = documented(form.family)
    found = columns(peer_readers.reading_table(form, {reader: peer_readers.READERS[reader]}))
    assert found == {name: shown[name] for name in ("output", READERS[reader])}


@pytest.mark.parametrize("form", peer_readers.FORMATS, ids=lambda form: form.family)
def test_tagsmith_is_right_everywhere(form: peer_readers.Format) -> None:
    assert set(documented(form.family)["Tagsmith"]) == {"right"}


def test_the_grammars_take_what_is_shown() -> None:
    pytest.importorskip("xgrammar", reason="needs xgrammar: pip install 'tagsmith[xgrammar]'")
    assert columns(peer_tags.constraining_table()) == documented("Constraining")
