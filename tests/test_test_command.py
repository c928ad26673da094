"""`tagsmith test`: what runs, what is told, and how it ends."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result

from tagsmith.cli import main
from tagsmith.events import Event
from tagsmith.parser import Parser
from tagsmith.testing.laws import LAWS

FAMILY = """\
tagsmith: 1
id: acme
tag_style:
  content:
    - {start: <say>, end: </say>}
  tool_calls: {start: <call>, end: </call>}
tool_calls: {layout: json}
"""
GOOD = "- {id: good, family: acme, text: <say>Hi</say>, content: Hi, diagnostics: []}\n"
BAD = "- {id: bad, family: acme, text: <say>Hi</say>, content: Ho}  # why\n"


def tagsmith(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["test", *map(str, arguments)])


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A family with a case that it keeps and one that it does not."""
    monkeypatch.chdir(tmp_path)
    directory = Path("mine")
    directory.mkdir()
    (directory / "acme.yaml").write_text(FAMILY)
    (directory / "acme.cases.yaml").write_text(GOOD + BAD)
    return directory


def test_what_holds_is_counted(mine: Path) -> None:
    (mine / "acme.cases.yaml").write_text(GOOD)
    done = tagsmith(mine)
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout == f"1 case and {len(LAWS)} laws of 1 family: nothing failed\n"


def test_a_failure_shows_what_where_and_how_to_see_it_again(mine: Path) -> None:
    done = tagsmith(mine, "--samples", "0")
    assert done.exit_code == 1
    assert done.stdout.splitlines() == [
        "mine/acme.cases.yaml:2:8: case bad, family acme, parse():",
        "  content",
        "    expected  'Ho'",
        "    found     'Hi'",
        "                ^ character 1",
        "  fed by character, they part at delta 7 of 13, character 6 of the output:",
        "    '<say>Hi</say>'",
        "           ^",
        "  again: tagsmith test mine -k mine/acme.cases.yaml::bad",
        "  look:  printf %s '<say>Hi</say>' | tagsmith explain --family acme --families mine -",
        "",
        "2 cases and 0 laws of 1 family: 1 failed",
    ]


@pytest.mark.parametrize("output_format", ["text", "json", "junit"])
@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.heavy)])
def test_failures_are_told_in_every_format(mine: Path, output_format: str, jobs: int) -> None:
    (mine / "other.cases.yaml").write_text("- {id: lost, family: acmee, text: x}\n- {id: a}\n")
    (mine / "broken.cases.yaml").write_text("- {id: lost, family: acmee, text: x}\n")
    done = tagsmith(mine, "--format", output_format, "--jobs", str(jobs), "--samples", "1")
    assert done.exit_code == 1
    for part in (
        "mine/other.cases.yaml:2:3: case &apos;a&apos;: the key &apos;family&apos; is missing",
        "mine/broken.cases.yaml:1:22: no family answers to &apos;acmee&apos;; nearest: acme",
    ):
        shown = done.stdout.replace("'", "&apos;").replace("&quot;", '"')
        assert part in shown
    if output_format == "json":
        report = json.loads(done.stdout)
        assert (report["cases"], report["laws"], len(report["problems"])) == (2, len(LAWS), 3)
        [failure] = report["failures"]
        place = (failure["file"], failure["line"], failure["column"])
        assert place == ("mine/acme.cases.yaml", 2, 8)
        assert failure["differences"] == [{"field": "content", "expected": "Ho", "found": "Hi"}]
        assert failure["parting"] == {"delta": 7, "count": 13, "start": 6, "end": 7}
    if output_format == "junit":
        suites = {suite.get("name"): suite for suite in ElementTree.fromstring(done.stdout)}
        assert set(suites) == {"mine/acme.cases.yaml", "laws of acme", "files"}
        cases = suites["mine/acme.cases.yaml"]
        assert (cases.get("tests"), cases.get("failures")) == ("2", "1")
        assert [case.get("name") for case in cases] == ["good", "bad"]
        assert "expected  'Ho'" in (cases[1][0].text or "")


