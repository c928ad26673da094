"""What a tool's own schema says of a parameter: whether there is one, and of which JSON types.

Schemas are what the request brought, sound or not: any value is taken, none raises, and what is not
understood says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from tagsmith.engine.value_types import JsonType, Types
from tagsmith.request.vocabulary import resolve

Schema = dict[str, Any]

_DEEPEST = 32
"""How many schemas deep a type is looked for."""

_NAMES: dict[str, JsonType] = {
    **{kind.value: kind for kind in JsonType},
    # What authors of tools write who think in another language.
    "str": JsonType.STRING,
    "int": JsonType.INTEGER,
    "long": JsonType.INTEGER,
    "float": JsonType.NUMBER,
    "double": JsonType.NUMBER,
    "bool": JsonType.BOOLEAN,
    "dict": JsonType.OBJECT,
    "list": JsonType.ARRAY,
    "tuple": JsonType.ARRAY,
}
_KINDS: dict[type, JsonType] = {
    str: JsonType.STRING,
    int: JsonType.INTEGER,
    float: JsonType.NUMBER,
    bool: JsonType.BOOLEAN,
    type(None): JsonType.NULL,
    dict: JsonType.OBJECT,
    list: JsonType.ARRAY,
}
_ALONE: dict[str, Types] = {name: frozenset({kind}) for name, kind in _NAMES.items()}
_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_ABOUT: dict[JsonType, tuple[str, ...]] = {
    JsonType.OBJECT: ("properties", "patternProperties", "additionalProperties"),
    JsonType.ARRAY: ("items", "prefixItems", "minItems", "maxItems"),
    JsonType.STRING: ("pattern", "minLength", "maxLength"),
    JsonType.NUMBER: _BOUNDS,
}
_COMBINED = ("allOf", "anyOf", "oneOf")
_LEADING_ON = frozenset({"$ref", *_COMBINED})
_MORE_WORDS = _LEADING_ON | {"enum", "const"}
_COMBINING = frozenset(("enum", "const", "$ref", "allOf", "anyOf", "oneOf", "nullable"))
"""What may say more of a type than `type` does."""
_NOTHING: Types = frozenset()

_LONGEST_MATCHED = 200
_PLAIN_PATTERN = re.compile(
    r"\^?(?:(?:[\w /:@-]|\\[dDwWsS.-]|\[\^?[\w.-]+\]|\.)(?:[*+?]|\{[0-9]{1,2}\})?)*\$?"
)


def parameter_types(parameters: Any, key: str) -> Types | None:
    """The JSON types that a tool's parameters admit for the one named `key`.

    None where nothing gives it a type: there is no schema, or it does not name the parameter, or
    says nothing of its type, or only by a reference that leads nowhere. What contradicts the
    keywords before it (`type`, `enum`, `const`, `$ref`, `allOf`, `anyOf`, `oneOf`) is not heard. A
    schema with none of these has the types that its other keywords are about.

    Args:
        parameters: The schema of the tool's parameters; anything at all.
        key: The parameter.

    >>> days = {"anyOf": [{"type": "integer"}, {"type": "null"}]}
    >>> [str(kind) for kind in sorted(parameter_types({"properties": {"days": days}}, "days"))]
    ['integer', 'null']
    >>> parameter_types({"properties": {"days": {}}}, "days") is None
    True
    """
    return ToolParameters(parameters).types(key)


def names_parameter(parameters: Any, key: str) -> bool:
    """Whether a tool's parameters list one named `key`.

    >>> names_parameter({"properties": {"city": {}}}, "city"), names_parameter(None, "city")
    (True, False)
    """
    return ToolParameters(parameters).names(key)


def expects_parameter(parameters: Any, key: str) -> bool:
    """Whether a tool's parameters have one named `key`, or are open to any.

    They are open where they say so (`additionalProperties`), and where they list none and do not
    say that there is no other. An author who lists properties and says no more means these.

    >>> city = {"type": "object", "properties": {"city": {"type": "string"}}}
    >>> expects_parameter(city, "city"), expects_parameter(city, "town")
    (True, False)
    >>> expects_parameter(None, "town"), expects_parameter({"additionalProperties": {}}, "town")
    (True, True)
    """
    return ToolParameters(parameters).expects(key)


class ToolParameters:
    """What one tool's schema says of its parameters, for many questions about it."""

    __slots__ = ("_branches", "_schema")

    def __init__(self, schema: Any) -> None:
        self._schema = schema
        self._branches = list(_branches(schema))

    def types(self, key: str) -> Types | None:
        """As `parameter_types`."""
        reader = _Reader(self._schema)
        found = [reader.types(schema) for schema in _schemas_of(self._branches, key)]
        return _union(types for types in found if types is not None) or None

    def expects(self, key: str) -> bool:
        """As `expects_parameter`."""
        if self.names(key) or any(_matched(branch, key) for branch in self._branches):
            return True
        others = [schema for branch in self._branches for schema in _others(branch)]
        if any(schema is True or isinstance(schema, dict) for schema in others):
            return True
        listing = ("properties", "patternProperties")
        is_list = any(isinstance(b.get(word), dict) for b in self._branches for word in listing)
        return not is_list and not any(schema is False for schema in others)

    def names(self, key: str) -> bool:
        """As `names_parameter`."""
        return any(_lists(branch, key) for branch in self._branches)


