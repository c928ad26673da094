"""`tagsmith explain`: colour in a terminal, and where the page goes."""

from __future__ import annotations

import json
import pty
import re
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from pages import CALLS, DIAGNOSED, FAMILY, HOSTILE, OPTIONS, Page
from tagsmith.cli import main
from tagsmith.engine.spans import SpanKind
from tagsmith.report import render_terminal
from tagsmith.report.characters import SIGNS
from tagsmith.report.terminal import STYLES

NAME = ("--family", "Cohere2ForCausalLM")
CODES = re.compile(r"\x1b\[[0-9;]*m")


def explain(*arguments: str, stdin: str = CALLS, **environ: str) -> Result:
    return CliRunner(env=environ).invoke(main, ("explain", *NAME, *arguments, "-"), input=stdin)


def coloured(name: str) -> str:
    message = FAMILY.parse(HOSTILE[name], **OPTIONS)
    return render_terminal(FAMILY.explain(HOSTILE[name], **OPTIONS), message.diagnostics)


@pytest.mark.parametrize("name", HOSTILE)
def test_nothing_of_the_output_reaches_the_terminal_as_a_code(name: str) -> None:
    assert SIGNS.search(CODES.sub("", coloured(name))) is None


@pytest.mark.parametrize("name", ["calls", "citations", "many lines", "joined"])
def test_the_text_is_there_to_the_letter(name: str) -> None:
    shown = re.sub(r"⚠\d+", "", click.unstyle(coloured(name)))
    assert shown.replace("↵\n", "\n").startswith(HOSTILE[name])


def test_codes_of_the_output_are_shown() -> None:
    shown = click.unstyle(coloured("terminal codes"))
    assert shown.startswith("ESC[31mredESC[0mESC]0;titleBEL U+009B2J")


def test_each_line_is_styled_for_itself() -> None:
    lines = render_terminal(FAMILY.explain("a\nb"), ()).splitlines()
    assert lines[:2] == ["\x1b[32ma\x1b[0m", "\x1b[32mb\x1b[0m"]


def test_dropped_line_ends_are_shown() -> None:
    shown = click.unstyle(render_terminal(FAMILY.explain("a \n\n"), ()))
    assert shown.startswith("a ↵\n↵\n")


def test_no_two_kinds_differ_in_colour_alone() -> None:
    assert list(STYLES) == list(SpanKind)
    signs = [frozenset(style.items()) - {("fg", style["fg"])} for style in STYLES.values()]
    assert len(set(signs)) == len(signs)


def test_the_legend_names_the_kinds_there_are() -> None:
    shown = click.unstyle(coloured("calls"))
    assert "\n\nmarker: opens or closes something (4 spans, 64 characters)\n" in shown
    assert "\narguments: a call's arguments (2 spans, 33 characters)" in shown
    assert "citation" not in shown


def test_diagnostics_are_marked_in_place_and_told() -> None:
    shown = click.unstyle(coloured("diagnostics"))
    assert shown.startswith("⚠1<|END_ACTION|>")
    notes = FAMILY.parse(DIAGNOSED, **OPTIONS).diagnostics
    told = shown.rpartition("\n\n")[2].splitlines()
    assert told == [
        f"⚠{number} {note.code} at {note.offset}: {note.message}"
        for number, note in enumerate(notes, 1)
    ]


@pytest.mark.parametrize(
    ("arguments", "environ", "is_coloured"),
    [
        ((), {}, False),
        (("--color", "auto"), {}, False),
        (("--color", "never"), {}, False),
        (("--color", "always"), {}, True),
        (("--color", "always"), {"NO_COLOR": "1"}, True),
        (("--color", "always", "--format", "json"), {}, False),
    ],
)
def test_when_it_is_coloured(
    arguments: tuple[str, ...], environ: dict[str, str], is_coloured: bool
) -> None:
    done = explain(*arguments, **environ)
    assert (done.exit_code, done.stderr) == (0, "")
    assert ("\x1b[" in done.stdout) is is_coloured
    if not is_coloured and "json" not in arguments:
        assert done.stdout == explain().stdout


