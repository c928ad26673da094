"""Families are read when they are asked for: what a lookup reads, and that it answers as if all
files had been read."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from tagsmith.cli import main
from tagsmith.errors import FamilyFileError, FamilyLookupError
from tagsmith.loading import headers
from tagsmith.loading.files import FoundFile, parse_file
from tagsmith.loading.headers import OpenedFile, top_level_parts
from tagsmith.loading.validate import read_match
from tagsmith.registry import Registry, get_family, load_registry
from tagsmith.spec.models import Match

FAMILIES = Path(__file__).parent.parent / "families"
TEXTS = {
    str(path.relative_to(FAMILIES)): path.read_text(encoding="utf-8")
    for path in sorted(FAMILIES.rglob("*.yaml"))
    if ".cases." not in path.name
}


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files whose whole text was read as data."""
    names: list[str] = []

    class Spy(OpenedFile):
        @property
        def file(self) -> headers.FamilyFile:
            if self.found.name not in names:
                names.append(self.found.name)
            return super().file

    monkeypatch.setattr("tagsmith.loading.library.OpenedFile", Spy)
    return names


def names_of(files: list[str]) -> set[str]:
    return {Path(file).name for file in files}


NEEDED = {
    "an id": ("cohere-command-a", {"command_a.yaml"}),
    "an id that extends": (
        "cohere-command-a-plus",
        {"command_a_plus.yaml", "north.yaml", "command_a_vision.yaml", "command_a.yaml"},
    ),
    "an architecture": ("Cohere2ForCausalLM", {"command_a.yaml"}),
    "a model": ("CohereLabs/c4ai-command-a-03-2025", {"command_a.yaml"}),
}


@pytest.mark.parametrize(("name", "files"), NEEDED.values(), ids=NEEDED)
def test_a_lookup_reads_the_family_and_what_it_extends(
    name: str, files: set[str], read: list[str]
) -> None:
    load_registry().get(name)
    assert names_of(read) == files


def test_the_command_line_reads_no_more(read: list[str]) -> None:
    result = CliRunner().invoke(main, ["parse", "--family", "cohere-command-a", "-"], input="Hi")
    assert (result.exit_code, result.stderr) == (0, "")
    assert names_of(read) == {"command_a.yaml"}


