"""What a schema asks is held, or refused by name: never let through without a word."""

from typing import Any

import pytest

import tagsmith
from tagsmith.grammar import check_structural_tag

pytest.importorskip("xgrammar", reason="needs xgrammar: pip install 'tagsmith[xgrammar]'")

CALLS = {
    "hermes": '<tool_call>\n{"name": "f", "arguments": {"p": %s}}\n</tool_call>',
    "qwen3-coder": "<tool_call>\n<function=f>\n<parameter=p>\n%s\n</parameter>\n</function>\n"
    "</tool_call>",
    "glm-4.5": "<tool_call>f\n<arg_key>p</arg_key>\n<arg_value>%s</arg_value>\n</tool_call>",
    "gemma-4": "<|tool_call>call:f{p:%s}<tool_call|>",
    "llama-4": "[f(p=%s)]",
}
NULLABLE = {"type": ["string", "null"]}
INTEGER, STRING = {"type": "integer"}, {"type": "string"}
X_INTEGERS = {"type": "object", "patternProperties": {"^x-": INTEGER}}

WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("hermes", {**NULLABLE, "maxLength": 5}, '"abcdef"'),
    ("hermes", {**NULLABLE, "maxLength": 5}, '"a\x01b"'),
    ("hermes", {**STRING, "maxLength": 5}, '"a\x01b"'),
    ("hermes", {"type": ["array", "null"], "minItems": 1}, "[]"),
    ("hermes", {"type": ["object", "null"], "minProperties": 1}, "{}"),
    ("hermes", {**X_INTEGERS, "required": ["q"]}, "{}"),
    ("hermes", {**X_INTEGERS, "properties": {"x-a": STRING}}, '{"x-a": "s"}'),
    ("hermes", {**X_INTEGERS, "additionalProperties": STRING}, '{"y": 1}'),
    ("hermes", {"type": "object", "patternProperties": {"^a": INTEGER, "b$": STRING}}, '{"ab": 1}'),
    (
        "hermes",
        {"type": "object", "properties": {"zz": STRING}, "propertyNames": {"maxLength": 1}},
        '{"zz": "s"}',
    ),
    ("hermes", {"format": "uuid"}, '"x"'),
    ("hermes", {**STRING, "format": "idn-email"}, '"x"'),
    ("hermes", {"const": 123456789012345678901234567890}, "1.2345678901234568e+29"),
    ("hermes", {"type": "number", "minimum": 1e-7, "maximum": 2e-7}, ""),
    ("qwen3-coder", {"anyOf": [{**STRING, "maxLength": 5}, {**INTEGER, "maximum": 5}]}, "123"),
    ("qwen3-coder", {"type": ["string", "integer"], "pattern": "^[0-9]+$", "maximum": 5}, "123"),
    ("qwen3-coder", {"anyOf": [{**STRING, "pattern": "^[a-z]+$"}, {"enum": [True]}]}, "false"),
    (
        "qwen3-coder",
        {"anyOf": [{**STRING, "minLength": 2}, {"type": "array", "items": INTEGER}]},
        '["a"]',
    ),
    ("glm-4.5", {"type": ["integer", "string"], "minimum": 5, "maxLength": 3}, "3"),
    (
        "qwen3-coder",
        {"type": "array", "items": {**NULLABLE, "maxLength": 50}},
        '["a</parameter></function></tool_call>"]',
    ),
    (
        "qwen3-coder",
        {"type": "object", "properties": {"t": {**STRING, "maxLength": 1000}}},
        '{"t": "a</parameter></function></tool_call>"}',
    ),
    ("qwen3-coder", X_INTEGERS, '{"x-</parameter></function></tool_call>": 1}'),
    (
        "qwen3-coder",
        {"type": "array", "items": {**STRING, "pattern": "^[ -~]+$"}},
        '["a</parameter></function></tool_call>"]',
    ),
    ("qwen3-coder", {"const": "</parameter>"}, "anything"),
    ("gemma-4", {**NULLABLE, "maxLength": 5}, '<|"|>abcdef<|"|>'),
    ("gemma-4", {**STRING, "maxLength": 1000}, '<|"|>' + "a" * 1001 + '<|"|>'),
    ("gemma-4", {**STRING, "minLength": 300}, '<|"|>a<|"|>'),
    ("gemma-4", X_INTEGERS, "{x-{:1}"),
    ("gemma-4", {"type": "object", "properties": {"None": INTEGER}}, "{None:4}"),
    ("llama-4", {"type": "object", "properties": {"a": INTEGER}, "minProperties": 1}, "{}"),
    ("llama-4", X_INTEGERS | {"additionalProperties": False}, '{"y": 1}'),
    ("llama-4", {"type": "object", "propertyNames": {"enum": ["a"]}}, '{"zz": 1}'),
    ("llama-4", {"type": "array", "prefixItems": [STRING, INTEGER]}, '["a", "b"]'),
    ("llama-4", {"type": "array", "prefixItems": [STRING], "maxItems": 1}, '["a", 2]'),
    ("llama-4", {"unevaluatedProperties": False}, '{"zz": 1}'),
    ("llama-4", {**STRING, "pattern": "^it's$"}, "'zz'"),
]


