"""A checked JSON Schema, made ready for the grammar engine: once per schema, then kept.

xgrammar reads some schemas as less, or as something else, than they say. What has an equal
spelling that it reads rightly is rewritten; what has none is a limitation.
"""

from __future__ import annotations

import marshal
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from tagsmith.grammar.schemas.limits import BOUNDS, Limitation, find_limits
from tagsmith.grammar.schemas.patterns import pattern_problem, whole_value
from tagsmith.request.bounds import COUNTED, whole_bounds
from tagsmith.request.schemas import KEPT_SCHEMAS, JsonSchema
from tagsmith.request.vocabulary import ANNOTATIONS, COUNTS, HOLDS_TYPE, TYPES, walk

_OPEN_OBJECT = {"properties", "additionalProperties", "patternProperties", "unevaluatedProperties"}
_OPEN_ARRAY = {"items", "prefixItems", "unevaluatedItems"}
_SHAPES = {"type", "$ref", "anyOf", "oneOf", "allOf", "enum", "const"}
_COUNT_OF = {word: kind for low, high, kind in COUNTED for word in (low, high)}
"""Of which type each of these counts something."""
_MOST = 2**31 - 1
"""What no output has more of, and the engine counts up to."""
_HOLD_DEFINITIONS = {"$defs", "definitions"}
_VALUES = {"enum", "pattern", "patternProperties"}
_SCALARS = [kind for kind in TYPES if kind not in ("object", "array")]

NO_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {},
    "additionalProperties": False,
}
"""What a tool without parameters takes: `{}` alone."""


@dataclass(frozen=True, slots=True)
class ReadySchema:
    """A schema as the grammar engine is to read it."""

    packed: bytes
    limits: tuple[Limitation, ...]

    def unfold(self) -> Any:
        """A fresh copy, the caller's own."""
        return marshal.loads(self.packed)


@lru_cache(maxsize=KEPT_SCHEMAS)
def ready_document(schema: JsonSchema) -> ReadySchema:
    """Make the schema of a whole answer ready."""
    return _ready(schema.unfold())


@lru_cache(maxsize=KEPT_SCHEMAS)
def ready_parameters(schema: JsonSchema) -> ReadySchema:
    """Make the schema of a tool's arguments ready: an object, `{}` alone where it is empty."""
    root = schema.unfold()
    if not root:
        root = dict(NO_PARAMETERS)
    elif isinstance(root.get("type"), list) or _SHAPES.isdisjoint(root):
        root["type"] = "object"
    _keep_objects(root)
    return _ready(root)


def _keep_objects(schema: Any) -> bool:
    """Leave out of a schema's branches what is no object; False where nothing is left."""
    if not isinstance(schema, dict):
        return bool(schema)
    for word in {"anyOf", "oneOf"} & schema.keys():
        branches = [{"type": "object"} if branch is True else branch for branch in schema[word]]
        schema[word] = [branch for branch in branches if _keep_objects(branch)]
        return bool(schema[word])
    if "$ref" in schema or "allOf" in schema:
        return True
    kinds = schema.get("type", "object")
    is_object = "object" in (kinds if isinstance(kinds, list) else [kinds])
    if is_object and not {"const", "enum"} & schema.keys():
        schema["type"] = "object"
    return is_object


def _ready(root: Any) -> ReadySchema:
    found = walk(root)
    limits = tuple(find_limits(found))
    schemas = [schema for _, schema in found if isinstance(schema, dict)]
    for schema in reversed(schemas):
        _rewrite(schema)
    return ReadySchema(marshal.dumps(root), limits)


