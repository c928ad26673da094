"""The melody engine: an output read by a preset of cohere_melody, kept safe by the native engine.

The preset is told every marker that opens or closes a region, and given the text as it comes: what
it gives back is shown, what it drops is dropped. Tool calls and stop strings are this project's
own. The native engine follows along; where the preset cannot be kept safe, or reads what cannot be,
the native engine reads on from the same character, and a diagnostic says so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

from tagsmith.engine.base import Context, Run
from tagsmith.engine.melody_filter import (
    BLANKS,
    MAX_REREAD,
    FilterError,
    MelodyFilter,
    filter_maker,
)
from tagsmith.engine.native import NativeEngine
from tagsmith.engine.program import NativeProgram
from tagsmith.engine.tables import Region, Role
from tagsmith.errors import RequestError
from tagsmith.events import Diagnostic, DiagnosticCode, Event
from tagsmith.sources import Position

Given = ParamSpec("Given")
Answer = TypeVar("Answer")


class MelodyEngine(NativeEngine):
    """One generation, read by a filter of `cohere_melody`.

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
        # What the prompt has begun is read without the filter; it starts where the output does.
        self._filter: MelodyFilter | None = None
        super().__init__(program, context, token_markers=token_markers)
        start = self._open_region()
        self._filter = MelodyFilter(filter_maker(melody.preset, start), melody.preset, start)
        for sink in self._sinks.values():
            sink.direct = sink.quick = False

    def begin_run(self) -> Run | None:
        """No run of text: the filter reads all of it."""
        return super().begin_run() if self._region is Region.CALLS else None

    @property
    def _dropping(self) -> bool:
        return self._filter is not None and self._filter.dropping

    def _show(self, text: str, at: int, out: list[Event]) -> None:
        pos = 0
        while self._filter is not None and pos < len(text) and not self._stopped:
            if self._filter.dropping:
                return
            end = pos + self._filter.room(text, pos)
            if end == pos:
                message = f"more than {MAX_REREAD} characters in one cited span or run of blanks"
                self._hand_over(DiagnosticCode.ENGINE_HANDOVER, message, at + pos, out)
                break
            self._show_read(text[pos:end], at + pos, out)
            pos = end
        if pos < len(text):
            super()._show(text[pos:], at + pos, out)

    def _show_read(self, text: str, at: int, out: list[Event]) -> None:
        """Show what the filter makes of this text; blanks are shown as they come."""
        self._ask(at, out, MelodyFilter.text, self._sink.target, text)
        if not self._dropping:
            super()._show(text, at, out)
            return
        blanks = len(text) - len(text.lstrip(BLANKS))
        super()._show(text[:blanks], at, out)
        if not self._stopped:
            self._drop(at + blanks, out)

    def _drop(self, at: int, out: list[Event]) -> None:
        """From here to the next marker the filter drops what comes, cited spans included."""
        self._sink.forget_citations()
        message = "the preset drops this text, which no marker opens"
        out.append(Diagnostic(DiagnosticCode.ENGINE_DROP, message, at))

    def _marker(self, marker: str, at: int, out: list[Event]) -> None:
        meaning = self._program.tables.meanings[marker]
        if meaning.opens is not None:
            self._ask(at, out, MelodyFilter.open_region, meaning.opens)
        for region in meaning.closes:
            self._ask(at, out, MelodyFilter.close_region, region)
        super()._marker(marker, at, out)
        hidden = meaning.role is Role.HIDDEN
        if self._filter is not None and self._sink.citations and not hidden:
            message = "a marker that ends no region within a cited span"
            self._hand_over(DiagnosticCode.ENGINE_HANDOVER, message, at, out)

    def _resume(self, at: int, out: list[Event]) -> None:
        super()._resume(at, out)
        self._ask(at, out, MelodyFilter.open_region, self._open_region())

    def _open_citation(self, start: int, end: int, out: list[Event]) -> None:
        if self._dropping:
            return
        at = self._base + start
        if self._filter is not None and self._sink.citations:
            message = "a cited span within a cited span"
            self._hand_over(DiagnosticCode.ENGINE_HANDOVER, message, at, out)
        self._ask(at, out, MelodyFilter.open_span, self._sink.target)
        super()._open_citation(start, end, out)

    def _cite(self, positions: tuple[Position, ...], at: int, out: list[Event]) -> None:
        if self._dropping:
            return
        if self._sink.citations:
            read = self._ask(at, out, MelodyFilter.close_span, positions)
            if self._dropping:
                self._drop(at, out)
                return
            positions = positions if read is None else read
        super()._cite(positions, at, out)

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
