"""Argument encodings that plug-ins bring: from the hook to the calls of a family that names one."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

import tagsmith
from documented_plugins import documented_plugin
from tagsmith import encodings
from tagsmith.cli import main
from tagsmith.engine.layouts import ENCODINGS
from tagsmith.lint.run import lint
from tagsmith.message import Message
from tagsmith.plugins import load_plugins
from tagsmith.registry import installed_layers, load_registry
from tagsmith.testing import MockTokenizer, by_n_tokens, every_two_way, run, run_tokens

Install = Callable[..., Path]

PLUGIN = documented_plugin(
    encodings, hook="tagsmith_encodings", name="acme-pairs", made="pairs_encoding"
)
FAMILY = """
tagsmith: 1
id: acme-pairs
tokens: {turn_end: <end>}
tool_calls:
  layout: template
  call: "<call>{name}: {arguments}</call>"
  arguments: {encoding: acme-pairs}
"""
OUTPUT = 'Now.<call>weather: city=São "Paulo"\\;days = 2;</call> Then.<call>now: </call>'
ARGUMENTS = ['{"city": "São \\"Paulo\\"\\\\", "days": " 2"}', "{}"]


@pytest.fixture
def family(install: Install) -> tagsmith.Family:
    install("acme", "tagsmith", "acme.plugin", plugin__py=PLUGIN, a__yaml=FAMILY)
    return load_registry().get("acme-pairs")


def calls(message: Message) -> list[tuple[str, str, bool]]:
    return [(call.name, call.arguments, call.complete) for call in message.tool_calls]


def test_a_plugin_brings_an_encoding_that_its_family_is_read_with(family: tagsmith.Family) -> None:
    message = family.parse(OUTPUT)
    assert calls(message) == [("weather", ARGUMENTS[0], True), ("now", ARGUMENTS[1], True)]
    assert (message.content, message.diagnostics) == ("Now. Then.", ())


def test_however_the_text_is_cut_the_result_is_the_same(family: tagsmith.Family) -> None:
    whole = family.parse(OUTPUT)
    for deltas in [list(OUTPUT), *every_two_way(OUTPUT)]:
        assert run(family, deltas).message == whole
    tokenizer = MockTokenizer.for_family(family)
    for size in (1, 3):
        groups = by_n_tokens(tokenizer.encode(OUTPUT), size)
        assert run_tokens(family, groups, tokenizer).message == whole


def test_an_output_that_is_cut_off(family: tagsmith.Family) -> None:
    whole = calls(family.parse(OUTPUT))
    for length in range(len(OUTPUT)):
        text = OUTPUT[:length]
        assert "".join(span.text for span in family.explain(text)) == text
        message = family.parse(text, finish_reason="length")
        assert run(family, list(text)).message.tool_calls == message.tool_calls
        for found, complete in zip(calls(message), whole, strict=False):
            assert complete[1].startswith(found[1])


def test_a_family_with_it_can_be_pickled_and_copied(family: tagsmith.Family) -> None:
    for other in (
        pickle.loads(pickle.dumps(family)),
        copy.copy(family),
        copy.deepcopy(family),
        tagsmith.Family(family.spec, family.source, family.encodings),
    ):
        assert (other, hash(other)) == (family, hash(family))
        assert other.parse(OUTPUT) == family.parse(OUTPUT)


def test_every_family_of_the_registry_may_name_it(family: tagsmith.Family, tmp_path: Path) -> None:
    file = tmp_path / "other.yaml"
    file.write_text(FAMILY.replace("id: acme-pairs", "id: other").replace("<call>", "<c>"))
    other = load_registry([file]).get("other")
    assert other.parse("<c>f: a=b</call>").tool_calls[0].arguments == '{"a": "b"}'
    assert set(other.encodings) == {*ENCODINGS, "acme-pairs"}
    assert lint([file], installed_layers(load_plugins()), ignore=["TS801"]).problems == ()
    assert CliRunner().invoke(main, ["lint", "--ignore", "TS801", str(file)]).exit_code == 0


def test_without_its_plugin_an_encoding_is_unknown(tmp_path: Path) -> None:
    file = tmp_path / "acme.yaml"
    file.write_text(FAMILY)
    (problem,) = lint([file]).problems
    assert (problem.code, problem.line) == ("TS313", 8)
    assert [str(told) for told in load_registry([file]).problems] == [str(problem)]


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("raise ValueError('give\\n  arguments.quote')", "ValueError: give arguments.quote"),
        ("return None", "AttributeError: 'NoneType' object has no attribute 'starts'"),
    ],
)
def test_an_encoding_that_refuses_a_family_is_told_in_its_words(
    install: Install, code: str, told: str
) -> None:
    code = PLUGIN.replace("return PairsProgram()", code)
    install("acme", "tagsmith", "acme.plugin", plugin__py=code, a__yaml=FAMILY)
    registry = load_registry()
    (problem,) = registry.problems
    assert problem.code == "TS325"
    assert f"'acme-pairs' cannot be used here ({told})" in problem.message
    with pytest.raises(tagsmith.FamilyFileError):
        registry.get("acme-pairs")
    assert registry.get("qwen3-coder").id == "qwen3-coder"


def test_what_an_encoding_does_not_begin_with_ends_no_name(
    family: tagsmith.Family, tmp_path: Path
) -> None:
    file = tmp_path / "other.yaml"
    file.write_text(FAMILY.replace("{name}: {arguments}", r"{name}\n{arguments}"))
    (problem,) = lint([file], installed_layers(load_plugins())).problems
    assert (problem.code, "{name} ends" in problem.message) == ("TS319", True)


def test_keys_that_an_encoding_of_a_plugin_may_use_are_not_told_as_ignored(
    family: tagsmith.Family, tmp_path: Path
) -> None:
    file = tmp_path / "other.yaml"
    file.write_text(FAMILY.replace("acme-pairs}", "acme-pairs, quote: '|', parameter: x}"))
    assert lint([file], installed_layers(load_plugins()), ignore=["TS801"]).problems == ()


def test_of_two_plugins_with_one_encoding_the_first_keeps_it(install: Install) -> None:
    install("aafirst", "tagsmith", "aafirst.plugin", plugin__py=PLUGIN, a__yaml=FAMILY)
    install(
        "zzlast",
        "tagsmith",
        "zzlast.plugin",
        plugin__py=PLUGIN,
        a__yaml=FAMILY.replace("id: acme-pairs", "id: zz"),
    )
    found = {plugin.name: plugin for plugin in load_plugins()}
    assert found["aafirst"].error is None
    assert found["zzlast"].error == (
        "PluginError: the encoding 'acme-pairs' is brought by aafirst too; rename it"
    )
    # Its family would be read with the encoding of another.
    assert {"acme-pairs"} == {"acme-pairs", "zz"} & set(load_registry().ids())
    listed = CliRunner().invoke(main, ["plugins"])
    assert listed.exit_code == 1
    assert "rename it" in listed.stdout