def _rewrite(schema: dict[str, Any]) -> None:
    """Rewrite a schema in place: it is our own copy, and all inside it is rewritten already."""
    for annotation in ANNOTATIONS.intersection(schema):
        del schema[annotation]
    for count in COUNTS.intersection(schema):
        schema[count] = int(schema[count])
        if count.startswith("max") and schema[count] > _MOST:
            del schema[count]
    if isinstance(schema.get("type"), list) and not COUNTS.isdisjoint(schema):
        _rewrite_types(schema)
        return
    if not schema.keys().isdisjoint(BOUNDS):
        _rewrite_range(schema)
    if not _VALUES.isdisjoint(schema):
        _rewrite_values(schema)
    if schema.get("type") not in _SCALARS:
        _rewrite_array(schema)
        _rewrite_object(schema)


def _rewrite_types(schema: dict[str, Any]) -> None:
    """Beside several types, xgrammar counts nothing: each becomes a branch of its own."""
    whole = {key: schema.pop(key) for key in list(schema) if key not in _HOLD_DEFINITIONS}
    schema["anyOf"] = [
        {key: whole[key] for key in whole if _COUNT_OF.get(key, kind) == kind} | {"type": kind}
        for kind in whole["type"]
    ]
    for branch in schema["anyOf"]:
        _rewrite(branch)


def _rewrite_object(schema: dict[str, Any]) -> None:
    if "required" not in schema and schema.get("type") != "object":
        return
    if schema.get("type", "object") == "object" and _OPEN_OBJECT.isdisjoint(schema):
        # Beside any other keyword, xgrammar takes an object without properties for `{}` alone.
        schema["additionalProperties"] = schema.get("unevaluatedProperties", True)
    declared = _OPEN_OBJECT & schema.keys() == {"properties"}
    if declared and schema.get("minProperties", 0) > len(schema["properties"]):
        # Others are needed, and xgrammar takes none where nothing asks for them.
        schema["additionalProperties"] = True
    others = schema.get("additionalProperties", True)
    if others is not False and "patternProperties" not in schema:
        # A required property that is not declared would not be asked for at all.
        declared = schema.get("properties", {})
        missing = {name: others for name in schema.get("required", ()) if name not in declared}
        if missing:
            schema["properties"] = {**declared, **missing}


def _rewrite_range(schema: dict[str, Any]) -> None:
    kinds = schema["type"] if isinstance(schema.get("type"), list) else [schema.get("type")]
    fractions = any(isinstance(schema.get(key), float) for key in BOUNDS)
    if fractions and "integer" in kinds and "number" not in kinds:
        # xgrammar takes none but whole numbers.
        bounds = dict(zip(("minimum", "maximum"), whole_bounds(schema), strict=True))
        for key in schema.keys() & BOUNDS:
            del schema[key]
        schema.update({key: bound for key, bound in bounds.items() if bound is not None})


def _rewrite_array(schema: dict[str, Any]) -> None:
    if isinstance(schema.get("items"), list):
        # The older drafts' tuple.
        schema["prefixItems"] = schema.pop("items")
        if "additionalItems" in schema:
            schema["items"] = schema.pop("additionalItems")
    if "maxItems" in schema and "prefixItems" in schema:
        # What stands behind the last item that may be given says nothing.
        schema["prefixItems"] = schema["prefixItems"][: int(schema["maxItems"])]
    first = _OPEN_ARRAY & schema.keys() == {"prefixItems"}
    if first and schema.get("minItems", 0) > len(schema["prefixItems"]):
        schema["items"] = True
    if schema.get("type") == "array" and _OPEN_ARRAY.isdisjoint(schema):
        # Beside any other keyword, xgrammar takes an array without items for `[]` alone.
        schema["items"] = True


def _rewrite_values(schema: dict[str, Any]) -> None:
    if "enum" in schema and "type" in schema:
        # xgrammar reads past the type beside an enum.
        kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        schema["enum"] = [
            value for value in schema["enum"] if any(HOLDS_TYPE[kind](value) for kind in kinds)
        ]
    if "pattern" in schema and pattern_problem(schema["pattern"]) is None:
        schema["pattern"] = whole_value(schema["pattern"])
    if "patternProperties" in schema:
        schema["patternProperties"] = {
            whole_value(key) if pattern_problem(key) is None else key: inner
            for key, inner in schema["patternProperties"].items()
        }
