"""The JSON Schema of the family file, generated from the models, for editors and checkers."""

from __future__ import annotations

import json
from typing import Any

from tagsmith.spec.models import FamilySpec

DIALECT = "https://json-schema.org/draft/2020-12/schema"

Schema = dict[str, Any]


def family_schema() -> Schema:
    """The schema of a family file, JSON Schema draft 2020-12.

    A file that extends another may leave out, in the mappings it shares with it, what it inherits;
    so below the top a key is required only where there is no `extends`, or inside a list, since
    lists replace.

    >>> family_schema()["required"]
    ['tagsmith', 'id']
    """
    schema = FamilySpec.model_json_schema()
    definitions: dict[str, Schema] = schema["$defs"]
    demands = {name: _demands(part, definitions) for name, part in definitions.items()}
    whole = _demands(schema, definitions)
    for part in [schema, *definitions.values()]:
        _require_in_lists(part, demands)
    for part in definitions.values():
        part.pop("required", None)
    title = {"$schema": DIALECT, "title": "Tagsmith family", "description": schema["description"]}
    alone = {"if": {"not": {"required": ["extends"]}}, "then": whole}
    return {**title, **{key: schema[key] for key in schema if key not in title}, **alone}


def family_schema_text() -> str:
    """The schema as the text of its file."""
    return json.dumps(family_schema(), indent=2, ensure_ascii=False) + "\n"


def _demands(part: Schema, definitions: dict[str, Schema]) -> Schema:
    """What a part requires, with the mappings below it, lists left out."""
    below = {
        key: demands
        for key, value in part.get("properties", {}).items()
        if (definition := definitions.get(_referred(value)))
        and (demands := _demands(definition, definitions))
    }
    found: Schema = {"required": list(part["required"])} if part.get("required") else {}
    return found | ({"properties": below} if below else {})


def _referred(value: Schema) -> str:
    """The definition that a property is, or may be, made of."""
    for choice in [value, *value.get("anyOf", [])]:
        if "$ref" in choice:
            return str(choice["$ref"]).removeprefix("#/$defs/")
    return ""


def _require_in_lists(part: Schema, demands: dict[str, Schema]) -> None:
    for value in part.get("properties", {}).values():
        items = value.get("items", {})
        items.update(demands.get(_referred(items), {}))
