"""Lint of how calls are written: layouts, encodings, templates, and the markers in them."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tagsmith
from tagsmith.lint.run import lint
from tagsmith.loading import load_families

HEAD = "tagsmith: 1\nid: acme\n"
REGION = "tag_style: {tool_calls: {start: <calls>, end: </calls>}}\n"


def template(call: str, rest: str = "") -> str:
    """A family whose calls are of this template, given as YAML; `rest` are keys of tool_calls."""
    return f"tool_calls:\n  layout: template\n  call: {call}\n" + textwrap.indent(rest, "  ")


def tagged(
    parameter: str, rest: str = "", *, call: str = r'"<call>{name}\n{arguments}</call>"'
) -> str:
    """A family of tagged parameters; `rest` are keys of tool_calls.arguments."""
    arguments = f"arguments:\n  encoding: tagged\n  parameter: {parameter}\n"
    return template(call, arguments + textwrap.indent(rest, "  "))


JSON_CALL = '"<call>{name}: {arguments}</call>"'
TYPES = "types: {string: str, other: [int, bool], list: list}\n"

WRONG = {
    "json without a place": ("tool_calls: {layout: json}\n", ["TS302"], ["unmarked: at-start"]),
    "pythonic without a place": ("tool_calls: {layout: pythonic}\n", ["TS302"], ["template"]),
    "tagged without parameters": (
        template(JSON_CALL, "arguments: {encoding: tagged}\n"),
        ["TS311"],
        ["tool_calls.arguments.parameter", "{key}"],
    ),
    "lists without items": (
        tagged('"<p n={key} t={type}>{value}</p>"', TYPES),
        ["TS311"],
        ["tool_calls.arguments.item", "{value}"],
    ),
    "items without lists": (
        tagged('"<p n={key}>{value}</p>"', 'item: "<i>{value}</i>"\n'),
        ["TS312"],
        ["tool_calls.arguments.item", "types.list"],
    ),
    "keys under template": (
        template(JSON_CALL, "keys: {id: id}\n"),
        ["TS312"],
        ["tool_calls.keys", "layout: template", "layout: json"],
    ),
    "container under pythonic": (
        f"{REGION}tool_calls: {{layout: pythonic, container: object}}\n",
        ["TS312"],
        ["tool_calls.container"],
    ),
    "unmarked under template": (
        template(JSON_CALL, "unmarked: at-start\n"),
        ["TS312"],
        ["tool_calls.unmarked", "layout: json or layout: pythonic"],
    ),
    "policies of parameters under json": (
        f"{REGION}tool_calls:\n  layout: json\n  on_repeated_parameter: keep\n"
        "  on_unknown_parameter: drop\n  on_outside_region: call\n",
        ["TS312"] * 3,
        ["on_repeated_parameter", "layout: template or layout: pythonic"],
    ),
    "policies of parameters with JSON arguments": (
        template(JSON_CALL, "on_unknown_parameter: drop\n"),
        ["TS312"],
        ["on_unknown_parameter", "encoding: json", "encoding: tagged"],
    ),
    "a quote with tagged parameters": (
        tagged('"<p n={key}>{value}</p>"', "quote: '|'\n"),
        ["TS312"],
        ["quote", "bare-keys"],
    ),
    "tagged keys with bare keys": (
        template(JSON_CALL, "arguments: {encoding: bare-keys, untyped: json}\n"),
        ["TS312"],
        ["untyped", "encoding: tagged"],
    ),
    "values beside types": (
        tagged(
            '"<p n={key} t={type}>{value}</p>"',
            "types: {string: s, other: o}\nvalues: {other: raw}\nuntyped: json\n",
        ),
        ["TS312", "TS312"],
        ["tool_calls.arguments.values", "types"],
    ),
    "unknown encoding": (
        template(JSON_CALL, "arguments: {encoding: bare-key}\n"),
        ["TS313"],
        ["'bare-key'", "nearest: bare-keys", "tagsmith plugins"],
    ),
    "an encoding like no other": (
        template(JSON_CALL, "arguments: {encoding: xyz}\n"),
        ["TS313"],
        ["there are: json, tagged, bare-keys"],
    ),
    "a type without types": (
        tagged('["<p n={key}>{value}</p>", "<q n={key} t={type}>{value}</q>"]'),
        ["TS314"],
        ["tool_calls.arguments.parameter[1]", "tool_calls.arguments.types"],
    ),
    "a mapping by schema": (
        tagged('"<p n={key}>{value}</p>"', "values: {other: mapping}\n"),
        ["TS104"],
        ["'mapping' is not allowed", "'raw' or 'json'"],
    ),
    "a call of blanks": (template(r'"\n "'), ["TS315", "TS317", "TS317"], ["begin with a text"]),
    "a parameter that begins with a hole": (
        tagged('"{key}={value};"'),
        ["TS315"],
        ["tool_calls.arguments.parameter: a parameter"],
    ),
    "a misspelt hole": (
        template('"<call>{nam}: {arguments}</call>"'),
        ["TS316", "TS317"],
        ["'{nam}'", "did you mean '{name}'?", "allowed: {name}, {id}, {arguments}, {ignored}"],
    ),
    "a hole with blanks": (
        template('"<call {id}>{ name }: {arguments}</call>"'),
        ["TS316", "TS317"],
        ["'{ name }'"],
    ),
    "a hole of a call in a parameter": (
        tagged('"<p n={name}>{key}: {value}</p>"'),
        ["TS316"],
        ["'{name}' is no hole of a parameter", "allowed: {key}, {value}, {type}"],
    ),
    "an id without the name": (
        template('"<call>{id}: {arguments}</call>"'),
        ["TS317"],
        ["{name}", "tool_calls.id.format"],
    ),
    "a form without a name": (
        template(f'[{JSON_CALL}, "<c>{{arguments}}</c>"]'),
        ["TS317"],
        ["tool_calls.call[1]"],
    ),
    "no name, though the id could carry it": (
        template('"<call>{arguments}</call>"', "id: {format: 'f.{name}:{index}'}\n"),
        ["TS317"],
        ["{name} or {id}"],
    ),
    "a parameter without a key": (tagged('"<p>{value}</p>"'), ["TS317"], ["{key}"]),
    "a key twice": (tagged('"<p {key}>{value}</p {key}>"'), ["TS318"], ["{key} stands in it"]),
    "a key beside its value": (tagged('"<p>{key} {value}</p>"'), ["TS319"], ["{key} ends"]),
    "what is ignored beside arguments": (
        template('"<call>{name}: {ignored}{arguments}</call>"'),
        ["TS319"],
        ["{ignored} ends and {arguments} begins"],
    ),
    "a value with a newline after it": (tagged(r'"<p {key}>{value}\n"'), ["TS320"], ["{value}"]),
    "tagged parameters that nothing ends": (
        tagged('"<p {key}>{value}</p>"', call='"<call>{name}: {arguments}"'),
        ["TS320"],
        ["{arguments}"],
    ),
    "tagged parameters in a region that may be missing": (
        REGION
        + tagged('"<p {key}>{value}</p>"', call='"<call>{name}: {arguments}"')
        + "  on_outside_region: call\n",
        ["TS320"],
        ["{arguments}"],
    ),
    "an id after the arguments": (
        template('"<call>{name}: {arguments}</call {id}>"'),
        ["TS321"],
        ["{id} stands after {arguments}"],
    ),
    "a type after the value": (
        tagged('"<p {key}>{value}</p {type}>"', "types: {string: s, other: o}\n"),
        ["TS321"],
        ["{type} stands after {value}"],
    ),
    "two holes at one place": (
        template('["<call>{id}, {name}: {arguments}!", "<call>{name}: {arguments}!"]'),
        ["TS322"],
        ["tool_calls.call[1]: it has {name} where tool_calls.call[0] has {id}"],
    ),
    "whole where another goes on": (
        template('["<call>{name}: {arguments}", "<call>{name}: {arguments}</call>"]'),
        ["TS322"],
        ["tool_calls.call[1]: it goes on where tool_calls.call[0] is whole"],
    ),
    "going on where another is whole": (
        template('["<call>{name}: {arguments}</call>", "<call>{name}: {arguments}"]'),
        ["TS322"],
        ["tool_calls.call[1]: it is whole where tool_calls.call[0] goes on"],
    ),
    "other newlines beside one value": (
        tagged(r'["<p {key}>\n{value}</p>", "<p {key}>{value}</p>\n"]'),
        ["TS322"],
        ["newlines beside {value}"],
    ),
    "an id.format of holes alone": (
        template('"<c>{id}: {arguments}</c>"', "id: {format: '{name}{index}'}\n"),
        ["TS323"],
        ["'{name}{index}'", "functions.{name}:{index}"],
    ),
    "an id.format with other holes": (
        template('"<c>{id}: {arguments}</c>"', "id: {format: '{x}.{name}:{index}'}\n"),
        ["TS323"],
        ["no other braces"],
    ),
    "an id.format without an index": (
        template('"<c>{id}: {arguments}</c>"', "id: {format: 'f.{name}'}\n"),
        ["TS105"],
        ["id.format"],
    ),
    "a type of two forms": (
        tagged('"<p {key}:{type}>{value}</p>"', "types: {string: s, other: [o, s]}\n"),
        ["TS324"],
        ["types.other[1]: 's' is tool_calls.arguments.types.string already"],
    ),
    "an id that is a name": (
        f"{REGION}tool_calls: {{layout: json, keys: {{id: name}}}}\n",
        ["TS324"],
        ["'name'", "tool_calls.keys.id"],
    ),
}  # fmt: skip


def problems_of(directory: Path, text: str) -> list[tuple[str, str]]:
    (directory / "acme.yaml").write_text(HEAD + text, encoding="utf-8")
    problems = lint([directory], ignore=["TS801"]).problems
    return [(str(problem.code), problem.message) for problem in problems]


@pytest.mark.parametrize(("text", "codes", "parts"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_told_with_what_to_do(
    tmp_path: Path, text: str, codes: list[str], parts: list[str]
) -> None:
    problems = problems_of(tmp_path, text)
    assert [code for code, _ in problems] == codes
    assert [part for part in parts if not any(part in message for _, message in problems)] == []
    assert all("\n" not in message for _, message in problems)


CLASHING = {
    "opens a region": ("tag_style: {reasoning: {start: <call>, end: </r>}}\n", "reasoning.start"),
    "closes a region": ("tag_style: {reasoning: {start: <r>, end: <call>}}\n", "reasoning.end"),
    "ends the turn": ("tokens: {turn_end: <call>}\n", "what tool_calls.call begins with"),
    "starts the turn": ("tokens: {turn_start: <call>}\n", "what tool_calls.call begins with"),
    "cites": (
        "citations: {markup: {open: <call>, close: '</co: {positions}>'}}\n",
        "what tool_calls.call begins with",
    ),
    "closer opens a region": ("tag_style: {content: [{start: </call>}]}\n", "content[0].start"),
    "closer starts the turn": ("tokens: {turn_start: </call>}\n", "what tool_calls.call ends"),
}


@pytest.mark.parametrize(("text", "part"), CLASHING.values(), ids=CLASHING)
def test_a_literal_of_a_call_with_another_role(tmp_path: Path, text: str, part: str) -> None:
    ((code, message),) = problems_of(tmp_path, text + template(JSON_CALL))
    assert (code, part in message) == ("TS307", True)


@pytest.mark.parametrize("marker", ["<call>", "</call>"])
@pytest.mark.parametrize("where", ["text", "call"])
def test_a_call_does_not_hold_the_markers_of_its_region(
    tmp_path: Path, marker: str, where: str
) -> None:
    other = {"<call>": "{start: <call>, end: </x>}", "</call>": "{start: <x>, end: </call>}"}
    region = f"tag_style: {{tool_calls: {other[marker]}}}\n"
    text = region + template(JSON_CALL, f"on_outside_region: {where}\n")
    ((code, message),) = problems_of(tmp_path, text)
    assert code == "TS307"
    assert f"tool_calls.call: '{marker}' is tag_style.tool_calls" in message


def test_a_call_that_begins_with_a_sign_of_json(tmp_path: Path) -> None:
    ((code, message),) = problems_of(tmp_path, template('"[{name}: {arguments}</call>"'))
    assert (code, "tool_calls.call" in message) == ("TS310", True)
    assert problems_of(tmp_path, REGION + template('"[{name}: {arguments}</call>"')) == []


RIGHT = {
    "closers that are shared": "tokens: {turn_end: </call>}\n"
    "tag_style: {content: [{start: <c>, end: </call>}]}\n" + template(JSON_CALL),
    "literals that are hidden": "tokens: {hidden: [</call>, <call>]}\n" + template(JSON_CALL),
    "openers that count in the region alone": REGION.replace(
        "tool_calls", "content: [{start: <call>}], tool_calls"
    )
    + template(JSON_CALL),
    "unmarked JSON": "tool_calls: {layout: json, unmarked: at-start}\n",
    "unmarked Python": "tool_calls: {layout: pythonic, unmarked: at-start}\n",
    "a name before a brace": template('"<call>{name}{arguments}"'),
    "an id before a brace": template(
        r'"<call>{id}\n{arguments}"', "id: {format: '{name}.{index}'}\n"
    ),
    "parameters that the region ends": REGION
    + tagged('"<p {key}>{value}</p>"', call='"<call>{name}: {arguments}"'),
    "braces that are no holes": template('"<call>{\'f\': {name}, {}: {arguments}}</call>"'),
    "two stretches that are ignored": template('"<c {ignored}><{ignored}>{name}: {arguments}</c>"'),
    "forms that part at a literal": template(
        '["<c>{name}[ID]{id}: {arguments}", "<c>{name}: {arguments}", "<c>{name}{arguments}"]'
    ),
    "one form twice": template(f"[{JSON_CALL}, {JSON_CALL}]"),
    "typed lists": tagged(
        '"<p n={key} t={type}>{value}</p>"', TYPES + 'item: "<i t={type}>{value}</i>"\n'
    ),
    "defaults of other layouts": template(
        JSON_CALL, "container: array\nunmarked: never\narguments: {untyped: string}\n"
    ),
}  # fmt: skip


@pytest.mark.parametrize("text", RIGHT.values(), ids=RIGHT)
def test_what_fits_together_is_fine_and_compiles(tmp_path: Path, text: str) -> None:
    assert problems_of(tmp_path, text) == []
    (found,) = load_families([tmp_path]).families
    assert tagsmith.Family(found.spec).parse("<call>Hi").tool_calls == ()


CHILD = "tagsmith: 1\nid: child\nextends: acme\n"
INHERITING = {
    "another layout than the base": ("", []),
    "the same layout and its keys": ("tool_calls: {layout: json, keys: {id: id}}\n", []),
    "a key of the layout that it left": ("tool_calls: {keys: {id: x}}\n", ["TS312"]),
    "a key of a layout that it does not choose": (
        "tool_calls: {layout: json, call: <c>}\n",
        ["TS312"],
    ),
}


@pytest.mark.parametrize(("text", "codes"), INHERITING.values(), ids=INHERITING)
def test_what_is_inherited_for_another_layout_is_left_alone(
    tmp_path: Path, text: str, codes: list[str]
) -> None:
    base = f"{HEAD}{REGION}tool_calls: {{layout: json, container: object, keys: {{id: x}}}}\n"
    (tmp_path / "base.yaml").write_text(base)
    between = CHILD.replace("child", "between") + template(JSON_CALL)
    (tmp_path / "between.yaml").write_text(between)
    (tmp_path / "child.yaml").write_text(CHILD.replace("acme", "between") + text)
    assert [str(problem.code) for problem in lint([tmp_path], ignore=["TS801"]).problems] == codes


def test_what_is_ignored_is_told_of_the_file_that_chose_the_layout(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text(HEAD + template(JSON_CALL, "keys: {id: x}\n"))
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "a.yaml").write_text("tagsmith: 1\nid: a\nextends: ../base.yaml\n")
    (problem,) = lint([tmp_path / "own"], ignore=["TS801"]).problems
    assert (Path(problem.file).name, problem.line, problem.code) == ("base.yaml", 6, "TS312")


HOLES = ["{name}", "{id}", "{arguments}", "{ignored}", "{key}", "{value}", "{type}", "{x}"]
LITERALS = ["<c>", "</c>", "<p>", ">", "a", " ", "\n", "{", '"']


def forms_of(*holes: str) -> st.SearchStrategy[list[str]]:
    """Lists of forms: most with these holes in this order, some of anything."""
    literal = st.sampled_from(["", *LITERALS])
    parts = [part for hole in holes for part in (literal, st.sampled_from([hole] * 9 + [""]))]
    near = st.tuples(st.sampled_from(["<c>", "<d>"]), *parts, literal)
    far = st.lists(st.sampled_from(HOLES + LITERALS), max_size=8)
    return st.lists(st.one_of(near, near, near, far).map("".join), min_size=1, max_size=2)


@settings(max_examples=100, deadline=None)
@given(
    call=forms_of("{name}", "{arguments}"),
    parameter=forms_of("{type}", "{key}", "{value}"),
    item=forms_of("{type}", "{value}"),
    encoding=st.sampled_from(["json", "tagged", "tagged", "bare-keys", "other"]),
    text=st.lists(st.sampled_from(LITERALS), max_size=12).map("".join),
)
def test_a_family_without_problems_can_be_used(
    call: list[str], parameter: list[str], item: list[str], encoding: str, text: str
) -> None:
    arguments: dict[str, Any] = {"encoding": encoding}
    if encoding == "tagged":
        arguments |= {"parameter": parameter, "item": item}
        arguments |= {"types": {"string": "a", "other": ">", "list": "p"}}
    tool_calls = {"layout": "template", "call": call, "arguments": arguments}
    with TemporaryDirectory() as directory:
        file = Path(directory, "acme.yaml")
        file.write_text(HEAD + json.dumps({"tool_calls": tool_calls})[1:-1] + "\n")
        result = load_families([file])
    assert bool(result.families) != bool(result.errors)
    for found in result.families:
        tagsmith.Family(found.spec).parse(text)


def test_beside_a_broken_section_no_template_is_taken_for_wrong(tmp_path: Path) -> None:
    text = tagged('"<p {key}>{value}</p>"', call='"<call>{name}: {arguments}"')
    codes = [code for code, _ in problems_of(tmp_path, "tag_style: 3\n" + text)]
    assert codes == ["TS103"]
