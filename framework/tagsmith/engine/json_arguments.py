"""The `json` argument encoding: a JSON object, passed on to the letter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tagsmith.engine.arguments import Ended
from tagsmith.engine.base import Context
from tagsmith.engine.buffer import Buffer
from tagsmith.engine.call_values import json_object_in
from tagsmith.engine.calls import CallSink
from tagsmith.engine.json_runs import BLANK, runs_beside
from tagsmith.engine.json_value import ENDS_STRING_RUN, JsonValue
from tagsmith.engine.runs import run_end
from tagsmith.engine.spans import SpanKind
from tagsmith.engine.templates import Place
from tagsmith.spec.models import FamilySpec


@dataclass(frozen=True, slots=True)
class JsonProgram:
    """The encoding as every family has it."""

    starts: frozenset[str] = frozenset("{")
    literals: frozenset[str] = frozenset()

    def reader(self, sink: CallSink, context: Context) -> JsonArguments:
        """A reader for one generation."""
        return JsonArguments(sink)


def json_encoding(spec: FamilySpec, beyond: frozenset[str]) -> JsonProgram:
    """Compile the encoding: there is nothing about it that a family could choose."""
    return JsonProgram()


class JsonArguments:
    """Reads one JSON value after the other; an `ArgumentsReader`."""

    __slots__ = ("_after", "_begun", "_is_json", "_runs", "_sink", "_token", "_value", "flowing")

    def __init__(self, sink: CallSink) -> None:
        self._sink = sink
        self._value = JsonValue()
        self._token: list[str] = []
        self._begun = self._is_json = False
        self.flowing: Callable[[str], object] | None = None

    def begin(self, tool: str, after: Place) -> None:
        """The arguments of a call begin."""
        self._after = after
        self._runs = runs_beside(after.scanner.first_chars)
        self._begun = False
        self._token.clear()

    def finish(self) -> bool:
        """The output ends inside the arguments: what is no JSON may be whole."""
        whole = self._begun and not self._is_json
        if whole:
            self._whole()
        return whole

    @property
    def expects_marker(self) -> bool:
        """Whether what may be the start of a marker can be nothing else here."""
        return not (self._begun and (self._value.in_string or not self._is_json))

    def read(self, buffer: Buffer, pos: int) -> tuple[int, Ended | None]:
        """Read on from `pos`, as `ArgumentsReader.read`."""
        text, ended = buffer.text, None
        if not self._begun:
            pos, ended = self._before(buffer, pos)
            if not self._begun:
                return pos, ended
        if not self._is_json:
            return self._read_other(buffer, pos)
        start = pos
        first_chars = self._after.scanner.first_chars
        while pos < len(text) and ended is None:
            if not self._value.in_string and text[pos] in first_chars:
                found = buffer.match(self._after.scanner, pos)
                if found is not None:
                    ended = None if found[2] is None else Ended.BROKEN
                    break
            pos = self._value.read(text, pos, self._runs)
            if self._value.done:
                ended = Ended.WHOLE
        self._pass_on(text[start:pos], buffer.base + start)
        self.flowing = ENDS_STRING_RUN if ended is None and self._value.flows else None
        return pos, ended

    def _before(self, buffer: Buffer, pos: int) -> tuple[int, Ended | None]:
        """Blanks before the value, and what it begins with."""
        text = buffer.text
        while pos < len(text):
            found = buffer.match(self._after.scanner, pos)
            if found is not None:
                if found[2] is None:
                    return pos, None
                leads_on = found[2] in self._after.words or self._after.ends
                return pos, Ended.WHOLE if leads_on else Ended.BROKEN
            if text[pos] not in BLANK:
                return self._begin(text, pos)
            end = run_end(self._runs.blank, text, pos)
            self._sink.take(text[pos:end], buffer.base + pos, SpanKind.CALL)
            pos = end
        return pos, None

    def _begin(self, text: str, pos: int) -> tuple[int, Ended | None]:
        self._begun = True
        # Whatever else it is, it is passed on as it stands: only an object can be arguments.
        self._is_json = text[pos] == "{"
        if self._is_json:
            self._value.begin(text, pos, self._runs)
            self._sink.confirm()
        return pos, None

    def _read_other(self, buffer: Buffer, pos: int) -> tuple[int, Ended | None]:
        """What is no JSON: all up to what follows the arguments."""
        found = buffer.find(self._after.scanner, pos)
        end, _, literal = found or (len(buffer.text), pos, None)
        text = buffer.text[pos:end]
        if text:
            self._sink.take(text, buffer.base + pos, SpanKind.ARGUMENTS)
            self._token.append(text)
        if literal is None:
            return end, None
        leads_on = literal in self._after.words or self._after.ends
        if leads_on:
            self._whole()
        return end, Ended.WHOLE if leads_on else Ended.BROKEN

    def _pass_on(self, text: str, at: int) -> None:
        if not text:
            return
        self._sink.take(text, at, SpanKind.ARGUMENTS)
        self._sink.argument_text(text)

    def _whole(self) -> None:
        """What is no object is used: a model may write one as a string, or null for none."""
        literal = "".join(self._token).rstrip(BLANK)
        text = "{}" if literal == "null" else json_object_in(literal) or literal
        self._sink.argument_text(text)