@pytest.mark.parametrize(
    ("arguments", "counted"),
    [
        (["-k", "GOOD"], "1 case and 0 laws of 1 family"),
        (["-k", "acme::same"], "0 cases and 1 law of 1 family"),
        (["-k", "good", "--family", "acme"], "1 case and 0 laws of 1 family"),
        (["--law", "linear", "--law", "nothing-lost", "-k", "::n"], "0 cases and 2 laws of 2 fam"),
        (["--family", "qwen3", "--families", "more", "-k", "l::q"], "1 case and 0 laws"),
    ],
)
def test_what_runs_can_be_chosen(mine: Path, arguments: list[str], counted: str) -> None:
    (mine / "q.cases.yaml").write_text("- {id: q, family: qwen3, text: Hi, content: Hi}\n")
    Path("more").mkdir()
    (Path("more") / "b.yaml").write_text("tagsmith: 1\nid: b\n")
    done = tagsmith(mine, "--samples", "1", *arguments)
    assert done.exit_code == 0
    assert counted in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["none"], "none: no such file or directory"),
        (["mine", "--families", "none"], "--families none: no such file or directory"),
        (["empty"], "empty: no case file (*.cases.yaml) and no family file; give another path"),
        (["mine", "--law", "same-txt"], "--law same-txt: there is no such law; nearest: same-text"),
        (["mine", "-k", "nothing of it"], "nothing is chosen; choose less narrowly by -k"),
        (["mine", "--family", "acmee"], "no family answers to 'acmee'; nearest: acme"),
        (["mine", "--update", "--format", "junit"], "--format junit: not with --update"),
        ([], "Missing argument 'PATH...'"),
    ],
)
def test_wrong_use_is_told_in_one_line(mine: Path, arguments: list[str], said: str) -> None:
    Path("empty").mkdir()
    done = tagsmith(*arguments)
    assert done.exit_code == 2
    assert done.stderr.startswith("tagsmith: " + said)
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


def test_a_family_without_a_case_is_told(mine: Path) -> None:
    (mine / "b.yaml").write_text(FAMILY.replace("id: acme", "id: acme-b"))
    done = tagsmith(mine, "--family", "acme-b", "--samples", "1")
    assert done.exit_code == 0
    assert done.stdout.splitlines() == [
        "acme-b: the family has no case; write one in a *.cases.yaml beside it",
        f"0 cases and {len(LAWS)} laws of 1 family: nothing failed",
    ]


def test_a_broken_family_is_told_once_with_its_place(mine: Path) -> None:
    (mine / "acme.yaml").write_text(FAMILY.replace("tag_style", "tag_stile"))
    done = tagsmith(mine)
    assert done.exit_code == 1
    told = [line for line in done.stdout.splitlines() if "unknown key 'tag_stile'" in line]
    assert told[0].startswith("mine/acme.yaml:3:1: TS101 unknown key")
    assert len(told) <= 2
    assert done.stdout.splitlines()[-1].startswith("0 cases and 0 laws of 0 families: ")


def test_a_case_file_that_cannot_be_read_keeps_no_other_from_running(mine: Path) -> None:
    (mine / "lost.cases.yaml").symlink_to("nowhere")
    os.mkfifo(mine / "pipe.cases.yaml")
    done = tagsmith(mine, "--samples", "0", "-k", "good")
    assert done.exit_code == 1
    assert f"{mine}/lost.cases.yaml: cannot be read (No such file or directory); " in done.stdout
    assert done.stdout.endswith("1 case and 0 laws of 1 family: 1 problem\n")


def test_a_request_that_cannot_be_served_fails_its_case(mine: Path) -> None:
    case = "- {id: a, family: acme, text: Hi, content: Hi, tool_choice: sometimes}\n"
    (mine / "acme.cases.yaml").write_text(case)
    done = tagsmith(mine, "--samples", "0")
    assert done.exit_code == 1
    assert "1:8: case a, family acme: the request cannot be served: tool_choice" in done.stdout


