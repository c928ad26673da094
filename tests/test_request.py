"""The request, read from every public spelling, and what is wrong with it said by field."""

import copy
import json
import time
from typing import Any

import jsonschema
import pytest
from pydantic import BaseModel, Field

from tagsmith.errors import RequestError
from tagsmith.grammar import build_structural_tag, list_limitations
from tagsmith.grammar.schemas.limits import find_limits
from tagsmith.grammar.schemas.patterns import pattern_problem
from tagsmith.request import (
    MAX_NESTING,
    ReasoningMode,
    Strictness,
    ToolChoice,
    ToolChoiceMode,
    Unenforceable,
    read_request,
    read_tool_choice,
    read_tools,
)
from tagsmith.request.vocabulary import walk
from tagsmith.spec.models import FamilySpec

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
F = {"name": "f", "parameters": CITY}
TOOLS = [F, {"name": "g"}]
JSON_FAMILY = FamilySpec.model_validate(
    {
        "tagsmith": 1,
        "id": "plain",
        "tag_style": {"tool_calls": {"start": "<call>", "end": "</call>"}},
        "tool_calls": {"layout": "json"},
    }
)


class Function(BaseModel):
    name: str
    parameters: dict[str, Any] | None = None
    strict: bool | None = None


class FunctionTool(BaseModel):
    type: str = "function"
    function: Function


class FlatTool(Function):
    type: str | None = "function"


class AllowedTools(BaseModel):
    type: str = "allowed_tools"
    mode: str = "auto"
    tools: list[FlatTool]


class NamedSchema(BaseModel):
    name: str = "a"
    schema_: dict[str, Any] = Field(alias="schema")
    strict: bool | None = None


class SchemaFormat(BaseModel):
    type: str = "json_schema"
    json_schema: NamedSchema


@pytest.mark.parametrize(
    "tools",
    [
        [{"type": "function", "function": {"name": "f", "description": "d", "parameters": CITY}}],
        [{"type": "function", "name": "f", "parameters": CITY}],
        [F],
        [{"name": "f", "input_schema": CITY}],
        [{"name": "f", "inputSchema": CITY}],
        [FunctionTool(function=Function(name="f", parameters=CITY))],
        [{"type": "function", "function": Function(name="f", parameters=CITY)}],
        [FlatTool(name="f", parameters=CITY)],
        [FlatTool(type=None, name="f", parameters=CITY)],
        [{"type": "custom", "name": "f", "input_schema": CITY}],
        [{"type": "function", "name": "f", "parameters": CITY, "strict": None, "description": ""}],
        json.dumps([F]),
        (F,),
    ],
)
def test_tools_in_every_spelling(tools: Any) -> None:
    [tool] = read_tools(tools) or ()
    assert (tool.name, tool.parameters, tool.strict) == ("f", CITY, None)


def test_tools_not_given_are_not_the_same_as_none_at_all() -> None:
    assert read_tools(None) is None
    assert read_tools([]) == ()


@pytest.mark.parametrize(
    "kind",
    [
        "web_search",
        "web_search_preview",
        "file_search",
        "code_interpreter",
        "mcp",
        "custom",
        "x" * 99,
    ],
)
def test_tools_that_are_no_functions_are_refused_by_type(kind: str) -> None:
    for tool in ({"type": kind}, {"type": kind, "name": "f"}, {"type": kind, kind: {"name": "f"}}):
        with pytest.raises(RequestError, match=f"tool 1 is of type '{kind[:60]}") as caught:
            read_tools([F, tool])
        assert caught.value.field == "tools"
        assert len(str(caught.value)) < 200


@pytest.mark.parametrize("inner", [True, False])
@pytest.mark.parametrize("strict", [True, False, None])
def test_strict_stands_in_the_function_or_beside_it(strict: bool | None, inner: bool) -> None:
    function = {"name": "f"} | ({"strict": strict} if inner else {})
    tool = {"type": "function", "function": function} | ({} if inner else {"strict": strict})
    [read] = read_tools([tool]) or ()
    assert read.strict is strict
    assert read_request(tools=[tool]).tools[0].strict is (strict is not False)
    assert read_request(tools=[tool], strict=Strictness.PER_TOOL) == read_request(tools=[tool])


def test_a_strict_that_says_nothing_does_not_hide_one_that_does() -> None:
    tool = {"type": "function", "function": Function(name="f"), "strict": False}
    assert (read_tools([tool]) or ())[0].strict is False


