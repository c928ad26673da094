"""What a JSON Schema asks and the grammar engine does not hold: each named, with its place.

Found by trying: every line here is a keyword that xgrammar 0.2.9 reads past, or reads as less than
it says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tagsmith.grammar.schemas.patterns import pattern_problem
from tagsmith.request.bounds import whole_bounds
from tagsmith.request.vocabulary import ANNOTATIONS, Path, dotted, resolve

_IGNORED = {
    "contains",
    "not",
    "if",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "unevaluatedItems",
    "$dynamicRef",
    "$recursiveRef",
}
_MOST_MULTIPLE = 1024
_MOST_VALUES = 10_000
LENGTHS = {"minLength", "maxLength"}
"""Keywords that count the characters of a string."""
_TYPED = {
    "minLength": "string",
    "maxLength": "string",
    "pattern": "string",
    "minimum": "number",
    "maximum": "number",
    "exclusiveMinimum": "number",
    "exclusiveMaximum": "number",
    "multipleOf": "number",
    "minItems": "array",
    "maxItems": "array",
    "minProperties": "object",
    "maxProperties": "object",
    "propertyNames": "object",
    "format": "string",
}
_NAMES_A_TYPE = {"type", "enum", "const", "$ref", "anyOf", "oneOf", "allOf", "properties", "items"}
_NO_GRAMMAR = {"idn-email", "idn-hostname", "iri", "iri-reference", "regex"}
"""Formats of JSON Schema that the engine reads past, as it does all that it does not know."""
BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
"""Keywords that bound a number."""
_GREATEST_BOUND = 2**63 - 1
_COMBINING = ("$ref", "anyOf", "oneOf", "allOf", "const", "enum")
_NO_CONSTRAINT = ANNOTATIONS | {"$defs", "definitions", "$anchor", "discriminator", "format"}
_ALWAYS_HELD = (ANNOTATIONS - {"$id"}) | {"type", "properties", "items", "required"}
"""What is held whatever stands beside it, as long as that is one of these, too."""


@dataclass(frozen=True, slots=True)
class Limitation:
    """One thing a schema asks that its grammar does not hold."""

    place: str
    """Where, dotted, from the schema's root."""
    reason: str
    """What is not held, and why."""

    def __str__(self) -> str:
        return f"{self.place.removeprefix('.')}: {self.reason}"


def find_limits(schemas: Sequence[tuple[Path, Any]]) -> Iterator[Limitation]:
    """Everything in a checked schema that its grammar does not hold.

    Args:
        schemas: The schema and every one inside it, from `walk`.

    >>> from tagsmith.request.vocabulary import walk
    >>> [str(limit) for limit in find_limits(walk({"type": "array", "uniqueItems": True}))]
    ['uniqueItems: the grammar cannot compare items']
    """
    _, root = schemas[0]
    for path, schema in schemas:
        if not isinstance(schema, dict):
            if schema is False and path[-1:] not in _MAY_BE_FALSE:
                yield Limitation(dotted(path), "a schema that nothing satisfies has no grammar")
        elif not schema.keys() <= _ALWAYS_HELD:
            for keyword, reason in _limits_of(schema, root, at_root=not path):
                yield Limitation(dotted((*path, keyword)), reason)


_MAY_BE_FALSE = {
    ("additionalProperties",),
    ("additionalItems",),
    ("items",),
    ("unevaluatedItems",),
    ("unevaluatedProperties",),
}


def _limits_of(schema: dict[str, Any], root: Any, *, at_root: bool) -> Iterator[tuple[str, str]]:
    for keyword in schema:
        if keyword in _IGNORED:
            yield keyword, "the grammar has no way to say it"
    if schema.get("uniqueItems") is True:
        yield "uniqueItems", "the grammar cannot compare items"
    if schema.get("additionalProperties") is False:
        for name in () if "patternProperties" in schema else _undeclared(schema):
            yield "required", f"{name!r} is required and no property may have that name"
    if not at_root and ("$id" in schema or ("id" in schema and "$ref" in schema)):
        yield "$id", "references below a second base are not followed"
    yield from _object_limits(schema)
    yield from _number_limits(schema)
    yield from _string_limits(schema)
    yield from _combination_limits(schema, root)


def _undeclared(schema: dict[str, Any]) -> list[str]:
    declared = schema.get("properties", {})
    return [name for name in schema.get("required", ()) if name not in declared]


def _object_limits(schema: dict[str, Any]) -> Iterator[tuple[str, str]]:
    patterns = schema.get("patternProperties", {})
    for name in schema.get("properties", ()):
        for pattern in patterns:
            if pattern_problem(pattern) is None and re.search(pattern, name):
                yield "patternProperties", f"{pattern!r} matches {name!r}, which has its own schema"
    if patterns and (missing := _undeclared(schema)):
        yield "required", f"{missing[0]!r} is asked for by its pattern alone; name it in properties"
    if len(patterns) > 1:
        yield "patternProperties", "of several that match a name, one is held; write them as one"
    if patterns and isinstance(schema.get("additionalProperties"), dict):
        yield "additionalProperties", "beside patternProperties it is not held"
    beside = {"properties", "patternProperties", "required"} & schema.keys()
    if "propertyNames" in schema and beside:
        yield "propertyNames", f"beside {', '.join(sorted(beside))} it is not held"


