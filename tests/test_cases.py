"""Golden cases, for every way of feeding them: what the Cohere families write, and odd outputs."""

from pathlib import Path

import pytest

import tagsmith
from tagsmith.testing import Case, check_case, load_cases

FAMILIES = {
    "a": "cohere-command-a",
    "v": "cohere-command-a-vision",
    "m": "Cohere2MoeForCausalLM",
}
CASES = [
    case
    for name in ("cohere.yaml", "odd_outputs.yaml")
    for case in load_cases(Path(__file__).parent / "cases" / name, FAMILIES)
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_case(case: Case) -> None:
    check_case(case, tagsmith.get_family(case.family))
