"""Loading: what a family file may be, where its problems are, and what it inherits."""

import os
import time
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tagsmith.codes import Code
from tagsmith.errors import FamilyFileError
from tagsmith.loading import (
    FoundFamily,
    Layers,
    LoadResult,
    Root,
    load_families,
    load_layers,
    reader,
)
from tagsmith.loading.nodes import plain
from tagsmith.loading.reader import read_nodes

FAMILIES = Path(__file__).parent.parent / "families"
HEAD = "tagsmith: 1\nid: acme-one\n"
LOADERS = [yaml.SafeLoader, yaml.CSafeLoader]


def load(directory: Path, **files: str | bytes) -> LoadResult:
    for name, content in files.items():
        data = content.encode() if isinstance(content, str) else content
        (directory / f"{name}.yaml").write_bytes(data)
    return load_families([directory])


def told(result: LoadResult) -> list[tuple[str, int, int, str]]:
    return [(Path(e.file).name, e.line, e.column, str(e.code)) for e in result.errors]


def only(result: LoadResult) -> FoundFamily:
    assert result.errors == ()
    (found,) = result.families
    return found


@pytest.fixture(params=LOADERS, ids=["python", "libyaml"])
def _each_loader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "_LOADER", request.param)


UNREADABLE = {
    "two duplicate keys": (
        f"{HEAD}id: b\nmatch:\n  models: [x]\n  models: [y]\n",
        [(3, 1, "TS014"), (6, 3, "TS014")],
    ),
    "explicit tags": (
        "tagsmith: 1\nid: !!python/object/apply:os.system ['ls']\ntitle: !!str x\n",
        [(2, 5, "TS011"), (2, 5, "TS103"), (3, 8, "TS011")],
    ),
    "local tag": (f"{HEAD}title: !mine x\n", [(3, 8, "TS011")]),
    "merge key": (f"{HEAD}<<: {{title: x}}\n", [(3, 1, "TS012")]),
    "keys that are no strings": (
        f"{HEAD}yes: 1\n? [a]\n: 1\n7: x\n",
        [(3, 1, "TS013"), (4, 3, "TS013"), (6, 1, "TS013")],
    ),
    "unknown alias": (f"{HEAD}title: *x\n", [(3, 8, "TS015")]),
    "alias inside itself": (f"{HEAD}title: &x [*x]\n", [(3, 12, "TS015")]),
    "control character": (f"{HEAD}title: a\0b\n", [(3, 9, "TS005")]),
    "half a character": (f'{HEAD}title: "\\ud800"\n', None),
    "endless number": (f"{HEAD}title: {'9' * 5000}\n", [(3, 8, "TS016")]),
    "unclosed bracket": (f"{HEAD}title: [a\nengine: native\n", [(4, 7, "TS005")]),
    "empty": ("", [(1, 1, "TS006")]),
    "comments alone": ("# nothing\n", [(1, 1, "TS006")]),
    "null": ("~\n", [(1, 1, "TS006")]),
    "list": ("# a list\n- a\n", [(2, 1, "TS007")]),
    "single value": ("hello", [(1, 1, "TS007")]),
    "two documents": (f"{HEAD}---\n{HEAD}", [(3, 1, "TS008")]),
    "bom": (b"\xef\xbb\xbftagsmith: 1\n", [(1, 1, "TS004")]),
    "utf-16": ("tagsmith: 1\n".encode("utf-16"), [(1, 1, "TS004")]),
    "latin-1": ("tagsmith: 1\nid: é".encode("latin-1"), [(2, 5, "TS003")]),
    "binary": (bytes(range(128, 256)), [(1, 1, "TS003")]),
    "too large": (b"#" * (1024 * 1024 + 1), [(1, 1, "TS002")]),
}


@pytest.mark.usefixtures("_each_loader")
@pytest.mark.parametrize(("text", "expected"), UNREADABLE.values(), ids=UNREADABLE)
def test_what_cannot_be_read_is_told_with_its_place(
    tmp_path: Path, text: str | bytes, expected: list[tuple[int, int, str]] | None
) -> None:
    result = load(tmp_path, family=text)
    assert result.families == ()
    if expected is None:  # the two readers of YAML refuse it in their own ways
        assert result.errors
    else:
        assert told(result) == [("family.yaml", *place) for place in expected]


