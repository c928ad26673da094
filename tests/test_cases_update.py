"""`update`: what cases expect is rewritten in place, everything else stays to the letter."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import tagsmith
from tagsmith.events import Event
from tagsmith.loading.nodes import descend, plain
from tagsmith.parser import Parser
from tagsmith.testing import load_cases
from tagsmith.testing.case_files import parse_cases
from tagsmith.testing.update import FileUpdate, update_file
from tagsmith.testing.yaml_edits import change
from tagsmith.testing.yaml_text import Style, read_yaml
from tagsmith.testing.yaml_values import UnwritableError, write_literal, write_value

FAMILY = "cohere-command-a"
CALL = '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "f", "parameters": {"a": 1}}]'
CITED = "<|START_RESPONSE|>It is <co>warm</co: 0:[1]>.<|END_RESPONSE|>"


def updated(text: str) -> FileUpdate:
    file = parse_cases(text, "a.cases.yaml")
    family = tagsmith.get_family(FAMILY)
    return update_file(file, {case.id: family for case in file.cases})


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param('content: "Ho"  # why', 'content: "Hi"  # why', id="a comment behind"),
        pytest.param("content: Ho", "content: Hi", id="a plain text"),
        pytest.param("content: 'Ho'", "content: 'Hi'", id="in single quotes"),
        pytest.param("content:", "content: Hi", id="nothing behind the key"),
        pytest.param("content: null", "content: Hi", id="null"),
        pytest.param("content: >-\n    Ho\n    there", "content: |-\n    Hi", id="a block"),
        pytest.param(
            "note: x\n  # a comment\n\n  diagnostics: [ ]",
            "content: Hi\n  note: x\n  # a comment\n\n  diagnostics: [ ]",
            id="an absent key goes behind those before it",
        ),
        pytest.param(
            "content: Hi\n  reasoning: hm",
            "content: Hi\n  reasoning: null",
            id="what was checked stays checked",
        ),
        pytest.param(
            'content: Hi\n  tool_calls:\n    - {id: "0", name: f, arguments: "{}"}',
            "content: Hi\n  tool_calls: []",
            id="no call is left",
        ),
        pytest.param(
            "content: Hi\n  tool_calls:  # why\n    - id: x\n      name: f  # f\n"
            "      arguments: x",
            "content: Hi\n  tool_calls: []  # why",
            id="no call is left, with a comment behind the key",
        ),
        pytest.param(
            "content: Hi\n  'tool_calls' :  # a: b\n  - {id: x, name: f, arguments: x}",
            "content: Hi\n  'tool_calls' : []  # a: b",
            id="no call is left, behind a key in quotes",
        ),
        pytest.param(
            "content: |-  # why\n    Ho\n    there",
            "content: |-  # why\n    Hi",
            id="a comment behind the sign of a block",
        ),
        pytest.param(
            "content: Hi\n  reasoning: >-  # why\n    hm",
            "content: Hi\n  reasoning: null  # why",
            id="a comment behind the sign of a block that goes",
        ),
        pytest.param("content: |-\n", "content: |-\n    Hi\n", id="an empty block"),
        pytest.param(
            "content: Hi\n  diagnostics: [truncated]",
            "content: Hi\n  diagnostics: []",
            id="no diagnostic is left",
        ),
    ],
)
def test_a_value_is_replaced_where_it_stands(before: str, after: str) -> None:
    start = f"# above\n- id: a\n  family: f\n  text: Hi  # said\n  {before}\n\n# below\n"
    update = updated(start)
    assert update.text == start.replace(before, after)
    assert update.updated == ["a"]
    assert update.left == {}


@pytest.mark.parametrize(
    ("text", "before", "after"),
    [
        pytest.param(
            CALL,
            "  tool_calls:\n  # one\n  - {id: '0', name: g, arguments: '{}'}  # g\n",
            "  tool_calls:\n  # one\n  - {id: '0', name: f, arguments: '{\"a\": 1}'}  # g\n",
            id="the values of a call",
        ),
        pytest.param(
            CALL,
            "  tool_calls:\n    - id: '0'\n      name: f\n      arguments: '{\"a\": 1}'\n"
            "    # more\n    - {id: '1', name: g, arguments: '{}'}  # g",
            "  tool_calls:\n    - id: '0'\n      name: f\n      arguments: '{\"a\": 1}'",
            id="a call less",
        ),
        pytest.param(
            CALL,
            "  tool_calls: [{id: '0', name: f, arguments: '{\"a\": 1}'}, {id: '1', name: g, "
            "arguments: '{}'}]",
            "  tool_calls: [{id: '0', name: f, arguments: '{\"a\": 1}'}]",
            id="a call less between brackets",
        ),
        pytest.param(
            CALL[:-1] + ', {"tool_name": "g", "tool_call_id": "1", "parameters": {}}]',
            "  tool_calls:\n  -   {id: '0', name: f, arguments: '{\"a\": 1}'}  # f\n  note: x",
            "  tool_calls:\n  -   {id: '0', name: f, arguments: '{\"a\": 1}'}  # f\n"
            '  -   {id: "1", name: g, arguments: "{}"}\n  note: x',
            id="a call more",
        ),
        pytest.param(
            CALL,
            "  note: x",
            '  tool_calls:\n    - {id: "0", name: f, arguments: \'{"a": 1}\'}\n  note: x',
            id="calls where none were expected",
        ),
        pytest.param(
            CALL[:-3],
            "  tool_calls: [{id: '0', name: f, arguments: '{\"a\": 1'}]",
            "  tool_calls: [{id: '0', name: f, arguments: '{\"a\": 1', complete: false}]",
            id="a call that is cut off",
        ),
        pytest.param(
            CITED,
            "  content: It is warm.\n  citations:\n"
            "  - {start: 0, end: 4, text: warm, target: content, sources: []}",
            "  content: It is warm.\n  citations:\n"
            "  - {start: 6, end: 10, text: warm, target: content, positions: [[0, 1]], "
            "sources: []}",
            id="a citation",
        ),
        pytest.param(
            CITED,
            "  content: It is warm.",
            "  content: It is warm.\n  citations:\n"
            "    - {start: 6, end: 10, text: warm, target: content, positions: [[0, 1]]}",
            id="a citation where none was expected",
        ),
        pytest.param(
            "<|START_ACTION|>none<|END_ACTION|>",
            "  content: none\n  diagnostics:\n    - truncated  # cut\n    - duplicate-id",
            "  content: none\n  diagnostics:\n    - malformed-call  # cut",
            id="diagnostics on lines of their own",
        ),
    ],
)
def test_a_list_is_changed_item_by_item(text: str, before: str, after: str) -> None:
    start = f"- id: a\n  family: f\n  text: {write_value(text, in_flow=False)}\n{before}\n# end\n"
    update = updated(start)
    assert update.left == {}
    assert update.text == start.replace(before, after)


@pytest.mark.parametrize(
    ("before", "new", "after"),
    [
        ("- {a: 1, b: 2}  # x", [{"a": 1}], "- {a: 1}  # x"),
        ("- a: 1\n  b: 2  # x", [{"a": 1}], "- {a: 1}  # x"),
        ("- a: 1  # x\n  b: 2", [{"a": 3, "b": 2}], "- a: 3  # x\n  b: 2"),
        ("- a: 1", [{"a": 1, "c": {"d": "e"}}], "- {a: 1, c: {d: e}}"),
        ("- s:  # x\n    - a: 1\n", [{"s": [{}]}], "- s:  # x\n    - {}\n"),
    ],
)
def test_a_mapping_whose_keys_have_no_order_is_written_anew(
    before: str, new: Any, after: str
) -> None:
    yaml_text, _ = read_yaml(before, "a.yaml")
    assert yaml_text is not None
    assert change(yaml_text, (), new, {}) == after


def test_a_case_on_one_line_stays_on_one_line() -> None:
    before = "- {id: a, family: f, text: \"Hi, you\", content: 'no'}  # b\n"
    assert updated(before).text == before.replace("'no'", "'Hi, you'")
    before = "- {id: a, family: f, text: Hi, note: x}\n"
    assert updated(before).text == before.replace("Hi", "Hi, content: Hi")


def test_other_cases_are_not_touched() -> None:
    good = "- {id: good,   family: f, text:   'Hi', content: \"Hi\"}  # good\n"
    bad = "- {id: bad, family: f, text: Hi, content: Ho}\n"
    update = updated(f"{good}\n{bad}\n# between\n{good.replace('id: good', 'id: better')}")
    assert update.updated == ["bad"]
    assert update.text == update.file.yaml.text.replace("Ho", "Hi")
    assert update.diff.splitlines() == [
        "--- a.cases.yaml",
        "+++ a.cases.yaml",
        "@@ -1,6 +1,6 @@",
        f" {good.rstrip()}",
        " ",
        f"-{bad.rstrip()}",
        f"+{bad.rstrip().replace('Ho', 'Hi')}",
        " ",
        " # between",
        f" {good.rstrip().replace('id: good', 'id: better')}",
    ]


def test_line_ends_and_byte_order_marks_stay(tmp_path: Path) -> None:
    path = tmp_path / "a.cases.yaml"
    before = b"\xef\xbb\xbf# x\r\n- id: a\r\n  family: f\r\n  text: Hi\r\n"
    path.write_bytes(before)
    file = parse_cases(before.decode("utf-8-sig"), str(path))
    update_file(file, {"a": tagsmith.get_family(FAMILY)}).write()
    assert path.read_bytes() == before + b"  content: Hi\r\n"


def test_a_value_that_cases_share_is_left() -> None:
    update = updated(
        "- {id: a, family: f, text: Hi, content: &c Ho}\n"
        "- {id: b, family: f, text: Ho, content: *c}\n"
        "- {id: c, family: f, text: He, content: *c}\n"
    )
    # An alias can be written out; what it stands for cannot be changed for one case alone.
    assert update.updated == ["c"]
    assert list(update.left) == ["a"]
    assert update.left["a"].startswith("change it by hand:\ncase a, family cohere-command-a, parse")
    assert update.text.splitlines()[2] == "- {id: c, family: f, text: He, content: He}"


def test_a_case_that_depends_on_the_cutting_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    feed = Parser.feed

    def lossy(self: Parser, text: str, token_ids: list[int] | None = None) -> list[Event]:
        return [] if text == "i" else feed(self, text, token_ids)

    monkeypatch.setattr(Parser, "feed", lossy)
    update = updated("- {id: a, family: f, text: Hi, content: Ho}\n")
    assert update.updated == []
    assert update.diff == ""
    assert update.left["a"].startswith("the message depends on the cutting:\ncase a, ")


def test_half_a_character_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnwritableError, match="half a character"):
        write_value("\ud800", in_flow=False)


TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
    st.lists(
        st.sampled_from(["a", " ", "\n", ":", "#", "-", "'", '"', "{", ",", "]", "1", "é", "~"]),
        max_size=8,
    ).map("".join),
    st.sampled_from(
        ["", "null", "yes", "1", "1.0", "<<", "2024-01-01", "- a", "a: b", "a #b", "&a"]
    ),
    st.sampled_from(['"\\ud83d"', '{"a": "\\ud83d\\ude00"}']),
)


@given(TEXTS, st.sampled_from(Style), st.booleans())
@settings(max_examples=60, deadline=None)
def test_every_text_is_read_back_in_every_style(text: str, style: Style, in_flow: bool) -> None:
    written = write_value(text, in_flow=in_flow, style=style)
    assert "\n" not in written
    document = f"- {{k: {written}, z: 1}}\n" if in_flow else f"- k: {written}\n  z: 1\n"
    found, problems = read_yaml(document, "a.yaml")
    assert problems == []
    assert found is not None
    assert plain(found.root) == [{"k": text, "z": 1}]


@given(TEXTS)
@settings(max_examples=60, deadline=None)
def test_every_block_is_read_back(text: str) -> None:
    written = write_literal(text, "    ", "\n")
    if written is not None:
        assert yaml.safe_load(f"- k: {written}\n  z: 1\n") == [{"k": text, "z": 1}]


HERE = Path(__file__).parent
WRONG: list[dict[str, Any]] = [
    {"content": "WRONG: # 'x'"},
    {"reasoning": "wrong\n two\n"},
    {"tool_calls": [{"id": "9", "name": "zz", "arguments": "{}"}]},
    {"tool_calls": [], "content": None},
]


@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_what_the_projects_own_cases_expect_is_found_again(wrong: dict[str, Any]) -> None:
    path = HERE.parent / "families" / "qwen" / "qwen3_coder.cases.yaml"
    file = parse_cases(path.read_text(encoding="utf-8"), str(path))
    number = WRONG.index(wrong) + 1
    case = descend(file.yaml.root, (number,))
    assert case is not None
    orders = {None: tuple(type(file.cases[0]).model_fields)}
    text = change(file.yaml, (number,), plain(case) | wrong, orders)
    broken = parse_cases(text, str(path))
    assert broken.cases != file.cases
    update = update_file(broken, {file.cases[number].id: tagsmith.get_family("qwen3-coder")})
    assert update.updated == [file.cases[number].id]
    assert parse_cases(update.text, str(path)).cases == file.cases
    assert load_cases(path) == list(file.cases)
