"""Case files: what is found at a path, and what is wrong with a file, with its place."""

from pathlib import Path

import pytest

from tagsmith.testing import CaseFileError, load_cases
from tagsmith.testing.found_files import families_beside, find_test_files

FAMILY = "tagsmith: 1\nid: acme\n"
CASES = "- {id: a, family: acme, text: Hi, content: Hi}\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "- {id: a, family: f, text: x, contnt: y}",
            ["1:31: case 'a': unknown key 'contnt'; did you mean 'content'? allowed: id, family,"],
        ),
        ("- {id: a, family: f}", ["1:3: case 'a': the key 'text' is missing; write 'text: ...'"]),
        (
            "- {id: a, family: f, text: x}\n\n- id: a\n  family: f\n  text: y",
            ["3:7: the id 'a' stands twice, first at FILE:1:8; rename one of the two"],
        ),
        (
            "- id: a\n  family: f\n  text: x\n  tool_calls:\n  - {id: 0, name: n, arguments: '{}'}",
            ["5:10: case 'a': tool_calls[0].id must be a string, not 0; quote it"],
        ),
        (
            "- {id: a, family: f, text: x, tool_calls: [{id: '0', nam: n, arguments: '{}'}]}",
            [
                "1:44: case 'a': the key 'name' is missing; write 'name: ...'",
                "1:54: case 'a': unknown key 'nam' in tool_calls[0]; did you mean 'name'? "
                "allowed: id, name, arguments, complete",
            ],
        ),
        (
            "- {id: a, family: f, text: x, diagnostics: [truncatd]}",
            [
                "1:45: case 'a': diagnostics[0]: 'truncatd' is not allowed; "
                "did you mean 'truncated'? allowed: 'malformed-call', "
            ],
        ),
        (
            "- {id: a, family: f, text: 5, tool_choice: 7, stop: 8}",
            [
                "1:28: case 'a': text must be a string, not 5; quote it",
                "1:44: case 'a': tool_choice must be a string or a mapping, not 7; quote it",
                "1:53: case 'a': stop must be a string or a list of strings, not 8; quote it",
            ],
        ),
        (
            "- {id: a, family: f, text: x, citations: [{start: 0, end: 1, text: x, target: al}]}",
            ["1:79: case 'a': citations[0].target: 'al' is not allowed; allowed: 'content' or"],
        ),
        ("- {id: '', family: f, text: x}", ["1:8: case '': id must not be empty"]),
        ("- {id: [a], family: f, text: x}", ["1:8: id must be a string, not a list"]),
        ("- {id: null, family: f, text: x}", ["1:8: id must be a string, not null; quote it"]),
        (
            "- {id: a, family: f, text: x, documents: [ok, 7]}",
            ["1:47: case 'a': documents[1] must be a string or a mapping, not 7; quote it"],
        ),
        ("- just text", ["1:3: the case must be a mapping, not 'just text'"]),
        ("id: a", ["1:1: the file must be a list of cases: '- id: ...', not a mapping"]),
        ("", ["1:1: the file must be a list of cases: '- id: ...', not null"]),
        ("[]", ["1:1: the file must not be empty; write a case: '- id: ...'"]),
        ("- {id: a", ["2:1: not YAML (while parsing a flow mapping did not find expected"]),
        ("- {id: a, id: b}", ["1:11: key 'id' stands twice, first at FILE:1:4; keep one"]),
        ("- !!python/name:os.system", ["1:3: tag '!!python/name:os.system' is not read;"]),
        ("- *a", ["1:3: alias '*a' names no anchor before it;"]),
        ("- {id: a}\n---\n- {id: b}", ["2:1: a second document"]),
    ],
)
def test_what_is_wrong_is_told_with_its_place(tmp_path: Path, text: str, said: list[str]) -> None:
    file = tmp_path / "wrong.cases.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(CaseFileError) as failure:
        load_cases(file)
    problems = [str(problem) for problem in failure.value.problems]
    expected = [f"{file}:{line.replace('FILE', str(file))}" for line in said]
    assert len(problems) == len(expected)
    for problem, start in zip(sorted(problems), sorted(expected), strict=True):
        assert problem.startswith(start)
    assert str(failure.value) == "; ".join(problems)
    assert "\n" not in str(failure.value)


