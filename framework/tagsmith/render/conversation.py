"""Reading a conversation: Chat Completions and Cohere v2 messages, as mappings, JSON or objects of
the two SDKs.

The shapes are those of the two API references: `POST /v1/chat/completions` of OpenAI with the keys
that servers give reasoning, and Cohere's `POST /v2/chat`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tagsmith.errors import RequestError
from tagsmith.events import Target
from tagsmith.message import Message
from tagsmith.render.citations import read_citations
from tagsmith.render.contents import (
    read_assistant_content,
    read_instructions,
    read_list,
    read_object,
    read_optional_text,
    read_results,
    read_text,
    read_user_content,
)
from tagsmith.render.turns import (
    AssistantTurn,
    Call,
    Cited,
    Instructions,
    ToolTurn,
    Turn,
    UserTurn,
)
from tagsmith.request.plain import from_json, mapping, named
from tagsmith.wire.options import OffsetUnit
from tagsmith.wording import shortened

_ROLES = ("system", "developer", "user", "assistant", "tool")
_REASONING = ("reasoning_content", "reasoning", "tool_plan")
"""The keys of a message that hold reasoning; thinking blocks come before them."""


def read_conversation(
    messages: Any, *, units: OffsetUnit | str = OffsetUnit.CODE_POINTS
) -> tuple[Turn, ...]:
    """Read the messages of a request.

    Args:
        messages: A list of messages, or its JSON text; a `Message` of Tagsmith is one as well.
        units: What the offsets of earlier citations count.

    Raises:
        RequestError: names the field, as in `messages[3].content[1].type`.

    >>> read_conversation([{"role": "user", "content": "Hi"}])
    (UserTurn(blocks=('Hi',)),)
    """
    unit = named(OffsetUnit, units, "units")
    turns = tuple(
        _turn(message, f"messages[{index}]", unit)
        for index, message in enumerate(message_list(messages))
    )
    _check_ids(turns)
    return turns


def message_list(messages: Any) -> Sequence[Any]:
    """The messages as a list, whichever way they were given."""
    if isinstance(messages, str):
        messages = from_json(messages, "messages")
    if messages is None:
        raise RequestError("messages", "must be a list of messages, not null")
    return read_list(messages, "messages")


def _turn(value: Any, field: str, unit: OffsetUnit) -> Turn:
    if isinstance(value, Message):
        return _parsed_turn(value, field)
    fields = mapping(value, field, "a message")
    role = fields.get("role")
    if not isinstance(role, str) or role.lower() not in _ROLES:
        shown = shortened(repr(role))
        allowed = ", ".join(_ROLES)
        raise RequestError(f"{field}.role", f"unknown value {shown}; allowed: {allowed}")
    role, content = role.lower(), fields.get("content")
    if role == "user":
        return UserTurn(read_user_content(content, f"{field}.content"))
    if role == "assistant":
        return _assistant_turn(fields, field, unit)
    if role == "tool":
        return _tool_turn(fields, field)
    return Instructions(role, read_instructions(content, f"{field}.content"))


def _tool_turn(fields: Mapping[str, Any], field: str) -> ToolTurn:
    call_id = _identifier(fields.get("tool_call_id"), f"{field}.tool_call_id")
    name = read_optional_text(fields.get("name"), f"{field}.name")
    return ToolTurn(call_id, read_results(fields.get("content"), f"{field}.content"), name or None)


def _assistant_turn(fields: Mapping[str, Any], field: str, unit: OffsetUnit) -> AssistantTurn:
    if fields.get("function_call") is not None:
        raise RequestError(f"{field}.function_call", "is not read; give tool_calls")
    content = fields.get("content")
    blocks = read_assistant_content(content, f"{field}.content")
    if content is None and fields.get("refusal") is not None:
        blocks = ((Target.CONTENT, read_text(fields["refusal"], f"{field}.refusal")),)
    texts = {target: "".join(text for kind, text in blocks if kind is target) for target in Target}
    given = [read_optional_text(fields.get(key), f"{field}.{key}") for key in _REASONING]
    texts[Target.REASONING] = next(filter(None, [texts[Target.REASONING], *given]), "")
    calls = read_list(fields.get("tool_calls"), f"{field}.tool_calls")
    return AssistantTurn(
        reasoning=texts[Target.REASONING],
        content=texts[Target.CONTENT],
        calls=tuple(
            _call(call, f"{field}.tool_calls[{index}]") for index, call in enumerate(calls)
        ),
        citations=read_citations(
            fields.get("citations"),
            f"{field}.citations",
            blocks=() if isinstance(content, str) else blocks,
            texts=texts,
            unit=unit,
        ),
    )


def _parsed_turn(message: Message, field: str) -> AssistantTurn:
    calls = tuple(
        Call(
            call.id,
            call.name,
            _arguments(call.arguments, f"{field}.tool_calls[{call.index}].arguments"),
        )
        for call in message.tool_calls
    )
    citations = tuple(
        Cited(cited.target, cited.start, cited.end, positions=cited.positions)
        for cited in message.citations
    )
    return AssistantTurn(message.reasoning or "", message.content or "", calls, citations)


def _call(value: Any, field: str) -> Call:
    call = mapping(value, field, "a tool call")
    call_id = _identifier(call.get("id"), f"{field}.id")
    kind = call.get("type") or "function"
    if kind != "function":
        shown = shortened(repr(kind))
        raise RequestError(f"{field}.type", f"unknown value {shown}; allowed: function")
    field = f"{field}.function"
    function = mapping(call.get("function"), field, "an object with a name and arguments")
    name = _identifier(function.get("name"), f"{field}.name")
    return Call(call_id, name, _arguments(function.get("arguments"), f"{field}.arguments"))


def _arguments(value: Any, field: str) -> dict[str, Any]:
    if value is None or (isinstance(value, str) and not value.strip()):
        return {}
    if isinstance(value, str):
        value = from_json(read_text(value, field), field)
    return read_object(value, field)


def _identifier(value: Any, field: str) -> str:
    if value is None or value == "":
        raise RequestError(field, "is missing; give a text of one character or more")
    return read_text(value, field)


def _check_ids(turns: tuple[Turn, ...]) -> None:
    """A call's id leads from its results to it, so no two calls may have the same."""
    seen: set[str] = set()
    for number, turn in enumerate(turns):
        for index, call in enumerate(turn.calls if isinstance(turn, AssistantTurn) else ()):
            if call.id in seen:
                shown = shortened(repr(call.id))
                raise RequestError(
                    f"messages[{number}].tool_calls[{index}].id",
                    f"an earlier call has the id {shown} too; give each call its own",
                )
            seen.add(call.id)
