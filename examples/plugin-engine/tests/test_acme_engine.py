"""Every golden case of both families, for every way of feeding it; and what the rule finds."""

from importlib.resources import files

import pytest

import tagsmith
from tagsmith.plugins import load_plugins, rules_of
from tagsmith.testing import Case, check_case, load_cases

PACKAGE = files("tagsmith_acme_engine")
CASES = [
    case
    for name in ("acme_lines.cases.yaml", "acme_pairs.cases.yaml")
    for case in load_cases(PACKAGE / name)
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.family}-{case.id}")
def test_case(case: Case) -> None:
    check_case(case, tagsmith.get_family(case.family))


def test_the_package_brings_what_it_says() -> None:
    (plugin,) = [plugin for plugin in load_plugins() if plugin.name == "acme-engine"]
    assert plugin.error is None
    assert set(plugin.engines) == {"acme-lines"}
    assert set(plugin.encodings) == {"acme-pairs"}
    assert [rule.code for rule in rules_of([plugin])] == ["ACME001"]


def test_stop_strings_are_seen_to() -> None:
    family = tagsmith.get_family("AcmeLinesForCausalLM")
    assert family.parse("? END\nThe END.\n", stop=["END"]).content == "The "