def tool(schema: dict[str, Any]) -> dict[str, Any]:
    parameters = {"type": "object", "properties": {"p": schema}, "required": ["p"]}
    return {"name": "f", "parameters": parameters}


@pytest.mark.parametrize(("name", "schema", "value"), WRONG, ids=str)
def test_what_is_wrong_is_refused(name: str, schema: dict[str, Any], value: str) -> None:
    family = tagsmith.get_family(name)
    try:
        tag = family.structural_tag(tools=[tool(schema)], tool_choice="required")
    except tagsmith.RequestError:
        return
    [result] = check_structural_tag(tag, [CALLS[name] % value], markers=family.markers)
    assert not result.accepted


RIGHT: list[tuple[str, dict[str, Any], str]] = [
    ("hermes", {"type": ["array", "null"], "minItems": 1}, "[1]"),
    ("hermes", {"type": ["object", "null"], "minProperties": 1}, "null"),
    ("hermes", {**STRING, "maxLength": 5.0}, '"abcde"'),
    ("hermes", {**STRING, "maxLength": 10**30}, '"abc"'),
    ("hermes", {**STRING, "pattern": "^\\u00e9$"}, '"é"'),
    ("hermes", {"oneOf": [{"const": "a"}, {"const": "b"}]}, '"b"'),
    ("qwen3-coder", {**STRING, "pattern": "^$"}, ""),
    ("qwen3-coder", {**STRING, "maxLength": 1000}, "if a < b:\n    return 'c'"),
    ("qwen3-coder", {"anyOf": [{**STRING, "maxLength": 5}, {**INTEGER, "maximum": 5}]}, "abc"),
    ("llama-4", {"type": "array", "prefixItems": [STRING, INTEGER]}, '["a", 1]'),
    ("llama-4", {**STRING, "pattern": "^it's$"}, '"it\'s"'),
    ("gemma-4", {**STRING, "maxLength": 20}, '<|"|>say "hi"<|"|>'),
]


@pytest.mark.parametrize(("name", "schema", "value"), RIGHT, ids=str)
def test_what_is_right_is_accepted(name: str, schema: dict[str, Any], value: str) -> None:
    family = tagsmith.get_family(name)
    tag = family.structural_tag(tools=[tool(schema)], tool_choice="required")
    [result] = check_structural_tag(tag, [CALLS[name] % value], markers=family.markers)
    assert result.accepted


@pytest.mark.parametrize("name", tagsmith.load_registry().ids())
@pytest.mark.parametrize(
    "schema", [{"const": "</cofl:value></parameter>"}, {"enum": [False]}], ids=str
)
def test_what_is_reported_still_makes_a_tag(name: str, schema: dict[str, Any]) -> None:
    family = tagsmith.get_family(name)
    tag = family.structural_tag(tools=[tool(schema)], unenforceable="report", validate=True)
    assert tag["type"] == "structural_tag"


NOT_OBJECTS = [
    {"anyOf": [{"type": "object", "properties": {"a": INTEGER}}, {"type": "null"}]},
    {"anyOf": [{"type": "object", "properties": {"a": INTEGER}}, True]},
    {"oneOf": [{"type": "object", "properties": {"a": INTEGER}}, STRING]},
]


@pytest.mark.parametrize("parameters", NOT_OBJECTS, ids=str)
def test_arguments_are_objects(parameters: dict[str, Any]) -> None:
    family = tagsmith.get_family("hermes")
    tools = [{"name": "f", "parameters": parameters}]
    tag = family.structural_tag(tools=tools, tool_choice="required")
    call = '<tool_call>{"name": "f", "arguments": %s}</tool_call>'
    texts = [call % value for value in ('{"a": 1}', "null", '"a"', "1")]
    results = check_structural_tag(tag, texts, markers=family.markers)
    assert [result.accepted for result in results] == [True, False, False, False]


RECURSIVE = {
    "self": {"properties": {f"p{i}": {"$ref": "#"} for i in range(6)}},
    "node": {
        "properties": {"n": {"$ref": "#/$defs/N"}},
        "$defs": {
            "N": {
                "type": "object",
                "properties": {f"c{i}": {"$ref": "#/$defs/N"} for i in range(8)},
            }
        },
    },
    "alternatives": {
        "properties": {"e": {"$ref": "#/$defs/e"}},
        "$defs": {"e": {"anyOf": [*[{"$ref": "#/$defs/e"}] * 3, STRING]}},
    },
    "wide": {"properties": {f"p{i}": STRING for i in range(200)}},
}


@pytest.mark.heavy
@pytest.mark.parametrize("name", ["llama-4", "cohere-command-xml", "qwen3-coder"])
@pytest.mark.parametrize("schema", RECURSIVE)
def test_a_tag_stays_of_a_size_that_can_be_used(name: str, schema: str) -> None:
    parameters = {"type": "object", **RECURSIVE[schema]}
    tag = tagsmith.get_family(name).shared_structural_tag(
        tagsmith.request.read_request(tools=[{"name": "f", "parameters": parameters}])
    )
    assert len(tag.text) < 3_000_000
