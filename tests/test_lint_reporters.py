"""How lint tells what it found: to people, to programs, to GitHub, and as SARIF."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import jsonschema
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from tagsmith.cli import main
from tagsmith.errors import FamilyFileError, Location
from tagsmith.lint.reporters import (
    github_report,
    painted,
    sarif_report,
    text_report,
)
from tagsmith.lint.run import Report, lint
from tagsmith.lint.source import SourceText

HERE = Path(__file__).parent
SCHEMA = json.loads((HERE / "data" / "sarif-schema-2.1.0.json").read_text(encoding="utf-8"))
"""The schema that OASIS publishes with the standard, as it is."""


def told(text: str, line: int, column: int, message: str = "wrong", file: str = "f.yaml") -> Report:
    error = FamilyFileError("TS101", message, Location(file, line, column))
    return Report((), (error,), {file: SourceText(text)})


EXCERPTS = {
    "a key": ("id: a\ntitel: x\n", (2, 1), "titel: x", "^^^^^"),
    "a quoted value": ("title: 'a b' # c\n", (1, 8), "title: 'a b' # c", "       ^^^^^"),
    "a value of two lines": ('title: "a\n  b"\n', (1, 8), 'title: "a', "       ^^"),
    "a mapping": ("match: {a: 1}\n", (1, 8), "match: {a: 1}", "       ^"),
    "wide characters": ("a｜中: x\n", (1, 6), "a｜中: x", "       ^"),
    "a wide value": ("a: <｜中>\n", (1, 4), "a: <｜中>", "   ^^^^^^"),
    "combining characters": ("e\u0301: x\n", (1, 5), "e\u0301: x", "   ^"),
    "a sign around another": ("a\u20dd: x\n", (1, 5), "a\u20dd: x", "   ^"),
    "how a sign is drawn": ("\u2764\ufe0f: x\n", (1, 5), "\u2764\ufe0f: x", "   ^"),
    "letters in one": ("\u1112\u1161\u11ab: x\n", (1, 6), "\u1112\u1161\u11ab: x", "    ^"),
    "a tab": ("a:\tx\n", (1, 4), "a: x", "   ^"),
    "what would move the cursor": ("a: '\x85\u202e'\n", (1, 4), "a: '", "   ^"),
    "a line end of YAML": ("a: 1\u2028b: 2\n", (2, 1), "b: 2", "^"),
    "carriage returns": ("a: 1\r\nb: 2\r\n", (2, 4), "b: 2", "   ^"),
    "past the end": ("a: [\n", (1, 5), "a: [", "    ^"),
}


@pytest.mark.parametrize(("text", "place", "line", "caret"), EXCERPTS.values(), ids=EXCERPTS)
def test_the_line_is_shown_with_a_caret_below_it(
    text: str, place: tuple[int, int], line: str, caret: str
) -> None:
    first, shown, below, counted = text_report(told(text, *place)).split("\n")
    assert first == f"f.yaml:{place[0]}:{place[1]}: TS101 wrong"
    assert (shown, below) == (f"  {place[0]} | {line}", f"    | {caret}")
    assert counted == "0 files, 1 problem"


def test_what_turns_text_around_is_shown_as_a_sign() -> None:
    assert "x\ufffdy" in text_report(told("a: x\u202ey\n", 1, 4))
    assert "\x1b" not in text_report(told("a: 'x\x1b[2J'\n", 1, 4, "wr\x1bong", "f\x1b.yaml"))


def test_of_a_long_line_the_part_around_the_place_is_shown() -> None:
    text = f"a: [{'x, ' * 200}y]\n"
    _, shown, below, _ = text_report(told(text, 1, 301)).split("\n")
    assert shown.startswith("  1 | ...")
    assert shown.endswith("...")
    assert len(shown) < 120
    assert shown[below.index("^")] == text[300]


@pytest.mark.parametrize(
    ("text", "line"), [("", 1), ("\n", 1), ("a: 1\n", 2), ("a: 1\n", 7), ("  \n", 1)]
)
def test_a_line_that_holds_nothing_is_not_shown(text: str, line: int) -> None:
    assert len(text_report(told(text, line, 1)).split("\n")) == 2


def test_colours_change_nothing_else() -> None:
    report = told("id: a\ntitel: x\n", 2, 1)
    coloured = text_report(report, painted)
    assert "\x1b[1;31mTS101\x1b[0m" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == text_report(report)


@pytest.mark.parametrize(
    ("terminal", "environ", "coloured"),
    [
        (True, {}, True),
        (False, {}, False),
        (True, {"NO_COLOR": "1"}, False),
        (True, {"NO_COLOR": ""}, True),
        (True, {"TERM": "dumb"}, False),
    ],
)
def test_colours_are_for_terminals_that_want_them(
    terminal: bool,
    environ: dict[str, str],
    coloured: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "a.yaml").write_text("tagsmith: 1\nid: a\ntitel: x\n")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("tagsmith.cli.lint._is_terminal", lambda: terminal)
    result = CliRunner().invoke(main, ["lint", str(tmp_path)], env=environ)
    assert ("\x1b[" in result.stdout) is coloured
    assert "TS101" in result.stdout


COMMAND = re.compile(r"::error ([^:]*)::(.*)")


def read_command(line: str) -> tuple[dict[str, str], str]:
    """A workflow command as GitHub's runner reads it."""
    match = COMMAND.fullmatch(line)
    assert match is not None, line
    properties = dict(part.split("=", 1) for part in match[1].split(","))
    for code, char in (("%3A", ":"), ("%2C", ","), ("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
        properties = {key: value.replace(code, char) for key, value in properties.items()}
    message = match[2].replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%")
    return properties, message


@given(
    message=st.text(st.sampled_from("ab:,%=\n\r 25A"), max_size=12),
    file=st.text(st.sampled_from("ab:,%=;25A"), min_size=1, max_size=8),
)
def test_annotations_are_read_as_they_were_meant(message: str, file: str) -> None:
    error = FamilyFileError("TS101", message, Location(file, 3, 7))
    command, counted = github_report(Report((), (error,))).split("\n")
    properties, text = read_command(command)
    assert properties == {"file": file, "line": "3", "col": "7", "title": "TS101 unknown-key"}
    assert text == " ".join(message.split())
    assert counted == "0 files, 1 problem"


def test_annotations_name_files_from_where_the_command_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.yaml").write_text("tagsmith: 1\nid: a\ntitel: x\n")
    for path in ("sub", str(tmp_path / "sub"), "./sub/../sub"):
        args = ["lint", path, "--select", "TS1", "--format", "github"]
        command, _ = CliRunner().invoke(main, args).stdout.splitlines()
        properties, message = read_command(command)
        assert properties["file"] in ("sub/a.yaml", "sub/../sub/a.yaml")
        assert (properties["line"], properties["col"], properties["endColumn"]) == ("3", "1", "5")
        assert message.startswith("unknown key 'titel'")


def validated(report: str) -> dict[str, Any]:
    log: dict[str, Any] = json.loads(report)
    jsonschema.Draft4Validator.check_schema(SCHEMA)
    jsonschema.Draft4Validator(
        SCHEMA, format_checker=jsonschema.Draft4Validator.FORMAT_CHECKER
    ).validate(log)
    return log


WRONG = {
    "a b": "tagsmith: 1\nid: a\ntitel: x\nengine: {a: 1}\n",
    "c": "tagsmith: 1\nid: c\ntag_style: {reasoning: {start: '｜😀'}}\n",
    "d": "- no family\n",
}


def test_sarif_is_of_the_schema_and_says_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in WRONG.items():
        (tmp_path / f"{name}.yaml").write_text(text, encoding="utf-8")
    report = lint([Path()])
    log = validated(sarif_report(report))
    [run] = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == sorted({str(p.code) for p in report.problems})
    assert run["columnKind"] == "unicodeCodePoints"
    for problem, result in zip(report.problems, run["results"], strict=True):
        place = result["locations"][0]["physicalLocation"]
        region, artifact = place["region"], place["artifactLocation"]
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"] == problem.code
        assert result["message"]["text"] == problem.message
        assert unquote(artifact["uri"]) == problem.file
        assert artifact["uriBaseId"] == "%SRCROOT%"
        assert (region["startLine"], region["startColumn"]) == (problem.line, problem.column)
        assert region["endColumn"] > region["startColumn"]
    assert {rule["name"] for rule in rules} >= {"UnknownKey", "NotAMapping"}
    assert all(f"docs/lint.md#{rule['id'].lower()}" in rule["help"]["text"] for rule in rules)


def test_sarif_without_problems_and_of_files_beyond(tmp_path: Path) -> None:
    validated(sarif_report(Report((), ())))
    log = validated(sarif_report(lint([tmp_path / "no-such.yaml"])))
    [result] = log["runs"][0]["results"]
    artifact = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert artifact == {"uri": (tmp_path / "no-such.yaml").as_uri()}


def test_sarif_links_to_the_documentation_that_the_package_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from email.message import Message

    about = Message()
    about["Version"] = "1.2"
    about["Project-URL"] = "Source, https://example.org/src"
    about["Project-URL"] = "Documentation, https://example.org/docs/"
    monkeypatch.setattr("tagsmith.lint.reporters.sarif.metadata", lambda _: about)
    driver = validated(sarif_report(told("", 1, 1)))["runs"][0]["tool"]["driver"]
    assert driver["version"] == "1.2"
    assert driver["informationUri"] == "https://example.org/docs/"
    assert driver["rules"][0]["helpUri"] == "https://example.org/docs/lint.md#ts101"


@given(text=st.text(st.sampled_from("a: {}[]'\"|>#\n\r\t\x85\u2028é｜-"), max_size=40))
def test_any_text_can_be_shown(text: str) -> None:
    report = told(text, 1, 1)
    for render in (text_report, github_report, sarif_report):
        assert render(report)