HOSTILE = {
    "brackets": ("title: " + "[" * 500_000, Code.TOO_DEEP),
    "closed brackets": ("title: " + "[" * 200_000 + "]" * 200_000, Code.TOO_DEEP),
    "braces": ("{a: " * 200_000, Code.TOO_DEEP),
    "dashes": ("- " * 300_000, Code.TOO_DEEP),
    "alias bomb": (
        "a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
        + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 30)),
        Code.TOO_MANY_VALUES,
    ),
    "alias ladder": (
        "a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}]\n" for i in range(1, 2000)),
        Code.TOO_DEEP,
    ),
    "many values": ("title: [" + "x, " * 300_000 + "]", Code.TOO_MANY_VALUES),
    "long sexagesimal": ("title: 1" + ":1" * 400_000, Code.BAD_SCALAR),
}


@pytest.mark.parametrize(("text", "code"), HOSTILE.values(), ids=HOSTILE)
def test_hostile_files_are_refused_quickly(tmp_path: Path, text: str, code: Code) -> None:
    started = time.perf_counter()
    result = load(tmp_path, family=text)
    assert time.perf_counter() - started < 1.0
    assert code in {error.code for error in result.errors}


@pytest.mark.usefixtures("_each_loader")
def test_scalars_are_read_as_yaml_1_1_with_few_types() -> None:
    text = (
        "a: [1, 0x10, 010, 1_000, 1.5, yes, Off, ~, null, 2024-01-01, '1', \"\\u00e9\", =]\n"
        "b: &b {c: text}\nd: *b\ne: |\n  two\n  lines\n"
    )
    root, problems = read_nodes(text, "f.yaml")
    assert problems == []
    assert root is not None
    assert plain(root) == {
        "a": [1, 16, 8, 1000, 1.5, True, False, None, None, "2024-01-01", "1", "é", "="],
        "b": {"c": "text"},
        "d": {"c": "text"},
        "e": "two\nlines\n",
    }


def test_paths_that_cannot_be_read(tmp_path: Path) -> None:
    missing = load_families([tmp_path / "no.yaml"])
    assert [e.code for e in missing.errors] == [Code.UNREADABLE]
    assert "no such file or directory" in str(missing.errors[0])
    link = tmp_path / "loop.yaml"
    link.symlink_to(link)
    assert [e.code for e in load_families([tmp_path]).errors] == [Code.UNREADABLE]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_told(tmp_path: Path) -> None:
    file = tmp_path / "family.yaml"
    file.write_text(HEAD)
    file.chmod(0)
    assert [e.code for e in load_families([file]).errors] == [Code.UNREADABLE]


def test_a_directory_means_its_family_files(tmp_path: Path) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / ".hidden").mkdir()
    (tmp_path / "deep" / "back").symlink_to(tmp_path)
    for name in ("a.yaml", "deep/er/b.yml"):
        (tmp_path / name).write_text(f"tagsmith: 1\nid: {Path(name).stem}\n")
    for name in ("a.cases.yaml", "notes.txt", ".hidden/c.yaml", ".d.yaml"):
        (tmp_path / name).write_text("not a family")
    result = load_families([tmp_path, tmp_path / "a.yaml"])
    assert [found.spec.id for found in result.families] == ["a", "b"]
    assert result.errors == ()


