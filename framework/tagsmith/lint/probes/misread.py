"""Law 8 on one text: what a grammar let through must be what the parser reads."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from tagsmith.events import DiagnosticCode
from tagsmith.family import Family
from tagsmith.lint.probes.asked import Asked
from tagsmith.message import Message, ToolCall
from tagsmith.spec.policies import CallLayout
from tagsmith.wording import shortened

_NO_PARAMETERS: dict[str, Any] = {"maxProperties": 0}
_UNSAYABLE = {DiagnosticCode.DUPLICATE_ID, DiagnosticCode.DUPLICATE_KEY}
"""What no grammar keeps a model from."""
_MAX_ID = 64
"""A longer id is not matched: a pattern may take for ever over it."""


def misread(family: Family, asked: Asked, text: str) -> str | None:
    """What the native parser makes of a text of `asked.tag` that it should not, or None."""
    message = family.parse(
        text,
        tools=list(asked.tools),
        tool_choice=asked.tool_choice if asked.tools else None,
        prompt=asked.prompt(family, text),
        engine="native",
    )
    return next(_faults(asked, message, _written_ids(family)), None)


def _written_ids(family: Family) -> str | None:
    """What the ids of calls match, where the family writes ids of a pattern."""
    calls = family.spec.tool_calls
    if calls is None or calls.id.format is not None:
        return None
    form = (calls.call or ("",))[0]
    is_written = calls.keys.id is not None if calls.layout is CallLayout.JSON else "{id}" in form
    return calls.id.pattern if is_written else None


def _faults(asked: Asked, message: Message, ids: str | None) -> Iterator[str]:
    for diagnostic in message.diagnostics:
        if diagnostic.code not in _UNSAYABLE:
            yield f"'{diagnostic.code}' at character {diagnostic.offset} ({diagnostic.message})"
    yield from _call_faults(asked, message)
    for call in message.tool_calls:
        if ids is not None and len(call.id) <= _MAX_ID and not re.fullmatch(ids, call.id):
            yield f"the id {call.id!r}, which the pattern of ids does not match"
    if asked.schema is not None and not message.tool_calls and not asked.needs_call:
        wrong = _wrong_document(message.content or "", asked.schema)
        if wrong:
            yield f"an answer that is not what was asked for ({wrong})"


def _call_faults(asked: Asked, message: Message) -> Iterator[str]:
    if asked.needs_call and not message.tool_calls:
        yield "no call, where one is required"
    if len(message.tool_calls) > 1 and not asked.parallel_tool_calls:
        yield f"{len(message.tool_calls)} calls, where one is allowed"
    known = {tool["name"]: tool.get("parameters", _NO_PARAMETERS) for tool in asked.tools}
    for call in message.tool_calls:
        yield from _faults_of(call, known)


def _faults_of(call: ToolCall, known: dict[str, dict[str, Any]]) -> Iterator[str]:
    if not call.complete:
        yield f"a call of {call.name!r} that is cut short"
    if call.name not in known:
        yield f"a call of {shortened(call.name)!r}, which is no tool of the request"
        return
    wrong = _wrong_document(call.arguments, known[call.name])
    if wrong:
        yield f"arguments of {call.name!r} that its schema does not allow ({wrong})"


def _wrong_document(text: str, schema: dict[str, Any]) -> str | None:
    """What is wrong with a JSON document; nothing is said of one that gives a key twice."""
    repeated = False

    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal repeated
        value = dict(found)
        repeated = repeated or len(value) < len(found)
        return value

    try:
        value = json.loads(text, object_pairs_hook=pairs)
    except ValueError:
        return f"{shortened(repr(text))} is no JSON"
    if repeated:
        return None
    import jsonschema

    error = next(jsonschema.Draft202012Validator(schema).iter_errors(value), None)
    return None if error is None else shortened(error.message)
