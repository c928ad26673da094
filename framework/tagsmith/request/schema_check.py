"""Is it a JSON Schema? Checked once per schema: the answers are kept for the next request.

The rules are the meta-schema's, as a table of our own: a general validator takes tens of
milliseconds for one tool's parameters, before the first token of an answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from tagsmith.errors import RequestError
from tagsmith.request.bounds import contradictions
from tagsmith.request.schemas import JsonSchema
from tagsmith.request.vocabulary import RULES, dotted, resolve, walk
from tagsmith.wording import shortened

MAX_NESTING = 64
"""How deep objects and lists may stand in each other in one schema."""

_KEPT_ANSWERS = 1024


def check_schema(schema: JsonSchema, field: str, where: str) -> None:
    """Refuse what is no JSON Schema.

    Args:
        schema: What to check.
        field: The field of the request that holds it.
        where: Where in the field, for the message.

    Raises:
        RequestError: says at which keyword, and what it may hold.
    """
    problem = _problem(schema)
    if problem is not None:
        raise RequestError(field, where + problem)


def check_parameters(schema: JsonSchema, field: str, where: str) -> None:
    """Refuse what is no JSON Schema, or describes something else than an object.

    Raises:
        RequestError: says what is wrong and what is allowed.
    """
    check_schema(schema, field, where)
    if not _describes_object(schema):
        raise RequestError(
            field, f'{where} must describe an object; give a schema with "type": "object"'
        )


@lru_cache(maxsize=_KEPT_ANSWERS)
def _describes_object(schema: JsonSchema) -> bool:
    root = schema.canonical()
    target = root
    for _ in range(MAX_NESTING):
        if not isinstance(target, dict) or not isinstance(target.get("$ref"), str):
            break
        try:
            target = resolve(root, target["$ref"])
        except KeyError:
            break
    if not isinstance(target, dict):
        return False
    types = target.get("type", "object")
    return "object" in (types if isinstance(types, list) else [types])


@lru_cache(maxsize=_KEPT_ANSWERS)
def _problem(schema: JsonSchema) -> str | None:
    if _too_deep(schema.unfold()):
        return f" are nested deeper than {MAX_NESTING} levels; flatten them"
    try:
        root = schema.canonical()
    except (TypeError, ValueError) as error:
        return f" hold something that JSON has no word for ({error}); give a JSON Schema"
    return next(_problems(root), None)


def _too_deep(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_NESTING + 1):
        level = [child for item in level for child in _children(item)]
        if not level:
            return False
    return True


def _children(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return list(value) if isinstance(value, list | tuple) else []


def _problems(root: Any) -> Iterator[str]:
    for path, schema in walk(root):
        here = dotted(path)
        if isinstance(schema, bool):
            continue
        if not isinstance(schema, dict):
            yield f"{here}: {shortened(repr(schema))} is no JSON Schema; give an object"
            continue
        for key, value in schema.items():
            rule = RULES.get(key)
            if rule is not None and not rule[0](value):
                shown = shortened(repr(value))
                yield f"{here}.{key}: {shown} is not allowed here; allowed: {rule[1]}"
        if isinstance(schema.get("$ref"), str) and not _leads_somewhere(root, schema):
            shown = shortened(repr(schema["$ref"]))
            yield f"{here}.$ref: {shown} leads to no schema; define what it names"
        for contradiction in contradictions(schema):
            yield f"{here}: {contradiction}; change one, as no value can keep both"


def _leads_somewhere(root: Any, schema: Any) -> bool:
    seen: list[Any] = []
    while isinstance(schema, dict) and isinstance(schema.get("$ref"), str):
        if any(schema is passed for passed in seen):
            return False
        seen.append(schema)
        reference = schema["$ref"]
        if reference != "#" and not reference.startswith("#/"):
            # A reference out of the document, or by anchor: no grammar follows it, see there.
            return True
        try:
            schema = resolve(root, reference)
        except KeyError:
            return False
    return isinstance(schema, dict | bool)
