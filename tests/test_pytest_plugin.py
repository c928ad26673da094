"""The pytest plug-in: what it collects, how it fails, and what it leaves alone."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tagsmith.testing.laws import LAWS

pytest_plugins = "pytester"

FAMILY = """\
tagsmith: 1
id: acme
tag_style:
  content:
    - {start: <say>, end: </say>}
"""
GOOD = "- {id: good, family: acme, text: <say>Hi</say>, content: Hi}\n"
BAD = "- {id: bad, family: acme, text: <say>Hi</say>, content: Ho}\n"


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A project with a family, a case that it keeps, and one that it does not."""
    # The plug-in is named, as it is not installed wherever these tests run.
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p tagsmith_pytest -p no:cacheprovider")
    write(pytester, "acme.yaml", FAMILY)
    write(pytester, "acme.cases.yaml", GOOD + BAD)
    pytester.makeini("[pytest]\ntagsmith_samples = 0\n")
    return pytester


def write(project: pytest.Pytester, name: str, text: str) -> None:
    path = project.path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_each_case_is_a_test(project: pytest.Pytester) -> None:
    done = project.runpytest_inprocess("--collect-only", "-q")
    assert done.ret == 0
    assert done.outlines[:2] == ["acme.cases.yaml::good", "acme.cases.yaml::bad"]


@pytest.mark.parametrize(
    ("arguments", "counts"),
    [
        ([], {"passed": 1, "failed": 1}),
        (["-k", "good"], {"passed": 1, "deselected": 1}),
        (["acme.cases.yaml::bad"], {"failed": 1}),
    ],
)
def test_cases_run_as_tests_do(
    project: pytest.Pytester, arguments: list[str], counts: dict[str, int]
) -> None:
    project.runpytest_inprocess(*arguments).assert_outcomes(**counts)


def test_a_failure_is_told_without_a_traceback(project: pytest.Pytester) -> None:
    done = project.runpytest_inprocess()
    done.stdout.fnmatch_lines(
        [
            "*_ bad _*",
            "acme.cases.yaml:2:8: case bad, family acme, parse():",
            "  content",
            "    expected  'Ho'",
            "    found     'Hi'",
            "                ^ character 1",
            "  fed by character, they part at delta 7 of 13, character 6 of the output:",
            "    '<say>Hi</say>'",
            "           ^",
            "  look:  printf %s '<say>Hi</say>' | tagsmith explain --family acme --families . -",
            "FAILED acme.cases.yaml::bad - *",
        ],
        consecutive=False,
    )
    done.stdout.no_fnmatch_line("*pytest_items*")


def test_the_laws_are_tests_of_each_family(project: pytest.Pytester) -> None:
    project.makeini("[pytest]\ntagsmith_samples = 2\n")
    done = project.runpytest_inprocess("-v", "-k", "law")
    done.assert_outcomes(passed=len(LAWS), deselected=2)
    done.stdout.fnmatch_lines(["acme.cases.yaml::law-same-text?acme? PASSED*"])


def test_a_broken_file_is_an_error_with_its_places(project: pytest.Pytester) -> None:
    write(project, "broken.cases.yaml", "- {id: a, family: acme}\n- {id: b, text: x, fam: y}\n")
    done = project.runpytest_inprocess("--continue-on-collection-errors")
    done.assert_outcomes(passed=1, failed=1, errors=1)
    done.stdout.fnmatch_lines(
        [
            "broken.cases.yaml:1:3: case 'a': the key 'text' is missing; write 'text: ...'",
            "broken.cases.yaml:2:3: case 'b': the key 'family' is missing; write 'family: ...'",
            "broken.cases.yaml:2:20: case 'b': unknown key 'fam'; did you mean 'family'?*",
        ]
    )
    done.stdout.no_fnmatch_line("*Traceback*")


def test_an_unknown_family_fails_its_cases_and_skips_its_laws(project: pytest.Pytester) -> None:
    project.makeini("[pytest]\ntagsmith_samples = 1\n")
    write(project, "acme.cases.yaml", GOOD.replace("acme", "acmee"))
    done = project.runpytest_inprocess()
    done.assert_outcomes(failed=1, skipped=len(LAWS))
    done.stdout.fnmatch_lines(["acme.cases.yaml:1:8: cannot be run: no family answers to 'acmee'*"])


def test_families_may_stand_elsewhere(project: pytest.Pytester) -> None:
    write(project, "cases/other.cases.yaml", GOOD.replace("acme", "other"))
    write(project, "src/families/other.yaml", FAMILY.replace("acme", "other"))
    done = project.runpytest_inprocess("cases")
    done.assert_outcomes(failed=1)
    project.makeini("[pytest]\ntagsmith_samples = 0\ntagsmith_families =\n    src/families\n")
    project.runpytest_inprocess("cases").assert_outcomes(passed=1)


def test_installed_families_need_not_stand_anywhere(project: pytest.Pytester) -> None:
    write(project, "cases/q.cases.yaml", GOOD.replace("acme", "qwen3").replace("<say>", ""))
    done = project.runpytest_inprocess("cases", "-q")
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["    found     'Hi</say>'"])


def test_it_can_be_switched_off(project: pytest.Pytester) -> None:
    project.makeini("[pytest]\ntagsmith_cases = false\n")
    assert project.runpytest_inprocess().ret == pytest.ExitCode.NO_TESTS_COLLECTED


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("tagsmith_samples = many", "tagsmith_samples: 'many' is no number; give 0 or more"),
        ("tagsmith_families = nowhere", "tagsmith_families: *nowhere: no such file or directory"),
    ],
)
def test_a_wrong_setting_is_told(project: pytest.Pytester, setting: str, told: str) -> None:
    project.makeini(f"[pytest]\n{setting}\n")
    done = project.runpytest_inprocess()
    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines([told])


def test_other_tests_run_beside_them(project: pytest.Pytester) -> None:
    project.makepyfile("def test_a():\n    assert True\n")
    project.runpytest_inprocess().assert_outcomes(passed=2, failed=1)


@pytest.mark.heavy
def test_workers_share_them(project: pytest.Pytester) -> None:
    done = project.runpytest_subprocess("-p", "xdist.plugin", "-n", "2")
    done.assert_outcomes(passed=1, failed=1)


def test_the_plugin_imports_nothing_of_tagsmith() -> None:
    code = "import sys, tagsmith_pytest; print('tagsmith' in sys.modules, 'yaml' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False False\n"
