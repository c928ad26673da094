"""Values whose type nothing in the output says: the tool's own schema gives it, as it does to the
parser, which reads what may be a string as one unless it reads as something else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tagsmith.engine.value_types import TEXT, JsonType, Types, typed_json
from tagsmith.grammar.arguments.raw_text import (
    Around,
    one_of,
    raw_limits,
    raw_text,
    text_beginning_with_none_of,
)
from tagsmith.grammar.formats import Format, any_text, blanks, const, either, sequence
from tagsmith.grammar.schemas.branches import (
    OF_STRINGS,
    Schema,
    branches,
    detached,
    listed,
    types_of,
)
from tagsmith.grammar.schemas.guarded import guard_limits, guarded_json
from tagsmith.grammar.schemas.limits import Limitation

_BEGINNINGS: dict[JsonType, tuple[str, ...]] = {
    JsonType.NULL: ("null",),
    JsonType.BOOLEAN: ("true", "false"),
    JsonType.INTEGER: ("-", *"0123456789"),
    JsonType.NUMBER: ("-", *"0123456789"),
    JsonType.OBJECT: ("{",),
    JsonType.ARRAY: ("[",),
}
_PYTHON_WORDS: dict[JsonType, tuple[str, ...]] = {
    JsonType.BOOLEAN: ("True", "False"),
    JsonType.NULL: ("None",),
}
_SAYS_NOTHING: dict[str, Any] = {"additionalProperties": True, "items": True}
_OF_OTHERS = {"properties", "additionalProperties", "required", "items", "prefixItems", "minimum"}


def text_value(root: Any, schema: Any, types: Types | None, around: Around) -> Format:
    """A value of these types, which the parser takes from the schema; None where it has none."""
    if types is None:
        return any_text(around.ends)
    leaves = branches(root, schema)
    if JsonType.STRING not in types:
        spelled = [const(word) for leaf in leaves for word in _python_words(leaf)]
        return either([json_value(detached(root, schema), around), *map(around.exactly, spelled)])
    strings = strings_in(leaves)
    if types == TEXT:
        return either(list(_strings(strings, types, set(), around)) or [any_text(around.ends)])
    words = {word for kind in _bounded(leaves, types) for word in _BEGINNINGS[kind]}
    written = list(_strings(strings, types, words, around))
    rest = others_in(leaves)
    if rest and not (any(map(_is_free, strings)) and not words):
        written.append(json_value(detached(root, any_of(rest)), around))
    return either(written)


def string_limits(root: Any, schema: Any, around: Around) -> Iterator[Limitation]:
    """What a schema asks of a string that its text is not held to."""
    for part in strings_in(branches(root, schema)):
        yield from raw_limits(part, around)


def value_limits(
    root: Any, schema: Any, types: Types | None, around: Around
) -> Iterator[Limitation]:
    """What a schema asks of a value and its text is not held to; `types` as in `text_value`."""
    yield from string_limits(root, schema, around)
    leaves = branches(root, schema)
    others = others_in(leaves)
    if others:
        yield from guard_limits(detached(root, any_of(others)), around.ends)
    if types is not None and _bounded(leaves, types):
        said = {word for part in strings_in(leaves) for word in part}
        for word in sorted(said & {"pattern", "format"}):
            yield Limitation(f".{word}", "beside other types that have bounds it is not held")


def _bounded(leaves: list[Schema], types: Types) -> set[JsonType]:
    """The types beside strings of which a schema admits some values alone."""
    return {kind for kind in types - TEXT if not any(_is_plain(leaf, kind) for leaf in leaves)}


def strings_of(root: Any, schema: Any, around: Around) -> list[Format]:
    """Each way a schema admits a string, as text that is known to be one."""
    return list(_strings(strings_in(branches(root, schema)), TEXT, set(), around))


def json_value(schema: Any, around: Around) -> Format:
    """A value as JSON, with blanks around it."""
    return sequence(blanks(), guarded_json(schema, around.ends), blanks())


def strings_in(leaves: list[Schema]) -> list[Schema]:
    """What these branches say of strings."""
    return [part for leaf in leaves if (part := string_part(leaf)) is not None]


def others_in(leaves: list[Schema]) -> list[Schema]:
    """What these branches say of anything but strings."""
    return [part for leaf in leaves if (part := other_part(leaf)) is not None]


def string_part(leaf: Schema) -> Schema | None:
    """What a branch says of strings; None where it admits none.

    >>> string_part({"type": ["string", "null"], "maxLength": 9}), string_part({"type": "null"})
    ({'maxLength': 9}, None)
    >>> string_part({"enum": ["a", 1]})
    {'enum': ['a']}
    """
    values = listed(leaf)
    if values is not None:
        texts = [value for value in values if isinstance(value, str)]
        return {"enum": texts} if texts else None
    kinds = types_of(leaf)
    if "string" in kinds or (not kinds and _OF_OTHERS.isdisjoint(leaf)):
        return {key: leaf[key] for key in leaf if key in OF_STRINGS}
    return None


def other_part(leaf: Schema) -> Schema | None:
    """What a branch says of anything but strings; None where it admits nothing else.

    >>> other_part({"type": ["string", "null"]}), other_part({"type": "string"})
    ({'type': ['null']}, None)
    """
    values = listed(leaf)
    if values is not None:
        others = [value for value in values if not isinstance(value, str)]
        return {"enum": others} if others else None
    kinds = types_of(leaf)
    if not kinds:
        if not _OF_OTHERS.isdisjoint(leaf):
            return leaf
        return {"type": [kind.value for kind in JsonType if kind is not JsonType.STRING]}
    others = [kind for kind in kinds if kind != "string"]
    if not others:
        return None
    return {key: leaf[key] for key in leaf if key not in OF_STRINGS} | {"type": others}


def any_of(schemas: list[Schema]) -> Schema:
    """A schema of any of these."""
    return schemas[0] if len(schemas) == 1 else {"anyOf": schemas}


def _strings(
    parts: list[Schema], types: Types, words: set[str], around: Around
) -> Iterator[Format]:
    for part in parts:
        if "enum" in part:
            own = [text for text in part["enum"] if typed_json(text, types).json[0] == '"']
            yield from one_of(own, around)
        elif words and not {"pattern", "format"} & part.keys():
            yield text_beginning_with_none_of(words, part, around)
        else:
            yield raw_text(part, around)


def _python_words(leaf: Schema) -> list[str]:
    """The words of a plain branch as Python spells them: templates write them so, too."""
    plain = [kind for kind in _PYTHON_WORDS if _is_plain(leaf, kind) and kind in types_of(leaf)]
    return [word for kind in plain for word in _PYTHON_WORDS[kind]]


def _is_free(part: Schema) -> bool:
    return not part


def _is_plain(leaf: Schema, kind: JsonType) -> bool:
    """Whether a branch admits all values of a type."""
    said = {key for key in leaf if key not in OF_STRINGS and leaf[key] != _SAYS_NOTHING.get(key)}
    kinds = types_of(leaf)
    named = kind in kinds or (kind is JsonType.INTEGER and JsonType.NUMBER in kinds)
    return said <= {"type"} and (named or not kinds)
