"""Files that are made to hold lint up: each is told, or found right, in about a second."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from tagsmith.cli import main
from tagsmith.lint.reporters import sarif_report, text_report
from tagsmith.lint.run import lint

HEAD = "tagsmith: 1\nid: acme\n"
SECONDS = 4
"""Of the processor, on a machine that is slow; what these files were made for took minutes."""


def with_pattern(pattern: str) -> str:
    calls = "tool_calls:\n  layout: json\n  keys: {id: id}\n"
    style = "tag_style:\n  tool_calls: {start: <calls>, end: </calls>}\n"
    return f"{HEAD}{style}{calls}  id: {{pattern: '{pattern}'}}\n"


def several(form: str, number: int) -> str:
    return ", ".join(form.format(n) for n in range(number))


FILES = {
    "markers that end in blanks": (
        HEAD + "tokens: {hidden: [" + several("'<{}> '", 6000) + "]}\n",
        set(),
    ),
    "patterns of models": (HEAD + "match: {models: [" + several("'a{}*'", 6000) + "]}\n", set()),
    "architectures": (f"{HEAD}match: {{architectures: [{several('a{}', 9000)}]}}\n", set()),
    "forms of a call": (
        f"{HEAD}tool_calls:\n  layout: template\n  call:\n"
        + "".join(f'  - "<c{n}>{{name}}: {{arguments}}</c{n}>"\n' for n in range(1500)),
        set(),
    ),
    "codes to ignore": (f"{HEAD}# tagsmith: ignore[{several('X{}', 4000)}]\n", {"TS902"}),
    "many choices": (with_pattern("(" + "|".join("a" * 150) + ")+"), {"TS806"}),
    "repeats of nothing": (with_pattern("(?:(?:(?:a?){1000}){1000}){1000}"), {"TS806"}),
    "repeats around choices": (
        with_pattern("(" * 60 + "|".join("a" * 150) + ")+" * 60),
        {"TS806"},
    ),
    "a long pattern": (with_pattern("a" * 500_000), {"TS106"}),
    "a pattern that a later Python reads otherwise": (with_pattern("[[a]b]+"), {"TS308"}),
    "a long tag": (f"{HEAD}title: !<{'a' * 50_000}> x\n", {"TS011"}),
    "a long alias": (f"{HEAD}title: *{'a' * 50_000}\n", {"TS015"}),
    "a file of the system": (f"{HEAD}extends: /etc/passwd\n", {"TS201"}),
}


@pytest.mark.heavy
@pytest.mark.parametrize(("text", "codes"), FILES.values(), ids=FILES)
def test_a_file_is_told_in_a_short_time_and_few_words(
    tmp_path: Path, text: str, codes: set[str]
) -> None:
    file = tmp_path / "acme.yaml"
    file.write_text(text)
    started = time.process_time()
    report = lint([file], ignore=["TS801"])
    assert text_report(report)
    assert time.process_time() - started < SECONDS
    assert {str(problem.code) for problem in report.problems} - {"TS805", "TS807"} == codes
    assert all(len(problem.message) < 500 for problem in report.problems)


def chain(number: int) -> Iterator[tuple[str, str]]:
    """Families that each extend the next; the last one extends what there is not."""
    return ((f"f{n}", f"f{n + 1}") for n in range(number))


def circle(number: int) -> Iterator[tuple[str, str]]:
    return ((f"f{n}", f"f{(n + 1) % number}") for n in range(number))


def of_one_id(number: int) -> Iterator[tuple[str, str]]:
    return (("acme", "mistral") for _ in range(number))


@pytest.mark.parametrize("related", [chain, circle, of_one_id])
def test_what_many_families_have_to_do_with_each_other_is_told_shortly(
    tmp_path: Path, related: Callable[[int], Iterator[tuple[str, str]]]
) -> None:
    for number, (name, base) in enumerate(related(300)):
        text = f"tagsmith: 1\nid: {name}\nextends: {base}\n"
        (tmp_path / f"{number}.yaml").write_text(text)
    started = time.process_time()
    problems = lint([tmp_path]).problems
    assert time.process_time() - started < SECONDS
    assert 300 <= len(problems) <= 1000
    assert all(len(problem.message) < 2000 for problem in problems)


def test_one_of_several_thousand_patterns_takes_in_another(tmp_path: Path) -> None:
    narrow = ", ".join(f'"b{n}/x"' for n in range(3000))
    for name, models in {"one": f'"b77/*", {narrow}', "two": '"b77/y", "B77/*y"'}.items():
        text = f"tagsmith: 1\nid: {name}\nmatch: {{models: [{models}]}}\n"
        (tmp_path / f"{name}.yaml").write_text(text)
    problems = lint([tmp_path], select=["TS403"]).problems
    places = [(Path(problem.file).name, problem.column) for problem in problems]
    assert places == [("one.yaml", 18), ("one.yaml", 18), ("two.yaml", 18), ("two.yaml", 27)]


CASE = "- {id: one, family: acme, text: Hi, content: Hi}\n"
CASE_FILES: dict[str, tuple[Callable[[Path], object], list[str]]] = {
    "a pipe": (os.mkfifo, ["TS801"]),
    "a link that leads nowhere": (lambda path: path.symlink_to("nowhere"), ["TS801"]),
    "a link in a circle": (lambda path: path.symlink_to(path.name), ["TS801"]),
    "a directory": (lambda path: path.mkdir(), ["TS801"]),
    "deep nesting": (lambda path: path.write_text("[" * 9000), ["TS801"]),
    "a large file": (lambda path: path.write_text(CASE + "#" * 3_000_000), ["TS801"]),
    "a day that there is not": (lambda path: path.write_text(f"- {{a: 2024-13-45}}\n{CASE}"), []),
    "a long number": (lambda path: path.write_text(f"- {{a: {'1' * 5000}}}\n{CASE}"), []),
}


@pytest.mark.parametrize(("make", "codes"), CASE_FILES.values(), ids=CASE_FILES)
def test_a_case_file_holds_nothing_up(
    tmp_path: Path, make: Callable[[Path], object], codes: list[str]
) -> None:
    (tmp_path / "acme.yaml").write_text(HEAD)
    make(tmp_path / "acme.cases.yaml")
    assert [str(problem.code) for problem in lint([tmp_path]).problems] == codes


PLACES = {
    "no UTF-8": (b'tagsmith: 1\rid: acme\r\ntitle: "\xff"\n', "TS003", (3, 9)),
    "a control character": (b'tagsmith: 1\rid: acme\r\ntitle: "\x07"\n', "TS005", (3, 9)),
}


@pytest.mark.parametrize(("data", "code", "place"), PLACES.values(), ids=PLACES)
def test_lines_are_counted_as_they_are_shown(
    tmp_path: Path, data: bytes, code: str, place: tuple[int, int]
) -> None:
    file = tmp_path / "acme.yaml"
    file.write_bytes(data)
    [problem] = lint([file]).problems
    assert (str(problem.code), (problem.line, problem.column)) == (code, place)


def test_sarif_names_a_file_whose_name_is_no_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(os.fsdecode(b"a\xff.yaml")).write_text("id: acme\n")
    log = json.loads(sarif_report(lint([os.fsdecode(b"a\xff.yaml")])))
    place = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "a%FF.yaml"


def test_a_missing_tokenizer_is_asked_for_as_what_it_is(tmp_path: Path) -> None:
    (tmp_path / "acme.yaml").write_text(HEAD)
    wanted = ["lint", str(tmp_path), "--tokenizer", str(tmp_path / "none")]
    result = CliRunner().invoke(main, wanted)
    assert result.exit_code == 2
    assert "give a tokenizer.json" in result.output
