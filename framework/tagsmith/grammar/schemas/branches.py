"""What a schema says, taken apart: its branches, the parameters of an object, and any part of it as
a schema of its own. For layouts that write each parameter by itself."""

from __future__ import annotations

import marshal
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tagsmith.grammar.schemas.limits import Limitation
from tagsmith.request.vocabulary import resolve, walk

Schema = dict[str, Any]

OF_STRINGS = {"minLength", "maxLength", "pattern", "format"}
"""Keywords that say something of strings alone."""
_ANYTHING: Schema = {}
_COUNTED = ("minProperties", "maxProperties", "patternProperties", "propertyNames")


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter that a schema names."""

    name: str
    schema: Any
    required: bool


@dataclass(frozen=True, slots=True)
class Shape:
    """One kind of object that a schema admits. `others` is the schema of parameters that are not
    named, False where there may be none."""

    parameters: tuple[Parameter, ...]
    others: Any = False


def branches(root: Any, schema: Any, followed: frozenset[str] = frozenset()) -> list[Schema]:
    """The schemas without references or alternatives that a schema comes down to.

    A reference that leads back to itself without saying more adds nothing.

    >>> root = {"$defs": {"a": {"type": "null"}}, "anyOf": [{"$ref": "#/$defs/a"}, {"const": 1}]}
    >>> branches(root, root)
    [{'type': 'null'}, {'const': 1}]
    """
    if isinstance(schema, bool):
        return [_ANYTHING] if schema else []
    if "$ref" in schema:
        reference = schema["$ref"]
        try:
            target = resolve(root, reference)
        except KeyError:  # it leaves the schema: a limitation, named elsewhere
            return [_ANYTHING]
        once_more = reference in followed
        return [] if once_more else branches(root, target, followed | {reference})
    for word in ("anyOf", "oneOf"):
        if word in schema:
            return [leaf for inner in schema[word] for leaf in branches(root, inner, followed)]
    return branches(root, schema["allOf"][0], followed) if "allOf" in schema else [schema]


def types_of(branch: Schema) -> list[str]:
    """The types that a branch names.

    >>> types_of({"type": "null"}), types_of({})
    (['null'], [])
    """
    stated = branch.get("type", [])
    return list(stated) if isinstance(stated, list) else [stated]


def listed(branch: Schema) -> list[Any] | None:
    """The values that a branch lists, where it lists them."""
    return [branch["const"]] if "const" in branch else branch.get("enum")


def shapes(root: Any, schema: Any) -> list[Shape]:
    """Every kind of object that a schema admits.

    >>> shapes({}, {"properties": {"a": True}, "additionalProperties": False})
    [Shape(parameters=(Parameter(name='a', schema=True, required=False),), others=False)]
    """
    return [shape for branch in branches(root, schema) for shape in _shapes_of(branch)]


def shape_limits(schema: Any) -> Iterator[Limitation]:
    """What is said of an object that parameters written one by one do not hold."""
    if not isinstance(schema, dict):
        return
    for word in sorted({"const", "enum"} & schema.keys()):
        yield Limitation(f".{word}", "parameters are written one by one, not as a whole")
    for word in _COUNTED:
        if word in schema and not _held_anyway(schema, word):
            yield Limitation(f".{word}", "parameters are written one by one, uncounted")


def detached(root: Any, schema: Any) -> Any:
    """A part of a schema as one of its own: what its references lead to goes with it.

    >>> root = {"properties": {"a": {"$ref": "#/$defs/n"}}, "$defs": {"n": {"type": "null"}}}
    >>> detached(root, root["properties"]["a"])
    {'$ref': '#/$defs/0', '$defs': {'0': {'type': 'null'}}}
    """
    if not isinstance(schema, dict) or not any(_references(schema)):
        return schema
    names: dict[str, str] = {}
    definitions: Schema = {}
    whole = _renamed(schema, names)
    while len(definitions) < len(names):
        pointer = list(names)[len(definitions)]
        try:
            target = resolve(root, pointer)
        except KeyError:
            target = True
        definitions[names[pointer]] = _renamed(target, names)
    return {**whole, "$defs": definitions}


def _shapes_of(branch: Schema) -> Iterator[Shape]:
    values = listed(branch)
    if values is not None:
        for value in values:
            if isinstance(value, dict):
                named = (Parameter(key, {"const": item}, True) for key, item in value.items())
                yield Shape(tuple(named))
        return
    if types_of(branch) and "object" not in types_of(branch):
        return
    properties = branch.get("properties", {})
    required = branch.get("required", ())
    others = branch.get("additionalProperties", branch.get("unevaluatedProperties"))
    if "patternProperties" in branch or (others is None and "properties" not in branch):
        others = True
    named = (Parameter(name, inner, name in required) for name, inner in properties.items())
    yield Shape(tuple(named), False if others is None else others)


def _held_anyway(schema: Schema, word: str) -> bool:
    if word == "minProperties":
        return bool(schema[word] <= len(schema.get("required", ())))
    closed = not schema.get("additionalProperties", "properties" not in schema)
    return word == "maxProperties" and closed and schema[word] >= len(schema.get("properties", ()))


def _references(schema: Any) -> Iterator[Schema]:
    for _, inner in walk(schema):
        if isinstance(inner, dict) and "$ref" in inner:
            yield inner


def _renamed(schema: Any, names: dict[str, str]) -> Any:
    """A copy in which every reference leads to the definition of its name."""
    copy = marshal.loads(marshal.dumps(schema))
    for inner in list(_references(copy)):
        name = names.setdefault(inner["$ref"], str(len(names)))
        inner["$ref"] = f"#/$defs/{name}"
    return copy
