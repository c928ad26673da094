"""Golden cases, for every way of feeding them: what the families write, and odd outputs."""

from pathlib import Path
from typing import Any

import pytest

import tagsmith
from tagsmith.registry import default_registry
from tagsmith.testing import Case, by_character, check_case, load_cases, run, whole
from tagsmith.testing.differences import message_differences

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


FULL_SHARE = 10
"""Every how manyth case is fed in every way in each run; the heavy one does the others."""


def cases(*, heavy: bool) -> list[Any]:
    marks = [pytest.mark.heavy] if heavy else []
    return [
        pytest.param(case, id=f"{case.family}-{case.id}", marks=marks)
        for number, case in enumerate(CASES)
        if heavy == (number % FULL_SHARE > 0)
    ]


@pytest.mark.parametrize("case", [*cases(heavy=False), *cases(heavy=True)])
def test_case(case: Case) -> None:
    check_case(case, tagsmith.get_family(case.family))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_every_case_in_one_piece_and_by_character(file: Path) -> None:
    for case in load_cases(file, FAMILIES):
        family = tagsmith.get_family(case.family)
        for deltas in (whole(case.text), by_character(case.text)):
            fed = run(family, deltas, finish_reason=case.finish_reason, **case.request)
            assert not list(message_differences(case, fed.message)), case.id


@pytest.mark.parametrize("name", default_registry().ids())
def test_every_family_has_cases(name: str) -> None:
    own = [case for case in CASES if tagsmith.get_family(case.family).id == name]
    assert len(own) >= 8 or name in WITHOUT_CASES_OF_THEIR_OWN
    assert len({case.id for case in own}) == len(own)
