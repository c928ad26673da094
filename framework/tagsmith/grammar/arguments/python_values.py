"""Values as Python writes them, held to a schema."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from tagsmith.grammar.arguments.raw_text import Around, raw_limits, raw_text
from tagsmith.grammar.formats import (
    SPACE,
    Format,
    const,
    either,
    grammar,
    json_schema,
    optional,
    regex,
    repeat,
    sequence,
    star,
)
from tagsmith.grammar.regexes import other_than
from tagsmith.grammar.schemas.branches import (
    OF_STRINGS,
    Schema,
    Shape,
    branches,
    detached,
    listed,
    shape_limits,
    shapes,
    types_of,
)
from tagsmith.grammar.schemas.limits import Limitation

_COMMA = regex("," + SPACE)
_COLON = regex(":" + SPACE)
_QUOTES = ('"', "'")
_ESCAPE = r"\\(?:[\"'\\nrtbf]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4})"
_STRINGS = [regex(rf"{q}(?:[^{q}\\\x00-\x1f]|{_ESCAPE})*{q}") for q in _QUOTES]
_OF_JSON_LISTS = {"prefixItems", "unevaluatedItems"}
_NOT_IN_KEYS = frozenset("\"'\\\t\n\r")
_ANYTHING = r"""
root ::= "True" | "False" | "None" | string | number | list | dict
list ::= "[" blank (root (blank "," blank root)*)? blank "]"
dict ::= "{" blank (pair (blank "," blank pair)*)? blank "}"
pair ::= string blank ":" blank root
string ::= "\"" ([^"\\\x00-\x1f] | escape)* "\"" | "'" ([^'\\\x00-\x1f] | escape)* "'"
escape ::= "\\" (["'\\nrtbf] | "x" hex{2} | "u" hex{4})
hex ::= [0-9a-fA-F]
number ::= "-"? ("0" | [1-9] [0-9]*) ("." [0-9]+)? ([eE] [-+]? [0-9]+)?
blank ::= [ \t\n\r]{0,64}
"""
_DEEPEST = 6
"""How deep lists and objects are written as Python does; what lies deeper is JSON, which is read as
well."""
_MOST_WRITTEN = 40
"""How many nested values of one tool are written as Python does."""
_MOST_WITHIN_ITSELF = 3
"""How often a schema is written out within itself."""


def joined(entries: Sequence[tuple[Format, bool]], other: Format | None = None) -> Format:
    """Entries in their order, with commas between them, each with whether it must be there; after
    them any number of another one.

    >>> joined([(const("a"), True), (const("b"), False)])["elements"][0]
    {'type': 'const_string', 'value': 'a'}
    """
    more = [] if other is None else [star(sequence(_COMMA, other))]
    pivot = next((at for at, (_, needed) in enumerate(entries) if needed), None)
    if pivot is not None:
        before = [optional(sequence(entry, _COMMA)) for entry, _ in entries[:pivot]]
        return sequence(*before, entries[pivot][0], *_after(entries[pivot + 1 :]), *more)
    ways = [] if other is None else [other]
    if entries:
        ways.insert(0, _some([entry for entry, _ in entries]))
    return optional(sequence(either(ways), *more)) if ways else const("")


def _some(entries: Sequence[Format]) -> Format:
    """At least one of these, in their order; halved, it is written out far fewer times than each
    one's turn to be the first would take."""
    if len(entries) == 1:
        return entries[0]
    middle = len(entries) // 2
    first, second = entries[:middle], entries[middle:]
    return either(
        [sequence(_some(first), *(optional(sequence(_COMMA, e)) for e in second)), _some(second)]
    )


class PythonValues:
    """Writes the values of one schema's parts; `root` is the whole of it."""

    def __init__(self, root: Any) -> None:
        self._root = root
        self._left = _MOST_WRITTEN

    def of(self, schema: Any, within: tuple[int, ...] = ()) -> Format:
        """A value of this schema; `within` are the branches that it is a part of.

        >>> PythonValues({}).of({"type": "boolean"})["elements"][0]
        {'type': 'const_string', 'value': 'True'}
        """
        leaves = branches(self._root, schema)
        ways = [way for leaf in leaves for way in self._leaf(leaf, within)]
        return either(ways or [const("None")])

    def _leaf(self, leaf: Schema, within: tuple[int, ...]) -> Iterator[Format]:
        values = listed(leaf)
        if values is not None:
            yield from (const(way) for value in values for way in _literals(value))
        elif self._is_too_much(leaf, within):
            yield json_schema(detached(self._root, leaf))
        else:
            self._left -= len(within)
            kinds = types_of(leaf) or _kinds_of(leaf)
            for kind in kinds:
                yield from self._typed(leaf, kind, (*within, id(leaf)))
            if not kinds:
                yield grammar(_ANYTHING) if not leaf else json_schema(detached(self._root, leaf))

    def _is_too_much(self, leaf: Schema, within: tuple[int, ...]) -> bool:
        """Whether a branch is to be JSON: what is nested stands there many times."""
        if not {"object", "array"} & {*(types_of(leaf) or _kinds_of(leaf))}:
            return False
        is_deep = len(within) >= _DEEPEST or within.count(id(leaf)) >= _MOST_WITHIN_ITSELF
        return is_deep or self._left < 0

    def _typed(self, leaf: Schema, kind: str, within: tuple[int, ...]) -> Iterator[Format]:
        if kind == "boolean":
            yield from (const("True"), const("False"))
        elif kind == "null":
            yield const("None")
        elif kind in ("array", "object") and _is_counted(leaf, kind):
            yield json_schema(detached(self._root, _as(leaf, kind)))
        elif kind == "object":
            yield from (
                self._object(shape, within) for shape in shapes(self._root, _as(leaf, kind))
            )
        elif kind == "array":
            yield self._array(leaf, within)
        elif kind == "string":
            yield from _STRINGS if OF_STRINGS.isdisjoint(leaf) else _quoted(leaf)
        else:
            yield json_schema(_as(leaf, kind))

    def _array(self, leaf: Schema, within: tuple[int, ...]) -> Format:
        least, most = leaf.get("minItems", 0), leaf.get("maxItems")
        rest = leaf.get("items", True)
        if rest is False or most == 0:
            return const("[]")
        item = self.of(rest, within)
        more = repeat(sequence(_COMMA, item), max(least - 1, 0), None if most is None else most - 1)
        items = sequence(item, more)
        return sequence("[", items if least else optional(items), "]")

    def _object(self, shape: Shape, within: tuple[int, ...]) -> Format:
        entries = [
            (sequence(_key(each.name), _COLON, self.of(each.schema, within)), each.required)
            for each in shape.parameters
        ]
        other = None
        if shape.others is not False:
            key = other_than([each.name for each in shape.parameters], _NOT_IN_KEYS)
            quoted = either([regex(f"{quote}{key}{quote}") for quote in _QUOTES])
            other = sequence(quoted, _COLON, self.of(shape.others, within))
        return sequence("{", joined(entries, other), "}")


def _kinds_of(leaf: Schema) -> list[str]:
    """The type that a branch is about, though it names none."""
    if "properties" in leaf:
        return ["object"]
    return ["array"] if "items" in leaf or "prefixItems" in leaf else []


def _as(leaf: Schema, kind: str) -> Schema:
    return {**leaf, "type": kind}


def value_limits(root: Any, schema: Any, depth: int = 0) -> Iterator[Limitation]:
    """What a schema asks of a value that Python's way of writing it is not held to."""
    for leaf in branches(root, schema):
        if "string" in types_of(leaf) and list(raw_limits(leaf, _within(_QUOTES[1]))):
            yield from raw_limits(leaf, _within(_QUOTES[0]))
        inner = [*leaf.get("properties", {}).values(), leaf.get("items", True)]
        for part in inner if depth < _DEEPEST else ():
            yield from value_limits(root, part, depth + 1)


def _is_counted(leaf: Schema, kind: str) -> bool:
    """Whether a branch says of lists or objects what JSON alone is held to."""
    if kind == "array":
        return not _OF_JSON_LISTS.isdisjoint(leaf)
    return bool(list(shape_limits(leaf)))


def _within(quote: str) -> Around:
    return Around((quote, "\\", "\n", "\r"))


def _quoted(leaf: Schema) -> list[Format]:
    usable = [quote for quote in _QUOTES if not list(raw_limits(leaf, _within(quote)))]
    return [sequence(q, raw_text(leaf, _within(q)), q) for q in usable or _QUOTES[:1]]


def _literals(value: Any) -> list[str]:
    """The usual ways to write a value: a string in either quotes, where that needs no escapes."""
    if isinstance(value, str):
        double = json.dumps(value, ensure_ascii=False)
        return [double, f"'{value}'"] if double == f'"{value}"' and "'" not in value else [double]
    if isinstance(value, dict | list):
        double = _literal(value)
        single = repr(value)
        return [double] if double == single or "\\" in single else [double, single]
    return [repr(value)]


def _literal(value: Any) -> str:
    """A value with its strings in double quotes."""
    if isinstance(value, dict):
        inner = (f"{_literal(key)}: {_literal(item)}" for key, item in value.items())
        return "{" + ", ".join(inner) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_literal, value)) + "]"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def _key(name: str) -> Format:
    return either([const(way) for way in _literals(name)])


def _after(entries: Sequence[tuple[Format, bool]]) -> list[Format]:
    """Entries that follow one."""
    spaced = [(sequence(_COMMA, entry), needed) for entry, needed in entries]
    return [entry if needed else optional(entry) for entry, needed in spaced]
