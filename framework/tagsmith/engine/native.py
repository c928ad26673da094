"""The native engine: a family's regions, read by markers, in one pass over the text.

Text goes to one of two sinks, a tool-call region to the layout's reader. What ends the text that
has arrived and may still become a marker is held until that is decided.
"""

from __future__ import annotations

from dataclasses import replace

from tagsmith.engine.base import Context, Run
from tagsmith.engine.buffer import Buffer, TokenMarks
from tagsmith.engine.calls import CallSink
from tagsmith.engine.citations import (
    CloseKind,
    citation_events,
)
from tagsmith.engine.headers import HeaderReader
from tagsmith.engine.program import NativeProgram
from tagsmith.engine.reader import Opened
from tagsmith.engine.spans import SpanKind, SpanMap
from tagsmith.engine.tables import Meaning, Region, Role
from tagsmith.engine.text import WHITESPACE, TextSink
from tagsmith.events import Diagnostic, DiagnosticCode, Event, Target
from tagsmith.sources import Position
from tagsmith.spec.policies import InitialRegion, OnOpener


class NativeEngine:
    """One generation, read natively.

    `token_markers` are the markers that token ids tell apart from text of the same spelling:
    `feed_marker` brings them. `spans` records where each character went, when a map is given.
    """

    __slots__ = (
        "_base", "_calls", "_header", "_hold", "_marks", "_opening", "_outer", "_program",
        "_reader", "_region", "_region_at", "_sink", "_sinks", "_sources", "_spans", "_steady",
        "_structural", "_unmarked",
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
        self._calls = CallSink(program.calls.spec, context.tool_names, content, spans)
        self._reader = program.calls.layout.reader(self._calls, context)
        self._marks = TokenMarks(token_markers) if token_markers else None
        self._structural = tables.text.first.search
        self._region = Region.OUTSIDE
        self._region_at = 0
        self._outer: Region | None = None
        in_reasoning = spec.initial_region is InitialRegion.REASONING
        self._sink = reasoning if in_reasoning else content
        self._hold = ""
        self._base = 0
        self._header = HeaderReader(spec.tokens.header)
        self._unmarked = program.calls.unmarked if context.calls_possible else ""
        self._steady = False
        self._opening: list[Event] = []
        if context.follows_prompt:
            self._follow_prompt(program.lead_in + context.prompt_tail, context)

    def feed(self, text: str) -> list[Event]:
        """Take the next piece of output; every marker's text in it is that marker."""
        if self._steady and self._structural(text) is None:
            return self._plain(text)
        self._mark_tokens(text)
        return self._run(text)

    def feed_literal(self, text: str) -> list[Event]:
        """Take text in which the markers that are tokens are only spelled, not meant."""
        if self._steady and self._structural(text) is None:
            return self._plain(text)
        return self._run(text)

    def feed_marker(self, marker: str) -> list[Event]:
        """Take one marker that token ids have told apart from text of the same spelling."""
        self._mark_tokens(marker)
        return self._run(marker)

    def begin_run(self) -> Run | None:
        """The run in which the output stands now: plain text, or a string of arguments."""
        if self._steady:
            return self._sink.begin_run(self._program.tables.text) if self._sink.quick else None
        flowing = self._reader.flowing
        if flowing is None or self._opening or self._region is not Region.CALLS:
            return None
        return Run(self._calls.delta_maker(), ends=flowing)

    def end_run(self, run: Run) -> None:
        """Take a run back, with what was shown of it."""
        if self._region is Region.CALLS:
            self._calls.flowed(run.shown.getvalue())
            self._base += run.shown.tell()
        else:
            self._base = self._sink.end_run(run, self._base)

    def finish(self) -> list[Event]:
        """The output has ended: give back what was held."""
        cut_marker = self._hold in self._program.tables.calls.starts
        if self._in_calls and cut_marker and self._reader.expects_marker:
            self._drop_cut_marker()
        out = self._run("", final=True)
        if self._in_calls:
            self._reader.finish(self._base)
            self._calls.end_region(self._base)
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

    def _mark_tokens(self, text: str) -> None:
        """What stands in this text, which comes next, is as good as tokens."""
        if self._marks is not None:
            self._marks.offsets.update(range(self.offset, self.offset + len(text)))

    def _run(self, text: str, *, final: bool = False) -> list[Event]:
        out, self._opening = self._opening, []
        self._calls.out = out
        buffer = Buffer(self._hold + text, self._base, final, self._marks)
        end = len(buffer.text)
        pos, decided = 0, True
        while pos < end and decided:
            if self._stopped:
                self._mark(self._base + pos, self._base + end, SpanKind.AFTER_STOP)
                pos = end
            elif self._region is Region.CALLS:
                pos, decided = self._read_calls(buffer, pos, out)
            else:
                pos, decided = self._read_text(buffer, pos, out)
        self._hold = buffer.text[pos:]
        self._base += pos
        if self._marks is not None:
            self._marks.forget(self._base)
        waiting = self._hold or self._stopped or self._unmarked or self._header.room
        self._steady = not (waiting or self._region is Region.CALLS)
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

    def _read_text(self, buffer: Buffer, pos: int, out: list[Event]) -> tuple[int, bool]:
        """Read up to the next marker and act on it; False when the rest is undecided."""
        text = buffer.text
        if self._unmarked:
            start = self._unmarked_calls(text, pos)
            if start is not None:
                if start > pos:
                    self._show(text[pos:start], buffer.base + pos, out)
                self._try_calls(Opened.NOTHING, buffer.base + start)
                return start, True
        found = buffer.find(self._program.tables.text, pos)
        start, _, literal = found or (len(text), len(text), None)
        if start > pos:
            shown_from = self._header.past(text, pos, start)
            self._mark(buffer.base + pos, buffer.base + shown_from, SpanKind.HIDDEN)
            if start > shown_from:
                self._show(text[shown_from:start], buffer.base + shown_from, out)
            if self._stopped:
                return start, True
        if literal is None:
            return start, found is None
        return self._act(literal, buffer, start, out)

    def _unmarked_calls(self, text: str, pos: int) -> int | None:
        """Where calls without a marker may begin, behind blanks, if the content has not begun."""
        content = self._sinks[Target.CONTENT]
        if content.started or content.length or self._calls.count:
            self._unmarked = ""
        start = len(text) - len(text[pos:].lstrip(WHITESPACE))
        begins = self._sink is content and text[start : start + 1] in self._unmarked
        return start if begins and start < len(text) else None

    def _try_calls(self, opened: Opened, at: int) -> None:
        """A call may begin at offset `at`; until it has, the text around it is one stretch."""
        self._outer = self._region
        self._region, self._region_at = Region.CALLS, at
        self._calls.try_region(self._sink, self._settle)
        self._reader.begin_region(opened)

    def _settle(self, at: int) -> None:
        """It is a call: the text before it has ended."""
        self._outer = None
        self._end_stretch(at, self._calls.out)
        self._sink = self._sinks[Target.CONTENT]
        self._sink.begin_stretch(after_region=True)

    def _act(self, literal: str, buffer: Buffer, start: int, out: list[Event]) -> tuple[int, bool]:
        """Do what the literal at `start` asks for."""
        meaning = self._program.tables.meanings[literal]
        end = start + len(literal)
        if meaning.role is Role.CITATION_CLOSE:
            return self._close_citation(buffer, start, end, out)
        if meaning.opens not in (None, Region.REASONING) and self._keeps_openers:
            self._show(literal, buffer.base + start, out)
            return end, True
        if meaning.role is Role.CITATION_OPEN:
            self._open_citation(start, end, out)
        else:
            self._marker(literal, buffer.base + start, out)
        # A call's opener belongs to the call: its reader begins there.
        return (start if meaning.role is Role.CALL else end), True

    def _read_calls(self, buffer: Buffer, pos: int, out: list[Event]) -> tuple[int, bool]:
        pos, stop = self._reader.read(buffer, pos)
        if stop is None:
            return pos, pos == len(buffer.text)
        at = buffer.base + pos
        if self._outer is not None:
            self._end_calls(at)
        if self._outer is not None:
            self._resume(at, out)
        elif stop.marker is None and self._calls.ends_in_text:
            self._region = Region.OUTSIDE
        elif stop.marker is None:
            self._change_region(Region.OUTSIDE, at, at, out)
        return (pos, True) if stop.marker is None else self._act(stop.marker, buffer, pos, out)

    def _resume(self, at: int, out: list[Event]) -> None:
        """What was tried is no call: the text before it goes on."""
        if self._outer is not None:
            self._region, self._outer = self._outer, None

    def _end_calls(self, at: int) -> None:
        self._reader.end_region(at)
        self._calls.end_region(at)

    def _marker(self, marker: str, at: int, out: list[Event]) -> None:
        """Act on a marker that stands at offset `at`."""
        meaning = self._program.tables.meanings[marker]
        end = at + len(marker)
        hidden = meaning.role is Role.HIDDEN
        self._header.marker(marker if hidden else None)
        self._mark(at, end, SpanKind.HIDDEN if hidden else SpanKind.MARKER)
        if meaning.role is Role.CALL and self._region is not Region.CALLS:
            self._try_calls(meaning.opened, at)
        elif meaning.opens is Region.CALLS and self._open_region() is Region.REASONING:
            alone = meaning.opened is Opened.MARKER_ALONE
            self._try_calls(Opened.MARKER_ALONE if alone else Opened.TRIED, end)
        elif meaning.opens is not None:
            if not self._echoes(meaning):
                begins = at if meaning.role is Role.CALL else end
                self._change_region(meaning.opens, at, begins, out, meaning.opened)
        elif meaning.closes:
            if self._open_region() in meaning.closes:
                self._change_region(Region.OUTSIDE, at, end, out)
            else:
                message = f"{marker} closes nothing here"
                out.append(Diagnostic(DiagnosticCode.STRAY_MARKER, message, at))

    def _echoes(self, meaning: Meaning) -> bool:
        """Whether an opener only says again what is open."""
        if meaning.opens is not self._region or meaning.role is Role.CALL:
            return False
        return not (self._region is Region.CALLS and self._reader.used)

    @property
    def _keeps_openers(self) -> bool:
        """Whether the openers of other regions are text here: in reasoning that says so."""
        markers = self._program.spec.tag_style.reasoning
        if markers is None or markers.on_opener is OnOpener.END:
            return False
        return self._open_region() is Region.REASONING

    def _open_region(self) -> Region:
        """The region, where text that no marker opened counts as a region of its kind."""
        if self._region is not Region.OUTSIDE:
            return self._region
        return Region.REASONING if self._sink.target is Target.REASONING else Region.CONTENT

    def _change_region(
        self,
        region: Region,
        at: int,
        end: int,
        out: list[Event],
        opened: Opened = Opened.NOTHING,
    ) -> None:
        if self._region is Region.CALLS:
            self._end_calls(at)
        self._end_stretch(at, out)
        self._enter(region, end, opened)

    def _enter(self, region: Region, at: int, opened: Opened) -> None:
        target = Target.REASONING if region is Region.REASONING else Target.CONTENT
        self._region = region
        self._region_at = at
        self._sink = self._sinks[target]
        self._sink.begin_stretch(after_region=region in (Region.OUTSIDE, Region.CALLS))
        if region is Region.CALLS:
            self._reader.begin_region(opened)

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
        self, buffer: Buffer, start: int, end: int, out: list[Event]
    ) -> tuple[int, bool]:
        """Read a closing tag whose fixed start is `buffer.text[start:end]`."""
        text = buffer.text
        is_open = bool(self._sink.citations)
        reader = self._program.close if is_open else self._program.stray_close
        tag = reader.read(text, end, final=buffer.final)
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

    def _follow_prompt(self, tail: str, context: Context) -> None:
        """Start where the prompt's own part of this turn leaves off."""
        if not tail:
            return
        scout = NativeEngine(self._program, replace(context, follows_prompt=False, stop=()))
        scout._run(tail)
        if scout._region is Region.CALLS:
            # A call that the prompt began belongs to this turn; its text has no offset in it.
            begun = tail[scout._region_at :]
            if scout._outer is None:
                self._enter(Region.CALLS, 0, scout._reader.opened)
            else:
                self._try_calls(scout._reader.opened, 0)
            self._opening = self._run_prompt(begun)
            return
        if scout._region_at > 0:
            self._enter(scout._region, 0, Opened.NOTHING)
        if scout._sink.started:
            self._sink.resume_stretch()
        # What the prompt ends with may go on in the output; it has no offset there.
        self._run_prompt(scout._hold)

    def _run_prompt(self, text: str) -> list[Event]:
        self._base = -len(text)
        if self._marks is not None:
            self._marks.offsets.update(range(-len(text), 0))
        return self._run(text)

    def _mark(self, start: int, end: int, kind: SpanKind) -> None:
        if self._spans is not None:
            self._spans.mark(start, end, kind)