INVALID = {
    "unknown key at the top": (
        f"{HEAD}titel: x\n", (3, 1), "TS101", ["'titel'", "did you mean 'title'", "whitespace"],
    ),
    "unknown key below": (
        f"{HEAD}tag_style: {{resoning: {{start: a, end: b}}}}\n", (3, 13), "TS101",
        ["tag_style", "'reasoning'", "content, tool_calls"],
    ),
    "unknown key in a list": (
        f"{HEAD}tag_style:\n  content:\n    - {{start: a, end: b, x: 1}}\n", (5, 26), "TS101",
        ["tag_style.content[0]", "allowed: start, end"],
    ),
    "missing id": ("# c\ntagsmith: 1\n", (2, 1), "TS102", ["'id'", "id: ..."]),
    "missing version": ("id: a\n", (1, 1), "TS102", ["'tagsmith'"]),
    "missing key below": (
        f"{HEAD}tag_style:\n  content:\n    - {{end: a}}\n", (5, 7), "TS102",
        ["'start'", "tag_style.content[0]"],
    ),
    "text for a list": (
        f"{HEAD}match: {{architectures: A}}\n", (3, 24), "TS103", ["a list", "'A'"],
    ),
    "number for text": (f"{HEAD}title: 3\n", (3, 8), "TS103", ["a string", "quote it"]),
    "text for a number": (
        f"{HEAD}citations:\n  markup: {{open: a, close: 'b{{positions}}c'}}\n"
        "  key_map: {documents: {bucket: '0'}}\n",
        (5, 33), "TS103", ["an integer", "'0'"],
    ),
    "null for a mapping": (f"{HEAD}tokens: null\n", (3, 9), "TS103", ["a mapping", "null"]),
    "unknown preset": (
        f"{HEAD}melody: {{preset: cmd9}}\n", (3, 18), "TS104",
        ["'cmd9' is not allowed; allowed: 'cmd3', 'cmd4' or 'cmd5'"],
    ),
    "policy": (
        f"{HEAD}whitespace: {{join: newlin}}\n", (3, 20), "TS104", ["did you mean 'newline'"],
    ),
    "boolean policy": (f"{HEAD}initial_region: no\n", (3, 17), "TS104", ["false", "'content'"]),
    "id": ("tagsmith: 1\nid: Acme One\n", (2, 5), "TS105", ["'Acme One'", "^[a-z0-9]"]),
    "id as a path": ("tagsmith: 1\nid: acme.yml\n", (2, 5), "TS105", ["'acme.yml'", "path"]),
    "long id": (f"tagsmith: 1\nid: {'a' * 65}\n", (2, 5), "TS106", ["at most 64"]),
    "long unknown key": (f"{HEAD}{'k' * 500}: 1\n", (3, 1), "TS101", [f"'{'k' * 77}...'"]),
    "own id for a near one": (
        f"{HEAD}extends: acme-on\n", (3, 10), "TS201", ["to extend; there are: none;"],
    ),
    "long turn start": (
        f"{HEAD}tokens: {{turn_start: {'x' * 129}}}\n", (3, 22), "TS106", ["at most 128"],
    ),
    "empty text": (f"{HEAD}title: ''\n", (3, 8), "TS106", ["must not be empty"]),
    "negative": (
        f"{HEAD}citations:\n  markup: {{open: a, close: 'b{{positions}}c'}}\n"
        "  key_map: {documents: {bucket: -1}}\n",
        (5, 33), "TS106", ["at least 0"],
    ),
    "newer format": (
        "tagsmith: 2\nid: a\nnew_key: 1\n", (1, 11), "TS107", ["upgrade tagsmith", "tagsmith: 1"],
    ),
    "format as text": ("tagsmith: '1'\nid: a\n", (1, 11), "TS107", ["write 'tagsmith: 1'"]),
    "format as a truth value": ("tagsmith: true\nid: a\n", (1, 11), "TS107", ["true"]),
    "close without positions": (
        f"{HEAD}citations:\n  markup: {{open: <co>, close: </co>}}\n", (4, 31), "TS301",
        ["{positions}"],
    ),
    "calls without markers": (
        f"{HEAD}tool_calls: {{layout: json}}\n", (3, 13), "TS302", ["tag_style.tool_calls"],
    ),
    "markers without calls": (
        f"{HEAD}tag_style:\n  tool_calls: {{start: a, end: b}}\n", (4, 15), "TS303", ["tool_calls"],
    ),
    "melody without preset": (f"{HEAD}engine: melody\n", (3, 9), "TS304", ["melody: {preset"]),
    "opener is closer": (
        f"{HEAD}tag_style:\n  reasoning: {{start: <x>, end: <x>}}\n", (4, 32), "TS305", ["'<x>'"],
    ),
    "same opener": (
        f"{HEAD}tag_style:\n  reasoning: {{start: <x>, end: <y>}}\n"
        "  content: [{start: <x>, end: <z>}]\n",
        (5, 21), "TS306", ["tag_style.reasoning.start"],
    ),
    "opener hidden": (
        f"{HEAD}tokens: {{hidden: [<x>]}}\ntag_style: {{reasoning: {{start: <x>, end: <y>}}}}\n",
        (3, 19), "TS307", ["tag_style.reasoning.start"],
    ),
    "hidden twice": (
        f"{HEAD}tokens: {{hidden: [<x>, <x>]}}\n", (3, 24), "TS307", ["tokens.hidden[0]"],
    ),
    "citation opens a region": (
        f"{HEAD}tag_style: {{reasoning: {{start: <x>, end: <y>}}}}\n"
        "citations: {markup: {open: <x>, close: '</x: {positions}>'}}\n",
        (4, 28), "TS307", ["tag_style.reasoning.start"],
    ),
    "regular expression": (
        f"{HEAD}tag_style: {{tool_calls: {{start: a, end: b}}}}\n"
        "tool_calls: {layout: json, keys: {id: id}, id: {pattern: '(['}}\n",
        (4, 58), "TS308", ["tool_calls.id.pattern"],
    ),
    "entry twice": (f"{HEAD}match: {{models: [a, a]}}\n", (3, 21), "TS309", ["match.models"]),
}  # fmt: skip


