"""The deltas: a list to read, and what the page's slider needs of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

from tagsmith.events import (
    Citation,
    ContentDelta,
    Diagnostic,
    Event,
    ReasoningDelta,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
)
from tagsmith.report.limits import MAX_EVENTS_OF_STEP
from tagsmith.report.markup import element, escape
from tagsmith.report.model import Report, Step
from tagsmith.report.wording import quoted, tell


@dataclass(frozen=True, slots=True)
class Moments:
    """After which step, counted from 1, each thing of the message is there; `end` is the last."""

    end: int
    calls: list[int] = field(default_factory=list)
    ends: dict[int, int] = field(default_factory=dict)
    citations: list[int] = field(default_factory=list)


def find_moments(steps: Sequence[Step]) -> Moments:
    """When each call, call's end and citation comes, in their order in the message.

    >>> find_moments([Step("a", ()), Step("b", (ToolCallStart(0, "0", "f"),))]).calls
    [2]
    """
    moments = Moments(len(steps))
    for number, step in enumerate(steps, 1):
        for event in step.events:
            if isinstance(event, ToolCallStart):
                moments.calls.append(number)
            elif isinstance(event, ToolCallEnd):
                moments.ends[event.index] = number
            elif isinstance(event, Citation):
                moments.citations.append(number)
    return moments


def playback(report: Report) -> list[dict[str, Any]]:
    """How far each step takes the raw text and each text of the message, for the page's script.

    `at` counts characters; the other lengths count as the script's strings do, in UTF-16 units. An
    emitted character is never taken back (law 2), so these lengths are all that the slider needs.
    """
    ends = accumulate(len(step.fed) for step in report.steps)
    return [
        {"at": at, "fed": _units(step.fed), "grown": _growth(step.events)}
        for at, step in zip(ends, report.steps, strict=True)
    ]


def steps_view(report: Report) -> str:
    """The deltas in order, each with the events that it gave."""
    last = len(report.steps)
    rows = [_row(number, step, number == last) for number, step in enumerate(report.steps, 1)]
    return element("ol", *rows, class_="steps", role="list")


def _growth(events: Iterable[Event]) -> dict[str, int]:
    grown: dict[str, int] = {}
    for event in events:
        if isinstance(event, ReasoningDelta | ContentDelta):
            part, text = event.type, event.text
        elif isinstance(event, ToolCallDelta):
            part, text = f"call-{event.index}", event.arguments
        else:
            continue
        grown[part] = grown.get(part, 0) + _units(text)
    return grown


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _row(number: int, step: Step, is_last: bool) -> str:
    events = [_event(event) for event in step.events[:MAX_EVENTS_OF_STEP]]
    rest = len(step.events) - len(events)
    if rest > 0:
        events.append(element("li", f"and {rest:,} more", class_="none"))
    if not events:
        events = [element("li", "no event", class_="none")]
    fed = "the output ends" if is_last else element("code", escape(quoted(step.fed)))
    return element(
        "li",
        element("span", "end" if is_last else f"{number:,}", class_="number"),
        element("span", fed, class_="fed"),
        element("ul", *events),
        id=f"step-{number}",
    )


def _event(event: Event) -> str:
    what, says = tell(event)
    is_note = isinstance(event, Diagnostic)
    return element(
        "li",
        element("span", escape(what), class_="what note" if is_note else "what"),
        " ",
        element("code" if not is_note else "span", escape(says)),
    )
