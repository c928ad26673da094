"""What tools' schemas say of a parameter: its JSON types, and whether there is one."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagsmith.engine.parameter_types import expects_parameter, parameter_types
from tagsmith.engine.value_types import JsonType

STRING, INTEGER = {"type": "string"}, {"type": "integer"}


def types_of(schema: Any, **root: Any) -> str | None:
    """The types of a parameter with this schema, in one line."""
    types = parameter_types({"properties": {"a": schema}, **root}, "a")
    return None if types is None else " ".join(kind for kind in JsonType if kind in types)


@pytest.mark.parametrize(
    ("schema", "types"),
    [
        *(({"type": kind.value}, kind.value) for kind in JsonType),
        ({"type": ["string", "null"]}, "string null"),
        ({"type": ["integer", "number"]}, "integer number"),
        # Other spellings.
        ({"type": "STRING"}, "string"),
        ({"type": "str"}, "string"),
        ({"type": ["float", "bool", "dict", "list"]}, "number boolean object array"),
        ({"type": "any"}, None),
        ({"type": ["any", "integer"]}, "integer"),
        # Values.
        ({"enum": ["a", 1, None, True, 2.5, [], {}]}, " ".join(JsonType)),
        ({"enum": [1, 2]}, "integer"),
        ({"enum": []}, None),
        ({"const": 5}, "integer"),
        ({"const": None}, "null"),
        ({"type": "number", "enum": [1, 2]}, "integer"),
        ({"type": "integer", "enum": [1.0]}, "integer"),
        ({"type": ["string", "integer"], "enum": [1]}, "integer"),
        # Combinations.
        ({"anyOf": [STRING, INTEGER]}, "string integer"),
        ({"oneOf": [STRING, {"type": "null"}]}, "string null"),
        ({"anyOf": [STRING, {}]}, None),
        ({"anyOf": [STRING, False]}, "string"),
        ({"anyOf": [{"anyOf": [STRING]}, {"enum": [1]}]}, "string integer"),
        ({"allOf": [{"type": ["string", "integer"]}, {"type": "number"}]}, "integer"),
        ({"allOf": [{"type": "number"}, {"type": "number"}]}, "number"),
        ({"allOf": [{}, STRING, True]}, "string"),
        ({"anyOf": []}, None),
        ({"type": ["string", "null"], "anyOf": [INTEGER, STRING]}, "string"),
        # What contradicts is not heard.
        ({"type": "string", "enum": [1, 2]}, "string"),
        ({"allOf": [STRING, INTEGER]}, "string"),
        # OpenAPI.
        ({"type": "string", "nullable": True}, "string null"),
        ({"type": "string", "nullable": False}, "string"),
        ({"nullable": True}, None),
        ({"enum": ["a"], "nullable": True}, "string null"),
        # No type given: what the other keywords are about.
        ({"properties": {}}, "object"),
        ({"additionalProperties": STRING}, "object"),
        ({"items": STRING}, "array"),
        ({"pattern": "^a"}, "string"),
        ({"minimum": 0}, "number"),
        ({"minLength": 1, "maximum": 5}, "string number"),
        ({"anyOf": [STRING, {"items": {}}]}, "string array"),
        ({"type": "string", "items": {}}, "string"),
        # Nothing.
        ({}, None),
        (True, None),
        (False, None),
        ({"description": "a city", "required": True, "format": "int32"}, None),
    ],
)
def test_types(schema: Any, types: str | None) -> None:
    assert types_of(schema) == types


@pytest.mark.parametrize(
    ("reference", "types"),
    [
        ("#/$defs/s", "string"),
        ("#/definitions/n", "integer"),
        ("#/properties/b", "null"),
        ("#/$defs/again", "string"),
        ("#/$defs/odd~1name%20~0", "boolean"),
        ("#/$defs/list/1", "integer"),
        ("#", "object"),
        ("#/$defs/none", None),
        ("#/$defs/list/" + "9" * 5000, None),
        ("#anchor", None),
        ("https://example.com/schema#/$defs/s", None),
        ("", None),
        (5, None),
        # Back to itself.
        ("#/properties/a", None),
        ("#/$defs/loop", None),
        ("#/$defs/tree", "string array"),
        ("#/$defs/maybe", "string"),
    ],
)
def test_references(reference: Any, types: str | None) -> None:
    root = {
        "type": "object",
        "$defs": {
            "s": STRING,
            "again": {"$ref": "#/$defs/s"},
            "odd/name ~": {"type": "boolean"},
            "list": [STRING, INTEGER],
            "loop": {"allOf": [{"$ref": "#/$defs/loop"}]},
            "tree": {"anyOf": [STRING, {"type": "array", "items": {"$ref": "#/$defs/tree"}}]},
            "maybe": {"anyOf": [{"$ref": "#/$defs/maybe"}, STRING]},
        },
        "definitions": {"n": INTEGER},
    }
    given = {"a": {"$ref": reference}, "b": {"type": "null"}}
    found = parameter_types({**root, "properties": given}, "a")
    assert (None if found is None else " ".join(k for k in JsonType if k in found)) == types


def test_beside_a_reference() -> None:
    defs = {"s": {"type": ["string", "integer"]}}
    schema = {"$ref": "#/$defs/s", "type": ["string", "null"], "nullable": True}
    assert types_of(schema, **{"$defs": defs}) == "string null"


HAS_A = {"properties": {"a": STRING}}
OPEN = {"type": "object", "additionalProperties": INTEGER}
BY_PATTERN = {"patternProperties": {"^n_": INTEGER, "^s_[a-z]+$": STRING}}


@pytest.mark.parametrize(
    ("parameters", "key", "types"),
    [
        (OPEN, "any", "integer"),
        ({**OPEN, "properties": {"a": STRING}}, "a", "string"),
        ({**OPEN, "properties": {"a": STRING}}, "b", "integer"),
        ({**OPEN, "properties": {"a": {}}}, "a", None),
        ({"additionalProperties": True}, "a", None),
        ({"additionalProperties": False}, "a", None),
        ({"unevaluatedProperties": STRING}, "a", "string"),
        (BY_PATTERN, "n_count", "integer"),
        (BY_PATTERN, "s_name", "string"),
        (BY_PATTERN, "s_1", None),
        ({**BY_PATTERN, "properties": {"n_a": STRING}}, "n_a", "string"),
        # Patterns that are not run are taken to match.
        ({"patternProperties": {"(a+)+$": STRING}}, "a" * 60 + "!", "string"),
        ({"patternProperties": {"a?a?a?a": STRING, "[z-a]": INTEGER}}, "b", "string integer"),
        ({"patternProperties": {"^a$": STRING, 5: INTEGER}}, "b" * 1000, "string"),
        # Parameters that are combined of several schemas.
        ({"allOf": [HAS_A, {"properties": {"b": INTEGER}}]}, "b", "integer"),
        ({"anyOf": [HAS_A, {"properties": {"a": INTEGER}}]}, "a", "string integer"),
        ({"$ref": "#/$defs/A", "$defs": {"A": HAS_A}}, "a", "string"),
        (HAS_A, "b", None),
    ],
)
def test_where_a_parameter_is_described(parameters: Any, key: str, types: str | None) -> None:
    found = parameter_types(parameters, key)
    assert found == (None if types is None else set(types.split()))


LISTED = {"type": "object", "properties": {"a": {}}}


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        (LISTED, False),
        ({**LISTED, "properties": {"x": {}}}, True),
        ({**LISTED, "properties": {"x": False}}, True),
        ({**LISTED, "additionalProperties": False}, False),
        ({**LISTED, "additionalProperties": True}, True),
        ({**LISTED, "additionalProperties": {}}, True),
        ({**LISTED, "additionalProperties": STRING}, True),
        ({**LISTED, "unevaluatedProperties": False}, False),
        ({**LISTED, "patternProperties": {"^x": {}}}, True),
        ({**LISTED, "patternProperties": {"^y": {}}}, False),
        ({"type": "object", "properties": {}}, False),
        ({"type": "object", "additionalProperties": False}, False),
        ({"type": "object"}, True),
        ({}, True),
        (None, True),
        ({"allOf": [LISTED, {"properties": {"x": {}}}]}, True),
        ({"anyOf": [LISTED, {"type": "object"}]}, False),
        ({"$ref": "#/$defs/A", "$defs": {"A": LISTED}}, False),
    ],
)
def test_parameters_that_a_tool_expects(parameters: Any, expected: bool) -> None:
    assert expects_parameter(parameters, "x") is expected


def nested(word: str, inner: Any, depth: int) -> Any:
    for _ in range(depth):
        inner = {word: [inner]}
    return inner


@pytest.mark.parametrize(
    "schema",
    [
        nested("anyOf", STRING, 10_000),
        nested("allOf", STRING, 10_000),
        {"allOf": [{"$ref": "#/properties/a"}] * 50},
        {"type": [[], {}, None, 5]},
        {"type": {}},
        {"enum": {}, "const": [[]], "anyOf": "x", "allOf": {"a": 1}, "$ref": []},
        {"enum": [object(), (1,), 1j]},
        {5: 6, None: None},
        object(),
        [STRING],
        float("nan"),
    ],
    ids=range(11),
)
def test_junk_gives_no_type_and_no_error(schema: Any) -> None:
    for parameters in ({"properties": {"a": schema}}, schema, {"properties": schema}):
        for key in ("a", "", "\0", "\ud800"):
            parameter_types(parameters, key)
            expects_parameter(parameters, key)
    assert types_of(schema) in (None, "array")


def test_schemas_that_share_their_parts_are_read_once() -> None:
    defs: dict[str, Any] = {"d0": STRING}
    for i in range(1, 25):
        defs[f"d{i}"] = {"anyOf": [{"$ref": f"#/$defs/d{i - 1}"}] * 8}
    assert types_of({"$ref": "#/$defs/d12"}, **{"$defs": defs}) == "string"
    assert types_of({"$ref": "#/$defs/d24"}, **{"$defs": defs}) is None, "too deep to look"


combined = ["anyOf", "oneOf", "allOf", "$ref", "nullable", "a"]
words = st.sampled_from(
    [*combined, "type", "enum", "properties", "patternProperties", "additionalProperties"]
)
leaves = st.none() | st.booleans() | st.integers() | st.sampled_from(["string", "#", "#/a", ".*"])
junk = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=4),
    max_leaves=25,
)


@given(junk)
def test_any_json_is_taken(parameters: Any) -> None:
    types = parameter_types(parameters, "a")
    assert types is None or types
    assert expects_parameter(parameters, "a") in (True, False)


def test_the_order_of_a_union_makes_no_difference() -> None:
    parts: list[Any] = [STRING, INTEGER, {"$ref": "#/properties/a"}, {"enum": [None]}]
    for seed in range(5):
        random.Random(seed).shuffle(parts)
        assert types_of({"anyOf": parts}) == "string integer null"
