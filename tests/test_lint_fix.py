"""What lint mends: what is certain, to the byte, and nothing else."""

from __future__ import annotations

import re
import stat
from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st

from tagsmith.cli import main
from tagsmith.lint.fixing import mend, mend_bytes
from tagsmith.lint.fixing.fixes import near_spelling
from tagsmith.lint.run import Report, lint
from tagsmith.loading import Source

FAMILIES = Path(__file__).parent.parent / "families"
TEXTS = [
    text
    for file in sorted(FAMILIES.rglob("*.yaml"))
    if ".cases." not in file.name and "\nextends:" not in (text := file.read_text(encoding="utf-8"))
]
"""The built-in families that need no other."""
HEAD = "tagsmith: 1\nid: acme # mine\n"


def run_lint(*args: str | Path) -> Result:
    return CliRunner().invoke(main, ["lint", "--ignore", "TS801", *map(str, args)])


def quiet_lint(sources: Sequence[Source]) -> Report:
    return lint(sources, ignore=["TS801"])


def mended(directory: Path, data: bytes) -> tuple[bytes, int, list[str]]:
    """A file as it is mended, how many problems were, and the codes of those that are left."""
    file = directory / "acme.yaml"
    file.write_bytes(data)
    mending = mend(quiet_lint([file]), quiet_lint)
    for changed in mending.files:
        changed.write()
    left = [str(problem.code) for problem in quiet_lint([file]).problems]
    assert left == [str(problem.code) for problem in mending.report.problems]
    return file.read_bytes(), mending.mended, left


FIXES = {
    "two letters swapped": ("titel: A # t\n", "title: A # t\n"),
    "a letter left out": ("initial_regon: content\n", "initial_region: content\n"),
    "a letter too many": ("enginee: native\n", "engine: native\n"),
    "a wrong letter": ("tokans: {turn_end: </s>}\n", "tokens: {turn_end: </s>}\n"),
    "another letter case": ("Title: A\n", "title: A\n"),
    "a dash": ("initial-region: content\n", "initial_region: content\n"),
    "in quotes": (
        '"titel": A\n\'tokns\': {turn_end: x}\n',
        '"title": A\n\'tokens\': {turn_end: x}\n',
    ),
    "in a flow": (
        "tag_style: {reasoning: {strat: a,  'end' : b}} # x\n",
        "tag_style: {reasoning: {start: a,  'end' : b}} # x\n",
    ),
    "a value with a slip": ("initial_region: Content\n", "initial_region: content\n"),
    "a value in quotes": ("whitespace: {join: 'notning'}\n", "whitespace: {join: 'nothing'}\n"),
    "a number for a text": ("title: 1.50 # v\n", 'title: "1.50" # v\n'),
    "a truth value for a text": ("title: yes\n", 'title: "yes"\n'),
    "a number in a list of texts": (
        "match: {models: [a, 0x1F]}\n",
        'match: {models: [a, "0x1F"]}\n',
    ),
    "one number for one text or several": (
        "tokens: {turn_end: 1}\n",
        'tokens: {turn_end: "1"}\n',
    ),
    "one text for a list": ("match:\n  models: a/* # m\n", "match:\n  models: [a/*] # m\n"),
    "one text in quotes for a list": ("match: {models: 'a, b'}\n", "match: {models: ['a, b']}\n"),
    "a text that is odd inside of brackets": (
        "match:\n  models: a, b\n",
        'match:\n  models: ["a, b"]\n',
    ),
    "a number in quotes": (
        "citations: {markup: {open: a, close: 'b{positions}c'}, "
        'key_map: {documents: {bucket: "2"}}}\n',
        "citations: {markup: {open: a, close: 'b{positions}c'}, "
        "key_map: {documents: {bucket: 2}}}\n",
    ),
    "an entry again in brackets": ("match: {models: [a, b , a]}\n", "match: {models: [a, b]}\n"),
    "an entry again in lines": (
        "match:\n  models:\n  - a\n  - b # b\n  - a\ntitle: A\n",
        "match:\n  models:\n  - a\n  - b # b\ntitle: A\n",
    ),
    "an entry twice again": ("match: {models: [a, a, a]}\n", "match: {models: [a]}\n"),
    "an entry again over two lines": (
        "match: {models: [a,\n   a]}\n",
        "match: {models: [a]}\n",
    ),
    "a key again": ("title: A\ntitle: 'A'\nengine: native\n", "title: A\nengine: native\n"),
    "a key again at the end": ("title: A\ntitle: A", "title: A\n"),
    "a key again in braces": (
        "whitespace: {join: nothing, join: nothing}\n",
        "whitespace: {join: nothing}\n",
    ),
    "a comment that silences nothing": ("title: A  # tagsmith: ignore[TS101]\n", "title: A\n"),
    "one that silences something else too": (
        "titl: {a: 1, a: 2} # tagsmith: ignore[TS014, TS101, TS304]\n",
        "titl: {a: 1, a: 2} # tagsmith: ignore[TS014, TS101]\n",
    ),
    "one on a line of its own": ("# a\n  # tagsmith: ignore[TS101]\n# b\n", "# a\n# b\n"),
    "two codes that silence nothing": ("title: A # tagsmith: ignore[TS101,TS304]\n", "title: A\n"),
    "carriage returns": ("titel: A\r\nx: B # c\r\n", "title: A\r\nx: B # c\r\n"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), FIXES.values(), ids=FIXES)