def test_each_file_is_opened_once_by_a_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Path] = []
    plain_open = Path.open

    def spy(self: Path, *args: object, **options: object) -> object:
        opened.append(self)
        return plain_open(self, *args, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(Path, "open", spy)
    registry = load_registry()
    registry.get("cohere-north")
    assert registry.problems == ()
    opened = [path for path in opened if path.suffix == ".yaml"]
    assert len(opened) == len(set(opened)) == len(TEXTS)


def test_a_family_of_a_directory_that_is_not_asked_for_is_not_read(
    tmp_path: Path, read: list[str]
) -> None:
    (tmp_path / "base.yml").write_text("tagsmith: 1\nid: base\nextends: cohere-north\n")
    (tmp_path / "mine.yaml").write_text("tagsmith: 1\nid: mine\nextends: base.yml\n")
    (tmp_path / "bad.yaml").write_text("tagsmith: 1\nid: bad\ntitel: x\n")
    registry = load_registry([tmp_path])
    assert registry.get("mine").spec.match == Match()
    assert registry.problems_of_named() == ()
    assert names_of(read) == {
        "mine.yaml", "base.yml", "north.yaml", "command_a_vision.yaml", "command_a.yaml",
    }  # fmt: skip
    assert [problem.code for problem in registry.problems] == ["TS101"]
    assert [problem.error.code for problem in registry.problems_of_named()] == ["TS101"]


def test_what_is_read_later_is_what_stood_there_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine").mkdir()
    Path("base.yaml").write_text("tagsmith: 1\nid: base\ntitle: Base\n")
    Path("mine/a.yaml").write_text("tagsmith: 1\nid: a\nextends: ../base.yaml\n")
    Path("mine/b.yaml").write_text("tagsmith: 1\nid: b\n")
    registry = load_registry(["mine"])
    Path("mine/b.yaml").unlink()
    monkeypatch.chdir("/")
    assert registry.get("b").source == os.path.join("mine", "b.yaml")  # noqa: PTH118
    assert registry.get("a").id == "a"


# What a lookup has to tell apart: each with names that are looked up lazily and among all files.
LAYERED = {
    "replaced": ({"a/x.yaml": "id: x\nmatch: {architectures: [A]}", "b/x.yaml": "id: x"}, "x A"),
    "an id twice": ({"a/x.yaml": "id: x", "a/y.yaml": "id: x", "a/z.yaml": "id: z"}, "x z"),
    "two of an architecture": (
        {"a/x.yaml": "id: x\nmatch: {architectures: [A]}", "a/y.yaml": "id: y\nmatch:\n"
         "  architectures:\n    - A\n  models: [m/*]"},
        "x y A m/1",
    ),
    "one of them broken": (
        {"a/x.yaml": "id: x\nmatch: {architectures: [A]}\ntitel: x",
         "a/y.yaml": "id: y\nmatch: {architectures: [A]}"},
        "x y A",
    ),
    "an id as an architecture": (
        {"a/x.yaml": "id: x\nmatch: {architectures: [y]}", "a/y.yaml": "id: y"}, "x y",
    ),
    "an architecture as a model": (
        {"a/x.yaml": "id: x\nmatch: {architectures: [M]}",
         "a/y.yaml": "id: y\nmatch: {models: [m]}"},
        "M m",
    ),
    "unusual ways to write": (
        {"a/x.yaml": '"id": x\nmatch: &m {architectures: ["\\x41"]}', "a/y.yaml": "{tagsmith: 1,\n"
         'id: "y", "match": {architectures: [B]}}', "a/z.yaml": "  id: z\n  tagsmith: 1",
         "a/v.yaml": "id: >-\n  v\nextends: 'x' # why", "a/w.yaml": "? id\n: w"},
        "x y z v w A B",
    ),
    "what only looks like a key": (
        {"a/x.yaml": 'title: "\nid: y\n"\n"id": x', "a/y.yaml": "title: 'y\n\nid: z\n ,'\n",
         "a/z.yaml": "title: {\nmatch: {architectures: [A]},\n x: y}\nid: z", "a/q.yaml": "id: q"},
        "x y z A q",
    ),
    "an id that is no text": ({"a/x.yaml": "id: 1", "a/y.yaml": "id: yes", "a/q.yaml": "id: q"},
                              "1 yes true q"),
    "other line ends": (
        {"a/x.yaml": "title: t\r\nid: x\r\n", "a/y.yaml": "title: t\u2028id: y",
         "a/z.yaml": "title: t\rid: z"}, "x y z",
    ),
    "a circle": ({"a/x.yaml": "id: x\nextends: y", "a/y.yaml": "id: y\nextends: x",
                  "a/z.yaml": "id: z"}, "x y z"),
    "an absent base": ({"a/x.yaml": "id: x\nextends: nothing", "a/y.yaml": "id: y"}, "x y"),
    "two layers and a base of each": (
        {"a/x.yaml": "id: x\ntitle: a", "a/y.yaml": "id: y\nextends: x",
         "b/x.yaml": "id: x\ntitle: b\nextends: z.yaml",
         "b/z.yaml": "id: z\ntokens: {hidden: [q]}"},
        "x y z",
    ),
}  # fmt: skip


def answer(registry: Registry, name: str) -> tuple[object, ...]:
    try:
        family = registry.get(name)
    except (FamilyLookupError, FamilyFileError) as error:
        return type(error), str(error)
    return family.id, family.source, family.spec


@pytest.mark.parametrize(("files", "names"), LAYERED.values(), ids=LAYERED)
def test_a_lookup_answers_as_if_all_files_had_been_read(
    files: dict[str, str], names: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        if "tagsmith: 1" not in text:
            text = f"{text}\ntagsmith: 1\n"
        (tmp_path / path).write_bytes(text.encode())
    monkeypatch.setenv("TAGSMITH_FAMILIES", str(tmp_path / "a"))
    monkeypatch.setenv("TAGSMITH_DISABLE_PLUGINS", "builtin")
    layer = [tmp_path / "b"] if (tmp_path / "b").exists() else []
    everything = load_registry(layer)
    assert everything.ids()
    with monkeypatch.context() as patched:
        patched.setattr("tagsmith.loading.library.Library.about", lambda self, _: self.everything())
        expected = [answer(everything, name) for name in names.split()]
    assert [answer(load_registry(layer), name) for name in names.split()] == expected


FRAGMENTS = [
    "*a", "&a ", "? ", "- ", "{", "}", "]", ": ", "'", '"', "|\n", ">\n", "\n  ", "\t", "---\n",
    "#", "\u2028", "\x85", "\r", "\r\n", "\nid: b\n", "\nextends: a\n", "\n'id': c\n", "\nid : d\n",
    "\nmatch: {architectures: [Q]}\n", "\ntitle: '\n", '\ntitle: "\n', "\ntokens: {\n", "id: 1\n",
]  # fmt: skip


def opened(text: str) -> OpenedFile:
    class Given(OpenedFile):
        def __init__(self) -> None:
            self.found = FoundFile(Path("x.yaml"), "x.yaml", "", 0)
            self._text = text

    return Given()


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(sorted(TEXTS.values())),
    st.lists(
        st.tuples(st.integers(0, 900), st.sampled_from([0, 1, 40]), st.sampled_from(FRAGMENTS)),
        max_size=4,
    ),
)
def test_nothing_that_a_file_says_of_itself_is_missed(
    text: str, edits: list[tuple[int, int, str]]
) -> None:
    for start, removed, added in edits:
        text = text[:start] + added + text[start + removed :]
    file, cheap = parse_file(FoundFile(Path("x.yaml"), "x.yaml", "", 0), text), opened(text)
    for key in ("id", "extends"):
        said = file.text_at(key)
        assert said is None or getattr(cheap, key) == said
    match = None if file.root is None else read_match(file.root)
    assert match in (None, Match()) or cheap.match == match


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_the_built_in_families_are_told_by_their_text_alone(text: str) -> None:
    parts = top_level_parts(text)
    assert parts is not None
    assert {"tagsmith", "id"} <= set(parts)
    assert "".join(parts.values()) in text


LONG = ["#" * 200_000, "id: a" + " #" * 100_000, "\n" * 200_000 + " x", "a:\n" * 100_000,
        "id: a" + "\n#" * 100_000 + "x", "id: a" + " " * 200_000 + "x"]  # fmt: skip


@pytest.mark.parametrize("text", LONG, ids=range(len(LONG)))
def test_looking_through_a_text_takes_time_linear_in_it(text: str) -> None:
    started = time.perf_counter()
    parts = top_level_parts(text)
    assert parts is None or headers._ONE_WORD.fullmatch(parts.get("id", "")) is not False
    assert time.perf_counter() - started < 1.0


def test_a_family_is_the_same_however_it_was_loaded() -> None:
    registry = load_registry()
    whole = {found.spec.id: found for found in load_registry().families()}
    for name in whole:
        assert registry.get(name).spec == whole[name].spec
    assert get_family("cohere-north").spec == whole["cohere-north"].spec
