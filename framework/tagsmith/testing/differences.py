"""What differs between the message that a case expects and the one that was found."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from tagsmith.events import Citation, Event, event_to_dict
from tagsmith.message import Message, ToolCall
from tagsmith.testing.cases import Case, ExpectedCall, ExpectedCitation

CALL_KEYS = ("id", "name", "arguments", "complete")
CITATION_KEYS = ("start", "end", "text", "target", "positions")


@dataclass(frozen=True, slots=True)
class Difference:
    """One value that is not as expected; None where there is nothing."""

    field: str
    """The value's path in the case, such as `tool_calls[0].arguments`."""
    expected: Any
    found: Any


def message_differences(case: Case, message: Message) -> Iterator[Difference]:
    """Each value of the message that is not as the case says.

    >>> case = Case(id="a", family="f", text="Hi", content="Hi")
    >>> list(message_differences(case, Message(content="Ho")))
    [Difference(field='content', expected='Hi', found='Ho')]
    """
    for field in ("reasoning", "content"):
        yield from _unequal(field, getattr(case, field), getattr(message, field))
    for n, (wanted, call) in enumerate(zip_longest(case.tool_calls, message.tool_calls)):
        yield from _item(f"tool_calls[{n}]", _call(wanted), _call(call))
        if call is not None:
            yield from _unequal(f"tool_calls[{n}].index", n, call.index)
    for n, (expected, citation) in enumerate(zip_longest(case.citations, message.citations)):
        yield from _item(f"citations[{n}]", _citation(expected), _citation(citation))
        if expected is not None and citation is not None and expected.sources is not None:
            found = list(citation.sources)
            yield from _unequal(f"citations[{n}].sources", list(expected.sources), found)
    yield from _diagnostics(case, message)


def event_differences(expected: Iterable[Event], found: Iterable[Event]) -> Iterator[Difference]:
    """The first event that is not as in the text in one piece, where both are joined."""
    for n, (one, other) in enumerate(zip_longest(expected, found)):
        if one != other:
            yield Difference(f"events[{n}]", _event(one), _event(other))
            return


def message_may_become(case: Case, message: Message) -> bool:
    """Whether the message of half an output can still become what the case expects.

    >>> case = Case(id="a", family="f", text="Hi", content="Hi")
    >>> [message_may_become(case, Message(content=text)) for text in (None, "H", "Ho")]
    [True, True, False]
    """
    texts = (case.reasoning, message.reasoning), (case.content, message.content)
    return (
        all((whole or "").startswith(part or "") for whole, part in texts)
        and len(message.tool_calls) <= len(case.tool_calls)
        and all(map(_call_may_become, case.tool_calls, message.tool_calls))
        and [_citation(c) for c in message.citations]
        == [_citation(c) for c in case.citations[: len(message.citations)]]
        and not (case.diagnostics == () and message.diagnostics)
    )


def _call_may_become(expected: ExpectedCall, found: ToolCall) -> bool:
    same = (expected.id, expected.name) == (found.id, found.name)
    return same and expected.arguments.startswith(found.arguments)


def _diagnostics(case: Case, message: Message) -> Iterator[Difference]:
    if case.diagnostics is None:
        return
    expected = sorted({code.value for code in case.diagnostics})
    found = sorted({diagnostic.code.value for diagnostic in message.diagnostics})
    if codes_differ(expected, found):
        yield Difference("diagnostics", expected, found)


def codes_differ(expected: Collection[str], found: Collection[str]) -> bool:
    """Whether codes are others than a case's list of them says.

    The list names those that must appear; an empty one means that none may.
    """
    return not set(expected) <= set(found) or bool(found and not expected)


def _item(field: str, expected: Any, found: Any) -> Iterator[Difference]:
    """A call or a citation: key by key, unless there is only one of the two."""
    if expected is None or found is None:
        yield Difference(field, expected, found)
        return
    for key in expected:
        yield from _unequal(f"{field}.{key}", expected[key], found[key])


def _unequal(field: str, expected: object, found: object) -> Iterator[Difference]:
    if expected != found:
        yield Difference(field, expected, found)


def _call(call: ExpectedCall | ToolCall | None) -> dict[str, Any] | None:
    return _values(call, CALL_KEYS)


def _citation(citation: ExpectedCitation | Citation | None) -> dict[str, Any] | None:
    return _values(citation, CITATION_KEYS)


def _values(item: object, keys: Sequence[str]) -> dict[str, Any] | None:
    if item is None:
        return None
    return {key: _as_written(getattr(item, key)) for key in keys}


def _as_written(value: Any) -> Any:
    """A value as a case file holds it: lists for tuples."""
    return [_as_written(item) for item in value] if isinstance(value, tuple) else value


def _event(event: Event | None) -> dict[str, Any] | None:
    return None if event is None else event_to_dict(event)