def test_what_is_certain_is_mended(text: str, expected: str, tmp_path: Path) -> None:
    after, count, _ = mended(tmp_path, (HEAD + text).encode())
    assert after.decode() == HEAD + expected
    assert count >= 1


def test_what_comes_to_light_is_mended_as_well(tmp_path: Path) -> None:
    text = "\ufefftagsmith: '1'\nid: acme\ntitel: A # é\n"
    after, count, left = mended(tmp_path, text.encode())
    assert (after.decode(), count, left) == ("tagsmith: 1\nid: acme\ntitle: A # é\n", 3, [])


LEFT = {
    "two that are near": "melody: {preset: cmd6}\n",
    "none that is near": "headline: A\n",
    "a key that is given": "title: A\ntitel: B\n",
    "a short key": "tag_style: {tool_calls: {start: a, ed: b}}\n",
    "a value that the key does not take": "titel: 5\n",
    "a value that is broken": "tokns: {turn_end: {a: b}}\n",
    "a key twice with other values": "title: A\ntitle: B\n",
    "a key again after another value": "title: A\ntitle: B\ntitle: A\n",
    "a key twice with lines below": "match:\n  models: [a]\nmatch:\n  models: [a]\n",
    "a key twice with a comment": "title: A\ntitle: A # why\n",
    "an entry again with a comment": "match:\n  models:\n  - a\n  - a # why\n",
    "an entry again with a comment between": "match: {models: [a, # why\n   a]}\n",
    "a comment with a reason": "title: A # tagsmith: ignore[TS101] as it was\n",
    "a mapping for a text": "title: {a: b}\n",
    "two keys that are near to one": "titel: A\ntitlee: B\n",
    "a text of two lines for a list": "match:\n  models: |\n    a\n    b\n",
    "a number with an anchor": "title: &a 5\n",
    "an alias": "tokens: {turn_end: &a x, hidden: *a}\n",
    "what an alias stands for": "tokens: {turn_start: &a 5, turn_end: *a}\n",
    "a tag": "title: !!str A\n",
    "a text for a mapping": "melody: cmd3\n",
    "another version": "x: 1\n",
    "a list for a text": "tag_style: {reasoning: {start: [THINK], end: x}}\n",
}  # fmt: skip


@pytest.mark.parametrize("text", LEFT.values(), ids=LEFT)
def test_what_is_not_certain_is_left_alone(text: str, tmp_path: Path) -> None:
    data = (HEAD + text).encode()
    after, count, left = mended(tmp_path, data)
    assert (after, count) == (data, 0)
    assert left


BROKEN = {
    "no YAML": b"titel: [\n",
    "a tab": b"match:\n\tmodels: a\n",
    "not UTF-8": b"titel: \xff\n",
    "UTF-16": "titel: A\n".encode("utf-16"),
    "a mark and no UTF-8": b"\xef\xbb\xbftitel: \xff\n",
    "two documents": b"titel: A\n---\ntitel: B\n",
    "a list": b"- titel\n",
    "nothing": b"",
}


