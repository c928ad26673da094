"""How a template writes tool calls: the layout, the region around them, the keys or the text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tagsmith.authoring.argument_form import ArgumentForm, find_arguments
from tagsmith.authoring.call_bodies import CallBodies
from tagsmith.authoring.conversations import IDS, KEYS, NAMES, ONE
from tagsmith.authoring.framing import Framing, Pair
from tagsmith.authoring.literals import OPPOSITES, Tokens, shared_end, shared_start

Said = dict[str, Any]
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class CallForm:
    """What a family file says of calls, and where each part comes from."""

    region: Pair
    """The markers around the calls; empty where there are none."""
    calls: Said
    """`tool_calls`, in the order of the file."""
    why: Mapping[str, str]
    """A reason for a key."""
    unsure: Mapping[str, str]
    """What nothing shows, for a key."""
    rest: str
    """What the template writes behind the calls, up to the tool's result."""


def find_call_form(bodies: CallBodies, framing: Framing, tokens: Tokens) -> CallForm | None:
    """The form of the calls; None where it is none that the format can say."""
    found = _json_value(bodies.one)
    if found is not None:
        return _json_form(bodies, found, tokens)
    pythonic = re.search(rf"\[?\s*{NAMES[0]}\({KEYS[0]}\s*=", bodies.one)
    if pythonic is not None:
        return _pythonic_form(bodies, pythonic.start(), tokens)
    return _template_form(bodies, framing, tokens)


@dataclass(frozen=True, slots=True)
class _Json:
    start: int
    end: int
    value: Any

    @property
    def call(self) -> Any:
        return self.value[0] if isinstance(self.value, list) else self.value


def _json_value(body: str) -> _Json | None:
    """The outermost JSON that a call's name stands in."""
    name = body.find(NAMES[0])
    for match in re.finditer(r"[\[{]", body[: max(name, 0)]):
        try:
            value, end = _DECODER.raw_decode(body, match.start())
        except (ValueError, RecursionError):
            continue
        if end > name:
            return _Json(match.start(), end, value)
    return None


def _json_form(bodies: CallBodies, found: _Json, tokens: Tokens) -> CallForm | None:
    call = found.call
    keys = _json_keys(call) if isinstance(call, dict) else {}
    if not {"name", "arguments"} <= keys.keys():
        return None
    before = bodies.one[: found.start].strip()
    own_region = _repeats(bodies.two, before)
    is_array = isinstance(found.value, list) or not own_region
    container = "array" if is_array and bodies.two else "object"
    region, rest = _region(before, bodies.one[found.end :], tokens)
    calls: Said = {"layout": "json", "container": container, "keys": keys}
    why = {
        "layout": "a call is a JSON object",
        "container": "as two calls in a turn stand" if bodies.two else "",
        "keys": "as a call with a name, an id and an argument has them",
    }
    unsure = {} if bodies.two else {"container": "the template takes one call a turn"}
    _guess_unmarked(region, calls, unsure)
    return CallForm(region, calls, why, unsure, rest)


def _json_keys(call: Mapping[str, Any]) -> Said:
    """Which key stands for what. An id behind the arguments comes too late to be the call's."""
    keys: Said = {}
    other: list[str] = []
    for key, value in call.items():
        if value == NAMES[0]:
            keys["name"] = key
        elif value == ONE or value == json.dumps(ONE):
            keys["arguments"] = key
        elif "arguments" not in keys and _is_id(key, value):
            keys["id"] = key
        else:
            other.append(key)
    return {
        **dict(sorted(keys.items(), key=lambda item: item[0] != "id")),
        **({"other": other} if other else {}),
    }


def _is_id(key: str, value: Any) -> bool:
    return value == IDS[0] or ("id" in key.lower() and isinstance(value, str) and value.isdigit())


def _repeats(two: str, marker: str) -> bool:
    """Whether each of two calls has a marker of its own."""
    return bool(marker) and two.count(marker) > 1


def _pythonic_form(bodies: CallBodies, start: int, tokens: Tokens) -> CallForm:
    end = re.compile(r"\)\s*\]?").search(bodies.one, start)
    after = bodies.one[end.end() :] if end else ""
    region, rest = _region(bodies.one[:start].strip(), after, tokens)
    calls: Said = {"layout": "pythonic"}
    unsure: dict[str, str] = {}
    _guess_unmarked(region, calls, unsure)
    return CallForm(region, calls, {"layout": "calls are written as in Python"}, unsure, rest)


def _guess_unmarked(region: Pair, calls: Said, unsure: dict[str, str]) -> None:
    """Where no region marks calls, their place does."""
    if not region[0]:
        calls["unmarked"] = "at-start"
        unsure["unmarked"] = "nothing marks a call, so that it is one where an answer would begin"