@pytest.mark.parametrize("strict", [True, False, None])
def test_the_floor_holds_every_tool_to_its_schema(strict: bool | None) -> None:
    floor = read_request(tools=[F | {"strict": strict}], strict="all")
    assert floor.tools[0].strict is True
    # Two requests that ask the same are equal, however they were put.
    assert floor == read_request(tools=[F | {"strict": True}])


def test_the_floor_holds_a_tool_to_what_no_grammar_can() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "array", "uniqueItems": True}}}
    loose = {"name": "f", "parameters": schema, "strict": False}
    assert list_limitations(JSON_FAMILY, read_request(tools=[loose])) == ()
    [line] = list_limitations(
        JSON_FAMILY, read_request(tools=[loose], strict="all", unenforceable="report")
    )
    assert "uniqueItems" in line


REQUIRED, AUTO, NONE = ToolChoiceMode.REQUIRED, ToolChoiceMode.AUTO, ToolChoiceMode.NONE


@pytest.mark.parametrize(
    ("choice", "mode", "names"),
    [
        (None, AUTO, None),
        ("auto", AUTO, None),
        ("none", NONE, None),
        ("required", REQUIRED, None),
        ("REQUIRED", REQUIRED, None),
        ("None", NONE, None),
        ("any", REQUIRED, None),
        ({"type": "auto"}, AUTO, None),
        ({"type": "any"}, REQUIRED, None),
        ({"type": "function", "function": {"name": "f"}}, REQUIRED, ("f",)),
        ({"type": "function", "name": "f"}, REQUIRED, ("f",)),
        ({"type": "tool", "name": "f"}, REQUIRED, ("f",)),
        (FlatTool(name="f"), REQUIRED, ("f",)),
        ({"type": "none"}, NONE, None),
        ({"type": "required"}, REQUIRED, None),
        ("NONE", NONE, None),
        ("AUTO", AUTO, None),
        (AllowedTools(tools=[FlatTool(name="g"), FlatTool(name="f")]), AUTO, ("g", "f")),
        ({"type": "allowed_tools", "mode": "required", "tools": [F]}, REQUIRED, ("f",)),
        ({"type": "allowed_tools", "tools": [{"type": "function", "name": "g"}]}, AUTO, ("g",)),
        ({"type": "allowed_tools", "allowed_tools": AllowedTools(tools=[])}, AUTO, ()),
        (FunctionTool(function=Function(name="f")), REQUIRED, ("f",)),
        ({"type": "allowed_tools", "mode": "auto", "tools": [F, F]}, AUTO, ("f",)),
        (
            {
                "type": "allowed_tools",
                "allowed_tools": {
                    "mode": "required",
                    "tools": [{"type": "function", "function": {"name": "g"}}],
                },
            },
            REQUIRED,
            ("g",),
        ),
    ],
)
def test_tool_choice_in_every_spelling(
    choice: Any, mode: ToolChoiceMode, names: tuple[str, ...] | None
) -> None:
    assert read_tool_choice(choice, read_tools(TOOLS)) == ToolChoice(mode, names)


def test_a_named_tool_is_taken_at_its_word_when_tools_are_not_said() -> None:
    named = {"type": "function", "name": "unheard"}
    assert read_tool_choice(named, None).names == ("unheard",)


ANY_OBJECT = {"type": "object"}


@pytest.mark.parametrize(
    ("response_format", "schema"),
    [
        (None, None),
        ({"type": "text"}, None),
        ({"type": "json_object"}, ANY_OBJECT),
        ({"type": "json_object", "schema": CITY}, CITY),
        ({"type": "json_object", "json_schema": CITY}, CITY),
        ({"type": "json_schema", "json_schema": {"name": "a", "schema": CITY}}, CITY),
        ({"type": "json_schema", "json_schema": {"name": "a", "schema": {}, "strict": True}}, {}),
        ({"type": "json_schema", "name": "a", "schema": CITY, "strict": True}, CITY),
        ({"type": "json_schema", "schema": True}, True),
        (SchemaFormat(json_schema=NamedSchema(schema=CITY)), CITY),
        ({"type": "json_schema", "json_schema": NamedSchema(schema=CITY)}, CITY),
        ({"type": "json_object", "json_schema": None, "schema": None}, ANY_OBJECT),
        (
            {"type": "json_schema", "json_schema": {"name": "a", "schema": CITY}, "schema": None},
            CITY,
        ),
        ({"type": "json_schema", "json_schema": CITY}, CITY),
        (json.dumps({"type": "json_schema", "json_schema": CITY}), CITY),
    ],
)
def test_response_format_in_every_spelling(response_format: Any, schema: Any) -> None:
    read = read_request(response_format=response_format).response_schema
    assert (None if read is None else read.unfold()) == schema


