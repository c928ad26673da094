"""The native engine: a family's regions, read by markers, in one pass over the text.

Text goes to one of two sinks, a tool-call region to the layout's reader. What ends the text that
has arrived and may still become a marker is held until that is decided.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum, auto

from tagsmith.engine.base import Context
from tagsmith.engine.calls import CallSink
from tagsmith.engine.citations import (
    MAX_POSITIONS,
    CloseKind,
    CloseReader,
    build_close_reader,
    citation_events,
)
from tagsmith.engine.json_calls import JsonCalls
from tagsmith.engine.scanner import Scanner
from tagsmith.engine.spans import SpanKind, SpanMap
from tagsmith.engine.tables import Role, Scanners, Tables, build_tables, scanners_for
from tagsmith.engine.text import WHITESPACE, TextSink
from tagsmith.events import Diagnostic, DiagnosticCode, Event, Target
from tagsmith.sources import Position
from tagsmith.spec.models import FamilySpec, ToolCalls
from tagsmith.spec.policies import CallLayout


class Region(Enum):
    """Where the output stands. `OUTSIDE` is text that no marker has opened."""

    OUTSIDE = auto()
    REASONING = auto()
    CONTENT = auto()
    CALLS = auto()


OPENS = {
    Role.REASONING_START: Region.REASONING,
    Role.CONTENT_START: Region.CONTENT,
    Role.CALLS_START: Region.CALLS,
}
CLOSES = {
    Role.REASONING_END: Region.REASONING,
    Role.CONTENT_END: Region.CONTENT,
    Role.CALLS_END: Region.CALLS,
}
_NO_SCANNERS = scanners_for(frozenset(), frozenset())


@dataclass(frozen=True, slots=True)
class NativeProgram:
    """A family compiled for the native engine; immutable, shared by all its parsers."""

    spec: FamilySpec
    tables: Tables
    close: CloseReader
    stray_close: CloseReader
    """For a closing tag where no span is open: most likely text, so it is held no longer."""
    calls: ToolCalls


def compile_native(spec: FamilySpec) -> NativeProgram:
    """Compile a family for the native engine."""
    tables = build_tables(spec)
    close_starts = [len(t) for t, role in tables.roles.items() if role is Role.CITATION_CLOSE]
    slack = max(tables.scanners.text.longest - 1 - max(close_starts, default=0), 0)
    suffix = tables.close_suffix
    return NativeProgram(
        spec=spec,
        tables=tables,
        close=build_close_reader(suffix, slack=slack, longest=MAX_POSITIONS),
        stray_close=build_close_reader(suffix, slack=slack, longest=slack),
        calls=spec.tool_calls or ToolCalls(layout=CallLayout.JSON),
    )


class NativeEngine:
    """One generation, read natively.

    `token_markers` are the markers that token ids tell apart from text; `feed_literal` does not
    look for those. `spans` records where each character went, when a map is given.
    """

    __slots__ = (
        "_base", "_calls", "_hold", "_literal", "_opening", "_program", "_reader", "_region",
        "_region_at", "_scanners", "_sink", "_sinks", "_sources", "_spans", "_steady",
        "_structural",
    )  # fmt: skip

    def __init__(
        self,
        program: NativeProgram,
        context: Context,
        *,
        token_markers: frozenset[str] = frozenset(),
        spans: SpanMap | None = None,
    ) -> None:
        spec, tables = program.spec, program.tables
        space = spec.whitespace
        content = TextSink(Target.CONTENT, space.content, space.join, spans, context.stop)
        reasoning = TextSink(Target.REASONING, space.reasoning, space.join, spans)
        self._program = program
        self._sources = context.sources
        self._spans = spans
        self._sinks = {Target.CONTENT: content, Target.REASONING: reasoning}
        self._calls = CallSink(program.calls, context.tool_names, content, spans)
        self._reader = JsonCalls(
            program.calls.keys, self._calls, calls_allowed=context.calls_allowed
        )
        self._structural = tables.scanners.text.first.search
        self._scanners = tables.scanners
        self._literal = tables.without(token_markers)
        self._region = Region.OUTSIDE
        self._region_at = 0
        self._sink = self._sinks[Target(spec.initial_region.value)]
        self._hold = ""
        self._base = 0
        self._steady = False
        self._opening: list[Event] = []
        if context.prompt_tail:
            self._follow_prompt(context)

    def feed(self, text: str) -> list[Event]:
        """Take the next piece of output; every marker's text in it is that marker."""
        if self._steady and self._structural(text) is None:
            sink = self._sink
            if not sink.quick:
                return self._plain(text)
            at = self._base
            self._base = at + len(text)
            if not sink.held and text[-1:] not in WHITESPACE:
                sink.length += len(text)
                return [sink.delta(text)]
            out: list[Event] = []
            sink.show_trimmed(text, at, out)
            return out
        if self._reader.flowing and text and '"' not in text and "\\" not in text:
            self._base += len(text)
            return [self._calls.flow(text)]
        return self._run(text, self._program.tables.scanners)

    def feed_literal(self, text: str) -> list[Event]:
        """Take text in which the markers that are tokens are only spelled, not meant."""
        if self._steady and self._structural(text) is None:
            return self._plain(text)
        return self._run(text, self._literal)

    def feed_marker(self, marker: str) -> list[Event]:
        """Take one marker that token ids have told apart from text of the same spelling."""
        out = self._run("", self._scanners, final=True)
        if self._region is Region.CALLS and self._reader.in_string:
            return out + self._run(marker, _NO_SCANNERS)
        self._calls.out = out
        if self._stopped:
            self._mark(self._base, self._base + len(marker), SpanKind.AFTER_STOP)
        else:
            self._marker(marker, self._base, out)
        self._base += len(marker)
        self._steady = False
        return out

    def finish(self) -> list[Event]:
        """The output has ended: give back what was held."""
        cut_marker = self._hold in self._scanners.calls.starts
        if self._in_calls and cut_marker and self._reader.expects_marker:
            self._drop_cut_marker()
        out = self._run("", self._scanners, final=True)
        if self._in_calls:
            self._reader.finish(self._base)
        self._end_stretch(self._base, out)
        return out

    @property
    def stop(self) -> str | None:
        """The stop string that ended the content, if one did."""
        return self._sinks[Target.CONTENT].stopped

    @property
    def offset(self) -> int:
        """How many characters were read."""
        return self._base + len(self._hold)

    @property
    def _in_calls(self) -> bool:
        return self._region is Region.CALLS and not self._stopped

    @property
    def _stopped(self) -> bool:
        return self._sinks[Target.CONTENT].stopped is not None

    def _run(self, text: str, scanners: Scanners, *, final: bool = False) -> list[Event]:
        out, self._opening = self._opening, []
        self._calls.out = out
        self._scanners = scanners
        text = self._hold + text
        pos, decided = 0, True
        while pos < len(text) and decided:
            if self._stopped:
                self._mark(self._base + pos, self._base + len(text), SpanKind.AFTER_STOP)
                pos = len(text)
            elif self._region is Region.CALLS:
                pos, decided = self._read_calls(text, pos, scanners.calls, out, final=final)
            else:
                pos, decided = self._read_text(text, pos, scanners.text, out, final=final)
        self._hold = text[pos:]
        self._base += pos
        self._steady = not (self._hold or self._stopped or self._region is Region.CALLS)
        return out

    def _plain(self, text: str) -> list[Event]:
        """Text without a character that a marker starts with, in a text region."""
        out: list[Event] = []
        self._show(text, self._base, out)
        self._base += len(text)
        self._steady = not self._stopped
        return out

    def _drop_cut_marker(self) -> None:
        """The output ends inside a marker, where nothing else can stand."""
        end = self._base + len(self._hold)
        self._mark(self._base, end, SpanKind.TRUNCATED)
        self._hold = ""
        self._base = end
        self._reader.cut()

    def _read_text(
        self, text: str, pos: int, scanner: Scanner, out: list[Event], *, final: bool
    ) -> tuple[int, bool]:
        """Read up to the next marker and act on it; False when the rest is undecided."""
        found = scanner.find(text, pos, final=final)
        start, end, literal = found or (len(text), len(text), None)
        if start > pos:
            self._show(text[pos:start], self._base + pos, out)
            if self._stopped:
                return start, True
        if literal is None:
            return start, found is None
        role = self._program.tables.roles[literal]
        if role is Role.CITATION_CLOSE:
            return self._close_citation(text, start, end, out, final=final)
        if role is Role.CITATION_OPEN:
            self._open_citation(start, end, out)
        else:
            self._marker(literal, self._base + start, out)
        return end, True

    def _read_calls(
        self, text: str, pos: int, scanner: Scanner, out: list[Event], *, final: bool
    ) -> tuple[int, bool]:
        end, marker = self._reader.read(text, pos, self._base, scanner, final=final)
        if marker is None:
            return end, end == len(text)
        self._marker(marker, self._base + end, out)
        return end + len(marker), True

    def _marker(self, marker: str, at: int, out: list[Event]) -> None:
        """Act on a marker that stands at offset `at`."""
        role = self._program.tables.roles[marker]
        end = at + len(marker)
        self._mark(at, end, SpanKind.HIDDEN if role is Role.HIDDEN else SpanKind.MARKER)
        opens, closes = OPENS.get(role), CLOSES.get(role)
        if opens is not None:
            echo = opens is self._region and not (opens is Region.CALLS and self._reader.used)
            if not echo:
                self._change_region(opens, at, end, out)
        elif closes is not None:
            if closes is self._open_region():
                self._change_region(Region.OUTSIDE, at, end, out)
            else:
                message = f"{marker} closes nothing here"
                out.append(Diagnostic(DiagnosticCode.STRAY_MARKER, message, at))

    def _open_region(self) -> Region:
        """The region, where text that no marker opened counts as a region of its kind."""
        if self._region is not Region.OUTSIDE:
            return self._region
        return Region.REASONING if self._sink.target is Target.REASONING else Region.CONTENT

    def _change_region(self, region: Region, at: int, end: int, out: list[Event]) -> None:
        if self._region is Region.CALLS:
            self._reader.end_region(at)
        self._end_stretch(at, out)
        self._enter(region, end)

    def _enter(self, region: Region, at: int) -> None:
        target = Target.REASONING if region is Region.REASONING else Target.CONTENT
        self._region = region
        self._region_at = at
        self._sink = self._sinks[target]
        self._sink.begin_stretch(after_region=region in (Region.OUTSIDE, Region.CALLS))
        if region is Region.CALLS:
            self._reader.begin_region()

    def _end_stretch(self, at: int, out: list[Event]) -> None:
        self._sink.end_stretch(out)
        unclosed = self._sink.forget_citations()
        if unclosed:
            message = f"{unclosed} cited span(s) were not closed"
            out.append(Diagnostic(DiagnosticCode.UNCLOSED_CITATION, message, at))

    def _open_citation(self, start: int, end: int, out: list[Event]) -> None:
        self._mark(self._base + start, self._base + end, SpanKind.CITATION_MARKUP)
        if not self._sink.open_citation(out):
            message = "cited spans are nested too deep"
            out.append(Diagnostic(DiagnosticCode.MALFORMED_CITATION, message, self._base + start))

    def _close_citation(
        self, text: str, start: int, end: int, out: list[Event], *, final: bool
    ) -> tuple[int, bool]:
        """Read a closing tag whose fixed start is `text[start:end]`."""
        is_open = bool(self._sink.citations)
        reader = self._program.close if is_open else self._program.stray_close
        tag = reader.read(text, end, final=final)
        if tag.kind is CloseKind.UNDECIDED:
            return start, False
        if tag.kind is CloseKind.TEXT or (tag.kind is CloseKind.MALFORMED and not is_open):
            self._show(text[start:end], self._base + start, out)
            return end, True
        at = self._base + start
        self._mark(at, self._base + tag.end, SpanKind.CITATION_MARKUP)
        self._cite(tag.positions, at, out)
        return tag.end, True

    def _cite(self, positions: tuple[Position, ...], at: int, out: list[Event]) -> None:
        """End the innermost cited span with a closing tag at offset `at`."""
        sink = self._sink
        is_open = bool(sink.citations)
        span = sink.close_citation(out) if is_open else None
        if span is not None and positions:
            out += citation_events(span, sink.target, positions, self._sources, at)
        else:
            message = "no list of positions" if is_open else "closes no cited span"
            out.append(Diagnostic(DiagnosticCode.MALFORMED_CITATION, message, at))

    def _show(self, text: str, at: int, out: list[Event]) -> None:
        """Show text of a text region, which stands at offset `at`."""
        self._sink.text(text, at, out)

    def _follow_prompt(self, context: Context) -> None:
        """Start where the prompt's own part of this turn leaves off."""
        tail = context.prompt_tail
        scout = NativeEngine(self._program, replace(context, prompt_tail="", stop=()))
        scout._run(tail, self._program.tables.scanners, final=True)
        if scout._region_at > 0:
            self._enter(scout._region, 0)
        if scout._region is Region.CALLS:
            # A call that the prompt began belongs to this turn; its text has no offset in it.
            begun = tail[scout._region_at :]
            self._base = -len(begun)
            self._opening = self._run(begun, self._program.tables.scanners, final=True)
            self._reader.flowing = False
            self._base = 0
        elif scout._sink.started:
            self._sink.resume_stretch()

    def _mark(self, start: int, end: int, kind: SpanKind) -> None:
        if self._spans is not None:
            self._spans.mark(start, end, kind)