def _number_limits(schema: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if reason := _multiple_limit(schema):
        yield "multipleOf", reason
    for keyword in BOUNDS:
        bound = schema.get(keyword, 0)
        if abs(bound) > _GREATEST_BOUND or "e" in repr(bound):
            yield keyword, f"{bound} has more digits than the grammar counts with"
    listed = [schema["const"]] if "const" in schema else schema.get("enum", ())
    if any(isinstance(value, int) and abs(value) > _GREATEST_BOUND for value in listed):
        yield (
            "const" if "const" in schema else "enum",
            "an integer of more than 64 bits loses digits",
        )
    if _NAMES_A_TYPE.isdisjoint(schema):
        for keyword in schema:
            if keyword in _TYPED:
                yield keyword, f'without a type it is not held; add "type": "{_TYPED[keyword]}"'


def _multiple_limit(schema: dict[str, Any]) -> str | None:
    multiple = schema.get("multipleOf")
    if multiple is None:
        return None
    if schema.get("type") != "integer":
        return "it is held for integers alone"
    if multiple > _MOST_MULTIPLE or multiple != int(multiple):
        return f"it is held for whole numbers up to {_MOST_MULTIPLE} alone"
    least, greatest = whole_bounds(schema)
    if least is None and greatest is None:
        return None
    if least is not None and greatest is not None and greatest - least < _MOST_VALUES:
        return None
    return f"beside bounds it is held where they leave up to {_MOST_VALUES} integers alone"


def _string_limits(schema: dict[str, Any]) -> Iterator[tuple[str, str]]:
    patterns = list(schema.get("patternProperties", ()))
    for pattern in [*patterns, *([schema["pattern"]] if "pattern" in schema else [])]:
        problem = pattern_problem(pattern)
        if problem is not None:
            yield "pattern", f"{pattern!r} has no grammar: {problem}"
    if schema.get("format") in _NO_GRAMMAR and "pattern" not in schema:
        yield "format", f"{schema['format']!r} has no grammar"
    if not LENGTHS.isdisjoint(schema) and not {"pattern", "format"}.isdisjoint(schema):
        yield "maxLength", "a length beside a pattern or a format is not held"


def _combination_limits(schema: dict[str, Any], root: Any) -> Iterator[tuple[str, str]]:
    reference = schema.get("$ref", "#")
    if reference != "#" and not reference.startswith("#/"):
        yield "$ref", f"{reference!r} leaves the schema or goes by anchor; copy it under $defs"
    for keyword in _COMBINING:
        if keyword not in schema:
            continue
        beside = schema.keys() - _NO_CONSTRAINT - {keyword}
        if keyword in ("const", "enum") or _types_agree(schema, schema[keyword], root):
            beside -= {"type"}
        if beside:
            yield keyword, f"what stands beside it is not held: {', '.join(sorted(beside))}"
            break
    if len(schema.get("allOf", ())) > 1:
        yield "allOf", "more than one schema at a time is not held; write them as one"
    if "oneOf" in schema and not _disjoint(schema["oneOf"], root):
        yield "oneOf", "nothing keeps its branches apart; use anyOf, or a const that tells them"


def _types_agree(schema: dict[str, Any], branches: Any, root: Any) -> bool:
    """Whether each branch says a type that the schema beside them says too."""
    stated = schema.get("type")
    if not isinstance(branches, list):
        return False
    allowed = stated if isinstance(stated, list) else [stated]
    return all(_follow(branch, root).get("type", ()) in allowed for branch in branches)


def _disjoint(branches: list[Any], root: Any) -> bool:
    resolved = [_follow(branch, root) for branch in branches]
    if _told_apart(resolved):
        return True
    kinds = [branch.get("type") for branch in resolved]
    if all(isinstance(kind, str) for kind in kinds) and len(set(kinds)) == len(kinds):
        return not {"integer", "number"} <= set(kinds)
    shared = set.intersection(*(set(branch.get("required", ())) for branch in resolved))
    return any(_told_apart([_property(branch, name) for branch in resolved]) for name in shared)


def _property(schema: dict[str, Any], name: str) -> Any:
    return schema.get("properties", {}).get(name)


def _told_apart(values: list[Any]) -> bool:
    consts: list[Any] = []
    for value in values:
        if not isinstance(value, dict):
            return False
        allowed = [value["const"]] if "const" in value else value.get("enum", [])
        if not allowed or any(item in consts for item in allowed):
            return False
        consts += allowed
    return True


def _follow(branch: Any, root: Any) -> dict[str, Any]:
    for _ in range(8):
        if not isinstance(branch, dict):
            return {}
        reference = branch.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#"):
            return branch
        try:
            branch = resolve(root, reference)
        except KeyError:
            return {}
    return {}