def _region(before: str, after: str, tokens: Tokens) -> tuple[Pair, str]:
    """The markers around calls, and what comes behind them: the end of the turn, and more."""
    if not before:
        return ("", ""), after
    closer = next(iter(tokens.find(after)), "")
    likely = set(_closers(before))
    found = closer if closer in likely else ""
    return (before, found), after.partition(found)[2] if found else after


def _closers(opener: str) -> Iterator[str]:
    """What may close what this opens."""
    last = (
        opener.rsplit(">", 2)[-2] + ">"
        if opener.endswith(">") and opener.count(">") > 1
        else opener
    )
    for text in {opener, last}:
        yield text[:1] + "/" + text[1:]
        yield text.replace("<|", "<|/")
        yield re.sub(r"^<\|(.*)>$", r"<\1|>", text)
        for one, other in OPPOSITES:
            yield text.replace(one, other) if one in text else ""


def _template_form(bodies: CallBodies, framing: Framing, tokens: Tokens) -> CallForm | None:
    arguments = find_arguments(bodies)
    if arguments is None:
        return None
    hole = _first_hole(bodies.one, 0)
    before, after = bodies.one[:hole], bodies.one[arguments.end :]
    if bodies.two:
        second = _first_hole(bodies.two, 1)
        gap = bodies.two[arguments.end : second]
        opens = shared_end(before, gap)
        closes = shared_start(after, gap[: len(gap) - len(opens.lstrip())])
        rest = after[len(closes) :]
    else:
        opens = before
        closes, rest = _only_closer(after, framing, tokens)
    outside = before[: len(before) - len(opens)].strip()
    if not outside and bodies.saying.endswith(framing.start.rstrip() + opens):
        # A call is a turn of its own, whatever the assistant said before.
        opens = framing.start.rstrip() + opens
    region, rest = _region(outside, rest, tokens) if outside else (("", ""), rest)
    head = opens if outside else opens.lstrip()
    text = (
        head
        + _with_holes(bodies.one[hole : arguments.start])
        + "{arguments}"
        + arguments.tail(closes)
    )
    container = "array" if outside and bodies.two else "object"
    if not outside:
        region, text = _split_region(text.strip(), tokens)
    return _template_result(region, container, text, arguments, rest, tokens, bodies)


def _only_closer(after: str, framing: Framing, tokens: Tokens) -> Pair:
    """What ends a call that no other follows, and what ends the turn with it.

    That is all up to the turn's end, or else the first token, which ends both.
    """
    closer = framing.cut(after)
    if closer != after:
        return closer, ""
    first = tokens.first(after)
    return after[: after.find(first) + len(first)], first


def _first_hole(body: str, number: int) -> int:
    places = [body.find(text) for text in (NAMES[number], IDS[number]) if text in body]
    return min(places, default=0)


def _with_holes(text: str) -> str:
    return text.replace(NAMES[0], "{name}").replace(IDS[0], "{id}")


def _split_region(text: str, tokens: Tokens) -> tuple[Pair, str]:
    """A call in markers of its own, where more stands between them and the call's parts."""
    found = tokens.find(text)
    opener, closer = (found[0], found[-1]) if len(found) > 1 else ("", "")
    inner = text[len(opener) : len(text) - len(closer)]
    is_pair = text.startswith(opener) and text.endswith(closer) and closer in set(_closers(opener))
    first = inner.lstrip()[:1]
    begins_with_tag = first not in ("", "{") and not first.isalnum()
    if opener and is_pair and begins_with_tag and "{name}" in inner:
        return (opener, closer), inner
    return ("", ""), text


def _template_result(
    region: Pair,
    container: str,
    text: str,
    arguments: ArgumentForm,
    rest: str,
    tokens: Tokens,
    bodies: CallBodies,
) -> CallForm:
    calls: Said = {"layout": "template", "container": container, "call": text}
    why = {
        "layout": "a call is text around a name and arguments",
        "container": "as two calls in a turn stand" if bodies.two else "",
        "call": "what two calls in a turn have in common" if bodies.two else "as a call is written",
        "arguments": arguments.why,
    }
    unsure = {} if bodies.two else {"container": "the template takes one call a turn"}
    if "{name}" not in text:
        calls["id"] = {"format": "functions.{name}:{index}"}
        unsure["id"] = "a call has no name of its own, so that its id must carry it; write how"
    calls["arguments"] = arguments.said
    opener = next(iter(tokens.find(text.lstrip())), "")
    if region[0] and opener and text.lstrip().startswith(opener) and tokens.is_special(opener):
        calls["on_outside_region"] = "call"
        why["on_outside_region"] = "a call's opener is a token that stands in no prose"
    return CallForm(region, calls, why, unsure, rest)
