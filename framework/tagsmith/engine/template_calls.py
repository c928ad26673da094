"""The `template` call layout: calls as literals with holes, read place by place."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum, auto

from tagsmith.engine.arguments import Ended
from tagsmith.engine.base import Context
from tagsmith.engine.buffer import Buffer
from tagsmith.engine.calls import CallSink
from tagsmith.engine.json_runs import BLANKS
from tagsmith.engine.names import Name
from tagsmith.engine.reader import OVER, Opened, Stop
from tagsmith.engine.scanner import Scanner
from tagsmith.engine.spans import SpanKind
from tagsmith.engine.template_layout import TemplateLayout
from tagsmith.engine.templates import Hole, Place
from tagsmith.events import DiagnosticCode

_KINDS = {Hole.NAME: SpanKind.CALL_NAME, Hole.ID: SpanKind.CALL_ID}


class _At(IntEnum):
    """Where in the region the reader stands."""

    BETWEEN = auto()
    PLACE = auto()
    HOLE = auto()
    ARGUMENTS = auto()
    TEXT = auto()


class TemplateCalls:
    """Reads the tool-call regions of one generation; a `CallReader`."""

    # fmt: off
    __slots__ = (
        "_arguments", "_at", "_buffer", "_calls_allowed", "_calls_seen", "_id_read", "_layout",
        "_name", "_place", "_saw_text", "_sink", "_stop", "_token", "_used", "opened",
    )
    # fmt: on

    def __init__(self, layout: TemplateLayout, sink: CallSink, context: Context) -> None:
        self._layout = layout
        self._sink = sink
        self._arguments = layout.arguments.reader(sink, context)
        self._calls_allowed = context.calls_allowed
        self._buffer = Buffer("")
        self.begin_region(Opened.MARKER)

    def begin_region(self, opened: Opened) -> None:
        """A region opens."""
        self._sink.begin_region(opened)
        self.opened = opened
        self._at = _At.BETWEEN if self._calls_allowed else _At.TEXT
        self._place = self._layout.root
        self._token = Name()
        self._name = ""
        self._used = self._saw_text = self._id_read = self._calls_seen = False
        self._stop: Stop | None = None

    @property
    def used(self) -> bool:
        """Whether the region holds anything but blanks so far."""
        return self._used

    @property
    def expects_marker(self) -> bool:
        """Whether what may be the start of a marker can be nothing else here."""
        if self._at is _At.ARGUMENTS:
            return self._arguments.expects_marker
        return self._at is _At.PLACE or (self._at is _At.BETWEEN and not self._saw_text)

    @property
    def flowing(self) -> Callable[[str], object] | None:
        """What ends a run of arguments, as in `CallReader`."""
        if self._at is not _At.ARGUMENTS or not self._sink.flows:
            return None
        return self._arguments.flowing

    def cut(self) -> None:
        """The output ends inside a marker that stands here."""
        if self._sink.call is None:
            message = "the output ends inside a tool-call region"
            self._sink.diagnose(DiagnosticCode.TRUNCATED, message, self._buffer.base)

    def read(self, buffer: Buffer, pos: int) -> tuple[int, Stop | None]:
        """Read on from `pos`, as `CallReader.read`."""
        self._buffer, self._stop = buffer, None
        reads_on = True
        while reads_on and pos < len(buffer.text):
            pos, reads_on = _STEPS[self._at](self, pos)
        return pos, self._stop

    def end_region(self, at: int) -> None:
        """A marker at offset `at` ends the region."""
        if self._sink.call is not None:
            self._sink.break_off(at)

    def finish(self, at: int) -> None:
        """The output ends at offset `at`, inside the region."""
        call = self._sink.call
        if call is None:
            return
        if (
            self._at is _At.ARGUMENTS
            and self._arguments.finish()
            and self._ends_turn(self._place.past_hole)
        ):
            self._sink.close_arguments()
            self._place = self._place.past_hole
        if not call.closed:
            self._sink.cut_off(at)
            return
        if not self._ends_turn(self._place):
            message = "the output ends before the end of a tool call"
            self._sink.diagnose(DiagnosticCode.TRUNCATED, message, at)
        self._sink.end(at)

    def _ends_turn(self, place: Place) -> bool:
        """Whether nothing is missing here but the end of the turn, which servers take away."""
        return place.ends or not self._layout.turn_ends.isdisjoint(place.words)

    def _between(self, pos: int) -> tuple[int, bool]:
        """Between calls: up to the opener of the next one, or to a marker."""
        start, end, literal = self._next(self._layout.root.scanner, pos)
        if start > pos:
            pos = self._other_text(pos, start)
        if literal is None or self._stop is not None:
            return pos, False
        if literal not in self._layout.root.words:
            self._stop = Stop(literal)
            return start, False
        self._used, self._saw_text, self._id_read = True, False, False
        self._sink.begin(self._buffer.base + start, id_known=not self._layout.writes_ids)
        self._take_word(literal, start, end)
        self._token.clear()
        return self._arrive(self._layout.root.words[literal], end)

    def _other_text(self, pos: int, end: int) -> int:
        """Text between calls: blanks set them apart, anything else is no call.

        Returns the end of it, or where a region ends that no marker closes.
        """
        blanks = BLANKS.match(self._buffer.text, pos, end)
        if blanks is not None and not self._saw_text:
            self._sink.between(blanks.group(), self._buffer.base + pos)
            pos = blanks.end()
        rest = self._buffer.text[pos:end]
        if not rest:
            return end
        if self._calls_seen and self.opened is Opened.MARKER_ALONE:
            self._stop = OVER
            return pos
        if self._buffer.final and rest in self._layout.root.scanner.starts and not self._saw_text:
            self._sink.mark(self._buffer.base + pos, self._buffer.base + end, SpanKind.TRUNCATED)
            self.cut()
            return end
        if not self._saw_text:
            self._saw_text = self._used = True
            self._sink.malformed(self._buffer.base + pos)
        if self.opened is Opened.TRIED and not self._calls_seen:
            self._stop = OVER
            return pos
        self._sink.leftover(rest, self._buffer.base + pos)
        return end

    def _arrive(self, place: Place, pos: int) -> tuple[int, bool]:
        """Stand at a place of the template; at its end the call is whole."""
        self._place = place
        self._at = _At.PLACE
        if place.words or place.hole is not None:
            return pos, True
        self._sink.end(self._buffer.base + pos)
        self._calls_seen = True
        return self._leave_call(pos)

    def _leave_call(self, pos: int) -> tuple[int, bool]:
        self._at = _At.BETWEEN
        if self.opened is Opened.CALL:
            self._stop = OVER
            return pos, False
        return pos, True

    def _at_place(self, pos: int) -> tuple[int, bool]:
        """A literal of the template, a hole, or what can be neither."""
        place, text = self._place, self._buffer.text
        start, end, literal = self._here(place.scanner, pos)
        if start < end and literal is None:
            return pos, False
        if literal in place.words:
            self._take_word(literal or "", pos, end)
            return self._arrive(place.words[literal or ""], end)
        blanks = BLANKS.match(text, pos) if literal is None else None
        if blanks is not None:
            self._take(pos, blanks.end(), SpanKind.CALL)
            return blanks.end(), True
        if place.hole is Hole.ARGUMENTS:
            return self._begin_arguments(pos)
        passes = place.hole is Hole.IGNORED and literal in self._layout.hidden
        if place.hole is not None and (literal is None or passes):
            self._at = _At.HOLE
            return pos, True
        if self._buffer.final and text[pos:] in place.scanner.starts:
            self._take(pos, len(text), SpanKind.TRUNCATED)
            return len(text), False
        return self._break(pos)

    def _break(self, pos: int) -> tuple[int, bool]:
        """What stands here can be no part of the call.

        Outside of a region, text that is no call ends it; what is left of a broken call does not,
        up to what closes the call.
        """
        call = self._sink.call
        is_broken = call is not None and call.announced
        self._sink.break_off(self._buffer.base + pos)
        self._saw_text = True
        if is_broken and self._layout.has_closers:
            self._at = _At.BETWEEN
            return pos, True
        return self._leave_call(pos)

    def _in_hole(self, pos: int) -> tuple[int, bool]:
        """A name, an id, or what is ignored: up to the literal after it."""
        hole, after = self._place.hole, self._place.past_hole
        ignored = hole is Hole.IGNORED
        scanner = self._layout.past_ignored(after) if ignored else self._layout.past_name(after)
        start, end, literal = self._buffer.last_find(scanner, pos)
        stop = pos + self._token.more(self._buffer.text[pos:start])
        if ignored:
            self._sink.mark(self._buffer.base + pos, self._buffer.base + stop, SpanKind.CALL)
        else:
            self._take(pos, stop, _KINDS[hole or Hole.NAME])
        if stop < start:
            return self._break(stop)
        if literal is None:
            return self._cut_in_hole(start, end)
        if not (literal in after.leads and (ignored or self._named(hole))):
            return self._break(start)
        self._token.clear()
        self._at, self._place = _At.PLACE, after
        return start, True

    def _cut_in_hole(self, start: int, end: int) -> tuple[int, bool]:
        """No literal ends the hole yet. Where no text follows, the start of one is none of it."""
        if not self._buffer.final or start == end:
            return start, False
        self._take(start, end, SpanKind.TRUNCATED)
        return end, False

    def _named(self, hole: Hole | None) -> bool:
        """Use what stood in the hole; False when that is nothing."""
        token = self._token.text
        if not token:
            return False
        name: str | None = token
        if hole is Hole.ID:
            self._id_read = True
            carried = None if self._layout.ids is None else self._layout.ids.fullmatch(token)
            name = None if carried is None else carried["name"]
            self._sink.set_id(token if carried is None or carried["index"] else None)
        if name is not None:
            self._name = name
            self._sink.propose_name(name)
            # Outside of a region a name alone may be prose; what comes after it decides.
            if self.opened is not Opened.CALL:
                self._sink.confirm()
        return True

    def _begin_arguments(self, pos: int) -> tuple[int, bool]:
        if self._layout.writes_ids and not self._id_read:
            self._sink.set_id(None)
        self._arguments.begin(self._name, self._place.past_hole)
        self._at = _At.ARGUMENTS
        return pos, True

    def _in_arguments(self, pos: int) -> tuple[int, bool]:
        pos, ended = self._arguments.read(self._buffer, pos)
        if ended is None:
            return pos, False
        if ended is Ended.BROKEN:
            return self._break(pos)
        self._sink.close_arguments()
        return self._arrive(self._place.past_hole, pos)

    def _as_text(self, pos: int) -> tuple[int, bool]:
        """Under `tool_choice="none"`: up to the next marker the region is content."""
        if self.opened is Opened.CALL and not self._used:
            _, end, literal = self._here(self._layout.root.scanner, pos)
            self._used = True
            if literal is not None:
                return end, True
        in_region = self.opened is not Opened.CALL
        scanner = self._layout.region_markers if in_region else self._layout.markers
        start, end, literal = self._next(scanner, pos)
        if start > pos:
            self._used = True
            self._sink.unexpected(self._buffer.text[pos:start], self._buffer.base + pos)
        if literal in self._layout.hidden:
            self._sink.mark(self._buffer.base + start, self._buffer.base + end, SpanKind.HIDDEN)
            return end, True
        self._stop = None if literal is None else Stop(literal)
        return start, False

    def _next(self, scanner: Scanner, pos: int) -> tuple[int, int, str | None]:
        """The next literal, or the start of one; without either, the end of the text."""
        end = len(self._buffer.text)
        return self._buffer.find(scanner, pos) or (end, end, None)

    def _here(self, scanner: Scanner, pos: int) -> tuple[int, int, str | None]:
        """The literal that stands here, or the start of one; without either, nothing."""
        return self._buffer.match(scanner, pos) or (pos, pos, None)

    def _take_word(self, literal: str, pos: int, end: int) -> None:
        """A literal of the call; what holds a token of the model is never given back as text."""
        if literal in self._layout.marked:
            self._sink.mark(self._buffer.base + pos, self._buffer.base + end, SpanKind.MARKER)
        else:
            self._take(pos, end, SpanKind.CALL)

    def _take(self, pos: int, end: int, kind: SpanKind) -> None:
        if end > pos and not self._sink.quiet:
            self._sink.take(self._buffer.text[pos:end], self._buffer.base + pos, kind)


_STEPS: dict[_At, Callable[[TemplateCalls, int], tuple[int, bool]]] = {
    _At.BETWEEN: TemplateCalls._between,
    _At.PLACE: TemplateCalls._at_place,
    _At.HOLE: TemplateCalls._in_hole,
    _At.ARGUMENTS: TemplateCalls._in_arguments,
    _At.TEXT: TemplateCalls._as_text,
}
