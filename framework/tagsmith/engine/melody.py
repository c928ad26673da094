"""The melody engine: the native engine's regions and calls, with text read by cohere_melody.

Regions, markers, tool calls and stop strings are this project's own; text and cited spans go to a
preset of the vendor's library, and what it gives back is what is shown. Where that cannot be kept
safe, the native engine reads on from the same character, and a diagnostic says so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

from tagsmith.engine.base import Context
from tagsmith.engine.melody_filter import MAX_REREAD, FilterError, MelodyFilter, filter_maker
from tagsmith.engine.native import NativeEngine, NativeProgram
from tagsmith.errors import RequestError
from tagsmith.events import Diagnostic, DiagnosticCode, Event
from tagsmith.sources import Position

Given = ParamSpec("Given")
Answer = TypeVar("Answer")


class MelodyEngine(NativeEngine):
    """One generation, its text read by a filter of `cohere_melody`.

    Parameters: as for `NativeEngine`; the program's family must name a melody preset.

    Raises `RequestError` when it names none, `MissingDependencyError` when the library is absent
    or not of the version that this engine knows.
    """

    __slots__ = ("_filter",)

    def __init__(
        self,
        program: NativeProgram,
        context: Context,
        *,
        token_markers: frozenset[str] = frozenset(),
    ) -> None:
        melody = program.spec.melody
        if melody is None:
            message = (
                f"{program.spec.id} names no melody preset; use native,"
                " or add `melody: {preset: ...}` to the family's file"
            )
            raise RequestError("engine", message)
        self._filter: MelodyFilter | None = MelodyFilter(filter_maker(melody.preset))
        super().__init__(program, context, token_markers=token_markers)

    def _show(self, text: str, at: int, out: list[Event]) -> None:
        pos = 0
        while self._filter is not None and pos < len(text) and not self._stopped:
            end = pos + self._filter.room(text, pos)
            if end == pos:
                message = f"more than {MAX_REREAD} characters in one cited span or run of blanks"
                self._hand_over(DiagnosticCode.ENGINE_HANDOVER, message, at + pos, out)
                break
            piece = text[pos:end]
            self._ask(at + pos, out, MelodyFilter.text, self._sink.target, piece)
            super()._show(piece, at + pos, out)
            pos = end
        if pos < len(text):
            super()._show(text[pos:], at + pos, out)

    def _open_citation(self, start: int, end: int, out: list[Event]) -> None:
        at = self._base + start
        if self._filter is not None and self._sink.citations:
            message = "a cited span within a cited span"
            self._hand_over(DiagnosticCode.ENGINE_HANDOVER, message, at, out)
        self._ask(at, out, MelodyFilter.open_span, self._sink.target)
        super()._open_citation(start, end, out)

    def _cite(self, positions: tuple[Position, ...], at: int, out: list[Event]) -> None:
        if self._sink.citations:
            read = self._ask(at, out, MelodyFilter.close_span, positions)
            positions = positions if read is None else read
        super()._cite(positions, at, out)

    def _end_stretch(self, at: int, out: list[Event]) -> None:
        self._ask(at, out, MelodyFilter.end_section)
        super()._end_stretch(at, out)

    def _ask(
        self,
        at: int,
        out: list[Event],
        step: Callable[Concatenate[MelodyFilter, Given], Answer],
        *args: Given.args,
        **kwargs: Given.kwargs,
    ) -> Answer | None:
        """Take one step with the filter; None when there is none any more, or it failed."""
        if self._filter is None:
            return None
        try:
            return step(self._filter, *args, **kwargs)
        except FilterError as fault:
            self._hand_over(DiagnosticCode.ENGINE_FAULT, f"cohere_melody {fault}", at, out)
            return None

    def _hand_over(self, code: DiagnosticCode, message: str, at: int, out: list[Event]) -> None:
        """The native engine reads on; it knows all that was shown, so nothing is to be undone."""
        self._filter = None
        out.append(Diagnostic(code, f"{message}; the native engine reads on", at))
