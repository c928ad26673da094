"""A tool call's life, whatever the layout that it is written in: when it is announced, what its id
is, what becomes of text that turns out to be no call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import partial

from tagsmith.engine.call_values import arguments_problem
from tagsmith.engine.reader import Opened
from tagsmith.engine.spans import SpanKind, SpanMap
from tagsmith.engine.text import Held, TextSink
from tagsmith.events import (
    Diagnostic,
    DiagnosticCode,
    Event,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
)
from tagsmith.spec.models import ToolCalls
from tagsmith.spec.policies import OnMalformed, OnTruncated, OnUnknownTool
from tagsmith.wording import shortened


class _Holds(Enum):
    """What a region has been found to hold: brackets around text are text as well."""

    NOTHING = auto()
    CALLS = auto()
    TEXT = auto()


class _Fate(Enum):
    """What becomes of a call, once its name is known."""

    CALL = auto()
    TEXT = auto()
    NOTHING = auto()


@dataclass(slots=True, eq=False)
class OpenCall:
    """The call being read. `raw` is its text for as long as nothing of it has been shown."""

    at: int
    id: str | None = None
    id_known: bool = False
    name: str | None = None
    proposed: str | None = None
    announced: bool = False
    fate: _Fate = _Fate.CALL
    closed: bool = False
    fragments: list[str] = field(default_factory=list)
    raw: list[Held] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class CallSink:
    """Turns what a layout's reader finds into events. `out` is where they go; set it before use."""

    policies: ToolCalls
    tool_names: frozenset[str] | None
    content: TextSink
    spans: SpanMap | None = None
    out: list[Event] = field(default_factory=list)
    call: OpenCall | None = None
    quiet: bool = False
    """Whether `take` has nothing to do: the call is shown as one, and nobody maps its text."""
    count: int = 0
    _ids: set[str] = field(default_factory=set)
    _next_id: int = 0
    _pending: list[Event] = field(default_factory=list)
    _give_back: bool = True
    _complained: bool = False
    _around: list[Held] = field(default_factory=list)
    _region_has: _Holds = _Holds.NOTHING
    _opened: Opened = Opened.MARKER
    _ends_in_text: bool = False
    _back: TextSink = field(init=False)
    _settle: Callable[[int], None] | None = None

    def __post_init__(self) -> None:
        self._back = self.content

    def begin(self, at: int, *, id_known: bool) -> None:
        """A call begins at offset `at`; `id_known` where its layout writes no id."""
        self.call = OpenCall(at, id_known=id_known)
        self.quiet = False
        self._ends_in_text = False
        self._pending = []

    def take(self, text: str, at: int, kind: SpanKind) -> None:
        """Part of the call's own text, of any kind."""
        call = self._open
        if self.spans is not None:
            dropped = call.fate is _Fate.NOTHING
            self.spans.mark(at, at + len(text), SpanKind.DROPPED if dropped else kind)
        if call.fate is _Fate.TEXT:
            self._ends_in_text = True
            self._show_back(text, at)
        elif not call.announced and at >= 0:
            # What a prompt began, below 0, is not part of the output, and never given back.
            call.raw.append(Held(text, at))

    def set_id(self, value: str | None) -> None:
        """The call's id as the output gives it; None when what it gives cannot be one."""
        call = self._open
        call.id, call.id_known = value, True
        self._announce_when_ready()

    def set_name(self, name: str) -> None:
        """The tool's name."""
        self._open.name = name
        self._announce_when_ready()

    def propose_name(self, name: str) -> None:
        """What is the tool's name if this is a call at all, which `confirm` says."""
        self._open.proposed = name

    def confirm(self) -> None:
        """It is a call: the name that was proposed is its name."""
        call = self._open
        if call.name is None and call.proposed is not None:
            self.set_name(call.proposed)

    def argument_text(self, text: str) -> None:
        """More of the arguments, as JSON text."""
        call = self._open
        call.fragments.append(text)
        if call.announced and text and call.fate is _Fate.CALL:
            self._emit(ToolCallDelta(self.count, text))

    @property
    def flows(self) -> bool:
        """Whether argument text is shown as it comes, and is nothing else."""
        call = self.call
        if call is None or not call.announced or self.spans is not None:
            return False
        if call.fate is not _Fate.CALL:
            return False
        return self.policies.on_truncated is OnTruncated.KEEP

    def delta_maker(self) -> Callable[[str], Event]:
        """What makes an event of arguments that flow."""
        return partial(ToolCallDelta, self.count)

    def flowed(self, text: str) -> None:
        """This was shown: more of the arguments, as they stand."""
        self._open.fragments.append(text)

    def close_arguments(self) -> None:
        """The arguments are whole."""
        self.confirm()
        self._open.closed = True

    def end(self, at: int) -> None:
        """The call is whole; `at` is the offset after it."""
        call = self._open
        if call.name is None:
            self._return_raw(call)
        else:
            if not call.fragments:
                self.argument_text("{}")
            self._announce()
            if call.fate is _Fate.CALL:
                self._check_arguments(call, at)
                self._close(complete=True)
        self.call = None

    def break_off(self, at: int) -> None:
        """What stands at `at` cannot be part of a call: keep what there is, as far as it is one."""
        call = self._open
        if call.name is None:
            self._return_raw(call)
        else:
            self._announce()
            self._give_back = call.fate is _Fate.TEXT
            if call.fate is _Fate.CALL:
                self.diagnose(DiagnosticCode.MALFORMED_CALL, "a call is not closed", at)
                if call.closed:
                    self._check_arguments(call, at)
                self._close(complete=call.closed)
        self.call = None

    def cut_off(self, at: int) -> None:
        """The output ends inside the call."""
        call = self._open
        in_text = self._opened is Opened.NOTHING and self._region_has is not _Holds.CALLS
        if call.name is None and in_text:
            self._return_raw(call)
            self.call = None
            return
        self.confirm()
        self.diagnose(DiagnosticCode.TRUNCATED, "the output ends inside a tool call", at)
        drop = call.name is None or self.policies.on_truncated is OnTruncated.DROP
        if call.fate is _Fate.CALL and drop:
            self.mark(call.at, at, SpanKind.TRUNCATED)
        elif call.fate is _Fate.CALL:
            self._announce()
            if call.fate is _Fate.CALL:
                self._close(complete=False)
        self.call = None

    def malformed(self, at: int) -> None:
        """Text begins at `at` that is no call."""
        self._give_back = True
        if self._opened is not Opened.NOTHING:
            message = "the tool-call region holds other text"
            self.diagnose(DiagnosticCode.MALFORMED_CALL, message, at)
        if self._region_has is _Holds.NOTHING:
            self._region_has = _Holds.TEXT
            for piece in self._around:
                self.leftover(piece.text, piece.at)

    def leftover(self, text: str, at: int) -> None:
        """Text of the region that belongs to no call."""
        shown = self.policies.on_malformed is OnMalformed.CONTENT or self._opened is Opened.NOTHING
        self._ends_in_text = self._give_back and shown
        if self._ends_in_text:
            self._show_back(text, at)
        else:
            self.mark(at, at + len(text), SpanKind.DROPPED)

    def _show_back(self, text: str, at: int) -> None:
        """Text goes on; where no marker said otherwise, stop strings count in it."""
        if self._opened is Opened.NOTHING:
            self._back.text(text, at, self.out)
        else:
            self._back.show(text, at, self.out)

    def unexpected(self, text: str, at: int) -> None:
        """Text of a region in a generation that may not call tools: it is content."""
        if not self._complained:
            self._complained = True
            message = "a tool-call region under tool_choice none is shown as content"
            self.diagnose(DiagnosticCode.UNEXPECTED_CALL, message, at)
        self.content.show(text, at, self.out)

    def try_region(self, back: TextSink, settle: Callable[[int], None]) -> None:
        """A region may open, if it holds a call: `settle` is then told where.

        Until then, text that is none goes back to `back`.
        """
        self._back, self._settle = back, settle

    def begin_region(self, opened: Opened) -> None:
        """A region opens: whether it holds calls or text is not known yet."""
        self._opened = opened
        self._ends_in_text = False
        self._around = []
        self._region_has = _Holds.NOTHING

    def end_region(self, at: int) -> None:
        """The region ends at offset `at`; what no marker opened and holds no call was text."""
        if self._opened is Opened.NOTHING and self._region_has is _Holds.NOTHING:
            self.malformed(at)

    @property
    def ends_in_text(self) -> bool:
        """Whether text was given back last, which goes on with what follows."""
        return self._ends_in_text

    def between(self, text: str, at: int) -> None:
        """Blanks, brackets, commas and fences around calls, or around text that is none."""
        if self._region_has is _Holds.TEXT:
            self.leftover(text, at)
            return
        self.mark(at, at + len(text), SpanKind.CALL)
        if self._region_has is _Holds.NOTHING and at >= 0:
            self._around.append(Held(text, at))

    def diagnose(self, code: DiagnosticCode, message: str, at: int) -> None:
        """Say that something is not as the family says."""
        self.out.append(Diagnostic(code, message, at))

    @property
    def _open(self) -> OpenCall:
        assert self.call is not None, "a reader uses the sink inside a call"
        return self.call

    def _announce_when_ready(self) -> None:
        call = self._open
        if call.id_known and call.name is not None:
            self._announce()

    def _announce(self) -> None:
        call = self._open
        if call.announced or call.name is None:
            return
        call.announced = True
        call.fate = self._fate(call, call.name)
        if call.fate is _Fate.TEXT and self._opened is Opened.NOTHING:
            self.malformed(call.at)
        else:
            self._settled(call.at)
            self._region_has = _Holds.CALLS
        if call.fate is _Fate.TEXT:
            self._show_raw(call)
            return
        if call.fate is _Fate.NOTHING:
            self._drop_raw(call)
            return
        call.raw.clear()
        self.quiet = self.spans is None
        self._emit(ToolCallStart(self.count, self._id(call), call.name))
        if call.fragments:
            self._emit(ToolCallDelta(self.count, "".join(call.fragments)))

    def _settled(self, at: int) -> None:
        """The region holds a call, which begins at offset `at`."""
        settle, self._settle = self._settle, None
        if settle is not None:
            self._back = self.content
            settle(at)

    def _fate(self, call: OpenCall, name: str) -> _Fate:
        if name in self.policies.pseudo_tools:
            return _Fate.NOTHING
        if self.tool_names is None or name in self.tool_names:
            return _Fate.CALL
        if self._opened is Opened.NOTHING and self._region_has is not _Holds.CALLS:
            return _Fate.TEXT
        message = f"the request has no tool {shortened(name)!r}"
        self.diagnose(DiagnosticCode.UNKNOWN_TOOL, message, call.at)
        as_text = self.policies.on_unknown_tool is OnUnknownTool.CONTENT
        return _Fate.TEXT if as_text else _Fate.CALL

    def _id(self, call: OpenCall) -> str:
        if call.id is None:
            self._next_id = max(self._next_id, self.count)
            while self._generated(call) in self._ids:
                self._next_id += 1
            call.id = self._generated(call)
        elif call.id in self._ids:
            message = f"the id {shortened(call.id)!r} was used before"
            self.diagnose(DiagnosticCode.DUPLICATE_ID, message, call.at)
        self._ids.add(call.id)
        return call.id

    def _generated(self, call: OpenCall) -> str:
        index, pattern = str(self._next_id), self.policies.id.format
        if pattern is None:
            return index
        return pattern.replace("{index}", index).replace("{name}", call.name or "")

    def _check_arguments(self, call: OpenCall, at: int) -> None:
        problem = arguments_problem("".join(call.fragments))
        if problem is not None:
            message = f"the arguments of call {self.count} are {problem}"
            self.diagnose(DiagnosticCode.INVALID_ARGUMENTS, message, at)

    def _close(self, *, complete: bool) -> None:
        self._emit(ToolCallEnd(self.count, complete))
        self.out += self._pending
        self._pending = []
        self.count += 1

    def _emit(self, event: Event) -> None:
        waits = self.policies.on_truncated is OnTruncated.DROP
        (self._pending if waits else self.out).append(event)

    def _return_raw(self, call: OpenCall) -> None:
        self.malformed(call.at)
        self._show_raw(call)

    def _show_raw(self, call: OpenCall) -> None:
        for piece in call.raw:
            if call.fate is _Fate.TEXT:
                self._ends_in_text = True
                self._show_back(piece.text, piece.at)
            else:
                self.leftover(piece.text, piece.at)
        call.raw.clear()

    def _drop_raw(self, call: OpenCall) -> None:
        for piece in call.raw:
            self.mark(piece.at, piece.at + len(piece.text), SpanKind.DROPPED)
        call.raw.clear()

    def mark(self, start: int, end: int, kind: SpanKind) -> None:
        """Say what the characters `start` to `end` of the output were read as."""
        if self.spans is not None:
            self.spans.mark(start, end, kind)