def test_what_is_wrong_in_a_shared_value_is_told_where_it_is_written(tmp_path: Path) -> None:
    file = tmp_path / "wrong.cases.yaml"
    file.write_text(
        "- {id: a, family: f, text: x, tools: &t [5]}\n- {id: b, family: f, text: x, tools: *t}\n"
    )
    with pytest.raises(CaseFileError) as failure:
        load_cases(file)
    places = [(p.location.line, p.location.column) for p in failure.value.problems]
    assert places == [(1, 42), (1, 42)]


def test_a_file_that_is_no_text_is_told_with_the_place_of_the_byte(tmp_path: Path) -> None:
    file = tmp_path / "wrong.cases.yaml"
    file.write_bytes(b"- id: a\n  text: \xff\n")
    with pytest.raises(CaseFileError, match=r":2:9: not UTF-8 \(byte 0xff\); save the file"):
        load_cases(file)


def test_a_missing_case_file_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load_cases(tmp_path / "none.yaml")


@pytest.mark.parametrize("data", [CASES.encode(), b"\xef\xbb\xbf" + CASES.encode()])
def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "a.cases.yaml"
    file.write_bytes(data)
    assert [case.id for case in load_cases(file)] == ["a"]


def test_values_that_yaml_takes_for_something_else_are_read_as_they_are_written(
    tmp_path: Path,
) -> None:
    file = tmp_path / "a.cases.yaml"
    file.write_text("- {id: a, family: f, text: 2024-01-01, stop: x, note: 'on'}")
    [case] = load_cases(file)
    assert (case.text, case.stop, case.note) == ("2024-01-01", ("x",), "on")
    assert case.request == {"stop": ["x"]}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Families and cases, and what looks like them."""
    for name, text in {
        "a.yaml": FAMILY,
        "a.cases.yaml": CASES,
        "sub/b.yml": '{"tagsmith": 1, "id": "b"}',
        "sub/b.cases.yml": CASES,
        "sub/mkdocs.yml": "site_name: tagsmith\n",
        "sub/deep/c.cases.yaml": CASES,
        ".hidden/d.cases.yaml": CASES,
        "e.cases.yaml.bak": CASES,
        "plain.yaml": CASES,
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "circle").symlink_to(tmp_path, target_is_directory=True)
    return tmp_path


@pytest.mark.parametrize(
    ("paths", "cases", "families", "beside"),
    [
        (
            ["."],
            ["a.cases.yaml", "b.cases.yml", "c.cases.yaml"],
            ["a.yaml", "b.yml"],
            [],
        ),
        (["a.yaml"], ["a.cases.yaml"], ["a.yaml"], []),
        (["a.cases.yaml"], ["a.cases.yaml"], [], ["a.yaml"]),
        (["plain.yaml"], ["plain.yaml"], [], ["a.yaml"]),
        (
            ["a.cases.yaml", "."],
            ["a.cases.yaml", "b.cases.yml", "c.cases.yaml"],
            ["a.yaml", "b.yml"],
            ["a.yaml"],
        ),
        (["sub/deep"], ["c.cases.yaml"], [], []),
    ],
)
def test_what_is_found_at_a_path(
    tree: Path, paths: list[str], cases: list[str], families: list[str], beside: list[str]
) -> None:
    found = find_test_files(tree / path for path in paths)
    assert [path.name for path in found.cases] == cases
    assert [path.name for path in found.families] == families
    assert [path.name for path in found.beside] == beside


def test_families_beside_a_case_file_are_those_of_its_directory(tree: Path) -> None:
    assert [path.name for path in families_beside(tree / "sub" / "b.cases.yml")] == ["b.yml"]
    assert families_beside(tree / "sub" / "deep" / "c.cases.yaml") == []