@pytest.mark.parametrize(("text", "place", "code", "parts"), INVALID.values(), ids=INVALID)
def test_what_is_not_of_the_format_is_told_with_what_is_allowed(
    tmp_path: Path, text: str, place: tuple[int, int], code: str, parts: list[str]
) -> None:
    result = load(tmp_path, family=text)
    assert told(result) == [("family.yaml", *place, code)]
    (error,) = result.errors
    assert str(error).startswith(f"{tmp_path}/family.yaml:{place[0]}:{place[1]}: {code} ")
    assert [part for part in parts if part not in error.message] == []
    assert result.families == ()


CITING = "citations: {{markup: {{open: {}, close: '{}'}}}}\n"
UNUSABLE = {
    "a bracket": "tag_style: {content: [{start: '[', end: </c>}]}\n",
    "signs of JSON": "tag_style: {reasoning: {start: <r>, end: '\"}, {\"'}}\n",
    "whitespace": 'tokens: {turn_end: " \\n\\u3000"}\n',
    "hidden": "tokens: {hidden: [':']}\n",
    "positions": "tokens: {hidden: ['0:[1]']}\n" + CITING.format("<co>", "</co: {positions}>"),
    "citation opener": CITING.format('"1, 2"', "</co: {positions}>"),
    "end of citation markup": CITING.format("<co>", "</co: {positions}]"),
}


@pytest.mark.parametrize("text", UNUSABLE.values(), ids=UNUSABLE)
def test_a_marker_that_does_not_stand_out_is_refused(tmp_path: Path, text: str) -> None:
    (error,) = load(tmp_path, family=HEAD + text).errors
    assert error.code == Code.UNUSABLE_MARKER


USABLE = {
    "signs around a word": "tag_style: {content: [{start: '[TOOL_CALLS]', end: '[/]'}]}\n",
    "digits where nothing is cited": "tokens: {hidden: ['[0]']}\n",
    "a word among positions": "tokens: {hidden: ['0:[x]']}\n"
    + CITING.format("<co>", "</co: {positions}>"),
}


@pytest.mark.parametrize("text", USABLE.values(), ids=USABLE)
def test_a_marker_that_stands_out_is_fine(tmp_path: Path, text: str) -> None:
    assert load(tmp_path, family=HEAD + text).errors == ()


def test_shared_closers_and_framing_tokens_are_no_duplicates(tmp_path: Path) -> None:
    text = (
        f"{HEAD}tokens: {{turn_start: <s>, turn_end: <e>, hidden: [<s>, <t>]}}\n"
        "tag_style:\n  reasoning: {start: <r>, end: <e>}\n  content: [{start: <c>, end: <e>}]\n"
    )
    assert only(load(tmp_path, family=text)).spec.id == "acme-one"


def test_all_problems_are_told_at_once(tmp_path: Path) -> None:
    text = (
        "tagsmith: 1\nid: One\ntitel: x\ntitel: y\nengine: melody\nwhitespace: {join: 1}\n"
        "tag_style:\n  reasoning: {start: q, end: q}\n"
    )
    result = load(tmp_path, one=text, two="- a\n")
    assert told(result) == [
        ("one.yaml", 2, 5, "TS105"),
        ("one.yaml", 3, 1, "TS101"),
        ("one.yaml", 4, 1, "TS014"),
        ("one.yaml", 5, 9, "TS304"),
        ("one.yaml", 6, 20, "TS104"),
        ("one.yaml", 8, 30, "TS305"),
        ("two.yaml", 1, 1, "TS007"),
    ]