class _Reader:
    """Finds the types that schemas admit; their references lead into `root`."""

    def __init__(self, root: Any) -> None:
        self._root = root
        self._known: dict[int, Types | None] = {}

    def types(self, schema: Any, depth: int = 0) -> Types | None:
        """The types; None where the schema gives none, and none at all where no value fits it.

        None at all, too, where it leads back to a schema that is being read: so it adds nothing.
        """
        if schema is False:
            return _NOTHING
        if not isinstance(schema, dict) or depth > _DEEPEST:
            return None
        if _COMBINING.isdisjoint(schema) and (declared := _declared(schema.get("type"))):
            return declared
        if id(schema) not in self._known:
            self._known[id(schema)] = _NOTHING
            self._known[id(schema)] = self._read(schema, depth + 1)
        return self._known[id(schema)]

    def _read(self, schema: Schema, depth: int) -> Types | None:
        types = _declared(schema["type"]) if "type" in schema else None
        if not _MORE_WORDS.isdisjoint(schema):
            for said in self._said(schema, depth):
                types = _common(types, said)
        if types is None:
            types = _union(
                frozenset({kind})
                for kind, words in _ABOUT.items()
                if any(word in schema for word in words)
            )
        return types | {JsonType.NULL} if types and schema.get("nullable") is True else types

    def _said(self, schema: Schema, depth: int) -> Iterator[Types | None]:
        yield _kinds(_items(schema.get("enum")))
        yield _kinds([schema["const"]] if "const" in schema else [])
        yield self.types(_target(self._root, schema), depth)
        for inner in _items(schema.get("allOf")):
            yield self.types(inner, depth)
        for word in ("anyOf", "oneOf"):
            yield _union(self.types(inner, depth) for inner in _items(schema.get(word)))


def _common(first: Types | None, second: Types | None) -> Types | None:
    """What both admit; the first, where they have nothing in common."""
    if not first:
        return first if second is None else second
    if not second:
        return first
    common = _with_integers(first) & _with_integers(second)
    return common - {JsonType.INTEGER} if JsonType.NUMBER in common else common or first


def _with_integers(types: Types) -> Types:
    return types | {JsonType.INTEGER} if JsonType.NUMBER in types else types


def _union(several: Iterable[Types | None]) -> Types | None:
    """What any of them admits; None where one gives no types, or there is none."""
    found = list(several)
    given = [types for types in found if types is not None]
    return frozenset().union(*given) if given and len(given) == len(found) else None


def _declared(value: Any) -> Types | None:
    if isinstance(value, str) and value in _ALONE:
        return _ALONE[value]
    names = [value] if isinstance(value, str) else _items(value)
    lower = [name.lower() for name in names if isinstance(name, str)]
    return frozenset(_NAMES[name] for name in lower if name in _NAMES) or None


def _kinds(values: Iterable[Any]) -> Types | None:
    return frozenset(_KINDS[type(value)] for value in values if type(value) in _KINDS) or None


def _schemas_of(branches: list[dict[str, Any]], key: str) -> list[Any]:
    """The schemas of one parameter: where it is named, else by its pattern, else of all others."""
    exact = [branch["properties"][key] for branch in branches if _lists(branch, key)]
    return (
        exact
        or [schema for branch in branches for schema in _matched(branch, key)]
        or [schema for branch in branches for schema in _others(branch)]
    )


def _branches(parameters: Any) -> Iterator[Schema]:
    """The schema of the parameters, and all that it is combined of or leads to."""
    waiting, seen = [parameters], set[int]()
    while waiting:
        schema = waiting.pop()
        if isinstance(schema, dict) and id(schema) not in seen:
            seen.add(id(schema))
            yield schema
            if not _LEADING_ON.isdisjoint(schema):
                waiting.append(_target(parameters, schema))
                for word in _COMBINED:
                    waiting += _items(schema.get(word))


def _lists(branch: Schema, key: str) -> bool:
    properties = branch.get("properties")
    return isinstance(properties, dict) and key in properties


def _matched(branch: Schema, key: str) -> list[Any]:
    patterns = branch.get("patternProperties")
    if not isinstance(patterns, dict):
        return []
    return [schema for pattern, schema in patterns.items() if _matches(pattern, key)]


def _matches(pattern: Any, key: str) -> bool:
    """Whether a key matches.

    A pattern is a stranger's program: one that might take long is not run, and taken to match.
    """
    if not isinstance(pattern, str):
        return False
    repeats = sum(map(pattern.count, "*+?{"))
    if max(len(pattern), len(key)) > _LONGEST_MATCHED or repeats > 2:
        return True
    try:
        return not _PLAIN_PATTERN.fullmatch(pattern) or re.search(pattern, key) is not None
    except re.error:
        return True


def _others(branch: Schema) -> list[Any]:
    """What is said of the parameters that are not named."""
    words = ("additionalProperties", "unevaluatedProperties")
    return [branch[word] for word in words if word in branch]


def _target(root: Any, schema: Schema) -> Any:
    """What a schema's reference leads to, within the tool's own schema; None if nowhere."""
    reference = schema.get("$ref")
    if not isinstance(reference, str) or reference[:2] not in ("#", "#/"):
        return None
    try:
        return resolve(root, reference)
    except (KeyError, ValueError):
        return None


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
