"""Text on its way to the user: whitespace policies, stop strings and cited spans."""

from __future__ import annotations

from dataclasses import dataclass, field

from tagsmith.engine.base import MAX_HELD_IN_RUN, Run
from tagsmith.engine.citations import MAX_CITATION_DEPTH, OpenCitation
from tagsmith.engine.scanner import Scanner
from tagsmith.engine.spans import SpanKind, SpanMap
from tagsmith.engine.stops import StopWatch, build_stops
from tagsmith.events import ContentDelta, Event, ReasoningDelta, Target
from tagsmith.spec.policies import Join, Trim

WHITESPACE = " \t\n\r"
JOINS = {Join.NOTHING: "", Join.NEWLINE: "\n", Join.BLANK_LINE: "\n\n"}


_NO_STOPS = StopWatch(build_stops(()))


@dataclass(slots=True)
class Held:
    """Text that is not shown yet: `text`, found at offset `at` of the output."""

    text: str
    at: int


@dataclass(slots=True, eq=False)
class TextSink:
    """One of a message's two texts as it grows.

    `length` counts the code points emitted so far. A stretch is a run of text that no region
    boundary interrupts; the trim policy applies to each stretch, the join between two of them.
    """

    target: Target
    trim: Trim
    join: Join
    spans: SpanMap | None = None
    stops: tuple[str, ...] = ()
    length: int = 0
    started: bool = False
    stopped: str | None = None
    trim_start: bool = False
    direct: bool = True
    """Whether the engine shows plain text as it comes, and nobody else reads it first."""
    quick: bool = False
    """Whether whitespace at its end is all that plain text has to wait for."""
    held: list[Held] = field(default_factory=list)
    citations: list[OpenCitation] = field(default_factory=list)
    _pieces: list[str] = field(default_factory=list)
    _watch: StopWatch = field(init=False)
    _stop_held: list[Held] = field(default_factory=list)
    _held_length: int = 0
    _kind: SpanKind = field(init=False)
    delta: type[ContentDelta] | type[ReasoningDelta] = field(init=False)
    _join_text: str = ""

    def __post_init__(self) -> None:
        self._watch = StopWatch(build_stops(self.stops)) if self.stops else _NO_STOPS
        is_content = self.target is Target.CONTENT
        self._kind = SpanKind.CONTENT if is_content else SpanKind.REASONING
        self.delta = ContentDelta if is_content else ReasoningDelta
        self.begin_stretch()

    def begin_stretch(self, *, after_region: bool = False) -> None:
        """Text from here on is a new stretch; `after_region` says that no wrapper opened it.

        Whitespace between a closed region and the first text outside a wrapper only sets the two
        apart, so it is dropped there; between two texts that are both shown it is kept.
        """
        self.started = self.quick = False
        self.trim_start = self.trim is Trim.BOTH or (after_region and self.length == 0)
        self._join_text = JOINS[self.join] if self.length else ""

    def resume_stretch(self) -> None:
        """The prompt already holds the start of this stretch."""
        self.started = True
        self._join_text = ""
        self._see_if_quick()

    def text(self, text: str, at: int, out: list[Event]) -> None:
        """Show `text`, which stands at offset `at` of the output."""
        if not self.stops:
            self.show(text, at, out)
        elif self.stopped is not None:
            self._drop(Held(text, at), SpanKind.AFTER_STOP)
        else:
            self._text_before_stop(text, at, out)

    def show(self, text: str, at: int, out: list[Event]) -> None:
        """Show text in which stop strings do not count, or were looked for already."""
        if self.spans is not None:
            self.spans.mark(at, at + len(text), self._kind)
        self.show_trimmed(text, at, out)

    def end_stretch(self, out: list[Event]) -> None:
        """A region boundary: what was held for a stop is text, trailing whitespace is dropped."""
        self._give_up_stop(out)
        if self.held:
            if self.trim is Trim.KEEP:
                self._emit_held(out)
            else:
                self._drop_held()

    def open_citation(self, out: list[Event]) -> bool:
        """Begin a cited span here; False when spans are nested too deep."""
        if len(self.citations) >= MAX_CITATION_DEPTH:
            return False
        self._give_up_stop(out)
        self.citations.append(OpenCitation(self._here(), self.length, len(self._pieces)))
        self.quick = False
        return True

    def close_citation(self, out: list[Event]) -> tuple[int, int, str]:
        """End the innermost span: its start, its end and its text.

        Whitespace at the span's end is shown with it: an offset that counts it stays true.
        """
        self._give_up_stop(out)
        if self.held:
            self._emit_held(out)
        opened = self.citations.pop()
        end = self.length
        start = min(opened.start, end)
        shown = "".join(self._pieces[opened.piece :])
        if not self.citations:
            self._pieces.clear()
            self._see_if_quick()
        return start, end, shown[start - opened.emitted : end - opened.emitted]

    def forget_citations(self) -> int:
        """Give up every open span; says how many there were."""
        count = len(self.citations)
        self.citations.clear()
        self._pieces.clear()
        return count

    def begin_run(self, markup: Scanner) -> Run | None:
        """Plain text from here on, up to what may be markup; what is held goes with it.

        None where so much whitespace is held that it would cost to look at it again and again.
        """
        if self._held_length > MAX_HELD_IN_RUN:
            return None
        trim = "" if self.trim is Trim.KEEP else WHITESPACE
        held = "".join(piece.text for piece in self.held)
        if len(markup.first_chars) == 1:
            return Run(self.delta, sign=min(markup.first_chars), trim=trim, held=held)
        return Run(self.delta, ends=markup.first.search, trim=trim, held=held)

    def end_run(self, run: Run, base: int) -> int:
        """The run, which stands at `base`, was read; returns the offset after it."""
        shown = run.shown.tell()
        end = base - self._held_length + shown
        self.length += shown
        self._forget_held()
        if run.held:
            self.held.append(Held(run.held, end))
            self._held_length = len(run.held)
        return end + len(run.held)

    def _see_if_quick(self) -> None:
        watched = self.stops or self.citations or self.spans is not None
        self.quick = self.started and self.direct and not watched

    def _here(self) -> int:
        return self.length + self._held_length + len(self._join_text)

    def _give_up_stop(self, out: list[Event]) -> None:
        """What might have become a stop string is text: no stop reaches over markup."""
        for piece in self._stop_held:
            self.show(piece.text, piece.at, out)
        self._stop_held = []
        self._watch.forget()

    def _text_before_stop(self, text: str, at: int, out: list[Event]) -> None:
        found = self._watch.read(text)
        pieces = [*self._stop_held, Held(text, at)]
        self._stop_held = []
        keep = sum(len(piece.text) for piece in pieces) - len(text) + found.read - found.waiting
        for piece in pieces:
            shown, rest = piece.text[:keep], piece.text[keep:]
            keep -= len(shown)
            if shown:
                self.show(shown, piece.at, out)
            left = Held(rest, piece.at + len(shown))
            if rest and found.stop is None:
                self._stop_held.append(left)
            elif rest:
                self._drop(left, SpanKind.AFTER_STOP)
        self.stopped = found.stop

    def show_trimmed(self, text: str, at: int, out: list[Event]) -> None:
        """Show text but for the whitespace at its edges that the policy drops or makes wait."""
        if not self.started:
            if self.trim_start:
                shown = text.lstrip(WHITESPACE)
                self._drop(Held(text[: len(text) - len(shown)], at), SpanKind.WHITESPACE)
                at += len(text) - len(shown)
                text = shown
            if not text:
                return
        kept = text if self.trim is Trim.KEEP else text.rstrip(WHITESPACE)
        if kept:
            self._emit_held(out, kept)
        if len(kept) < len(text):
            self.held.append(Held(text[len(kept) :], at + len(kept)))
            self._held_length += len(text) - len(kept)

    def _emit_held(self, out: list[Event], text: str = "") -> None:
        if self.held or self._join_text:
            text = self._join_text + "".join(piece.text for piece in self.held) + text
            self._forget_held()
            self._join_text = ""
        if not self.started:
            self.started = True
            self._see_if_quick()
        self.length += len(text)
        if self.citations:
            self._pieces.append(text)
        out.append(self.delta(text))

    def _drop_held(self) -> None:
        for piece in self.held:
            self._drop(piece, SpanKind.WHITESPACE)
        self._forget_held()

    def _forget_held(self) -> None:
        self.held.clear()
        self._held_length = 0

    def _drop(self, piece: Held, kind: SpanKind) -> None:
        if self.spans is not None:
            self.spans.mark(piece.at, piece.at + len(piece.text), kind)
