"""Where schemas stand inside a JSON Schema, and what each keyword may hold.

The drafts in use (4 to 2020-12) agree on nearly all of it; where they differ, every spelling with
one possible meaning is taken.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

TYPES = ("object", "array", "string", "number", "integer", "boolean", "null")

_ONE = {
    "items",
    "additionalProperties",
    "additionalItems",
    "contains",
    "not",
    "if",
    "then",
    "else",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contentSchema",
}
_NAMED = {
    "properties",
    "patternProperties",
    "$defs",
    "definitions",
    "dependentSchemas",
    "dependencies",
}
_LISTED = {"anyOf", "oneOf", "allOf", "prefixItems", "items"}
_HOLDERS = _ONE | _NAMED | _LISTED

ANNOTATIONS = {
    "$schema",
    "$id",
    "$comment",
    "title",
    "description",
    "default",
    "examples",
    "example",
    "deprecated",
    "readOnly",
    "writeOnly",
    "nullable",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
}
"""Keywords that say nothing about which values fit."""

COUNTS = {
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "minContains",
    "maxContains",
}
"""Keywords that count something."""

Path = tuple[str, ...]


def walk(schema: Any) -> list[tuple[Path, Any]]:
    """A schema and every schema inside it, each with its path, and behind the one that holds it.

    >>> [dotted(path) for path, _ in walk({"properties": {"a": True}, "items": {"not": {}}})]
    ['', '.properties.a', '.items', '.items.not']
    """
    found: list[tuple[Path, Any]] = [((), schema)]
    for path, inner in found:
        if isinstance(inner, dict):
            for key, value in inner.items():
                if key in _HOLDERS:
                    found += _held((*path, key), value)
    return found


def _held(path: Path, value: Any) -> list[tuple[Path, Any]]:
    """The schemas that a keyword holds, each with its path."""
    keyword = path[-1]
    if keyword in _NAMED and isinstance(value, dict):
        # Of the older `dependencies`, a list names properties and is no schema.
        return [
            ((*path, name), item)
            for name, item in value.items()
            if not (keyword == "dependencies" and isinstance(item, list))
        ]
    if keyword in _LISTED and isinstance(value, list):
        return [((*path, str(index)), item) for index, item in enumerate(value)]
    return [(path, value)] if keyword in _ONE else []


def dotted(path: Path) -> str:
    """A path for people, led by a dot.

    >>> dotted(("properties", "city"))
    '.properties.city'
    """
    return "".join(f".{step}" for step in path)


def resolve(root: Any, reference: str) -> Any:
    """What a reference of the form `#` or `#/...` points at.

    Raises:
        KeyError: it points at nothing.
    """
    value = root
    for step in unquote(reference).removeprefix("#").split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif (
            isinstance(value, list) and step.isascii() and step.isdigit() and int(step) < len(value)
        ):
            value = value[int(step)]
        else:
            raise KeyError(reference)
    return value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return _is_number(value) and value >= 0 and value == int(value)


def _is_string_list(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_string, value))


def _is_type(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and all(map(_is_type_name, value))
    return _is_type_name(value)


def _is_type_name(value: Any) -> bool:
    return isinstance(value, str) and value in TYPES


def _is_schema(value: Any) -> bool:
    return isinstance(value, dict | bool)


def _is_schema_map(value: Any) -> bool:
    return isinstance(value, dict)


def _is_schema_list(value: Any) -> bool:
    return isinstance(value, list) and bool(value)


def _is_string(value: Any) -> bool:
    return isinstance(value, str)


HOLDS_TYPE: dict[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": _is_string,
    "number": _is_number,
    "integer": lambda value: _is_number(value) and value == int(value),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
}
"""For each type: whether a value is of it."""

Rule = tuple[Callable[[Any], bool], str]


def _rules() -> dict[str, Rule]:
    groups: list[tuple[str, Callable[[Any], bool], str]] = [
        (" ".join(_ONE - {"items"}), _is_schema, "a schema"),
        (" ".join(_NAMED), _is_schema_map, "an object of schemas"),
        (" ".join(_LISTED - {"items"}), _is_schema_list, "a list of one schema or more"),
        ("items", lambda v: _is_schema(v) or _is_schema_list(v), "a schema"),
        ("type", _is_type, "one of " + ", ".join(TYPES) + ", or a list of them"),
        ("enum", lambda v: isinstance(v, list) and bool(v), "a list of one value or more"),
        ("required", _is_string_list, "a list of property names"),
        ("minimum maximum exclusiveMinimum exclusiveMaximum", _is_number, "a number"),
        ("multipleOf", lambda v: _is_number(v) and v > 0, "a number above 0"),
        (" ".join(COUNTS), _is_count, "a whole number from 0"),
        ("uniqueItems", lambda v: isinstance(v, bool), "true or false"),
        ("$ref $dynamicRef $id $anchor $dynamicAnchor pattern format", _is_string, "a string"),
    ]
    return {key: (test, allowed) for keys, test, allowed in groups for key in keys.split()}


RULES: dict[str, Rule] = _rules()
"""For each keyword: whether a value fits, and what fits."""
