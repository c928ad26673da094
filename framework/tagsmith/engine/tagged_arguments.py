"""The `tagged` argument encoding: one parameter after the other, each as literals with holes."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum, auto

from tagsmith.engine.arguments import Ended
from tagsmith.engine.base import Context
from tagsmith.engine.buffer import Buffer
from tagsmith.engine.calls import CallSink
from tagsmith.engine.json_runs import BLANKS, FEW_BLANKS
from tagsmith.engine.names import Name
from tagsmith.engine.parameter_types import ToolParameters
from tagsmith.engine.scanner import Scanner
from tagsmith.engine.spans import SpanKind
from tagsmith.engine.tagged_layout import TaggedLayout, compile_tagged
from tagsmith.engine.tagged_values import ValueText, Written, ends_run
from tagsmith.engine.templates import Hole, Place
from tagsmith.engine.value_ends import ValueEnds, Verdict
from tagsmith.events import DiagnosticCode
from tagsmith.spec.models import FamilySpec
from tagsmith.spec.policies import (
    OnRepeatedParameter,
    OnUnknownParameter,
    ValueForm,
)
from tagsmith.wording import shortened

_BRACKETS = {ValueForm.MAPPING: "{}", ValueForm.LIST: "[]"}


@dataclass(frozen=True, slots=True)
class TaggedProgram:
    """The encoding, compiled for one family."""

    layout: TaggedLayout

    @property
    def starts(self) -> frozenset[str]:
        """The literals that parameters begin with."""
        return frozenset(self.layout.parameter.words)

    @property
    def literals(self) -> frozenset[str]:
        """The literals of parameters that stand out in text."""
        return self.layout.literals

    def reader(self, sink: CallSink, context: Context) -> TaggedArguments:
        """A reader for one generation."""
        return TaggedArguments(self.layout, sink, context)


def tagged_encoding(spec: FamilySpec, beyond: frozenset[str]) -> TaggedProgram:
    """Compile the encoding: the templates of parameters and items, and what follows them."""
    return TaggedProgram(compile_tagged(spec, beyond))


class _At(IntEnum):
    """Where in the arguments the reader stands."""

    BOUNDARY = auto()
    PLACE = auto()
    HOLE = auto()
    VALUE_START = auto()
    VALUE = auto()


@dataclass(slots=True, eq=False)
class _Frame:
    """An object or an array that is being written. `place` is where its own value ends."""

    form: ValueForm
    place: Place
    skipped: bool = False
    count: int = 0
    keys: set[str] = field(default_factory=set)


class TaggedArguments:
    """Reads the parameters of one call after the other; an `ArgumentsReader`."""

    # fmt: off
    __slots__ = (
        "_after", "_at", "_begun", "_boundary", "_buffer", "_complained", "_end_literals", "_ended",
        "_ends", "_frames", "_key", "_layout", "_parameters", "_place", "_quoted", "_schemas",
        "_sink", "_skipped", "_token", "_type", "_value", "flowing",
    )
    # fmt: on

    def __init__(self, layout: TaggedLayout, sink: CallSink, context: Context) -> None:
        self._layout = layout
        self._sink = sink
        self._schemas = context.parameters or {}
        self._value = ValueText()
        self._token = Name()
        self._buffer = Buffer("")
        self.flowing: Callable[[str], object] | None = None

    def begin(self, tool: str, after: Place) -> None:
        """The arguments of a call to this tool begin."""
        self._after = after
        self._parameters = ToolParameters(self._schemas.get(tool))
        self._frames = [_Frame(ValueForm.MAPPING, after)]
        self._boundary = self._layout.boundary(after)
        self._at = _At.BOUNDARY
        self._begun = self._complained = self._skipped = False
        self._ended: Ended | None = None

    def finish(self) -> bool:
        """The output ends inside the arguments: something is missing of them."""
        return False

    @property
    def expects_marker(self) -> bool:
        """Whether what may be the start of a marker can be nothing else here."""
        return self._at is not _At.VALUE

    def read(self, buffer: Buffer, pos: int) -> tuple[int, Ended | None]:
        """Read on from `pos`, as `ArgumentsReader.read`."""
        self._buffer = buffer
        self.flowing = None
        reads_on = True
        while reads_on and pos < len(buffer.text):
            pos, reads_on = _STEPS[self._at](self, pos)
        if self._at is _At.VALUE and self._value.streams and pos == len(buffer.text):
            self.flowing = ends_run(self._end_literals.first_chars)
        return pos, self._ended

    def _at_boundary(self, pos: int) -> tuple[int, bool]:
        """Between parameters: the next one, or what follows them all."""
        text, frame = self._buffer.text, self._frames[-1]
        start, end, literal = self._here(self._boundary, pos)
        if start < end and literal is None:
            return pos, False
        template = self._layout.item if frame.form is ValueForm.LIST else self._layout.parameter
        if literal in template.words:
            self._take(pos, end, SpanKind.CALL)
            self._key = self._type = ""
            self._begun = True
            self._sink.confirm()
            return self._arrive(template.words[literal or ""], end)
        if literal in frame.place.words and len(self._frames) > 1:
            self._close_frame()
            self._at, self._place = _At.PLACE, frame.place
            return pos, True
        if literal in self._after.scanner.literals:
            while self._frames:
                self._close_frame()
            self._ended = Ended.WHOLE
            return pos, False
        blanks = BLANKS.match(text, pos)
        if blanks is not None:
            self._take(pos, blanks.end(), SpanKind.CALL)
            return blanks.end(), True
        return self._junk(pos)

    def _junk(self, pos: int) -> tuple[int, bool]:
        """Text that is no parameter: it is dropped up to the next literal."""
        found = self._buffer.find(self._boundary, pos + 1)
        end = len(self._buffer.text) if found is None else found[0]
        if self._buffer.final and self._buffer.text[pos:] in self._boundary.starts:
            self._take(pos, len(self._buffer.text), SpanKind.TRUNCATED)
            return len(self._buffer.text), False
        if not self._begun:
            self._ended = Ended.BROKEN
            return pos, False
        self._complain("other text stands between the parameters of a call", pos)
        self._take(pos, end, SpanKind.DROPPED)
        return end, True

    def _arrive(self, place: Place, pos: int) -> tuple[int, bool]:
        """Stand at a place of a parameter's template; at its end the parameter is whole."""
        self._place = place
        whole = not place.words and place.hole is None
        self._at = _At.BOUNDARY if whole else _At.PLACE
        return pos, True

    def _at_place(self, pos: int) -> tuple[int, bool]:
        """A literal of the template, or a hole."""
        place = self._place
        start, end, literal = self._here(place.own, pos)
        if start < end and literal is None:
            return pos, False
        if literal is not None:
            self._take(pos, end, SpanKind.CALL)
            return self._arrive(place.words[literal], end)
        if place.hole is Hole.VALUE:
            return self._at_value_or_word(pos)
        if place.hole is not None:
            self._at = _At.HOLE
            self._token.clear()
            return pos, True
        blanks = BLANKS.match(self._buffer.text, pos)
        if blanks is not None:
            self._take(pos, blanks.end(), SpanKind.CALL)
            return blanks.end(), True
        return self._give_up(pos)

    def _at_value_or_word(self, pos: int) -> tuple[int, bool]:
        """A value begins, unless blanks stand before a literal that may come here as well."""
        place, text = self._place, self._buffer.text
        found = FEW_BLANKS.match(text, pos)
        end = pos if found is None or not place.words else found.end()
        if end == pos:
            return self._begin_value(pos)
        start, literal_end, literal = self._here(place.own, end)
        if (end == len(text) and not self._buffer.final) or (start < literal_end and not literal):
            return pos, False
        if literal is None:
            return self._begin_value(pos)
        self._take(pos, end, SpanKind.CALL)
        return end, True

    def _give_up(self, pos: int) -> tuple[int, bool]:
        """What stands here is not the rest of a parameter."""
        if not (self._buffer.final and self._buffer.text[pos:] in self._place.own.starts):
            self._complain("a parameter is not written as the family says", pos)
        self._at = _At.BOUNDARY
        return pos, True

    def _in_hole(self, pos: int) -> tuple[int, bool]:
        """A key or a type: up to the literal after it."""
        after = self._place.past_hole
        start, _, literal = self._next(after.scanner, pos)
        end = pos + self._token.more(self._buffer.text[pos:start])
        self._take(pos, end, SpanKind.CALL)
        if end < start:
            return self._give_up(end)
        if literal is None:
            return start, False
        if literal not in after.words:
            return self._give_up(start)
        if self._place.hole is Hole.KEY:
            self._key = self._token.text
        elif self._place.hole is Hole.TYPE:
            self._type = self._token.text
        self._at, self._place = _At.PLACE, after
        return start, True

    def _begin_value(self, pos: int) -> tuple[int, bool]:
        frame, key = self._frames[-1], self._key
        self._skipped = frame.skipped or self._to_skip(frame, key, pos)
        form, types = self._layout.written(self._type, self._parameters.types(key))
        if not self._skipped:
            opening = _BRACKETS[frame.form][0] if frame.count == 0 else ", "
            frame.count += 1
            named = frame.form is ValueForm.MAPPING
            self._sink.argument_text(opening + (f"{_json(key)}: " if named else ""))
        if form in _BRACKETS:
            self._frames.append(_Frame(form, self._place.past_hole, self._skipped))
            self._at = _At.BOUNDARY
            return pos, True
        written = Written.JSON if form is ValueForm.JSON else Written.TEXT
        self._value.begin(Written.SKIPPED if self._skipped else written, types)
        self._ends = ValueEnds(self._layout, self._place.past_hole, self._after)
        self._end_literals = self._ends.literals
        self._quoted = 0
        self._at = _At.VALUE_START
        return pos, True

    def _to_skip(self, frame: _Frame, key: str, pos: int) -> bool:
        """Whether a policy drops the parameter."""
        if frame.form is ValueForm.LIST:
            return False
        calls, repeated = self._layout.calls, key in frame.keys
        frame.keys.add(key)
        if repeated and calls.on_repeated_parameter is OnRepeatedParameter.FIRST:
            message = f"a call repeats the parameter {shortened(key)!r}; the first one counts"
            self._diagnose(DiagnosticCode.DUPLICATE_KEY, message, pos)
            return True
        if len(self._frames) > 1 or self._parameters.expects(key):
            return False
        message = f"the tool has no parameter {shortened(key)!r}"
        self._diagnose(DiagnosticCode.UNKNOWN_PARAMETER, message, pos)
        return calls.on_unknown_parameter is OnUnknownParameter.DROP

    def _at_value_start(self, pos: int) -> tuple[int, bool]:
        """The newline that the template writes before a value."""
        lead = self._place.lead
        self._at = _At.VALUE
        if not lead or not self._buffer.text.startswith(lead, pos):
            return pos, True
        self._take(pos, pos + len(lead), SpanKind.CALL)
        return pos + len(lead), True

    def _in_value(self, pos: int) -> tuple[int, bool]:
        """The value, up to what closes it."""
        text = self._buffer.text
        search = pos
        while True:
            found = self._end_literals.find(text, search, final=False)
            start, end, literal = found or (len(text), len(text), None)
            if literal is None:
                return self._value_goes_on(pos, start)
            verdict = self._verdict(pos, start, end, literal)
            if verdict is Verdict.CLOSER:
                return self._value_read(pos, start, literal)
            if verdict is Verdict.UNDECIDED:
                return self._value_goes_on(pos, start)
            search = start + 1

    def _verdict(self, pos: int, start: int, end: int, literal: str) -> Verdict:
        """What a literal in a value is; within a call that the value quotes, all is data."""
        layout = self._layout
        if literal in layout.call.words:
            quotes = self._ends.quotes_call(self._buffer, end, literal)
            self._quoted += quotes is True
            return Verdict.UNDECIDED if quotes is None else Verdict.DATA
        if self._quoted:
            self._quoted -= literal in layout.call_closers
            return Verdict.DATA
        if literal in layout.parameter.words:
            return self._next_parameter(pos, start, end, literal)
        return self._ends.verdict(self._buffer, start, end, literal)

    def _next_parameter(self, pos: int, start: int, end: int, literal: str) -> Verdict:
        """Whether another parameter begins in a value, whose own closer was left out.

        It does where the template begins one, with a key that the schema names and that the call
        has not given yet.
        """
        frame, tail = self._frames[-1], self._place.tail
        if len(self._frames) > 1 or not self._buffer.text.endswith(tail, pos, start):
            return Verdict.DATA
        key = self._ends.next_key(self._buffer, end, literal)
        if key is None:
            return Verdict.UNDECIDED
        is_next = key not in frame.keys and self._parameters.names(key)
        return Verdict.CLOSER if is_next else Verdict.DATA

    def _value_goes_on(self, pos: int, end: int) -> tuple[int, bool]:
        """Nothing closes the value yet; from `end` on something may."""
        text, tail = self._buffer.text, self._place.tail
        whole = self._buffer.final and end == len(text)
        if tail and text.endswith(tail, pos, end) and not whole:
            end -= len(tail)
        self._more(pos, end)
        if self._buffer.final and end < len(text):
            self._take(end, len(text), SpanKind.TRUNCATED)
            return len(text), False
        return end, False

    def _value_read(self, pos: int, end: int, closer: str) -> tuple[int, bool]:
        """The value ends before `end`, where its closer stands, or what follows the call."""
        tail = self._place.tail
        tail_at = end - len(tail) if tail and self._buffer.text.endswith(tail, pos, end) else end
        self._more(pos, tail_at)
        self._take(tail_at, end, SpanKind.CALL)
        rest, fits = self._value.end()
        self._write(rest)
        if not fits:
            message = f"the value of {shortened(self._key)!r} is not of its type; it stays text"
            self._diagnose(DiagnosticCode.MISTYPED_ARGUMENT, message, end)
        if closer in self._place.past_hole.words:
            self._at, self._place = _At.PLACE, self._place.past_hole
            return end, True
        self._complain("a parameter is not closed", end)
        self._at = _At.BOUNDARY
        if closer in self._layout.turn_ends:
            self._ended = Ended.BROKEN
            return end, False
        return end, True

    def _more(self, pos: int, end: int) -> None:
        if end > pos:
            text = self._buffer.text[pos:end]
            self._take(pos, end, SpanKind.DROPPED if self._skipped else SpanKind.ARGUMENTS)
            self._write(self._value.more(text))

    def _write(self, text: str) -> None:
        if text:
            self._sink.argument_text(text)

    def _close_frame(self) -> None:
        """The innermost object or array is whole."""
        frame = self._frames.pop()
        if frame.skipped:
            return
        brackets = _BRACKETS[frame.form]
        self._sink.argument_text(brackets if frame.count == 0 else brackets[1])

    def _complain(self, message: str, pos: int) -> None:
        """Say once in a call that it is not as it should be."""
        if not self._complained:
            self._complained = True
            self._diagnose(DiagnosticCode.MALFORMED_CALL, message, pos)

    def _diagnose(self, code: DiagnosticCode, message: str, pos: int) -> None:
        self._sink.diagnose(code, message, self._buffer.base + pos)

    def _next(self, scanner: Scanner, pos: int) -> tuple[int, int, str | None]:
        end = len(self._buffer.text)
        return self._buffer.find(scanner, pos) or (end, end, None)

    def _here(self, scanner: Scanner, pos: int) -> tuple[int, int, str | None]:
        return self._buffer.match(scanner, pos) or (pos, pos, None)

    def _take(self, pos: int, end: int, kind: SpanKind) -> None:
        if end > pos and not self._sink.quiet:
            self._sink.take(self._buffer.text[pos:end], self._buffer.base + pos, kind)


def _json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


_STEPS: dict[_At, Callable[[TaggedArguments, int], tuple[int, bool]]] = {
    _At.BOUNDARY: TaggedArguments._at_boundary,
    _At.PLACE: TaggedArguments._at_place,
    _At.HOLE: TaggedArguments._in_hole,
    _At.VALUE_START: TaggedArguments._at_value_start,
    _At.VALUE: TaggedArguments._in_value,
}