@pytest.mark.parametrize("data", BROKEN.values(), ids=BROKEN)
def test_what_cannot_be_read_keeps_every_byte(data: bytes, tmp_path: Path) -> None:
    after, _, left = mended(tmp_path, data)
    assert after == data.removeprefix(b"\xef\xbb\xbf")
    assert left


SLIPS = st.sampled_from(["swap", "drop", "double", "wrong", "case"])


def slipped(word: str, slip: str, at: int) -> str:
    """The word with one slip in it."""
    at %= len(word) - 1
    if slip == "swap":
        return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    if slip == "case":
        return word[:at] + word[at].upper() + word[at + 1 :]
    letter = {"drop": "", "double": word[at] * 2, "wrong": "q"}[slip]
    return word[:at] + letter + word[at + 1 :]


KEY = re.compile(r"^( *(?:- )?)([a-z_]{4,}):", re.MULTILINE)


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_a_slip_in_a_family_is_mended_to_the_byte_or_left(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    directory = tmp_path_factory.mktemp("slips")
    text = data.draw(st.sampled_from(TEXTS))
    key = data.draw(st.sampled_from([*KEY.finditer(text)]))
    wrong = slipped(key[2], data.draw(SLIPS), data.draw(st.integers(0, 40)))
    broken = (text[: key.start(2)] + wrong + text[key.end(2) :]).encode()
    after, count, _ = mended(directory, broken)
    # A key may be near to two.
    assert after in (text.encode(), broken)
    assert (after == broken) == (count == 0)


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_everything_else_says_the_same_after_a_fix(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Several faults in one family with comments: what the file says is what it said before them,
    and every comment and line of the others is still there."""
    directory = tmp_path_factory.mktemp("faults")
    text = data.draw(st.sampled_from(TEXTS))
    meant = yaml.safe_load(text)
    lines = text.split("\n")
    for at in sorted(data.draw(st.sets(st.integers(0, len(lines) - 1), max_size=3)), reverse=True):
        fault = data.draw(st.sampled_from(["again", "ignore", "comment"]))
        simple = re.fullmatch(r"( *)[a-z_]+: [a-z0-9.-]+", lines[at])
        if fault == "again" and simple and text.count("\n" + lines[at]) == 1:
            lines.insert(at + 1, lines[at])
        elif fault == "ignore" and simple:
            lines[at] += "  # tagsmith: ignore[TS309]"
        elif fault == "comment" and not lines[at].startswith(" "):
            lines.insert(at, "# a word of mine")
    broken = "\n".join(lines)
    after, _, left = mended(directory, broken.encode())
    assert yaml.safe_load(after) == meant
    comments = broken.count("# a word of mine")
    assert after.decode().count("# a word of mine") == comments
    assert after.decode().replace("# a word of mine\n", "") == text
    assert not {"TS014", "TS901"} & set(left)


@settings(deadline=None)
@given(
    data=st.binary(max_size=80)
    | st.text(st.sampled_from("titel: A1[]{},'\"\n-#&*|>"), max_size=60).map(str.encode)
)
def test_any_bytes_can_be_mended(data: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    directory = tmp_path_factory.mktemp("any")
    after, count, _ = mended(directory, HEAD.encode() + data)
    assert count or after == HEAD.encode() + data


@pytest.mark.parametrize(
    ("wrong", "allowed", "near"),
    [
        ("titel", ["title", "tokens"], "title"),
        ("tool_call", ["tool_calls", "tokens"], "tool_calls"),
        ("tool-calls", ["tool_calls"], "tool_calls"),
        ("ned", ["end", "both"], None),
        ("cmd6", ["cmd3", "cmd4"], None),
        ("start", ["starts", "stars"], None),
        ("xtitlex", ["title"], None),
        ("", ["title"], None),
    ],
)
def test_near_spellings(wrong: str, allowed: list[str], near: str | None) -> None:
    assert near_spelling(wrong, allowed) == near


def test_a_family_that_is_extended_is_mended_where_it_stands(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text("tagsmith: 1\nid: base\ntitel: A\n")
    (tmp_path / "child.yaml").write_text("tagsmith: 1\nid: child\nextends: base.yaml\n")
    alone = mend(quiet_lint([tmp_path / "child.yaml"]), quiet_lint)
    assert (alone.files, alone.mended) == ((), 0)
    both = mend(quiet_lint([tmp_path]), quiet_lint)
    assert [file.path.name for file in both.files] == ["base.yaml"]
    assert both.report.problems == ()


def test_fix_writes_and_says_what_is_left(tmp_path: Path) -> None:
    file = tmp_path / "acme.yaml"
    file.write_text(HEAD + "titel: A\nheadline: B\n")
    file.chmod(0o640)
    result = run_lint("--fix", tmp_path)
    assert file.read_text() == HEAD + "title: A\nheadline: B\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert (result.exit_code, result.stderr) == (1, "1 problem mended, 1 left\n")
    assert result.stdout.splitlines()[0].startswith(f"{file}:4:1: TS101")
    assert [*tmp_path.iterdir()] == [file]
    file.write_text(HEAD + "titel: A\n")
    result = run_lint("--fix", tmp_path)
    assert (result.exit_code, result.stdout) == (0, "1 file, no problems\n")
    before = file.stat()
    result = run_lint("--fix", tmp_path)
    assert (result.exit_code, result.stderr) == (0, "0 problems mended, 0 left\n")
    assert file.stat().st_mtime_ns == before.st_mtime_ns


def test_fix_mends_what_is_selected_alone(tmp_path: Path) -> None:
    file = tmp_path / "acme.yaml"
    file.write_text(HEAD + "titel: A\nwhitespace: {join: Nothing}\n")
    run_lint("--fix", "--select", "TS104", tmp_path)
    assert file.read_text() == HEAD + "titel: A\nwhitespace: {join: nothing}\n"


DIFF = """\
--- acme.yaml
+++ acme.yaml
@@ -1,3 +1,3 @@
 tagsmith: 1
 id: acme # mine
-titel: A
\\ No newline at end of file
+title: A
\\ No newline at end of file
"""


def test_diff_shows_and_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = HEAD + "titel: A"
    Path("acme.yaml").write_text(text)
    for args in (["--diff"], ["--diff", "--fix"]):
        result = run_lint(*args, "acme.yaml")
        assert (result.exit_code, result.stdout) == (1, DIFF)
        assert result.stderr == "1 problem can be mended, 0 left\n"
        assert Path("acme.yaml").read_text() == text
    Path("acme.yaml").write_text(HEAD)
    result = run_lint("--diff", "acme.yaml")
    assert (result.exit_code, result.stdout) == (0, "")


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    real = tmp_path / "real" / "a.yaml"
    real.write_text(HEAD + "titel: A\n")
    link = tmp_path / "link.yaml"
    link.symlink_to(real)
    assert run_lint("--fix", link).exit_code == 0
    assert link.is_symlink()
    assert real.read_text() == HEAD + "title: A\n"


def test_a_file_that_cannot_be_written_is_told_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "acme.yaml"
    file.write_text(HEAD + "titel: A\n")
    monkeypatch.setattr("os.access", lambda *_: False)
    result = run_lint("--fix", file)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "acme.yaml" in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert file.read_text() == HEAD + "titel: A\n"


def test_a_file_that_changed_meanwhile_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "acme.yaml"
    file.write_text(HEAD + "titel: A\n")
    [changed] = mend(quiet_lint([file]), quiet_lint).files
    file.write_text(HEAD + "titel: B\n")
    with pytest.raises(OSError, match="changed while"):
        changed.write()
    assert file.read_text() == HEAD + "titel: B\n"
    assert [*tmp_path.iterdir()] == [file]


def test_a_write_that_fails_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "acme.yaml"
    file.write_text(HEAD + "titel: A\n")
    [changed] = mend(quiet_lint([file]), quiet_lint).files

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("shutil.copymode", full)
    with pytest.raises(OSError, match="No space"):
        changed.write()
    assert file.read_text() == HEAD + "titel: A\n"
    assert [*tmp_path.iterdir()] == [file]


@pytest.mark.parametrize("option", ["--fix", "--diff"])
def test_standard_input_cannot_be_mended(option: str) -> None:
    result = CliRunner().invoke(main, ["lint", option, "-"], input=HEAD)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "standard input cannot be mended" in result.stderr


def test_bytes_are_mended_without_a_file() -> None:
    assert mend_bytes(HEAD.encode(), []) == (HEAD.encode(), 0)
