"""Which problems lint tells: by options, and by comments in the files."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tagsmith.cli import main
from tagsmith.errors import RequestError
from tagsmith.lint.builtin import RULES
from tagsmith.lint.rules import Finding, LintSubject, Rule
from tagsmith.lint.run import lint

TEXT = "tagsmith: 1\nid: acme\ntitel: x\nengine: melody\ntokens: {hiden: [1]}\n"


def write(directory: Path, text: str = TEXT) -> Path:
    (directory / "acme.yaml").write_text(text, encoding="utf-8")
    return directory


def codes(directory: Path, **options: object) -> list[str]:
    return [str(problem.code) for problem in lint([directory], **options).problems]  # type: ignore[arg-type]


def run_lint(*args: str | Path) -> Result:
    return CliRunner().invoke(main, ["lint", *map(str, args)])


SELECTIONS = {
    "all": ({}, ["TS101", "TS304", "TS101"]),
    "a code": ({"select": ["TS304"]}, ["TS304"]),
    "a group": ({"select": ["TS1"]}, ["TS101", "TS101"]),
    "several with commas": ({"select": ["TS2, TS304", "TS0"]}, ["TS304"]),
    "all but a code": ({"ignore": ["TS304"]}, ["TS101", "TS101"]),
    "a group but a code": ({"select": ["TS"], "ignore": ["TS1"]}, ["TS304"]),
    "what is ignored is not selected": ({"select": ["TS304"], "ignore": ["TS3"]}, []),
}


@pytest.mark.parametrize(("options", "expected"), SELECTIONS.values(), ids=SELECTIONS)
def test_codes_are_selected_and_ignored(
    options: dict[str, list[str]], expected: list[str], tmp_path: Path
) -> None:
    assert codes(write(tmp_path), **options) == expected
    args = [
        part for key, several in options.items() for one in several for part in (f"--{key}", one)
    ]
    result = run_lint(tmp_path, *args)
    assert result.exit_code == int(bool(expected))
    assert result.stdout.endswith(
        f"1 file, {len(expected) or 'no'} problem{'s' * (len(expected) != 1)}\n"
    )


@pytest.mark.parametrize("option", ["select", "ignore"])
@pytest.mark.parametrize("wrong", ["TS999", "ts101", "", "TS101,", "XY", "TS1011"])
def test_a_code_that_there_is_not_is_wrong_use(option: str, wrong: str, tmp_path: Path) -> None:
    with pytest.raises(RequestError) as raised:
        lint([write(tmp_path)], **{option: [wrong]})  # type: ignore[arg-type]
    assert raised.value.field == option
    result = run_lint(tmp_path, f"--{option}", wrong)
    assert (result.exit_code, result.stdout) == (2, "")
    assert (
        f"--{option}: '{wrong.rstrip(',') if wrong != 'TS101,' else ''}' is no code"
        in result.stderr
    )
    assert len(result.stderr.splitlines()) == 1


def test_a_near_code_is_offered(tmp_path: Path) -> None:
    assert "nearest: TS801" in run_lint(write(tmp_path), "--ignore", "TS8O1").stderr


def test_rules_that_are_not_told_are_not_checked(tmp_path: Path) -> None:
    def fails(subject: LintSubject) -> list[Finding]:
        raise AssertionError

    rules = (*RULES, Rule("ACME001", "fails", "Fails.", fails))
    write(tmp_path, "tagsmith: 1\nid: acme\n")
    assert codes(tmp_path, rules=rules, ignore=["ACME"]) == ["TS801"]
    assert codes(tmp_path, rules=rules, select=["TS801"]) == ["TS801"]
    assert codes(tmp_path, rules=rules, select=["ACME001", "TS903"]) == ["TS903"]


HEAD = "tagsmith: 1\nid: acme  # tagsmith: ignore[TS801]\n"
COMMENTS = {
    "on the line": ("titel: x # tagsmith: ignore[TS101]\n", []),
    "without blanks": ("titel: x #tagsmith:ignore[TS101]\n", []),
    "with a reason": ("titel: x # tagsmith: ignore[TS101] until it is known\n", []),
    "after another comment": ("titel: x # so it is # tagsmith: ignore[TS101]\n", []),
    "several codes": ("titel: {a: 1, a: 2} # tagsmith: ignore[TS014, TS101]\n", []),
    "one of two": ("titel: {a: 1, a: 2} # tagsmith: ignore[TS014]\n", ["TS101"]),
    "twice on a line": ("tokens: {x: 1, y: 2} # tagsmith: ignore[TS101]\n", []),
    "on another line": ("# tagsmith: ignore[TS101]\ntitel: x\n", ["TS901", "TS101"]),
    "inside single quotes": ("titel: 'x # tagsmith: ignore[TS101]'\n", ["TS101"]),
    "inside double quotes": ('titel: "x\n  # tagsmith: ignore[TS101]"\n', ["TS101"]),
    "inside a block": ("titel: |\n  x # tagsmith: ignore[TS101]\n", ["TS101"]),
    "beside a block's sign": ("titel: | # tagsmith: ignore[TS101]\n  x\n", []),
    "inside a flow": ("tokens: {x: 1, # tagsmith: ignore[TS101]\n  y: 2}\n", ["TS101"]),
    "below a block": ("title: |\n  x\n# tagsmith: ignore[TS101]\n", ["TS901"]),
    "what is fine": ("title: x # tagsmith: ignore[TS101]\n", ["TS901"]),
    "a code that there is not": ("titel: x # tagsmith: ignore[TS1O1]\n", ["TS101", "TS902"]),
    "a group": ("titel: x # tagsmith: ignore[TS1]\n", ["TS101", "TS902"]),
    "no code": ("titel: x # tagsmith: ignore\n", ["TS101", "TS902"]),
    "no code in brackets": ("titel: x # tagsmith: ignore[ ]\n", ["TS101", "TS902"]),
    "of a probe that did not run": ("title: x # tagsmith: ignore[TS501]\n", []),
    "of something else": ("# tagsmith: 1\n# tagsmith: ignorance\n", []),
}


@pytest.mark.parametrize(("text", "expected"), COMMENTS.values(), ids=COMMENTS)
def test_comments_ignore_codes_on_their_line(
    text: str, expected: list[str], tmp_path: Path
) -> None:
    assert codes(write(tmp_path, HEAD + text)) == expected


def test_what_is_wrong_with_a_comment_is_told_at_its_code(tmp_path: Path) -> None:
    write(tmp_path, HEAD + "title: é｜x # tagsmith: ignore[TS101, TS8O2]\n")
    first, second = lint([tmp_path]).problems
    assert (first.line, first.column, first.code) == (3, 31, "TS901")
    assert (second.line, second.column, second.code) == (3, 38, "TS902")
    assert "TS802" in second.message


def test_comments_are_judged_by_what_was_looked_for(tmp_path: Path) -> None:
    write(tmp_path, HEAD + "title: x # tagsmith: ignore[TS101]\n")
    assert codes(tmp_path, ignore=["TS101"]) == []
    assert codes(tmp_path, select=["TS8", "TS9"]) == []
    assert codes(tmp_path, ignore=["TS901"]) == []
    assert codes(tmp_path, select=["TS1", "TS9"]) == ["TS901"]


def test_a_comment_counts_in_the_file_that_is_extended(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    write(
        tmp_path, HEAD + "titel: x # tagsmith: ignore[TS101]\ntitle: y # tagsmith: ignore[TS101]\n"
    )
    (own / "child.yaml").write_text(
        "tagsmith: 1\nid: child # tagsmith: ignore[TS801]\nextends: ../acme.yaml\n"
    )
    assert codes(own) == []


def test_rules_that_saw_no_family_leave_their_comments_alone(tmp_path: Path) -> None:
    write(tmp_path, HEAD + "titel: x\nengine: native # tagsmith: ignore[TS802, TS312]\n")
    assert codes(tmp_path) == ["TS101", "TS901"]


def test_what_is_no_yaml_has_no_unused_comments(tmp_path: Path) -> None:
    write(tmp_path, "tagsmith: 1\nid: [ # tagsmith: ignore[TS101]\n")
    assert codes(tmp_path) == ["TS005"]


@pytest.mark.parametrize(
    ("args", "part"),
    [
        (["--probe", "other"], "unknown value 'other'; allowed: grammar, melody, tokenizer"),
        (["--probe", "tokenizer"], "give --tokenizer PATH"),
        (["--select", "TS7"], "give --tokenizer PATH"),
        (["--tokenizer", "no-such-directory"], "--tokenizer no-such-directory: no such file"),
    ],
)
def test_a_probe_that_cannot_run_is_wrong_use(args: list[str], part: str, tmp_path: Path) -> None:
    result = run_lint(write(tmp_path), *args)
    assert (result.exit_code, result.stdout) == (2, "")
    assert part in result.stderr


def test_a_directory_without_families_is_wrong_use_whatever_is_told(tmp_path: Path) -> None:
    for args in ([], ["--select", "TS3"], ["--ignore", "TS001"]):
        result = run_lint(tmp_path, *args)
        assert (result.exit_code, result.stdout) == (2, "")
        assert "no family file" in result.stderr


MELODY = "melody: {preset: cmd3}\ntag_style: {reasoning: {start: <think>, end: </think>}}\n"


def test_probes_run_when_they_are_asked_for(tmp_path: Path) -> None:
    write(tmp_path, HEAD + MELODY)
    assert codes(tmp_path) == []
    assert set(codes(tmp_path, probes=["melody"])) == {"TS602", "TS603"}
    assert codes(tmp_path, select=["TS602"]) == ["TS602"]
    assert codes(tmp_path, select=["TS"]) == []
    assert run_lint(tmp_path, "--probe", "melody").exit_code == 1
