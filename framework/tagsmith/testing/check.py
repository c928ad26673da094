"""Holds a family to a case: every way of feeding the text must give the expected values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from tagsmith.events import Event, join_events
from tagsmith.family import Family
from tagsmith.message import Message
from tagsmith.parser import Parser
from tagsmith.testing.cases import Case
from tagsmith.testing.cutting import all_cuttings, by_character, by_n_tokens, whole
from tagsmith.testing.differences import (
    Difference,
    event_differences,
    message_differences,
    message_may_become,
)
from tagsmith.testing.driver import Run, decode_groups, run
from tagsmith.testing.parting import Parting, events_may_become, find_parting
from tagsmith.testing.showing import show_difference
from tagsmith.testing.tokenizer import MockTokenizer
from tagsmith.wording import one_line

TOKENS_A_STEP = (1, 2, 3, 5)


@dataclass(frozen=True, slots=True)
class CaseFailure:
    """A case that a family does not keep, by the first way of feeding that shows it."""

    case: Case
    family: str
    way: str
    """The way of feeding: `parse()` where the text in one piece gives the wrong message."""
    differences: tuple[Difference, ...]
    parting: Parting
    deltas: tuple[str, ...]
    """The text as it was fed."""
    by_cutting: bool
    """Whether the message is right in one piece, and another in this."""

    def __str__(self) -> str:
        """It all, in lines: each difference expected against found, and where they part."""
        lines = [f"case {one_line(self.case.id)}, family {self.family}, {self.way}:"]
        for difference in self.differences:
            lines += show_difference(difference)
        fed = "in one piece" if len(self.deltas) == 1 else "by character"
        return "\n".join(
            [*lines, *self.parting.lines(self.case.text, "" if self.by_cutting else fed)]
        )

    def to_dict(self) -> dict[str, Any]:
        """The same for machines."""
        return {
            "way": self.way,
            "differences": [asdict(difference) for difference in self.differences],
            "parting": asdict(self.parting),
            "by_cutting": self.by_cutting,
        }


def check_case(case: Case, family: Family) -> None:
    """Check parse(), and parser() over every cutting and over token ids, against a case.

    Args:
        case: one case of a file that `load_cases` read.
        family: the family that reads it.

    Raises:
        AssertionError: names the case, the way of feeding and each part that differs, expected
            against found, and where in the output they part.

    >>> import tagsmith
    >>> family = tagsmith.get_family("cohere-command-a")
    >>> check_case(Case(id="greeting", family=family.id, text="Hi", content="Hi"), family)
    >>> check_case(Case(id="greeting", family=family.id, text="Hi", content="Ho"), family)
    Traceback (most recent call last):
    AssertionError: case greeting, family cohere-command-a, parse():
      content
        expected  'Ho'
        found     'Hi'
                    ^ character 1
      fed by character, they part at delta 2 of 2, character 1 of the output:
        'Hi'
          ^
    """
    failure = find_failure(case, family)
    if failure is not None:
        raise AssertionError(str(failure))


def find_failure(case: Case, family: Family) -> CaseFailure | None:
    """The same, as a value: the first way of feeding that does not give what it should, or None.

    Raises:
        RequestError: the request of the case cannot be served.
    """
    message = family.parse(case.text, finish_reason=case.finish_reason, **case.request)
    differences = tuple(message_differences(case, message))
    if not differences:
        return find_unequal_cutting(case, family)
    way, deltas = "parse()", by_character(case.text)
    fed = run(family, deltas, finish_reason=case.finish_reason, **case.request)
    if not any(message_differences(case, fed.message)):
        way, deltas = "parse(); fed by character, it is as expected", whole(case.text)
    parting = find_parting(
        lambda: family.parser(**case.request),
        deltas,
        lambda parser, _: message_may_become(case, parser.message),
    )
    return CaseFailure(case, family.id, way, differences, parting, tuple(deltas), by_cutting=False)


def find_unequal_cutting(case: Case, family: Family) -> CaseFailure | None:
    """The first way of feeding that gives something else than the text in one piece, or None."""
    expected = run(family, [case.text], finish_reason=case.finish_reason, **case.request)
    joined = join_events(expected.events)
    for feeding in _feedings(case, family):
        fed = feeding.run()
        if fed.message == expected.message and join_events(fed.events) == joined:
            continue
        differences = (
            *_against(expected.message, fed.message, case),
            *event_differences(joined, join_events(fed.events)),
        )
        return feeding.failure(differences, expected.events)
    return None


@dataclass(frozen=True, slots=True)
class _Feeding:
    """One way of feeding the text of a case: by its deltas, or by groups of token ids."""

    case: Case
    family: Family
    way: str
    deltas: Sequence[str]
    groups: Sequence[Sequence[int]] = ()
    tokenizer: MockTokenizer | None = None

    def run(self) -> Run:
        parser = self._parser()
        events = [e for number in range(len(self.deltas)) for e in self._feed(parser, number)]
        events += parser.finish(self.case.finish_reason)
        return Run(tuple(events), parser.message)

    def failure(self, differences: tuple[Difference, ...], whole: Sequence[Event]) -> CaseFailure:
        parting = find_parting(
            self._parser,
            self.deltas,
            lambda _, events: events_may_become(whole, events),
            self._feed,
        )
        return CaseFailure(
            self.case,
            self.family.id,
            self.way,
            differences,
            parting,
            tuple(self.deltas),
            by_cutting=True,
        )

    def _parser(self) -> Parser:
        return self.family.parser(tokenizer=self.tokenizer, **self.case.request)

    def _feed(self, parser: Parser, number: int) -> list[Event]:
        ids = None if self.tokenizer is None else list(self.groups[number])
        return parser.feed(self.deltas[number], token_ids=ids)


def _feedings(case: Case, family: Family) -> Iterator[_Feeding]:
    for label, deltas in all_cuttings(case.text):
        yield _Feeding(case, family, f"parser() fed {label}", deltas)
    tokenizer = MockTokenizer.for_family(family)
    token_ids = tokenizer.encode(case.text)
    for n in TOKENS_A_STEP:
        groups = by_n_tokens(token_ids, n)
        deltas = [text for text, _ in decode_groups(groups, tokenizer)]
        way = f"parser() fed {n} token(s) a step"
        yield _Feeding(case, family, way, deltas, groups, tokenizer)


def _against(whole: Message, fed: Message, case: Case) -> Iterator[Difference]:
    """How the message of a cutting differs from that of the text in one piece, as the case sees
    it."""
    yield from message_differences(case, fed)
    if whole.finish_reason != fed.finish_reason:
        yield Difference("finish_reason", whole.finish_reason, fed.finish_reason)
