"""Whether a draft reads what the template itself writes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tagsmith.authoring.call_bodies import CallBodies
from tagsmith.authoring.conversations import (
    ANSWER,
    ASKED,
    IDS,
    NAMES,
    ONE,
    OTHER,
    THOUGHT,
    TWO,
    TYPED,
    Prompts,
)
from tagsmith.authoring.framing import Framing
from tagsmith.authoring.literals import past, shared_start
from tagsmith.family import Family
from tagsmith.message import Message
from tagsmith.wording import one_line, shortened

_TOOLS = [{"type": "function", "function": {"name": name}} for name in NAMES]
_SHOWN = 160

Calls = Sequence[Mapping[str, Any]]


def read_back(
    family: Family, prompts: Prompts, framing: Framing, bodies: CallBodies | None
) -> Iterator[str]:
    """Each turn of the template that the family reads otherwise than it was written.

    >>> import tagsmith
    >>> list(read_back(tagsmith.get_family("hermes"), Prompts({}), Framing("", ""), None))
    []
    """
    for name, thought in (("answered", None), ("thought", THOUGHT)):
        turn = _turn(
            past(prompts.made[name].text or "", ASKED) if name in prompts.made else None, framing
        )
        if turn is not None and (thought is None or thought in turn):
            yield from _misread(family, framing, turn, "an answer", thought, ANSWER, ())
    if bodies is None:
        return
    for what, turn, calls in (
        ("a call", bodies.one, (ONE,)),
        ("two calls", bodies.two, (ONE, OTHER)),
        ("a call with two arguments", bodies.two_keys, (TWO,)),
        ("a call with a number", bodies.typed, (TYPED,)),
        ("a call without arguments", bodies.none, ({},)),
    ):
        if turn:
            turn = _with_start(family, framing, _with_ids(family, framing.cut(turn)))
            yield from _misread(family, framing, turn, what, None, None, calls)


def _with_start(family: Family, framing: Framing, turn: str) -> str:
    """A turn with what opens it, where that is the beginning of a call."""
    calls, start = family.spec.tool_calls, framing.start.strip()
    is_part = calls is not None and calls.call is not None and calls.call[0].startswith(start)
    return framing.start + turn if start and is_part else turn


def _with_ids(family: Family, turn: str) -> str:
    """A turn with ids as the family has them, where they carry the names of the calls."""
    calls = family.spec.tool_calls
    if calls is None or calls.id.format is None:
        return turn
    for index, (call_id, name) in enumerate(zip(IDS, NAMES, strict=True)):
        said = calls.id.format.replace("{name}", name).replace("{index}", str(index))
        turn = turn.replace(call_id, said)
    return turn


def _turn(text: str | None, framing: Framing) -> str | None:
    if text is None:
        return None
    text = text.removeprefix(framing.asked_end)
    return framing.cut(text.removeprefix(shared_start(text, framing.start)))


def _misread(
    family: Family,
    framing: Framing,
    turn: str,
    what: str,
    thought: str | None,
    answer: str | None,
    calls: Calls,
) -> Iterator[str]:
    start, end = framing.thinks
    # What thinks unless told otherwise has its thought closed by the prompt where there is none.
    closed = framing.start + start + end if end and end not in turn else None
    message = family.parse(turn, prompt=closed, tools=_TOOLS)
    found = (_text(message.reasoning), _text(message.content), _calls(message))
    wanted = (thought, answer, list(zip(NAMES, map(_values, calls), strict=False)))
    if found != wanted:
        shown = shortened(one_line(turn), _SHOWN)
        yield f"a turn with {what}, which the template writes as {shown!r}, is not read as that"


def _text(text: str | None) -> str | None:
    return text.strip() if text else None


def _calls(message: Message) -> list[tuple[str, dict[str, str]]]:
    """The calls, values as text: what type they are, a tool's schema says."""
    found = []
    for call in message.tool_calls:
        try:
            found.append((call.name, _values(json.loads(call.arguments))))
        except (ValueError, AttributeError):
            found.append((call.name, {"": call.arguments}))
    return found


def _values(arguments: Mapping[str, Any]) -> dict[str, str]:
    return {key: str(value) for key, value in arguments.items()}
