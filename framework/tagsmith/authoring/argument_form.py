"""How a template writes the arguments of one call."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tagsmith.authoring.call_bodies import CallBodies
from tagsmith.authoring.conversations import IDS, KEYS, NAMES, NUMBER, ONE, VALUES
from tagsmith.authoring.literals import atoms, between, shared_end, shared_start

_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class ArgumentForm:
    """The encoding, and where the arguments stand in the text of the first call."""

    said: Mapping[str, Any]
    """`tool_calls.arguments`."""
    why: str
    start: int
    """Where the arguments start, with the name before them."""
    end: int
    """Where the last thing ends that is known to be theirs."""
    closes: str = ""
    """What of the text behind `end` is theirs as well."""

    def tail(self, text: str) -> str:
        """What stands behind the arguments, of a text that begins at `end`."""
        return text.removeprefix(self.closes)


def find_arguments(bodies: CallBodies) -> ArgumentForm | None:
    """The form of the arguments; None where it is none that the format can say."""
    name = max(
        bodies.one.find(text) + len(text) for text in (NAMES[0], IDS[0]) if text in bodies.one
    )
    return _json(bodies.one, name) or _bare_keys(bodies.one, name) or _tagged(bodies, name)


def _json(body: str, name: int) -> ArgumentForm | None:
    start = body.find("{", name)
    try:
        value, end = _DECODER.raw_decode(body, start) if start >= 0 else (None, 0)
    except ValueError:
        return None
    if value != ONE:
        return None
    return ArgumentForm({"encoding": "json"}, "the arguments are JSON", start, end)


def _bare_keys(body: str, name: int) -> ArgumentForm | None:
    start = body.find("{" + KEYS[0] + ":", name)
    if start < 0:
        return None
    quote = (between(body[start:], f"{KEYS[0]}:", VALUES[0]) or "").strip()
    value = body.index(VALUES[0], start) + len(VALUES[0])
    end = body.find("}", value)
    if not quote or end < 0 or body[value:end].strip() != quote:
        return None
    why = "keys stand bare, strings between marks of their own"
    return ArgumentForm({"encoding": "bare-keys", "quote": quote}, why, start, end + 1)


def _tagged(bodies: CallBodies, name: int) -> ArgumentForm | None:
    key = bodies.one.find(KEYS[0], name)
    gap = between(bodies.two_keys, VALUES[0], KEYS[1])
    middle = between(bodies.one, KEYS[0], VALUES[0])
    if key < 0 or gap is None or middle is None:
        return None
    before, end = bodies.one[name:key], bodies.one.index(VALUES[0], key) + len(VALUES[0])
    opens = shared_end(before, gap)
    closes = shared_start(bodies.one[end:], gap[: len(gap) - len(opens.lstrip())])
    # What is blank before a parameter belongs to what stands before it.
    start = key - len(opens.lstrip())
    number = between(bodies.typed, KEYS[0], str(NUMBER))
    said, middle = _values(middle, number)
    tail = closes
    if said.get("values") == {"string": "json"}:
        tail = closes.removeprefix('"')
    parameter = opens.lstrip() + "{key}" + middle + "{value}" + tail
    return ArgumentForm(
        {"encoding": "tagged", "parameter": parameter, **said},
        "each argument stands in text of its own",
        start,
        end,
        closes,
    )


def _values(text: str, number: str | None) -> tuple[dict[str, Any], str]:
    """How values are written, and what stands before one: where a string and a number differ, the
    output says the type."""
    if number is None or number == text:
        return {}, text
    if text == number + '"':
        return {"values": {"string": "json"}}, number
    before, after = shared_start(text, number), shared_end(text, number)
    one, other = (t[len(before) : len(t) - len(after)] for t in (text, number))
    is_word = all(len(atoms(word)) == 1 and word.strip() for word in (one, other))
    if not is_word:
        return {}, text
    return {"types": {"string": one, "other": [other]}}, f"{before}{{type}}{after}"