def test_a_broken_law_is_told_with_the_command_that_breaks_it_again(
    mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed = Parser.feed

    def lossy(self: Parser, text: str, token_ids: list[int] | None = None) -> list[Event]:
        return [] if text == "a" else feed(self, text, token_ids)

    monkeypatch.setattr(Parser, "feed", lossy)
    done = tagsmith(mine, "-k", "acme::same-text", "--samples", "200", "--seed", "3")
    assert done.exit_code == 1
    told = done.stdout.splitlines()
    assert told[0].startswith("law same-text, family acme, seed 3: the ")
    [again] = [line for line in told if line.startswith("  again: ")]
    words = shlex.split(again)[2:]
    assert CliRunner().invoke(main, words).stdout == done.stdout


def test_diff_shows_and_update_rewrites(mine: Path) -> None:
    path = mine / "acme.cases.yaml"
    shown = tagsmith(mine, "--diff")
    assert shown.exit_code == 1
    assert shown.stdout.splitlines() == [
        "--- mine/acme.cases.yaml",
        "+++ mine/acme.cases.yaml",
        "@@ -1,2 +1,2 @@",
        " " + GOOD.rstrip(),
        "-" + BAD.rstrip(),
        "+" + BAD.rstrip().replace("Ho", "Hi"),
        "",
        "1 case to rewrite",
    ]
    assert path.read_text() == GOOD + BAD
    done = tagsmith(mine, "--update")
    assert (done.exit_code, done.stdout) == (0, shown.stdout)
    assert path.read_text() == GOOD + BAD.replace("Ho", "Hi")
    assert tagsmith(mine, "--diff").stdout == "0 cases to rewrite\n"


def test_update_rewrites_what_is_chosen(mine: Path) -> None:
    path = mine / "acme.cases.yaml"
    path.write_text(BAD + BAD.replace("bad", "worse"))
    assert tagsmith(mine, "--update", "-k", "worse").exit_code == 0
    assert path.read_text() == BAD + BAD.replace("bad", "worse").replace("Ho", "Hi")


def test_a_message_that_is_wrong_in_one_piece_only_parts_in_one_piece(
    mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed = Parser.feed

    def adding(self: Parser, text: str, token_ids: list[int] | None = None) -> list[Event]:
        return feed(self, f"?{text}" if len(text) > 1 else text, token_ids)

    monkeypatch.setattr(Parser, "feed", adding)
    (mine / "acme.cases.yaml").write_text(GOOD)
    told = tagsmith(mine, "--samples", "0").stdout
    assert "case good, family acme, parse(); fed by character, it is as expected:\n" in told
    assert "  fed in one piece, they part at delta 1 of 1, characters 0 to 12 of" in told


def test_update_leaves_what_depends_on_the_cutting(
    mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed = Parser.feed

    def lossy(self: Parser, text: str, token_ids: list[int] | None = None) -> list[Event]:
        return [] if text == "i" else feed(self, text, token_ids)

    monkeypatch.setattr(Parser, "feed", lossy)
    done = tagsmith(mine, "--update", "--format", "json")
    assert done.exit_code == 1
    [file] = json.loads(done.stdout)["files"]
    assert (file["updated"], file["diff"]) == ([], "")
    assert set(file["left"]) == {"good", "bad"}
    assert (mine / "acme.cases.yaml").read_text() == GOOD + BAD


REQUEST: dict[str, Any] = {
    "tools": [{"name": "f", "parameters": {"type": "object"}}],
    "tool_choice": "none",
    "documents": ["it's"],
    "messages": [{"role": "user", "content": "q"}],
    "prompt": "$HOME <say>",
    "stop": ["END", "two words"],
}


@pytest.mark.heavy
def test_the_command_of_a_failure_shows_the_output(mine: Path) -> None:
    text = "it's <call>a\n$(b)</call> END"
    case = {"id": "a", "family": "acme", "text": text, "content": "no", **REQUEST}
    (mine / "acme.cases.yaml").write_text(json.dumps([case]))
    told = tagsmith(mine, "--samples", "0").stdout
    command = told.partition("  look:  ")[2].partition("\n\n1 case")[0]
    program = f"{shlex.quote(sys.executable)} -m tagsmith"
    command = command.replace("tagsmith explain", f"{program} explain --format json")
    done = subprocess.run(["bash", "-c", command], text=True, capture_output=True, check=True)
    assert "".join(span["text"] for span in json.loads(done.stdout)) == text


@pytest.mark.parametrize("size", [1, 7])
def test_a_cutting_by_size_is_shown_as_a_stream(
    mine: Path, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed = Parser.feed

    def lossy(self: Parser, text: str, token_ids: list[int] | None = None) -> list[Event]:
        is_lost = len(text) == size and "z" in text and token_ids is None
        return [] if is_lost else feed(self, text, token_ids)

    monkeypatch.setattr(Parser, "feed", lossy)
    (mine / "acme.cases.yaml").write_text(
        "- {id: a, family: acme, text: 0123456789z0123456789, content: 0123456789z0123456789}\n"
    )
    told = tagsmith(mine, "--samples", "0").stdout
    assert (
        f" | tagsmith parse --family acme --families mine --stream {size} --finish-reason" in told
    )
