"""Holds a family to a case: every way of feeding the text must give the expected values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any

from tagsmith.events import Citation, Event, join_events
from tagsmith.family import Family
from tagsmith.message import Message
from tagsmith.testing.cases import Case
from tagsmith.testing.cutting import all_cuttings, by_n_tokens
from tagsmith.testing.driver import Run, run, run_tokens
from tagsmith.testing.tokenizer import MockTokenizer

TOKENS_A_STEP = (1, 2, 3, 5)
REQUEST_FIELDS = ("prompt", "tools", "tool_choice", "documents", "messages")


def check_case(case: Case, family: Family) -> None:
    """Check parse(), and parser() over every cutting and over token ids, against a case.

    Args:
        case: one case of a file that `load_cases` read.
        family: the family that reads it.

    Raises:
        AssertionError: names the case, the way of feeding and each part that differs, expected
            against found.

    >>> import tagsmith
    >>> family = tagsmith.get_family("cohere-command-a")
    >>> check_case(Case(id="greeting", family=family.id, text="Hi", content="Hi"), family)
    >>> check_case(Case(id="greeting", family=family.id, text="Hi", content="Ho"), family)
    Traceback (most recent call last):
    AssertionError: case greeting, family cohere-command-a, parse():
      content: expected 'Ho'
                  found 'Hi'
    """
    options = _request(case)
    message = family.parse(case.text, finish_reason=case.finish_reason, **options)
    _report(case, family, "parse()", list(_message_differences(case, message)))
    reference = run(family, [case.text], finish_reason=case.finish_reason, **options)
    for way, fed in _feedings(case, family, options):
        differences = [
            *_message_differences(case, fed.message),
            *_event_differences(reference.events, fed.events),
        ]
        _report(case, family, way, differences)


def _request(case: Case) -> dict[str, Any]:
    """The parser options that the case gives, lists as lists, as a client sends them."""
    given = {field: getattr(case, field) for field in REQUEST_FIELDS}
    return {
        field: list(value) if isinstance(value, tuple) else value
        for field, value in given.items()
        if value is not None
    }


def _feedings(case: Case, family: Family, options: dict[str, Any]) -> Iterator[tuple[str, Run]]:
    reason = case.finish_reason
    for label, deltas in all_cuttings(case.text):
        yield f"parser() fed {label}", run(family, deltas, finish_reason=reason, **options)
    tokenizer = MockTokenizer.for_family(family)
    token_ids = tokenizer.encode(case.text)
    for n in TOKENS_A_STEP:
        groups = by_n_tokens(token_ids, n)
        fed = run_tokens(family, groups, tokenizer, finish_reason=reason, **options)
        yield f"parser() fed {n} token(s) a step", fed


def _report(case: Case, family: Family, way: str, differences: list[str]) -> None:
    if differences:
        heading = f"case {case.id}, family {family.id}, {way}:"
        raise AssertionError("\n".join([heading, *differences]))


def _message_differences(case: Case, message: Message) -> Iterator[str]:
    yield from _compare("reasoning", case.reasoning, message.reasoning)
    yield from _compare("content", case.content, message.content)
    expected_calls = [(c.id, c.name, c.arguments, c.complete) for c in case.tool_calls]
    found_calls = [(c.id, c.name, c.arguments, c.complete) for c in message.tool_calls]
    yield from _compare_each("tool_calls", expected_calls, found_calls)
    yield from _compare(
        "tool call indices", list(range(len(found_calls))), [c.index for c in message.tool_calls]
    )
    yield from _citation_differences(case, message.citations)
    yield from _diagnostic_differences(case, message)


def _citation_differences(case: Case, found: tuple[Citation, ...]) -> Iterator[str]:
    spans = [(c.start, c.end, c.text, c.target.value, c.positions) for c in case.citations]
    found_spans = [(c.start, c.end, c.text, c.target.value, c.positions) for c in found]
    yield from _compare_each("citations", spans, found_spans)
    for n, (expected, citation) in enumerate(zip(case.citations, found, strict=False)):
        if expected.sources is not None:
            yield from _compare(f"citations[{n}].sources", expected.sources, citation.sources)


def _diagnostic_differences(case: Case, message: Message) -> Iterator[str]:
    """A list names the codes that must appear; an empty list means that none may."""
    if case.diagnostics is None:
        return
    expected = {code.value for code in case.diagnostics}
    found = {diagnostic.code.value for diagnostic in message.diagnostics}
    if not expected <= found or (found and not expected):
        yield from _compare("diagnostics", sorted(expected), sorted(found))


def _event_differences(expected: tuple[Event, ...], found: tuple[Event, ...]) -> Iterator[str]:
    """The joined events of every cutting are those of the text in one piece."""
    yield from _compare_each("joined events", join_events(expected), join_events(found))


def _compare(what: str, expected: object, found: object) -> Iterator[str]:
    if expected != found:
        yield _difference(what, repr(expected), repr(found))


def _compare_each(what: str, expected: Sequence[object], found: Sequence[object]) -> Iterator[str]:
    """Compare item by item, so that the one that differs stands alone."""
    pairs = zip_longest(map(repr, expected), map(repr, found), fillvalue="nothing")
    for n, (expected_item, found_item) in enumerate(pairs):
        if expected_item != found_item:
            yield _difference(f"{what}[{n}]", expected_item, found_item)


def _difference(what: str, expected: str, found: str) -> str:
    start = f"  {what}: expected"
    return f"{start} {expected}\n{'found':>{len(start)}} {found}"
