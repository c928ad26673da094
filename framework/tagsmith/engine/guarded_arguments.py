"""An argument encoding of a plug-in, kept safe: whatever it does, the parser goes on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar, cast

from tagsmith.engine.arguments import ArgumentsProgram, ArgumentsReader, Encoding, Ended
from tagsmith.engine.base import Context
from tagsmith.engine.buffer import Buffer
from tagsmith.engine.calls import CallSink
from tagsmith.engine.plugin_engines import INTERRUPTS, fault_text, own_copy
from tagsmith.engine.spans import SpanKind
from tagsmith.engine.templates import Place
from tagsmith.events import DiagnosticCode
from tagsmith.spec.models import FamilySpec

_Given = TypeVar("_Given")
_Found = TypeVar("_Found")


@dataclass(frozen=True, slots=True)
class GuardedEncoding:
    """An encoding that a plug-in brings, by the name that families give it."""

    name: str
    encoding: Encoding

    def __call__(self, spec: FamilySpec, beyond: frozenset[str]) -> ArgumentsProgram:
        """Compile the encoding for a family. What it raises stays what it is, if that is safe."""
        try:
            program = self.encoding(spec, beyond)
            starts, literals = frozenset(program.starts), frozenset(program.literals)
        except INTERRUPTS:
            raise
        except BaseException as fault:
            if isinstance(fault, Exception) and _can_be_shown(fault):
                raise
            raise RuntimeError(fault_text(fault)) from fault
        return _GuardedProgram(self.name, program, starts, literals)


def _can_be_shown(fault: BaseException) -> bool:
    """Whether what an error says can be asked for."""
    try:
        str(fault)
    except Exception:
        return False
    return True


@dataclass(frozen=True, slots=True)
class _GuardedProgram:
    name: str
    program: ArgumentsProgram
    starts: frozenset[str]
    literals: frozenset[str]

    def reader(self, sink: CallSink, context: Context) -> ArgumentsReader:
        return _GuardedReader(self.name, self.program, sink, own_copy(context))


class _SinkView:
    """A sink as the plug-in has it. `taken` is the offset behind what it took of this call."""

    def __init__(self, sink: CallSink) -> None:
        self._sink = sink
        self.taken: int | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sink, name)

    def take(self, text: str, at: int, kind: SpanKind) -> None:
        self._sink.take(text, at, kind)
        self.taken = at + len(text)

    def argument_text(self, text: str) -> None:
        if not isinstance(text, str):
            raise TypeError(f"argument text is {type(text).__name__}, not text")
        self._sink.argument_text(text)


class _GuardedReader:
    """An `ArgumentsReader` that never raises: where the plug-in's does, the call ends there, as
    one that is not closed, and a diagnostic says why."""

    __slots__ = ("_at", "_fault", "_name", "_reader", "_sink", "_view")

    def __init__(
        self, name: str, program: ArgumentsProgram, sink: CallSink, context: Context
    ) -> None:
        self._name = name
        self._sink = sink
        self._view = _SinkView(sink)
        self._at = 0
        self._fault: str | None = None
        given = cast(CallSink, self._view)
        self._reader = self._try(lambda _: program.reader(given, context), self)

    def begin(self, tool: str, after: Place) -> None:
        self._view.taken = None
        if self._reader is not None:
            self._fault = None
            self._try(lambda reader: reader.begin(tool, after), self._reader)

    def read(self, buffer: Buffer, pos: int) -> tuple[int, Ended | None]:
        found = self._try(lambda reader: _checked_read(reader, buffer, pos), self._reader)
        if found is None:
            # What it took is told already.
            start = pos if self._view.taken is None else self._view.taken - buffer.base
            found = min(max(start, pos), len(buffer.text)), Ended.BROKEN
            self._tell(buffer.base + found[0])
        self._at = buffer.base + found[0]
        return found

    def finish(self) -> bool:
        is_whole = self._try(lambda reader: bool(reader.finish()), self._reader)
        if is_whole is None:
            self._tell(self._at)
        return is_whole is True

    @property
    def flowing(self) -> Callable[[str], object] | None:
        ends = self._try(lambda reader: reader.flowing, self._reader)
        return None if ends is None else partial(_ends, ends)

    @property
    def expects_marker(self) -> bool:
        return self._try(lambda reader: bool(reader.expects_marker), self._reader) is True

    def _try(self, step: Callable[[_Given], _Found], given: _Given | None) -> _Found | None:
        """What a step gives; None where it fails, or an earlier one has."""
        if self._fault is not None or given is None:
            return None
        try:
            return step(given)
        except INTERRUPTS:
            raise
        except BaseException as fault:
            self._fault = fault_text(fault)
            return None

    def _tell(self, at: int) -> None:
        message = f"the encoding {self._name} failed with {self._fault}; the call ends here"
        self._sink.diagnose(DiagnosticCode.ENGINE_FAULT, message, at)


def _checked_read(reader: ArgumentsReader, buffer: Buffer, pos: int) -> tuple[int, Ended | None]:
    own = Buffer(buffer.text, buffer.base, buffer.final, buffer.marks)
    end, ended = reader.read(own, pos)
    if not pos <= end <= len(buffer.text):
        raise ValueError(f"it reads to {end}, and was given {pos} to {len(buffer.text)}")
    if ended is None and buffer.final and end < len(buffer.text):
        raise ValueError("it leaves text unread at the end of the output")
    return end, None if ended is None else Ended(ended)


def _ends(ends: Callable[[str], object], text: str) -> object:
    """Whether text ends a run; where that cannot be told, the run ends."""
    try:
        return ends(text)
    except INTERRUPTS:
        raise
    except BaseException:
        return True