@pytest.mark.parametrize("target", ["nothing-like-it", "two.yaml", "one"])
def test_what_is_wrong_beside_extends_is_told_too(tmp_path: Path, target: str) -> None:
    text = (
        f"tagsmith: 1\nid: one\nextends: {target}\ntitel: x\nengine: other\n"
        "tool_calls: {layout: json}\ntag_style: {reasoning: {start: <r>}}\n"
    )
    found = told(load(tmp_path, one=text, two="- a\n"))
    extending, *rest = [place for place in found if place[0] == "one.yaml"]
    assert extending[:3] == ("one.yaml", 3, 10)
    assert rest == [("one.yaml", 4, 1, "TS101"), ("one.yaml", 5, 9, "TS104")]


def test_a_misspelt_section_is_not_missed_as_well(tmp_path: Path) -> None:
    text = f"{HEAD}tool_calls: {{layout: json}}\ntag_styel: {{}}\n"
    assert told(load(tmp_path, family=text)) == [("family.yaml", 4, 1, "TS101")]


PARENT = """\
tagsmith: 1
id: parent
title: Parent
match: {architectures: [ParentForCausalLM], models: ["p/*"]}
engine: melody
melody: {preset: cmd3}
tag_style:
  reasoning: {start: <r>, end: </r>}
  content:
    - {start: <c>, end: </c>}
    - {start: <d>, end: </d>}
"""


@pytest.mark.parametrize("target", ["parent", "parent.yaml", "./parent.yaml", "../{}/parent.yaml"])
def test_extends_merges_mappings_and_replaces_lists(tmp_path: Path, target: str) -> None:
    child = (
        f"tagsmith: 1\nid: child\nextends: {target.format(tmp_path.name)}\nmelody: null\n"
        "engine: native\n"
        "tag_style:\n  reasoning: {end: <x>}\n  content: [{start: <e>, end: </e>}]\n"
    )
    result = load(tmp_path, parent=PARENT, child=child)
    assert result.errors == ()
    spec = {found.spec.id: found.spec for found in result.families}["child"]
    style = spec.tag_style
    assert style.reasoning is not None
    assert (style.reasoning.start, style.reasoning.end) == ("<r>", "<x>")
    assert [pair.start for pair in style.content] == ["<e>"]
    assert (spec.title, spec.match.architectures, spec.match.models) == (None, (), ())
    assert spec.melody is None


def test_a_chain_inherits_through_every_link(tmp_path: Path) -> None:
    links = {
        f"f{i}": f"tagsmith: 1\nid: f{i}\nextends: {'parent' if i == 0 else f'f{i - 1}'}\n"
        for i in range(1500)
    }
    result = load(tmp_path, parent=PARENT, **links)
    assert result.errors == ()
    assert {len(found.spec.tag_style.content) for found in result.families} == {2}


def test_a_base_reached_by_its_path_is_no_family_of_the_load(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text(PARENT)
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "a.yaml").write_text("tagsmith: 1\nid: a\nextends: ../base.yaml\n")
    assert only(load_families([tmp_path / "own"])).spec.id == "a"


def test_an_inherited_problem_is_told_where_it_was_written(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text(f"{HEAD}engine: native\nwhitespace: {{join: never}}\n")
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "a.yaml").write_text(
        "tagsmith: 1\nid: a\nextends: ../base.yaml\nengine: melody\n"
    )
    assert told(load_families([tmp_path / "own"])) == [
        ("base.yaml", 4, 20, "TS104"),
        ("a.yaml", 4, 9, "TS304"),
    ]


def test_a_cycle_is_named_whole_in_each_of_its_files(tmp_path: Path) -> None:
    result = load(
        tmp_path,
        a="tagsmith: 1\nid: a\nextends: b\n",
        b="tagsmith: 1\nid: b\nextends: c.yaml\n",
        c="tagsmith: 1\nid: c\nextends: a\n",
        d="tagsmith: 1\nid: d\nextends: a\n",
        e="tagsmith: 1\nid: e\nextends: e\n",
    )
    codes = ["TS202", "TS202", "TS202", "TS203", "TS202"]
    assert told(result) == [
        (f"{name}.yaml", 3, 10, code) for name, code in zip("abcde", codes, strict=True)
    ]
    assert "a -> b -> c -> a" in result.errors[0].message
    assert "b -> c -> a -> b" in result.errors[1].message
    assert "e -> e" in result.errors[4].message


