"""How the arguments of a call are written: one writer for each argument encoding."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

from tagsmith.engine.templates import call_closers, call_openers
from tagsmith.errors import RequestError
from tagsmith.grammar.arguments.tagged import tagged_writer
from tagsmith.grammar.arguments.written import ArgumentsWriter, WrittenArguments
from tagsmith.grammar.names import unwritten_name
from tagsmith.grammar.schemas.guarded import guard_limits, guarded_json
from tagsmith.grammar.schemas.limits import Limitation
from tagsmith.grammar.schemas.ready import NO_PARAMETERS, ready_parameters
from tagsmith.request import CallableTool, JsonSchema
from tagsmith.request.schemas import KEPT_SCHEMAS
from tagsmith.request.vocabulary import dotted, walk
from tagsmith.spec.models import FamilySpec, ToolCalls

BARE_KEYS_QUOTE = '<|"|>'
"""The only quote that the grammar engine knows for strings beside bare keys."""
_NOT_IN_BARE_KEYS = ":,{}[]<>\"'\n"
_WORDS = {"True", "False", "None"}
"""What is a value's word as a key, too."""


def arguments_writer(spec: FamilySpec, calls: ToolCalls) -> ArgumentsWriter:
    """The writer of a family whose calls are written by templates.

    Raises:
        RequestError: its encoding has no grammar.
    """
    encoding = _ENCODINGS.get(calls.arguments.encoding)
    if encoding is None:
        name, known = calls.arguments.encoding, ", ".join(_ENCODINGS)
        raise RequestError(
            "tools",
            f"family {spec.id}: the argument encoding {name!r} has no grammar; those of {known} do",
        )
    return encoding(spec, calls)


def json_writer(spec: FamilySpec, calls: ToolCalls) -> ArgumentsWriter:
    """Arguments as JSON."""
    return _json


def _json(tool: CallableTool) -> WrittenArguments:
    return _json_of(tool.parameters, tool.strict)


@lru_cache(maxsize=KEPT_SCHEMAS)
def _json_of(schema: JsonSchema | None, strict: bool) -> WrittenArguments:
    value, limits = _schema_of(schema, strict)
    return WrittenArguments.of([guarded_json(value)], limits)


def _schema_of(schema: JsonSchema | None, strict: bool) -> tuple[Any, Any]:
    if not strict:
        return {"type": "object"}, ()
    if schema is None:
        return NO_PARAMETERS, ()
    ready = ready_parameters(schema)
    return ready.unfold(), ready.limits


def _bare_keys_writer(spec: FamilySpec, calls: ToolCalls) -> ArgumentsWriter:
    quote = calls.arguments.quote
    if quote != BARE_KEYS_QUOTE:
        raise RequestError(
            "tools",
            f"family {spec.id}: strings in {quote!r} have no grammar; those in"
            f" {BARE_KEYS_QUOTE!r} do",
        )
    ends = tuple(sorted(call_openers(calls) | call_closers(calls)))
    return lambda tool: _bare_keys(ends, tool.parameters, tool.strict)


@lru_cache(maxsize=KEPT_SCHEMAS)
def _bare_keys(ends: tuple[str, ...], schema: JsonSchema | None, strict: bool) -> WrittenArguments:
    value, limits = _schema_of(schema, strict)
    unwritten = [*_bare_key_limits(value), *guard_limits(value, ends)] if strict else []
    written = guarded_json(value, ends, style="gemma")
    return WrittenArguments.of([written], [*limits, *unwritten])


def _bare_key_limits(schema: Any) -> Iterator[Limitation]:
    """What bare keys cannot say, and what the engine does not hold of them."""
    for path, inner in walk(schema):
        if not isinstance(inner, dict):
            continue
        for name in inner.get("properties", ()):
            is_sign = name != name.strip() or any(char in name for char in _NOT_IN_BARE_KEYS)
            if is_sign or name in _WORDS:
                yield unwritten_name(name, dotted(path))
        for keyword in sorted({"patternProperties", "propertyNames"} & inner.keys()):
            yield Limitation(f"{dotted(path)}.{keyword}", "in this layout it is not held")


_ENCODINGS: dict[str, Callable[[FamilySpec, ToolCalls], ArgumentsWriter]] = {
    "json": json_writer,
    "tagged": tagged_writer,
    "bare-keys": _bare_keys_writer,
}