def test_the_request_says_which_tools_may_be_called() -> None:
    request = read_request(tools=TOOLS, parallel_tool_calls=False, reasoning="enabled")
    assert [tool.name for tool in request.tools] == ["f", "g"]
    assert request.mode is AUTO
    assert request.parallel_tool_calls is False
    assert request.reasoning is ReasoningMode.ENABLED
    assert request.unenforceable is Unenforceable.ERROR
    assert read_request(tools=TOOLS, tool_choice="none").tools == ()
    assert read_request().mode is NONE
    named = read_request(tools=TOOLS, tool_choice={"type": "function", "name": "g"})
    assert [tool.name for tool in named.tools] == ["g"]


def test_equal_requests_are_equal_and_hash_alike() -> None:
    first, second = (read_request(tools=copy.deepcopy(TOOLS)) for _ in range(2))
    assert first == second
    assert hash(first) == hash(second)


def test_nothing_is_shared_with_the_caller() -> None:
    tools = copy.deepcopy(TOOLS)
    answer = {"type": "json_schema", "json_schema": copy.deepcopy(CITY)}
    request = read_request(tools=tools, response_format=answer)
    tag = build_structural_tag(JSON_FAMILY, request)
    before = json.dumps(tag)
    assert (tools, answer["json_schema"]) == (TOOLS, CITY)
    tools[0]["parameters"]["properties"]["city"]["type"] = "integer"
    answer["json_schema"].clear()
    assert json.dumps(tag) == before
    tag["format"].clear()
    assert json.dumps(build_structural_tag(JSON_FAMILY, request)) == before