@pytest.mark.parametrize("target", ["parnt", "parent.yml", "no/parent.yaml", "x" * 300 + ".yaml"])
def test_an_unknown_target_is_told_with_the_nearest_ids(tmp_path: Path, target: str) -> None:
    child = f"tagsmith: 1\nid: child\nextends: {target}\n"
    result = load(tmp_path, parent=PARENT, child=child)
    assert told(result) == [("child.yaml", 3, 10, "TS201")]
    assert "parent" in result.errors[0].message.split("to extend; ")[1]
    assert [found.spec.id for found in result.families] == ["parent"]


def test_a_family_of_a_later_layer_replaces_that_of_an_earlier(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.yaml").write_text(f"tagsmith: 1\nid: a\ntitle: {name}\n")
    one, two = (Root(tmp_path / name, name) for name in ("one", "two"))
    assert only(load_layers(Layers(((one,), (two,))))).spec.title == "two"
    assert only(load_layers(Layers().below([two]).below([one]))).origin == "one"
    both = load_layers(Layers(((one, two),)))
    assert [error.code for error in both.errors] == [Code.DUPLICATE_ID] * 2
    assert only(load_layers(Layers(((one,), (one,))))).layer == 1


def test_of_two_families_of_one_id_that_of_the_lower_rank_keeps_it(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.yaml").write_text(f"tagsmith: 1\nid: a\ntitle: {name}\n")
    roots = (Root(tmp_path / "two", "two", 1), Root(tmp_path / "one", "one", 0))
    result = load_layers(Layers((roots,)))
    assert [found.spec.title for found in result.families] == ["one"]
    (error,) = result.errors
    assert (error.file, error.code) == (f"{tmp_path}/two/a.yaml", Code.DUPLICATE_ID)
    assert f"{tmp_path}/one/a.yaml" in error.message


def test_what_is_no_regular_file_is_refused_unopened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    for path in (tmp_path, tmp_path / "pipe.yaml"):
        (error,) = load_families([path]).errors
        assert (error.code, error.file) == (Code.UNREADABLE, f"{tmp_path}/pipe.yaml")
        assert "no regular file" in error.message


def test_a_directory_without_a_family_is_told(tmp_path: Path) -> None:
    (error,) = load_families([tmp_path]).errors
    assert (error.code, error.file) == (Code.UNREADABLE, str(tmp_path))


BUILT_IN = [
    path.read_text("utf-8")
    for path in sorted(FAMILIES.rglob("*.yaml"))
    if ".cases." not in path.name
]
FRAGMENTS = [
    "*a", "&a ", "<<: ", "? ", "- ", "!!str ", "{", "}", "[", "]", ": ", "null", ".nan", "1e999",
    "'", '"', "|\n", "\n  ", "\t", "---\n", "...\n", '"\\ud800"', "\u2028", "😀", "\0",
    "extends: a\n",
]  # fmt: skip
EDITS = st.lists(
    st.tuples(st.integers(0, 2000), st.sampled_from([0, 1, 5, 40]), st.sampled_from(FRAGMENTS)),
    max_size=6,
)


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(BUILT_IN), EDITS)
def test_no_text_raises_and_every_problem_has_a_place(
    tmp_path_factory: pytest.TempPathFactory, text: str, edits: list[tuple[int, int, str]]
) -> None:
    for start, removed, added in edits:
        text = text[:start] + added + text[start + removed :]
    directory = tmp_path_factory.mktemp("fuzz")
    result = load(directory, family=text.encode())
    lines = len(text.splitlines()) + 1
    assert all(1 <= e.line <= lines and e.column >= 1 for e in result.errors)
    assert bool(result.errors) != bool(result.families)


@settings(max_examples=50, deadline=None)
@given(st.binary(max_size=200))
def test_no_bytes_raise(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    assert load(tmp_path_factory.mktemp("fuzz"), family=data).errors


def test_an_error_carries_its_place_and_code(tmp_path: Path) -> None:
    (error,) = load(tmp_path, family=f"{HEAD}titel: x\n").errors
    assert isinstance(error, FamilyFileError)
    assert (error.file, error.line, error.column) == (str(tmp_path / "family.yaml"), 3, 1)
    assert error.code is Code.UNKNOWN_KEY
