"""The `bare-keys` argument encoding: an object with unquoted keys and strings in quotes of their
own, such as `{city:<|"|>Paris<|"|>,days:2}`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tagsmith.engine.arguments import Ended
from tagsmith.engine.base import Context
from tagsmith.engine.buffer import Buffer
from tagsmith.engine.calls import CallSink
from tagsmith.engine.dialects import Dialect, bare_keys
from tagsmith.engine.literals import LiteralReader, State
from tagsmith.engine.scanner import scanner_of
from tagsmith.engine.spans import SpanKind
from tagsmith.engine.templates import Place
from tagsmith.spec.models import FamilySpec

JSON_QUOTE = '"'


@dataclass(frozen=True, slots=True)
class BareKeysProgram:
    """The encoding with one family's quotes."""

    dialect: Dialect
    starts: frozenset[str] = frozenset("{")
    literals: frozenset[str] = frozenset()

    def reader(self, sink: CallSink, context: Context) -> BareKeysArguments:
        """A reader for one generation."""
        return BareKeysArguments(self.dialect, sink)


def bare_keys_encoding(spec: FamilySpec, beyond: frozenset[str]) -> BareKeysProgram:
    """Compile the encoding: all that a family chooses is the quote."""
    quote = spec.tool_calls.arguments.quote if spec.tool_calls is not None else None
    return BareKeysProgram(bare_keys(quote or JSON_QUOTE))


class BareKeysArguments:
    """Reads one object after the other; an `ArgumentsReader`."""

    __slots__ = ("_after", "_dialect", "_reader", "_sink")

    def __init__(self, dialect: Dialect, sink: CallSink) -> None:
        self._dialect = dialect
        self._sink = sink
        self._reader = LiteralReader(dialect)

    def begin(self, tool: str, after: Place) -> None:
        """The arguments of a call begin."""
        self._after = after
        # The quote may be a marker, too; in arguments it is a quote.
        markers = scanner_of(after.scanner.literals - self._dialect.quotes.literals)
        self._reader = LiteralReader(self._dialect, markers)

    @property
    def flowing(self) -> Callable[[str], object] | None:
        """What ends a run of arguments, as in `CallReader`."""
        return self._reader.flowing

    def finish(self) -> bool:
        """The output ends inside the arguments: something is missing of them."""
        return False

    @property
    def expects_marker(self) -> bool:
        """Whether what may be the start of a marker can be nothing else here."""
        return not self._reader.in_string

    def read(self, buffer: Buffer, pos: int) -> tuple[int, Ended | None]:
        """Read on from `pos`, as `ArgumentsReader.read`."""
        end, json_text, state = self._reader.read(buffer, pos)
        if end > pos:
            self._sink.take(buffer.text[pos:end], buffer.base + pos, SpanKind.ARGUMENTS)
        if self._reader.begun:
            self._sink.confirm()
        if json_text:
            self._sink.argument_text(json_text)
        if state is State.MORE:
            return end, None
        if state is State.MARKER:
            empty = not self._reader.begun and self._after.own.match(buffer.text, end, final=True)
            return end, Ended.WHOLE if empty else Ended.BROKEN
        return end, Ended.WHOLE if state is State.DONE else Ended.BROKEN