def nested(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object"}
    for _ in range(depth - 1):
        schema = {"type": "object", "items": schema}
    return schema


def test_nesting_up_to_the_limit() -> None:
    assert read_request(tools=[{"name": "f", "parameters": nested(MAX_NESTING)}]).tools


LOOP: dict[str, Any] = {"type": "object"}
LOOP["properties"] = {"a": LOOP}


def parameters(schema: Any) -> dict[str, Any]:
    return {"tools": [{"name": "f", "parameters": schema}]}


@pytest.mark.parametrize(
    ("asked", "field", "says"),
    [
        ({"tools": {"name": "f"}}, "tools", "expected a list of tools, not dict"),
        ({"tools": 5}, "tools", "expected a list"),
        ({"tools": "[{]"}, "tools", "no JSON"),
        ({"tools": "[" * 100_000}, "tools", "no JSON"),
        ({"tools": ["f"]}, "tools", "expected an object as tool 0, not str"),
        ({"tools": [F, {}]}, "tools", "tool 1 has no name"),
        ({"tools": [{"name": ""}]}, "tools", "tool 0 has no name"),
        ({"tools": [{"name": 5}]}, "tools", "tool 0 has no name"),
        ({"tools": [{"type": "function"}]}, "tools", "tool 0 has no name"),
        ({"tools": [{"function": {}}]}, "tools", "tool 0 has no name"),
        ({"tools": [{"type": "custom", "custom": {"name": "f"}}]}, "tools", "is no function"),
        ({"tools": [{"type": ["function"], "name": "f"}]}, "tools", "of type ['function'], which"),
        ({"tools": [FunctionTool]}, "tools", "expected an object as tool 0, not ModelMetaclass"),
        ({"tools": "null"}, "tools", "expected a list of tools, not NoneType"),
        ({"tools": json.dumps({"name": "f"})}, "tools", "expected a list of tools, not dict"),
        (
            {"tools": [F, {"type": "function", "function": {"name": "f"}}]},
            "tools",
            "two tools are named 'f'; give each its own name",
        ),
        ({"tools": [{"type": "function", "function": "f"}]}, "tools", "expected an object"),
        ({"tools": [{"name": "\ud800"}]}, "tools", "no valid Unicode"),
        ({"tools": [F, F]}, "tools", "two tools are named 'f'"),
        ({"tools": [{"name": "f", "strict": "yes"}]}, "tools", "allowed: true, false"),
        (parameters([]), "tools", "parameters: [] is no JSON Schema; give an object"),
        (parameters(True), "tools", "must describe an object"),
        (parameters("x"), "tools", "no JSON Schema"),
        (parameters({"type": "string"}), "tools", "must describe an object"),
        (parameters({"$ref": "#/$defs/A", "$defs": {"A": {"type": "array"}}}), "tools", "object"),
        (parameters({"type": "objekt"}), "tools", "'f': parameters.type: 'objekt' is not allowed"),
        (
            parameters({"properties": {"a": {"type": []}}}),
            "tools",
            "parameters.properties.a.type: [] is not allowed",
        ),
        (parameters({"properties": {"a": 5}}), "tools", "parameters.properties.a: 5 is no JSON"),
        (parameters({"required": "a"}), "tools", "allowed: a list of property names"),
        (parameters({"$ref": "#/$defs/A"}), "tools", "leads to no schema"),
        (parameters({"$ref": "#"}), "tools", "leads to no schema"),
        (parameters({"const": float("nan")}), "tools", "JSON has no word"),
        (parameters({"const": "\ud800"}), "tools", "JSON has no word"),
        (parameters({"const": {1, 2}}), "tools", "JSON has no word"),
        (parameters({"const": object()}), "tools", "no plain JSON value"),
        (parameters(nested(MAX_NESTING + 1)), "tools", "deeper than 64"),
        (parameters(nested(900)), "tools", "deeper than 64"),
        (parameters(nested(100_000)), "tools", "nested too deeply"),
        (parameters(LOOP), "tools", "nested too deeply"),
        ({"tool_choice": "sometimes"}, "tool_choice", 'allowed: "auto", "none", "required"'),
        ({"tool_choice": 5}, "tool_choice", "unknown value 5"),
        ({"tool_choice": {"type": "magic"}}, "tool_choice", "unknown value 'magic'"),
        ({"tool_choice": {}}, "tool_choice", "unknown value None"),
        ({"tool_choice": {"type": "function"}}, "tool_choice", "without its name"),
        (
            {"tools": TOOLS, "tool_choice": {"type": "function", "name": "h"}},
            "tool_choice",
            "no tool is named 'h'; the tools are: f, g",
        ),
        ({"tool_choice": {"type": "function", "name": "h"}}, "tool_choice", "no tool is named 'h'"),
        (
            {"tools": TOOLS, "tool_choice": {"type": "allowed_tools", "tools": [{"name": "h"}]}},
            "tool_choice",
            "no tool is named 'h'",
        ),
        ({"tool_choice": {"type": "allowed_tools"}}, "tool_choice", "tools is no list"),
        ({"tool_choice": {"type": "web_search"}}, "tool_choice", "unknown value 'web_search'"),
        ({"tool_choice": {"type": "custom", "name": "f"}}, "tool_choice", "unknown value 'custom'"),
        ({"tool_choice": {"type": "mcp", "name": "f"}}, "tool_choice", "unknown value 'mcp'"),
        (
            {
                "tools": TOOLS,
                "tool_choice": {"type": "allowed_tools", "tools": [{"type": "mcp"}]},
            },
            "tool_choice",
            "without its name",
        ),
        (
            {
                "tools": [{"name": f"{'long' * 20}\n{number}"} for number in range(500)],
                "tool_choice": {"type": "function", "name": "h"},
            },
            "tool_choice",
            "no tool is named 'h'; the tools are: longlong",
        ),
        ({"tool_choice": "any"}, "tool_choice", "there is no tool to call"),
        (
            {"tools": [], "tool_choice": {"type": "function", "name": "f"}},
            "tool_choice",
            "no tool is named 'f'; the tools are: none",
        ),
        (
            {"tool_choice": {"type": "allowed_tools", "mode": "none", "tools": []}},
            "tool_choice",
            'allowed: "auto", "required"',
        ),
        ({"tool_choice": "required"}, "tool_choice", "there is no tool to call"),
        ({"tools": [], "tool_choice": "required"}, "tool_choice", "there is no tool to call"),
        (
            {
                "tools": TOOLS,
                "tool_choice": {"type": "allowed_tools", "mode": "required", "tools": []},
            },
            "tool_choice",
            "there is no tool to call",
        ),
        ({"response_format": "json"}, "response_format", "no JSON"),
        ({"response_format": []}, "response_format", "expected an object"),
        ({"response_format": {"type": "xml"}}, "response_format", "unknown type 'xml'; allowed"),
        ({"response_format": CITY}, "response_format", "unknown type 'object'; allowed"),
        ({"response_format": FunctionTool}, "response_format", "expected an object with a type"),
        (
            {"response_format": {"type": "json_schema", "schema": nested(MAX_NESTING + 1)}},
            "response_format",
            "deeper than 64",
        ),
        ({"response_format": {"type": "json_schema"}}, "response_format", "holds no schema"),
        (
            {"response_format": {"type": "json_schema", "json_schema": {"name": "a"}}},
            "response_format",
            "holds no schema",
        ),
        (
            {"response_format": {"type": "json_schema", "schema": {"type": "x"}}},
            "response_format",
            "schema.type: 'x' is not allowed",
        ),
        ({"parallel_tool_calls": "no"}, "parallel_tool_calls", "allowed: true, false"),
        ({"parallel_tool_calls": 1}, "parallel_tool_calls", "allowed: true, false"),
        ({"strict": True}, "strict", "unknown value True; allowed: per-tool, all"),
        ({"strict": "none"}, "strict", "unknown value 'none'; allowed: per-tool, all"),
        ({"reasoning": "x" * 100_000}, "reasoning", f"'{'x' * 76}...; allowed"),
        ({"reasoning": "deep"}, "reasoning", "allowed: gated, enabled, auto, disabled"),
        ({"unenforceable": "ignore"}, "unenforceable", "allowed: error, report"),
    ],
)
def test_what_is_wrong_is_said_by_field(asked: dict[str, Any], field: str, says: str) -> None:
    start = time.perf_counter()
    with pytest.raises(RequestError) as caught:
        read_request(**asked)
    assert time.perf_counter() - start < 5
    assert caught.value.field == field
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


VALUES: list[Any] = [
    None, True, False, 0, 1, -1, 2.5, 3.0, "", "a", "object", [], ["a"], ["object", "null"], [1],
    [{}], {}, {"a": {}}, {"a": True}, {"a": 1}, {"a": ["b"]}, {"type": "string"},
]  # fmt: skip
KEYWORDS = [
    "type", "enum", "const", "properties", "patternProperties", "additionalProperties", "required",
    "items", "prefixItems", "contains", "minItems", "maxLength", "minProperties", "uniqueItems",
    "minimum", "exclusiveMaximum", "multipleOf", "anyOf", "oneOf", "allOf", "not", "if", "then",
    "$defs", "propertyNames", "dependentSchemas", "pattern", "$id", "format", "default",
]  # fmt: skip


@pytest.mark.parametrize("keyword", KEYWORDS)
def test_the_check_agrees_with_the_meta_schema(keyword: str) -> None:
    validator = jsonschema.Draft202012Validator(jsonschema.Draft202012Validator.META_SCHEMA)
    for value in VALUES:
        if (keyword == "items" and isinstance(value, list)) or (keyword, value) == ("enum", []):
            # An older draft's tuple is taken; an enum of nothing, which no value meets, is not.
            continue
        ours = True
        try:
            read_request(response_format={"type": "json_schema", "schema": {keyword: value}})
        except RequestError:
            ours = False
        assert ours is validator.is_valid({keyword: value}), (keyword, value)


LIMITED: list[tuple[Any, str]] = [
    ({"type": "array", "uniqueItems": True}, "uniqueItems"),
    ({"type": "array", "contains": {}}, "contains"),
    ({"not": {"type": "string"}}, "not"),
    ({"type": "object", "if": {}, "then": {}}, "if"),
    ({"type": "object", "dependentRequired": {"a": ["b"]}}, "dependentRequired"),
    ({"properties": {"a": {"type": "number", "multipleOf": 0.5}}}, "properties.a.multipleOf"),
    ({"minimum": 3}, "minimum"),
    ({"type": "integer", "multipleOf": 1.5}, "multipleOf"),
    ({"type": "integer", "multipleOf": 1025}, "multipleOf"),
    ({"type": "integer", "multipleOf": 3, "minimum": 1}, "multipleOf"),
    ({"type": "integer", "multipleOf": 3, "minimum": 0, "maximum": 10_000}, "multipleOf"),
    ({"type": "string", "pattern": "^(?=a)b"}, "pattern"),
    ({"type": "string", "pattern": 'a"b'}, "pattern"),
    ({"type": "string", "pattern": "a\\\\b"}, "pattern"),
    ({"type": "string", "pattern": "(^a)"}, "pattern"),
    ({"type": "string", "pattern": "("}, "pattern"),
    ({"type": "string", "pattern": "^.{1,4000}$"}, "pattern"),
    ({"type": "string", "pattern": "a", "maxLength": 2}, "maxLength"),
    ({"type": "string", "format": "email", "minLength": 2}, "maxLength"),
    ({"$ref": "https://example.org/schema"}, "$ref"),
    ({"$ref": "#anchor", "$defs": {"a": {"$anchor": "anchor"}}}, "$ref"),
    ({"$ref": "#/$defs/a", "minimum": 1, "$defs": {"a": {"type": "integer"}}}, "$ref"),
    ({"type": "object", "properties": {}, "anyOf": [{"required": ["a"]}]}, "anyOf"),
    ({"type": "string", "anyOf": [{"minLength": 2}]}, "anyOf"),
    ({"allOf": [{"type": "string"}, {"type": "string"}]}, "allOf"),
    ({"type": "object", "allOf": [{"required": ["a"]}]}, "allOf"),
    ({"oneOf": [{"type": "integer"}, {"type": "number"}]}, "oneOf"),
    ({"type": "string", "enum": ["a"], "minLength": 3}, "enum"),
    ({"type": "object", "required": ["a"], "additionalProperties": False}, "required"),
    ({"properties": {"a": False}}, "properties.a"),
    ({"$dynamicRef": "#a"}, "$dynamicRef"),
]
HELD: list[Any] = [
    True,
    {},
    CITY,
    {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None, "title": "t"},
    {"type": "string", "anyOf": [{"type": "string", "format": "date"}]},
    {"allOf": [{"$ref": "#/$defs/a"}], "description": "d", "$defs": {"a": {"type": "integer"}}},
    {"$ref": "#/$defs/a", "description": "d", "$defs": {"a": {"type": "integer"}}},
    {"type": "string", "enum": ["a", "b"]},
    {"const": 1},
    {"oneOf": [{"type": "string"}, {"type": "null"}]},
    {"type": "integer", "minimum": 1, "maximum": 5, "multipleOf": 5},
    {"type": "integer", "minimum": 1, "maximum": 10_000, "multipleOf": 1024},
    {"type": "integer", "multipleOf": 3.0},
    {"type": "array", "items": False, "prefixItems": [{}], "uniqueItems": False},
    {"type": "string", "pattern": '^[^"\\n]+\\.txt$'},
    {"type": "string", "format": "made-up"},
]


@pytest.mark.parametrize(("schema", "place"), LIMITED, ids=lambda value: json.dumps(value)[:60])
def test_what_no_grammar_holds_is_an_error_or_a_report(schema: Any, place: str) -> None:
    asked = {"response_format": {"type": "json_schema", "schema": schema}}
    with pytest.raises(RequestError) as caught:
        build_structural_tag(JSON_FAMILY, read_request(**asked))
    assert caught.value.field == "response_format"
    assert f"response_format: {place}: " in str(caught.value)
    reported = read_request(**asked, unenforceable="report")
    assert build_structural_tag(JSON_FAMILY, reported)["type"] == "structural_tag"
    assert any(
        line.startswith(f"response_format: {place}: ")
        for line in list_limitations(JSON_FAMILY, reported)
    )


@pytest.mark.parametrize("schema", HELD, ids=lambda value: json.dumps(value)[:60])
def test_what_a_grammar_holds_is_no_limit(schema: Any) -> None:
    assert list(find_limits(walk(schema))) == []


UNSATISFIABLE: list[tuple[Any, str]] = [
    ({"type": "integer", "minimum": 10, "maximum": 5}, "schema: no number keeps to minimum 10, "),
    ({"type": ["integer", "null"], "minimum": 10, "maximum": 5}, "minimum 10, maximum 5; change"),
    ({"type": "integer", "exclusiveMinimum": 3, "exclusiveMaximum": 4}, "exclusiveMaximum 4"),
    ({"type": "integer", "minimum": 1.2, "maximum": 1.8}, "minimum 1.2"),
    ({"type": "integer", "minimum": 1, "maximum": 5, "multipleOf": 7}, "multipleOf 7"),
    ({"type": "number", "exclusiveMinimum": 5, "maximum": 5}, "exclusiveMinimum 5, maximum 5"),
    ({"type": "number", "minimum": 5, "exclusiveMaximum": 5}, "minimum 5, exclusiveMaximum 5"),
    ({"type": "string", "minLength": 5, "maxLength": 3}, "minLength 5 is above maxLength 3"),
    ({"type": "array", "minItems": 3, "maxItems": 1}, "minItems 3 is above maxItems 1"),
    ({"type": "array", "items": False, "minItems": 1}, "minItems is 1 and no more than 0"),
    ({"type": "array", "items": [{}], "additionalItems": False, "minItems": 2}, "no more than 1"),
    ({"type": "object", "minProperties": 3, "maxProperties": 1}, "minProperties 3 is above"),
    ({"type": "object", "required": ["a", "b"], "maxProperties": 1}, "2 properties are required"),
    ({**CITY, "additionalProperties": False, "minProperties": 2}, "minProperties is 2"),
    ({"type": "integer", "enum": ["a"]}, "enum holds nothing of type integer"),
    ({"type": ["integer", "null"], "const": "a"}, "const holds nothing of type integer or null"),
    (
        {"type": "object", "properties": {"a": {"type": "string", "minLength": 2, "maxLength": 1}}},
        "schema.properties.a: minLength 2 is above maxLength 1",
    ),
]
SATISFIABLE: list[Any] = [
    {"type": "integer", "minimum": 5, "maximum": 5},
    {"type": "integer", "exclusiveMinimum": 3, "maximum": 4, "multipleOf": 2},
    {"type": "number", "exclusiveMinimum": 3, "exclusiveMaximum": 4},
    {"type": "integer", "minimum": 1, "maximum": 5, "multipleOf": 1e-9},
    {"type": "string", "minimum": 10, "maximum": 5},
    {"type": "string", "minLength": 3, "maxLength": 3},
    {"type": "object", "required": ["a", "a"], "maxProperties": 1},
    {"type": ["integer", "string"], "enum": ["a"]},
]


@pytest.mark.parametrize("policy", ["error", "report"])
@pytest.mark.parametrize(("schema", "says"), UNSATISFIABLE, ids=lambda value: str(value)[:60])
def test_a_schema_that_nothing_satisfies_is_refused(schema: Any, says: str, policy: str) -> None:
    answer = {"type": "json_schema", "schema": schema}
    with pytest.raises(RequestError) as caught:
        read_request(response_format=answer, unenforceable=policy)
    assert caught.value.field == "response_format"
    assert says in str(caught.value)


@pytest.mark.parametrize("schema", SATISFIABLE, ids=str)
def test_a_schema_that_something_satisfies_is_taken(schema: Any) -> None:
    read_request(response_format={"type": "json_schema", "schema": schema})


def test_a_tools_limits_name_the_tool_and_strict_false_lifts_them() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "array", "uniqueItems": True}}}
    tool = {"name": "f", "parameters": schema}
    with pytest.raises(RequestError, match=r"tools: tool 'f': parameters\.properties\.a\.unique"):
        build_structural_tag(JSON_FAMILY, read_request(tools=[tool]))
    build_structural_tag(JSON_FAMILY, read_request(tools=[tool | {"strict": False}]))
    build_structural_tag(JSON_FAMILY, read_request(tools=[tool], tool_choice="none"))


@pytest.mark.parametrize(
    "pattern", ["", "a", "^[a-z]+\\.[0-9]{2,}$", "^(a|b)*$", "[$^|]", "a\\$", "\\^a", "^[^\\\\]$"]
)
def test_patterns_that_a_grammar_holds(pattern: str) -> None:
    assert pattern_problem(pattern) is None


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        ("(", "it cannot be read as a regular expression (missing ), unterminated"),
        ("a**", "it cannot be read as a regular expression (multiple repeat"),
        ("(?<=a)b", "it uses lookaround"),
        ("\\p{L}+", "it uses lookaround, word boundaries, back references or Unicode classes"),
    ],
)
def test_what_is_wrong_with_a_pattern_is_said(pattern: str, says: str) -> None:
    assert (pattern_problem(pattern) or "").startswith(says)


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"tools": TOOLS}, "tools"),
        ({"reasoning": "enabled"}, "reasoning"),
    ],
)
def test_what_the_family_cannot_write_is_refused(asked: dict[str, Any], field: str) -> None:
    silent = FamilySpec.model_validate({"tagsmith": 1, "id": "silent"})
    with pytest.raises(RequestError, match="silent") as caught:
        build_structural_tag(silent, read_request(**asked))
    assert caught.value.field == field
