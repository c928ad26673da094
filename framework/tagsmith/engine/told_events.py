"""The events of an engine that is not this project's: checked, copied, ended at a stop string."""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy

from tagsmith.engine.stops import StopWatch, build_stops
from tagsmith.events import (
    Citation,
    ContentDelta,
    Diagnostic,
    DiagnosticCode,
    Event,
    ReasoningDelta,
    Target,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
)


class EventError(Exception):
    """What an engine told that no parser may tell."""


class ToldEvents:
    """What one generation has told so far, and what it may tell next.

    `stops` are the user's stop strings: where the content holds one, it ends, and so does all else.
    """

    __slots__ = ("_waiting", "_watch", "calls", "ids", "in_call", "lengths", "stop", "target")

    def __init__(self, stops: tuple[str, ...]) -> None:
        self.calls = 0
        self.in_call = False
        self.ids: set[str] = set()
        self.lengths = {Target.CONTENT: 0, Target.REASONING: 0}
        self.target: Target | None = None
        """The text that was told last; None after a call, and where nothing was told."""
        self.stop: str | None = None
        self._watch = StopWatch(build_stops(stops)) if stops else None
        self._waiting = ""

    @property
    def is_empty(self) -> bool:
        """Whether nothing was told yet."""
        return self.target is None and not self.calls

    def checked(self, events: Iterable[object]) -> list[Event]:
        """Copies of the events that an engine told, which may come next.

        Raises `EventError`; nothing of these is told then.
        """
        calls, in_call = self.calls, self.in_call
        found: list[Event] = []
        for event in events:
            copy = _copied(event)
            if isinstance(copy, ToolCallStart):
                if in_call or copy.index != calls:
                    raise EventError(f"call {copy.index} begins where call {calls} may, or none")
                calls, in_call = calls + 1, True
            elif isinstance(copy, ToolCallDelta | ToolCallEnd):
                if not in_call or copy.index != calls - 1:
                    raise EventError(f"call {copy.index} goes on, and is not open")
                in_call = isinstance(copy, ToolCallDelta)
            elif in_call and isinstance(copy, ContentDelta | ReasoningDelta):
                raise EventError("text begins inside a call")
            if not _is_empty(copy):
                found.append(copy)
        return found

    def take(self, events: Iterable[Event]) -> list[Event]:
        """Tell these next; returns those that can be shown."""
        out: list[Event] = []
        for event in events:
            if self.stop is not None:
                break
            if isinstance(event, ContentDelta):
                self._take_content(event.text, out)
                continue
            if not isinstance(event, Diagnostic):
                self._give_up_stop(out)
            self._note(event)
            out.append(event)
        return out

    def break_off(self) -> list[Event]:
        """Nothing of what was begun goes on."""
        out: list[Event] = []
        self._give_up_stop(out)
        if self.in_call and self.stop is None:
            out += self.take([ToolCallEnd(self.calls - 1, complete=False)])
        return out

    def _note(self, event: Event) -> None:
        if isinstance(event, ToolCallStart):
            self.ids.add(event.id)
            self.calls, self.in_call, self.target = self.calls + 1, True, None
        elif isinstance(event, ToolCallEnd):
            self.in_call = False
        elif isinstance(event, ReasoningDelta):
            self._show(Target.REASONING, event.text)

    def _show(self, target: Target, text: str) -> None:
        self.lengths[target] += len(text)
        self.target = target

    def _take_content(self, text: str, out: list[Event]) -> None:
        if self._watch is not None:
            found = self._watch.read(text)
            text = self._waiting + text[: found.read]
            shown = text[: len(text) - found.waiting]
            self._waiting = "" if found.stop else text[len(shown) :]
            self.stop = found.stop
            text = shown
        if text:
            self._show(Target.CONTENT, text)
            out.append(ContentDelta(text))

    def _give_up_stop(self, out: list[Event]) -> None:
        """What might have become a stop string is text: no stop reaches over anything else."""
        if self._waiting and self._watch is not None:
            self._watch.forget()
            self._show(Target.CONTENT, self._waiting)
            out.append(ContentDelta(self._waiting))
            self._waiting = ""


def _is_empty(event: Event) -> bool:
    if isinstance(event, ContentDelta | ReasoningDelta):
        return not event.text
    return isinstance(event, ToolCallDelta) and not event.arguments


def _copied(event: object) -> Event:
    """A copy that is the parser's own; what engines do to theirs does not reach it."""
    match event:
        case ContentDelta(text=str(text)):
            return ContentDelta(text)
        case ReasoningDelta(text=str(text)):
            return ReasoningDelta(text)
        case ToolCallStart(index=int(index), id=str(id_), name=str(name)):
            return ToolCallStart(index, id_, name)
        case ToolCallDelta(index=int(index), arguments=str(arguments)):
            return ToolCallDelta(index, arguments)
        case ToolCallEnd(index=int(index), complete=bool(complete)):
            return ToolCallEnd(index, complete)
        case Diagnostic(code=str(code), message=str(message), offset=int(offset)):
            return Diagnostic(DiagnosticCode(code), message, offset)
        case Citation(start=int(start), end=int(end), text=str(text), target=str(target)):
            positions = tuple((int(bucket), int(index)) for bucket, index in event.positions)
            sources = tuple(dict(deepcopy(source)) for source in event.sources)
            return Citation(start, end, text, Target(target), positions, sources)
    raise EventError(f"{event!r} is no event")