@pytest.mark.parametrize(
    ("environ", "arguments", "is_coloured"),
    [
        ({}, (), True),
        ({"NO_COLOR": "1"}, (), False),
        ({"NO_COLOR": ""}, (), True),
        ({"TERM": "dumb"}, (), False),
        ({}, ("--color", "never"), False),
    ],
)
def test_a_terminal(
    environ: dict[str, str],
    arguments: tuple[str, ...],
    is_coloured: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    output = tmp_path / "output.txt"
    output.write_text("Hi")
    for name, value in {"TERM": "xterm", "NO_COLOR": "", **environ}.items():
        monkeypatch.setenv(name, value)
    ours, theirs = pty.openpty()
    with open(ours, "rb", buffering=0) as screen, open(theirs, "w") as terminal:  # noqa: PTH123
        monkeypatch.setattr("sys.stdout", terminal)
        with pytest.raises(SystemExit) as ended:
            main(["explain", *NAME, *arguments, str(output)])
        terminal.flush()
        assert ended.value.code == 0
        assert (b"\x1b[32mHi\x1b[0m" in screen.read(10_000)) is is_coloured


def test_the_page_is_written_over_what_was_there(tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    target.write_text("x" * 1_000_000)
    done = explain("--html", str(target), "--delta", "7")
    assert (done.exit_code, done.output) == (0, "")
    html = target.read_bytes().decode("utf-8")
    assert Page.read(html).raw_text == CALLS
    assert "Deltas of 7 characters" in html
    assert "<h1>standard input</h1>" in html


def test_the_page_on_standard_output() -> None:
    done = explain("--html", "-", "--format", "json")
    assert done.exit_code == 0
    assert Page.read(done.stdout).raw_text == CALLS


def test_the_page_is_named_after_its_file(tmp_path: Path) -> None:
    output = tmp_path / "an output.txt"
    output.write_bytes(b"a\r\nb")
    done = CliRunner().invoke(main, ("explain", *NAME, str(output), "--html", "-"))
    assert "<title>an output.txt, read as Cohere Command A</title>" in done.stdout
    assert "&#13;" in done.stdout


def test_request_options_reach_the_page(tmp_path: Path) -> None:
    tools = tmp_path / "tools.json"
    tools.write_text('[{"name": "g", "description": "\\ud800"}]')
    html = explain("--html", "-", "--tools", str(tools)).stdout
    assert "unknown-tool" in html
    assert json.loads(Page.read(html).of("json")[2].text)["type"] == "structural_tag"


@pytest.mark.parametrize(
    ("stdin", "reason", "told"),
    [
        (CALLS, (), "tool_calls"),
        (CALLS, ("--finish-reason", "length"), "length"),
        ("Hi", ("--finish-reason", "content_filter"), "content_filter"),
    ],
)
def test_the_page_says_why_it_ended(stdin: str, reason: tuple[str, ...], told: str) -> None:
    html = explain("--html", "-", *reason, stdin=stdin).stdout
    assert f"<dt>Finish reason</dt><dd><code>{told}</code></dd>" in html


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--html", "missing/report.html"), "missing/report.html: No such file or directory; "),
        (("--html", "."), ".: Is a directory; "),
        (("--html", ""), "; "),
        (("--delta", "3"), "--delta: says how the page cuts the output; give --html FILE too"),
        (("--finish-reason", "length"), "--finish-reason: no span depends on it, "),
        (("--html", "-", "--finish-reason", "eos"), "'stop', 'length', "),
        (("--html", "-", "--delta", "0"), "--delta"),
        (("--color", "sometimes"), "'auto', 'always', 'never'"),
        (("--html", "-", "--stop", ""), "--stop"),
    ],
)
def test_wrong_use_is_one_line(
    arguments: tuple[str, ...], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = explain(*arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert says in done.stderr


def test_the_table_is_kept() -> None:
    lines = explain(stdin="é\x9b\t ").stdout.splitlines()
    assert lines == [
        '      0       2  content          "é\\u009b"',
        '      2       4  whitespace       "\\t "',
    ]
