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
from tagsmith.request.schemas import KEPT_SCHEMAS, MAX_NESTING, JsonSchema
from tagsmith.request.vocabulary import RULES, dotted, resolve, walk
from tagsmith.wording import shortened

__all__ = ["MAX_NESTING", "check_parameters", "check_schema"]


def check_schema(schema: JsonSchema, field: str, where: str) -> None:
    """Refuse what is no JSON Schema.

    Args:
        schema: What to check.
        field: The field of the request that holds it.
        where: Where in the field, for the message.

    Raises:
        RequestError: says at which keyword, and what it may hold.
    """
    problem, _ = _examined(schema)
    if problem is not None:
        raise RequestError(field, where + problem)


def check_parameters(schema: JsonSchema, field: str, where: str) -> None:
    """Refuse what is no JSON Schema, or describes something else than an object.

    Raises:
        RequestError: says what is wrong and what is allowed.
    """
    check_schema(schema, field, where)
    _, describes_object = _examined(schema)
    if not describes_object:
        raise RequestError(
            field, f'{where} must describe an object; give a schema with "type": "object"'
        )


@lru_cache(maxsize=KEPT_SCHEMAS)
def _examined(schema: JsonSchema) -> tuple[str | None, bool]:
    """The first problem, and whether what is described is an object."""
    root = schema.unfold()
    return next(_problems(root), None), _describes_object(root)


def _describes_object(root: Any) -> bool:
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


def _problems(root: Any) -> Iterator[str]:
    for path, schema in walk(root):
        if isinstance(schema, bool):
            continue
        if not isinstance(schema, dict):
            shown = shortened(repr(schema))
            yield f"{dotted(path)}: {shown} is no JSON Schema; give an object"
            continue
        for key, value in schema.items():
            rule = RULES.get(key)
            if rule is not None and not rule[0](value):
                shown = shortened(repr(value))
                yield f"{dotted(path)}.{key}: {shown} is not allowed here; allowed: {rule[1]}"
        if "$ref" in schema and not _leads_somewhere(root, schema):
            shown = shortened(repr(schema["$ref"]))
            yield f"{dotted(path)}.$ref: {shown} leads to no schema; define what it names"
        for contradiction in contradictions(schema):
            yield f"{dotted(path)}: {contradiction}; change one, as no value can keep both"


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
