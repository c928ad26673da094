"""Generated tools with hostile names and schemas, for the tests of structural tags."""

from __future__ import annotations

from random import Random
from typing import Any

Schema = dict[str, Any]

PLAIN_NAMES = ["get_weather", "count", "f", "search2", "now"]
HOSTILE_NAMES = [
    "get-weather", "a.b", "path/to/tool", "two words", "2fa", "查天气", "naïve", "root", "tool",
    "ws", "basic_string", "a\\b", 'say "hi"', "{}", "[x]", "a:b", "e=mc", "it's", "null", "<b>",
    "functions.f:0", "name", "arguments", "😀", "x>y", "a,b", "f(x)", "</function>", "a\nb",
]  # fmt: skip
"""Names of tools and of properties, kept to the letter."""

SCALARS: list[Schema] = [
    {"type": "string"},
    {"type": "integer"},
    {"type": "number"},
    {"type": "boolean"},
    {"type": "null"},
    {"type": "string", "minLength": 1, "maxLength": 5},
    {"type": "string", "maxLength": 3},
    {"type": "string", "pattern": "^[a-z]{2,4}-[0-9]+$"},
    {"type": "string", "pattern": "^https?://"},
    {"type": "string", "format": "date"},
    {"type": "string", "format": "uuid"},
    {"type": "string", "format": "email"},
    {"type": "integer", "minimum": -3, "maximum": 12},
    {"type": "integer", "exclusiveMinimum": 1.5},
    {"type": "number", "minimum": 0, "maximum": 1.5},
    {"type": "integer", "multipleOf": 5},
    {"type": "string", "minLength": 66, "maxLength": 70},
    {"type": "string", "maxLength": 70},
    {"type": "number", "exclusiveMinimum": -1, "maximum": 1e3},
]
CHOICES: list[Schema] = [
    {"enum": ["a", "b c", "<end>", 'q"q', "é", ""]},
    {"enum": ["12", "true", "null", "{}"]},
    {"enum": ["a", 1, None, True, 2.5]},
    {"type": "string", "enum": ["celsius", "fahrenheit"]},
    {"type": "integer", "enum": [1, 2, 30]},
    {"enum": [" padded ", "two\nlines", "\n"]},
    {"const": "x"},
    {"const": 7},
    {"const": {"k": [1, "two"]}},
]
UNIONS: list[Schema] = [
    {"type": ["string", "null"]},
    {"type": ["integer", "string"]},
    {"type": ["object", "null"], "properties": {"n": {"type": "integer"}}},
    {"anyOf": [{"type": "string"}, {"type": "null"}]},
    {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "boolean"}}]},
    {"oneOf": [{"type": "boolean"}, {"type": "string"}]},
    {"type": ["string", "null"], "maxLength": 4},
    {"type": ["array", "null"], "items": {"type": "integer"}, "minItems": 1},
    {"anyOf": [{"type": "string", "maxLength": 4}, {"type": "integer", "maximum": 5}]},
    {"anyOf": [{"type": "string", "pattern": "^[a-z]+$"}, {"type": "boolean"}]},
    {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": False},
    {"type": "object", "patternProperties": {"^x-": {"type": "integer"}}},
    {"type": "object", "minProperties": 1, "maxProperties": 2},
    {"type": "object", "propertyNames": {"type": "string", "pattern": "^[a-z]{1,3}$"}},
    {},
    {"description": "anything"},
]
REFERENCES: list[Schema] = [
    {"$ref": "#/$defs/Node"},
    {"$ref": "#/$defs/Kind"},
    {"$ref": "#/$defs/a~1b"},
    {"type": "array", "items": {"$ref": "#/$defs/Node"}},
    {"anyOf": [{"$ref": "#/$defs/Kind"}, {"type": "null"}]},
]
UNHELD: list[Schema] = [
    {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
    {"type": "string", "pattern": "^(?=a)b"},
    {"not": {"type": "null"}},
]
"""What no grammar holds: a request with one of these is refused."""

BARE: list[Schema | None] = [
    None,
    {},
    {"type": "object"},
    {"type": "object", "properties": {}},
    {"type": "object", "properties": {}, "additionalProperties": False},
    {"type": "object", "additionalProperties": {"type": "integer"}},
    {"type": "object", "required": ["b"]},
]
"""Parameters that declare nothing."""


def make_tools(random: Random) -> list[dict[str, Any]]:
    """One to three tools of different names; half of the names are hostile ones."""
    names = {make_name(random) for _ in range(random.randint(1, 3))}
    return [make_tool(name, random) for name in sorted(names)]


def make_name(random: Random) -> str:
    """A name of a tool or a property."""
    return random.choice(PLAIN_NAMES if random.random() < 0.5 else HOSTILE_NAMES)


def make_tool(name: str, random: Random) -> dict[str, Any]:
    """A tool in the shape of Chat Completions."""
    function: dict[str, Any] = {"name": name}
    if random.random() < 0.15:
        parameters = random.choice(BARE)
        if parameters is not None:
            function["parameters"] = parameters
    else:
        function["parameters"] = make_object(random)
    strict = random.choice([None, None, True, False])
    if strict is not None:
        function["strict"] = strict
    return {"type": "function", "function": function}


def make_answer(random: Random) -> dict[str, Any]:
    """A `response_format` with a schema."""
    schema = {"name": "answer", "schema": make_object(random)}
    return {"type": "json_schema", "json_schema": schema}


def make_object(random: Random) -> Schema:
    """An object's schema at the root: properties of every kind, and what they refer to.

    The `$defs` have the same names in every tool, and mean other things.
    """
    names = list(dict.fromkeys(make_name(random) for _ in range(random.randint(1, 4))))
    properties = {name: make_property(random, depth=2) for name in names}
    defs = {
        "Node": _node(random),
        "Kind": random.choice([*SCALARS, *CHOICES]),
        "a/b": {"type": "object", "properties": {"k": {"$ref": "#/$defs/Kind"}}},
    }
    schema: Schema = {"type": "object", "properties": properties}
    if random.random() < 0.2:
        properties["again"] = {"$ref": "#"}
    if random.random() < 0.2:
        properties["same"] = {"$ref": f"#/properties/{_pointer(names[0])}"}
    if random.random() < 0.1:
        properties["deep"] = {
            "type": "object",
            "$defs": {"N": random.choice(SCALARS)},
            "properties": {"n": {"$ref": "#/properties/deep/$defs/N"}},
        }
    if "#/$defs" in repr(properties):
        schema["$defs"] = defs
    required = [name for name in names if random.random() < 0.5]
    if required or random.random() < 0.5:
        schema["required"] = required
    if random.random() < 0.3:
        schema["additionalProperties"] = random.choice([False, True, {"type": "integer"}])
    return schema


def make_property(random: Random, depth: int) -> Schema:
    """The schema of one property, up to `depth` levels of others in it."""
    roll = random.random()
    if roll < 0.01:
        return random.choice(UNHELD)
    if roll < 0.4 or depth == 0:
        return random.choice(SCALARS)
    if roll < 0.55:
        return random.choice(CHOICES)
    if roll < 0.68:
        return random.choice(UNIONS)
    if roll < 0.78:
        return random.choice(REFERENCES)
    if roll < 0.9:
        return _array(random, depth - 1)
    return _nested(random, depth - 1)


def _array(random: Random, depth: int) -> Schema:
    array: Schema = {"type": "array", "items": make_property(random, depth)}
    if random.random() < 0.4:
        array["minItems"] = random.randint(0, 2)
        array["maxItems"] = random.randint(2, 3)
    if random.random() < 0.15:
        array = {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}]}
    return array


def _nested(random: Random, depth: int) -> Schema:
    names = {make_name(random) for _ in range(random.randint(0, 2))}
    properties = {name: make_property(random, depth) for name in sorted(names)}
    schema: Schema = {"type": "object", "properties": properties}
    if properties and random.random() < 0.6:
        schema["required"] = [min(properties)]
    if random.random() < 0.3:
        schema["additionalProperties"] = random.choice([False, {"type": "string"}])
    return schema


def _node(random: Random) -> Schema:
    value = random.choice(SCALARS[:5])
    return {
        "type": "object",
        "properties": {"v": value, "kids": {"type": "array", "items": {"$ref": "#/$defs/Node"}}},
        "required": ["v"],
    }


def _pointer(name: str) -> str:
    """A name as one step of a JSON pointer in a URI fragment."""
    return name.replace("~", "~0").replace("/", "~1").replace("%", "%25")
