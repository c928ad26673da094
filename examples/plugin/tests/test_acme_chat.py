"""Every golden case of Acme Chat, for every way of feeding it."""

from importlib.resources import files

import pytest

import tagsmith
from tagsmith.testing import Case, check_case, load_cases

CASES = load_cases(files("tagsmith_acme") / "acme_chat.cases.yaml")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_case(case: Case) -> None:
    check_case(case, tagsmith.get_family(case.family))
