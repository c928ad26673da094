"""An engine of a plug-in, kept safe: whatever it does, the parser goes on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tagsmith.engine.base import Context, Run
from tagsmith.engine.native import NativeEngine
from tagsmith.engine.plugin_engines import (
    INTERRUPTS,
    EngineMaker,
    EngineReader,
    compile_engine,
    fault_text,
    own_copy,
)
from tagsmith.engine.program import NativeProgram
from tagsmith.engine.told_events import EventError, ToldEvents
from tagsmith.events import (
    Citation,
    Diagnostic,
    DiagnosticCode,
    Event,
    Target,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
)
from tagsmith.spec.models import FamilySpec
from tagsmith.spec.policies import InitialRegion

_MAX_TAIL = 4096
"""How much of what was read is kept to see, after a fault, in which region the output stands."""


class GuardedEngine:
    """One generation, read by the engine `name` of a plug-in. Stop strings are seen to here.

    Where the engine raises, or tells what no parser may tell, a diagnostic says so, and the native
    engine reads on, from the first character of which nothing was made. A call that is open then
    ends incomplete, and what is left of it is text.

    Raises `RequestError` where the engine does not take the family.
    """

    __slots__ = (
        "_context", "_first", "_held", "_name", "_native", "_offset", "_program", "_reader",
        "_shift", "_tail", "_token_markers", "_told",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        make: EngineMaker,
        program: NativeProgram,
        context: Context,
        *,
        token_markers: frozenset[str] = frozenset(),
    ) -> None:
        self._name = name
        self._program = program
        self._context = context
        self._token_markers = token_markers
        self._told = ToldEvents(context.stop)
        self._tail = context.prompt_tail
        self._held = ""
        self._offset = 0
        self._first: list[Event] = []
        self._native: NativeEngine | None = None
        self._shift = _NO_SHIFT
        self._reader: EngineReader | None = None
        own_program, own_context = compile_engine(name, make, program.spec), own_copy(context)
        try:
            self._reader = own_program.reader(own_context)
        except INTERRUPTS:
            raise
        except BaseException as fault:
            self._first = self._hand_over(fault, "feed", "")

    def feed(self, text: str) -> list[Event]:
        """Take the next piece of output; every marker's text in it is that marker."""
        return self._read("feed", text)

    def feed_literal(self, text: str) -> list[Event]:
        """Take text in which the markers that are tokens are only spelled, not meant."""
        return self._read("feed_literal", text)

    def feed_marker(self, marker: str) -> list[Event]:
        """Take one marker that token ids have told apart from text of the same spelling."""
        return self._read("feed_marker", marker)

    def finish(self) -> list[Event]:
        """The output has ended: give back what was held."""
        return [*self._read("finish", None), *self._told.break_off()]

    def begin_run(self) -> Run | None:
        """No run: the engine reads all of the text."""
        return None

    def end_run(self, run: Run) -> None:
        """There is none."""

    @property
    def stop(self) -> str | None:
        """The stop string that ended the content, if one did."""
        return self._told.stop

    @property
    def offset(self) -> int:
        """How many characters were read."""
        return self._offset

    def _read(self, way: str, text: str | None) -> list[Event]:
        """Read text in one of the ways that engines have; None at the end of the output."""
        out, self._first = self._first, []
        if self._told.stop is None and self._reader is not None:
            out += self._read_guarded(self._reader, way, text)
        elif self._told.stop is None:
            out += self._read_natively(way, text)
        self._offset += len(text or "")
        return out

    def _read_guarded(self, reader: EngineReader, way: str, text: str | None) -> list[Event]:
        try:
            events = self._told.checked(_call(reader, way, text))
            held = "" if text is None else self._checked_held(reader.held, text)
        except INTERRUPTS:
            raise
        except BaseException as fault:
            return self._hand_over(fault, way, text)
        self._held = held
        out = self._told.take(events)
        self._follow(text or "", goes_on=not events)
        return out

    def _checked_held(self, held: object, text: str) -> str:
        if not isinstance(held, str) or not (self._held + text).endswith(held):
            raise EventError("what it holds is not the end of what it was given")
        return held

    def _follow(self, text: str, *, goes_on: bool) -> None:
        """Keep what tells the region: the text that came with the last events, and since."""
        if not (goes_on or self._told.is_empty):
            self._tail = self._begun
        self._tail += text
        if len(self._tail) > _MAX_TAIL + len(self._context.prompt_tail):
            self._tail = self._begun

    @property
    def _begun(self) -> str:
        """What would lead to where the events stand, if a prompt ended with it."""
        target, in_call = self._told.target, self._told.in_call
        text = "" if target is None or in_call else _SOME_TEXT
        return _opener(self._program.spec, target) + text

    def _hand_over(self, fault: BaseException, way: str, text: str | None) -> list[Event]:
        """The native engine reads on, from the first character of which nothing was made."""
        told, at = self._told, self._offset - len(self._held)
        tail = self._begun if told.in_call else self._tail.removesuffix(self._held)
        message = f"the engine {self._name} failed with {fault_text(fault)}"
        out = told.break_off()
        out.append(
            Diagnostic(DiagnosticCode.ENGINE_FAULT, f"{message}; the native engine reads on", at)
        )
        self._reader = None
        self._shift = _Shift(at, told.calls, frozenset(told.ids), dict(told.lengths))
        context = replace(self._context, prompt_tail=tail, stop=())
        self._native = NativeEngine(self._program, context, token_markers=self._token_markers)
        if self._held:
            out += self._read_natively("feed", self._held)
        return out + self._read_natively(way, text)

    def _read_natively(self, way: str, text: str | None) -> list[Event]:
        return self._told.take(map(self._shift.event, _call(self._native, way, text)))


@dataclass(frozen=True, slots=True)
class _Shift:
    """From the native engine's own counts to those of the generation that it reads on in."""

    offset: int
    calls: int
    ids: frozenset[str]
    lengths: Mapping[Target, int]

    def event(self, event: Event) -> Event:
        """An event of the native engine as the generation goes on with it."""
        if isinstance(event, ToolCallStart):
            index = event.index + self.calls
            # An id that is made of the index may have been given by the engine that failed.
            call_id = f"{event.id}-{index}" if event.id in self.ids else event.id
            return ToolCallStart(index, call_id, event.name)
        if isinstance(event, ToolCallDelta | ToolCallEnd):
            return replace(event, index=event.index + self.calls)
        if isinstance(event, Citation):
            before = self.lengths[event.target]
            return replace(event, start=event.start + before, end=event.end + before)
        if isinstance(event, Diagnostic):
            return replace(event, offset=max(event.offset + self.offset, 0))
        return event


_NO_SHIFT = _Shift(0, 0, frozenset(), {})
_SOME_TEXT = "."


def _call(engine: Any, way: str, text: str | None) -> Iterable[Event]:
    found: Iterable[Event] = getattr(engine, way)(*(() if text is None else (text,)))
    return found


def _opener(spec: FamilySpec, target: Target | None) -> str:
    """What opens the region of a text; that of the content where nothing else is known."""
    reasoning, content = spec.tag_style.reasoning, spec.tag_style.content
    if target is Target.REASONING:
        return reasoning.start if reasoning is not None else ""
    if spec.initial_region is InitialRegion.CONTENT:
        return ""
    if content:
        return content[0].start
    return (reasoning.end if reasoning is not None else None) or ""
