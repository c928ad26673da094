"""What a report shows: one output as a family reads it, whole and delta by delta."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tagsmith.engine.spans import Span
from tagsmith.errors import RequestError, TagsmithError
from tagsmith.events import Event
from tagsmith.message import Message
from tagsmith.report.limits import DELTA, MAX_STEPS
from tagsmith.request import Unenforceable, read_request

if TYPE_CHECKING:
    from tagsmith.family import Family


@dataclass(frozen=True, slots=True)
class Step:
    """One delta and the events it gave; the last step of a report feeds nothing and finishes."""

    fed: str
    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Tag:
    """The structural tag of the request; None, and the reason, where it cannot be built.

    `not_enforced` says what the request's schemas ask and the tag does not hold, one line each.
    """

    value: dict[str, Any] | None = None
    reason: str | None = None
    not_enforced: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """One output as a family reads it.

    `name` is what the output is called, `spans` tile `text`, `steps` are the deltas in order, each
    of `delta` characters but for the last ones, and `message` is what they add up to.
    """

    name: str
    family_id: str
    family_title: str
    text: str
    spans: tuple[Span, ...]
    steps: tuple[Step, ...]
    delta: int
    message: Message
    tag: Tag


def build_report(
    family: Family,
    text: str,
    *,
    name: str = "output",
    delta: int = DELTA,
    finish_reason: str = "stop",
    **options: Any,
) -> Report:
    """Read an output for `render_page`.

    Args:
        family: The family that wrote it.
        text: The output, special tokens included.
        name: What to call it in the page, such as its file's name.
        delta: Characters of a delta, 1 or more; the deltas of a long text are longer, so that there
            are 2,000 at most.
        finish_reason: Why the output ended, as in `Parser.finish`.
        options: What the request says, as in `Family.explain`.

    Raises:
        RequestError: `delta` is no length, or the request cannot be served.

    >>> import tagsmith
    >>> report = build_report(tagsmith.get_family("cohere-command-a"), "Hello!", delta=4)
    >>> [step.fed for step in report.steps], report.message.content
    (['Hell', 'o!', ''], 'Hello!')
    """
    if not isinstance(delta, int) or delta < 1:
        raise RequestError("delta", f"{delta!r} is no length; give 1 or more characters")
    spans = tuple(family.explain(text, **options))
    delta = max(delta, -(-len(text) // MAX_STEPS))
    # The spans are the native engine's: the message must be of the same reading.
    parser = family.parser(engine="native", **options)
    steps = [Step(piece, tuple(parser.feed(piece))) for piece in _pieces(text, delta)]
    steps.append(Step("", tuple(parser.finish(finish_reason))))
    return Report(
        name=name,
        family_id=family.id,
        family_title=family.title,
        text=text,
        spans=spans,
        steps=tuple(steps),
        delta=delta,
        message=parser.message,
        tag=_tag(family, options),
    )


def _pieces(text: str, size: int) -> Iterator[str]:
    for start in range(0, len(text), size):
        yield text[start : start + size]


def _tag(family: Family, options: dict[str, Any]) -> Tag:
    try:
        request = read_request(
            tools=options.get("tools"),
            tool_choice=options.get("tool_choice"),
            unenforceable=Unenforceable.REPORT,
        )
        tag = family.shared_structural_tag(request)
    except TagsmithError as error:
        return Tag(reason=str(error))
    return Tag(tag.to_dict(), not_enforced=tag.limitations)
