"""What a JSON Schema asks that no value can keep: a grammar of nothing cannot be compiled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from math import ceil, floor
from typing import Any

from tagsmith.request.vocabulary import HOLDS_TYPE

COUNTED = (
    ("minLength", "maxLength", "string"),
    ("minItems", "maxItems", "array"),
    ("minProperties", "maxProperties", "object"),
)
"""Keywords that count something, and of which type."""
_RANGE = ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf")
_BOUNDS = {*_RANGE, *(key for low, high, _ in COUNTED for key in (low, high)), "enum", "const"}


def contradictions(schema: dict[str, Any]) -> Iterable[str]:
    """Why no value of a type that a schema allows keeps to its bounds.

    The schema's keywords hold what they may hold.

    >>> list(contradictions({"type": "integer", "minimum": 10, "maximum": 5}))
    ['no number keeps to minimum 10, maximum 5']
    """
    return () if _BOUNDS.isdisjoint(schema) else _contradictions(schema)


def _contradictions(schema: dict[str, Any]) -> Iterator[str]:
    for low, high, kind in COUNTED:
        both = low in schema and high in schema
        if both and schema[low] > schema[high] and _allows(schema, kind):
            yield f"{low} {schema[low]} is above {high} {schema[high]}"
    if (_allows(schema, "number") or _allows(schema, "integer")) and _no_number(schema):
        given = ", ".join(f"{key} {schema[key]}" for key in _RANGE if key in schema)
        yield f"no number keeps to {given}"
    if _allows(schema, "object"):
        yield from _properties(schema)
    if _allows(schema, "array"):
        yield from _items(schema)
    kinds = _types(schema)
    listed = {
        "enum": schema.get("enum", ()),
        "const": [schema["const"]] if "const" in schema else (),
    }
    for key, values in listed.items():
        fits = any(HOLDS_TYPE[kind](value) for kind in kinds for value in values)
        if kinds and values and not fits:
            yield f"{key} holds nothing of type {' or '.join(kinds)}"


def whole_bounds(schema: dict[str, Any]) -> tuple[int | None, int | None]:
    """The least and the greatest integer within a schema's bounds.

    >>> whole_bounds({"minimum": 1.5, "exclusiveMaximum": 4})
    (2, 3)
    """
    lows = [ceil(schema["minimum"])] if "minimum" in schema else []
    lows += [floor(schema["exclusiveMinimum"]) + 1] if "exclusiveMinimum" in schema else []
    highs = [floor(schema["maximum"])] if "maximum" in schema else []
    highs += [ceil(schema["exclusiveMaximum"]) - 1] if "exclusiveMaximum" in schema else []
    return max(lows, default=None), min(highs, default=None)


def _no_number(schema: dict[str, Any]) -> bool:
    if not _allows(schema, "number"):
        least, greatest = whole_bounds(schema)
        if least is None or greatest is None:
            return False
        step = Fraction(str(schema.get("multipleOf", 1)))
        return least > greatest or ceil(least / step) * step > greatest
    lows = [(schema[key], key != "minimum") for key in _RANGE[:2] if key in schema]
    highs = [(schema[key], key == "maximum") for key in _RANGE[2:4] if key in schema]
    if not lows or not highs:
        return False
    (low, open_below), (high, closed_above) = max(lows), min(highs)
    return bool(low > high or (low == high and (open_below or not closed_above)))


def _properties(schema: dict[str, Any]) -> Iterator[str]:
    most = schema.get("maxProperties")
    needed = len(set(schema.get("required", ())))
    if most is not None and needed > most:
        yield f"{needed} properties are required and maxProperties is {most}"
    closed = schema.get("additionalProperties") is False and "patternProperties" not in schema
    least, declared = schema.get("minProperties", 0), len(schema.get("properties", ()))
    if closed and least > declared:
        yield f"minProperties is {least} and no more than {declared} can be given"


def _items(schema: dict[str, Any]) -> Iterator[str]:
    items, first = schema.get("items"), schema.get("prefixItems", [])
    if isinstance(items, list):  # the older drafts' tuple
        items, first = schema.get("additionalItems"), items
    least = schema.get("minItems", 0)
    if items is False and least > len(first):
        yield f"minItems is {least} and no more than {len(first)} can be given"


def _types(schema: dict[str, Any]) -> list[str]:
    stated = schema.get("type", [])
    return stated if isinstance(stated, list) else [stated]


def _allows(schema: dict[str, Any], kind: str) -> bool:
    return not _types(schema) or kind in _types(schema)
