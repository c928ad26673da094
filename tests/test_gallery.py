"""The pages that are made from the families and the models are what these say now."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import tagsmith
from tagsmith.registry import default_registry

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "examples"))
import gallery  # noqa: E402
import policies  # noqa: E402
import reference  # noqa: E402


def shown(name: str) -> str:
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


@pytest.fixture(autouse=True)
def _no_families_of_a_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TAGSMITH_FAMILIES", raising=False)


def test_the_gallery_is_current() -> None:
    current = shown("families.md") == gallery.gallery()
    assert current, "run: python examples/gallery.py > docs/families.md"


def test_the_policies_are_current() -> None:
    current = shown("policies.md") == policies.page()
    assert current, "run: python examples/policies.py > docs/policies.md"


def test_the_tables_of_the_reference_are_current() -> None:
    page = shown("family-format.md")
    assert page == reference.refreshed(page), "run: python examples/reference.py"


@pytest.mark.parametrize("name", default_registry().ids())
def test_an_output_as_it_is_shown_is_read(name: str) -> None:
    family = tagsmith.get_family(name)
    case = gallery.shown_case(family)
    message = family.parse(gallery.shown_text(family.spec, case), tools=case.get("tools"))
    assert (message.content, message.diagnostics) == (None, ())
    reasons = family.spec.tag_style.reasoning is not None
    assert (message.reasoning is not None) == reasons
    [call] = message.tool_calls
    assert (call.name, call.arguments, call.complete) == (
        "get_weather",
        '{"city": "Paris", "days": 2}',
        True,
    )


@pytest.mark.parametrize("policy", policies.policies(), ids=lambda policy: policy.path)
def test_the_values_of_a_policy_make_a_difference(policy: reference.Key) -> None:
    example = policies.EXAMPLES[policy.path]
    families = [policies.with_value(example.family, policy.path, v) for v in policy.choices]
    outcomes = [policies.outcome(family, example) for family in families if family is not None]
    assert len(outcomes) >= 2
    assert len(set(outcomes)) == len(outcomes)
