"""`tagsmith convert`: families as response templates of transformers, and back."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import tagsmith
from tagsmith.authoring.checking import check_text
from tagsmith.authoring.family_yaml import write_family
from tagsmith.cli import main
from tagsmith.convert import ReadFamily, from_response_template, to_response_template
from tagsmith.convert.template_shape import check_shape
from tagsmith.errors import RequestError
from tagsmith.family import Family
from tagsmith.message import Message
from tagsmith.registry import default_registry
from tagsmith.spec.models import FamilySpec

SCHEMA = FamilySpec.model_json_schema()
BUILT_IN = default_registry().ids()
WITHOUT_CALLS = {"cohere-command-xml", "deepseek-v3.2", "deepseek-v4"}
"""Families whose calls say the types of their values: read back, they have none."""


def convert(*args: str, **options: Any) -> Result:
    return CliRunner().invoke(main, ["convert", *args], **options)


def usable(read: ReadFamily) -> Family:
    checked = check_text(write_family(read.values), "my-family")
    assert checked.problems == ()
    assert checked.family is not None
    return checked.family


def read(template: dict[str, Any]) -> Family:
    return usable(from_response_template(template, "my-family", "My Family"))


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_family_becomes_a_response_template(name: str) -> None:
    written = to_response_template(tagsmith.get_family(name).spec)
    check_shape(json.loads(json.dumps(written.template)))
    for loss in written.losses:
        assert is_key(loss.key), loss
    assert len({loss.key for loss in written.losses}) == len(written.losses)


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_template_for_serving_says_nothing_that_cannot_be_streamed(name: str) -> None:
    """What the readers of vLLM and SGLang refuse; their own environments hold this against them."""
    written = to_response_template(tagsmith.get_family(name).spec, reader="serving")
    check_shape(json.loads(json.dumps(written.template)))
    fields = written.template["fields"]
    assert fields.keys() <= {"thinking", "content", "tool_calls"}
    assert written.template["defaults"].keys() <= {"role"}
    texts = [fields[field] for field in ("thinking", "content") if field in fields]
    for text in texts:
        assert text["content"] == "text"
        assert not text.keys() & {"join", "repeats", "transform"}
    assert fields.get("tool_calls", {}).get("content") != "python-call-list"
    for loss in written.losses:
        assert is_key(loss.key), loss


def test_whose_reader_it_is_has_to_be_known() -> None:
    with pytest.raises(RequestError, match="reader: unknown value 'vllm'; allowed: transformers"):
        to_response_template(tagsmith.get_family("qwen3").spec, reader="vllm")


def is_key(path: str) -> bool:
    """Whether the format has this key."""
    part: Any = SCHEMA
    for key in path.split("."):
        found = [part, *part.get("anyOf", ())]
        parts = [SCHEMA["$defs"][p["$ref"].rsplit("/", 1)[1]] if "$ref" in p else p for p in found]
        part = next((p["properties"][key] for p in parts if key in p.get("properties", ())), None)
        if part is None:
            return False
    return True


@pytest.mark.parametrize("name", BUILT_IN)
def test_what_is_written_is_read_back(name: str) -> None:
    family = tagsmith.get_family(name)
    again = read(to_response_template(family.spec).template)
    one, other = family.spec, again.spec
    assert other.initial_region is one.initial_region
    assert other.tokens.turn_end == one.tokens.turn_end
    thoughts = [
        spec.tag_style.reasoning and spec.tag_style.reasoning.pairs for spec in (one, other)
    ]
    assert thoughts[0] == thoughts[1]
    if name in WITHOUT_CALLS:
        assert other.tool_calls is None
        return
    assert one.tool_calls is not None
    assert other.tool_calls is not None
    assert other.tool_calls.layout is one.tool_calls.layout
    assert other.tool_calls.arguments.encoding == one.tool_calls.arguments.encoding
    assert other.tool_calls.id.format == one.tool_calls.id.format
    from tagsmith.authoring.golden import golden_cases

    for case in golden_cases(family):
        options = {key: case[key] for key in ("tools", "prompt") if key in case}
        assert shape(again.parse(case["text"], **options)) == shape(
            family.parse(case["text"], **options)
        ), case["id"]


def shape(message: Message) -> Any:
    calls = [(call.name, json.loads(call.arguments)) for call in message.tool_calls]
    return message.reasoning, message.content, calls


def field(**said: Any) -> dict[str, Any]:
    """A response template with these fields."""
    return {"defaults": {"role": "assistant"}, "start_anchor": "<a>\n", "fields": said}


FUNCTION = {"type": "function", "function": "{content}"}
NAMED = {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}}
CALL = ("f", {"x": "1"})


@pytest.mark.parametrize(
    ("template", "text", "expected"),
    [
        (
            field(
                thinking={"open": "<t>", "close": "</t>"},
                tool_calls={
                    "open": "<c>",
                    "close": "</c>",
                    "repeats": True,
                    "content": "json",
                    "transform": FUNCTION,
                },
                content={"close": "<e>"},
            ),
            '<t>Hm.</t>Hi<c>{"name": "f", "arguments": {"x": "1"}}</c><e>',
            ("Hm.", "Hi", [CALL]),
        ),
        (
            field(
                reasoning={"open_pattern": r"(?:^|<t>\s*)", "close": "</t>"},
                content={"open": "<r>\n", "close_pattern": r"\n?</r>"},
            ),
            "Hm.</t><r>\nHi\n</r>",
            ("Hm.", "Hi", []),
        ),
        (
            field(
                content={"open": ["<r>", "<s>"], "close": ["</r>", "</s>"]},
                tool_calls={
                    "open": "<c>",
                    "close": "</c>",
                    "content": "json",
                    "transform_each": True,
                    "transform": {
                        "type": "function",
                        "id": "{i}",
                        "function": {"name": "{n}", "arguments": "{p}"},
                    },
                },
            ),
            '<s>Hi</s><c>[{"i": "7", "n": "f", "p": {"x": "1"}}]</c>',
            (None, "Hi", [CALL]),
        ),
        (
            field(
                tool_calls={
                    "open_pattern": r"<c>call:(?P<name>\w+)",
                    "close": "</c>",
                    "repeats": True,
                    "content": "json",
                    "content_args": {"unquoted_keys": True, "string_delims": [["<q>", "<q>"]]},
                    "transform": NAMED,
                },
                content={"close": ["<e>", "<f>"]},
            ),
            "Hi<c>call:f{x:<q>1<q>}</c><f>",
            (None, "Hi", [CALL]),
        ),
        (
            field(
                tool_calls={
                    "open_pattern": r"<c>\s*<f=(?P<name>[^>]+)>",
                    "close_pattern": r"</f>\s*</c>",
                    "repeats": True,
                    "content": "xml-inline",
                    "content_args": {
                        "tag_pattern": r"<p=(?P<key>\w+)>\s*(?P<value>.*?)\s*</p>",
                        "value_parser": {"name": "json", "args": {"allow_non_json": True}},
                    },
                    "transform": NAMED,
                },
                content={"close": "<e>"},
            ),
            "Hi<c>\n<f=f>\n<p=x>\n1\n</p>\n</f>\n</c><e>",
            (None, "Hi", [("f", {"x": 1})]),
        ),
        (
            field(
                tool_calls={
                    "open_pattern": r"<c>(?P<id>functions\.(?P<name>\w+):\d+)<g>",
                    "close": "</c>",
                    "repeats": True,
                    "content": "json",
                    "transform": {**NAMED, "id": "{id}"},
                },
                content={},
            ),
            '<c>functions.f:0<g>{"x": "1"}</c>',
            (None, None, [CALL]),
        ),
        (
            field(
                tool_calls={
                    "open_pattern": r"<c>commentary to=(?P<name>[\w.]+)(?: json)?<m>",
                    "close": "<e>",
                    "repeats": True,
                    "content": "json",
                    "transform": NAMED,
                },
                content={"open": "<c>final<m>", "close": "<e>"},
            ),
            '<c>final<m>Hi<e><c>commentary to=f json<m>{"x": "1"}<e>',
            (None, "Hi", [CALL]),
        ),
        (
            field(
                tool_calls={
                    "open": "<p>",
                    "close": "</p>",
                    "content": "python-call-list",
                    "transform_each": True,
                    "transform": {"function": {"name": "{name}", "arguments": "{arguments}"}},
                },
                content={"close": "<e>"},
            ),
            'Hi<p>[f(x="1")]</p>',
            (None, "Hi", [CALL]),
        ),
    ],
)
def test_templates_as_people_write_them(template: dict[str, Any], text: str, expected: Any) -> None:
    family = read(template)
    assert family.spec.tokens.turn_start == ("<a>",)
    assert shape(family.parse(text)) == expected


JSON_CALLS = {"open": "<c>", "close": "</c>", "content": "json"}


@pytest.mark.parametrize(
    ("said", "key"),
    [
        ({"tool_calls": {**JSON_CALLS}}, "fields.tool_calls.transform"),
        (
            {"tool_calls": {**JSON_CALLS, "transform": {"name": "x", "arguments": "{content}"}}},
            "fields.tool_calls.transform",
        ),
        (
            {
                "tool_calls": {
                    **JSON_CALLS,
                    "transform": {"name": "{content.a.b}", "arguments": "{content.c}"},
                }
            },
            "fields.tool_calls.transform",
        ),
        (
            {"tool_calls": {**JSON_CALLS, "content": "kv-lines", "transform": FUNCTION}},
            "fields.tool_calls.content",
        ),
        (
            {
                "tool_calls": {
                    "open_pattern": "<c>(?P<name>x)(ab)+",
                    "close": "</c>",
                    "content": "json",
                    "transform": NAMED,
                }
            },
            "fields.tool_calls.open_pattern",
        ),
        (
            {
                "tool_calls": {
                    "open_pattern": r"<c>(?P<name>\w+).*?<m>",
                    "close": "</c>",
                    "content": "json",
                    "transform": NAMED,
                }
            },
            "fields.tool_calls.open_pattern",
        ),
        ({"thinking": {"open_pattern": "(" * 5000, "close": "c"}}, "fields.thinking.open_pattern"),
        ({"thinking": {"open_pattern": "(a|b)" * 50}}, "fields.thinking.open_pattern"),
        ({"thinking": {"open_pattern": "a)", "close": "c"}}, "fields.thinking.open_pattern"),
        ({"thinking": {"open_pattern": "a.b", "close": "c"}}, "fields.thinking.open_pattern"),
        ({"thinking": {"open_pattern": "<a>[b", "close": "c"}}, "fields.thinking.open_pattern"),
        ({"thinking": {"open_pattern": "<a>\\", "close": "c"}}, "fields.thinking.open_pattern"),
        ({"reasoning": {"open": "<t>", "close": "</t>"}}, "fields.reasoning.repeats"),
        (
            {
                "content": {"repeats": True, "join": ""},
                "thinking": {"open": "<t>", "close": "</t>", "repeats": True, "join": "\n"},
            },
            "fields.thinking.join",
        ),
        ({"sources": {"open": "<s>", "close": "</s>"}}, "fields.sources"),
        ({"content": {"repeats": True, "join": "--"}}, "fields.content.join"),
        ({"content": {"content": "json"}}, "fields.content.content"),
        ({"content": {}}, "fields.content.repeats"),
    ],
)
def test_what_a_family_cannot_say_is_named(said: dict[str, Any], key: str) -> None:
    found = from_response_template(field(**{"content": {}, **said}), "x", "X")
    assert key in {loss.key for loss in found.losses}
    usable(found)


@pytest.mark.parametrize(
    ("template", "what"),
    [
        (5, "the template must be a mapping, not int"),
        ([], "the template must be a mapping, not list"),
        ({}, "fields must be a mapping, not NoneType"),
        ({"fields": {}}, "fields must name at least one field"),
        ({"fields": {"content": {}}}, "start_anchor give one of"),
        ({"fields": {"content": {}}, "start_anchor": ""}, "start_anchor must be a text"),
        ({"fields": {"content": {}}, "start_anchor": "a", "version": 2}, "version must be 1"),
        ({"fields": {"content": {}}, "start_anchor": "a", "x": 1}, "x is no key of a response"),
        (field(content=5), "fields.content must be a mapping, not int"),
        (field(content={"opens": "a"}), "fields.content.opens is no key of a response template"),
        (field(content={"open": []}), "fields.content.open must be a text, or a list of texts"),
        (field(content={"close_pattern": 1}), "close_pattern must be a regular expression"),
        (
            field(content={"close": "a", "close_pattern": "b"}),
            "give one of close and close_pattern",
        ),
        (field(content={"content": "yaml"}), "fields.content.content must be one of text, int"),
        (field(a={"content_args": 5}), "fields.a.content_args must be a mapping, not int"),
        (field(a={"content_args": {"string_delims": [1]}}), "must be a list of pairs of texts"),
        (field(a={"content_args": {"tag_pattern": None}}), "must be a regular expression"),
        (field(a={"content_args": {"value_parser": 5}}), "value_parser must be a mapping"),
        (field(content={"repeats": 1}), "fields.content.repeats must be true or false"),
        (field(content={"close": "\ud800"}), "the template holds half a character"),
        (field(a={}, b={}), "only one may have no opener, not a, b"),
    ],
)
def test_what_is_no_response_template_is_told_in_one_line(template: Any, what: str) -> None:
    with pytest.raises(RequestError, match=r"^response_template: ") as told:
        from_response_template(template, "x", "X")
    assert what in str(told.value)
    done = convert("-", "--from", "response_template", "--to", "family", input=json.dumps(template))
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1)


def test_the_command_writes_and_reads(tmp_path: Path) -> None:
    written = convert("Qwen/Qwen3-8B", "--to", "response_template")
    assert written.exit_code == 0
    template = json.loads(written.stdout)
    assert "tagsmith: lost: tool_calls.on_malformed: " in written.stderr
    file = tmp_path / "tokenizer_config.json"
    file.write_text(json.dumps({"eos_token": "<|im_end|>", "response_template": template}))
    done = convert(str(file), "--from", "response_template", "--to", "family")
    assert (done.exit_code, done.stderr) == (0, "")
    checked = check_text(done.stdout, "my-family")
    assert checked.family is not None
    assert checked.family.spec.tag_style == tagsmith.get_family("qwen3").spec.tag_style


def test_the_command_writes_for_serving() -> None:
    done = convert("qwen3", "--to", "response_template", "--reader", "serving")
    assert list(json.loads(done.stdout)["fields"]) == ["thinking", "tool_calls", "content"]
    assert "lost: whitespace.join: " in done.stderr


def test_the_command_for_machines() -> None:
    written = json.loads(convert("hermes", "--to", "response_template", "--format", "json").stdout)
    assert {"key", "what"} == set(written["losses"][0])
    given = json.dumps(written["response_template"])
    done = convert(
        *("-", "--from", "response_template", "--to", "family", "--format", "json"), input=given
    )
    found = json.loads(done.stdout)
    assert (found["problems"], found["losses"]) == ([], [])
    assert found["family"]["tool_calls"]["layout"] == "json"


def test_a_family_that_has_to_be_mended_is_told() -> None:
    template = field(
        thinking={"open": "<x>", "close": "<y>"}, content={"open": "<x>", "close": "<y>"}
    )
    done = convert("-", "--from", "response_template", "--to", "family", input=json.dumps(template))
    assert done.exit_code == 1
    assert "tagsmith: to mend: TS306" in done.stderr
    assert done.stdout.startswith("# Made from a response template.\n")


@pytest.mark.parametrize(
    "args",
    [
        [],
        ["hermes"],
        ["hermes", "--to", "family"],
        ["hermes", "--to", "jinja"],
        ["hermes", "--from", "response_template", "--to", "response_template"],
        ["no-such-family", "--to", "response_template"],
        ["/no/such/file", "--from", "response_template", "--to", "family"],
        ["pyproject.toml", "--from", "response_template", "--to", "family"],
    ],
)
def test_wrong_use_is_told_in_one_line(args: list[str]) -> None:
    done = convert(*args)
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1)
