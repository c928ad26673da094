"""The page of built-in families is what their files say, and its calls are read."""

import json
import sys
from pathlib import Path

import pytest

import tagsmith
from tagsmith.registry import default_registry
from tagsmith.testing.writing import write_call

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "examples"))
from gallery import TOOLS, gallery  # noqa: E402


def test_the_page_is_current(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TAGSMITH_FAMILIES", raising=False)
    page = (ROOT / "docs" / "families.md").read_text(encoding="utf-8")
    assert page == gallery(), "run: python examples/gallery.py > docs/families.md"


@pytest.mark.parametrize("name", default_registry().ids())
def test_a_call_as_it_is_shown_is_read(name: str) -> None:
    family = tagsmith.get_family(name)
    text = write_call(family.spec, "get_weather", {"city": "Paris", "days": 2})
    message = family.parse(text, tools=TOOLS)
    assert (message.content, message.reasoning, message.diagnostics) == (None, None, ())
    [call] = message.tool_calls
    assert (call.name, call.complete) == ("get_weather", True)
    assert json.loads(call.arguments) == {"city": "Paris", "days": 2}
