"""Golden cases, for every way of feeding them: what the families write, and odd outputs."""

from pathlib import Path

import pytest

import tagsmith
from tagsmith.registry import default_registry
from tagsmith.testing import Case, check_case, load_cases

FAMILIES = {
    "a": "cohere-command-a",
    "v": "cohere-command-a-vision",
    "m": "Cohere2MoeForCausalLM",
}
HERE = Path(__file__).parent
FILES = [
    HERE / "cases" / "cohere.yaml",
    HERE / "cases" / "odd_outputs.yaml",
    *sorted((HERE.parent / "families").rglob("*.cases.yaml")),
]
CASES = [case for file in FILES for case in load_cases(file, FAMILIES)]
WITHOUT_CASES_OF_THEIR_OWN = {
    "cohere-command-a",
    "cohere-command-a-vision",
    "cohere-command-a-plus",
    "cohere-north",
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.family}-{case.id}")
def test_case(case: Case) -> None:
    check_case(case, tagsmith.get_family(case.family))


@pytest.mark.parametrize("name", default_registry().ids())
def test_every_family_has_cases(name: str) -> None:
    own = [case for case in CASES if tagsmith.get_family(case.family).id == name]
    assert len(own) >= 8 or name in WITHOUT_CASES_OF_THEIR_OWN
    assert len({case.id for case in own}) == len(own)
