"""The `json` call layout: calls as JSON objects, read as they arrive, each character once.

The reader takes any key order, an array, a single object or several in a row. Inside a JSON string
everything is data; outside one, a marker ends the region. Argument text is passed on to the letter.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto

from tagsmith.engine.call_values import decode_id, decode_text, json_object_in
from tagsmith.engine.calls import CallSink
from tagsmith.engine.json_runs import BETWEEN, BLANK, IN_STRING, run_end, runs_beside
from tagsmith.engine.scanner import Scanner
from tagsmith.engine.spans import SpanKind
from tagsmith.events import DiagnosticCode
from tagsmith.spec.models import CallKeys

_FENCE = "```"


class _At(Enum):
    """Where in the region the reader stands."""

    TOP = auto()
    FENCE = auto()
    LEFTOVER = auto()
    KEY = auto()
    COLON = auto()
    VALUE = auto()
    STRING = auto()
    SCALAR = auto()
    NESTED = auto()
    AFTER = auto()
    BROKEN = auto()
    TEXT = auto()


class _Part(Enum):
    """What a stretch of the region's text is."""

    BETWEEN = auto()
    LEFTOVER = auto()
    TEXT = auto()
    STRUCTURE = auto()
    KEY = auto()
    OTHER = auto()
    ID = auto()
    NAME = auto()
    ARGUMENTS = auto()


_KINDS = {
    _Part.ID: SpanKind.CALL_ID,
    _Part.NAME: SpanKind.CALL_NAME,
    _Part.ARGUMENTS: SpanKind.ARGUMENTS,
}


class JsonCalls:
    """Reads the tool-call regions of one generation.

    `calls_allowed` is false under `tool_choice="none"`: the region is then content, in which JSON
    strings still protect what they hold. `flowing` says that text without a quote or a backslash
    can only be more of a call's arguments.
    """

    # fmt: off
    __slots__ = (
        "_at", "_base", "_brackets", "_buffer", "_calls_allowed", "_cut_marker", "_depth",
        "_escaped", "_final", "_from", "_in_string", "_keys", "_part", "_runs", "_seen", "_sink",
        "_token", "_undecided", "_used", "_value", "flowing",
    )
    # fmt: on

    def __init__(self, keys: CallKeys, sink: CallSink, *, calls_allowed: bool) -> None:
        named = {keys.id: _Part.ID, keys.name: _Part.NAME, keys.arguments: _Part.ARGUMENTS}
        self._keys = {key: part for key, part in named.items() if key is not None}
        self._sink = sink
        self._calls_allowed = calls_allowed
        self._buffer, self._base, self._from = "", 0, 0
        self._final = self._undecided = self._cut_marker = False
        self.flowing = False
        self._runs = runs_beside(frozenset())
        self.begin_region()

    def begin_region(self) -> None:
        """An opening marker was read."""
        self._sink.begin_region()
        self._at = _At.TOP if self._calls_allowed else _At.TEXT
        self._part = _Part.BETWEEN if self._calls_allowed else _Part.TEXT
        self._value = _Part.OTHER
        self._in_string = self._escaped = self._used = False
        self._depth = self._brackets = 0
        self._token: list[str] = []
        self._seen: set[_Part] = set()

    @property
    def used(self) -> bool:
        """Whether the region holds anything but blanks and brackets so far."""
        return self._used

    @property
    def in_string(self) -> bool:
        """Whether the next character is inside a JSON string, where everything is data."""
        return self._in_string

    @property
    def expects_marker(self) -> bool:
        """Whether what may be the start of a marker can be nothing else here."""
        return self._at not in (_At.LEFTOVER, _At.BROKEN, _At.TEXT)

    def cut(self) -> None:
        """The output ends inside a marker that stands here."""
        self._cut_marker = True

    def read(
        self, text: str, pos: int, base: int, scanner: Scanner, *, final: bool
    ) -> tuple[int, str | None]:
        """Read on from `pos` of `text`, whose first character has the offset `base`.

        Returns where reading stopped and the marker that stands there; without a marker, what is
        left from there on must be given again together with the text that follows it.
        """
        self._buffer, self._base, self._from = text, base, pos
        self._runs = runs_beside(scanner.first_chars)
        self._final, self._undecided = final, False
        marker: str | None = None
        while pos < len(text) and not self._undecided:
            if self._in_string:
                pos = self._string(pos)
                continue
            if text[pos] in scanner.first_chars:
                found = scanner.match(text, pos, final=final)
                if found is not None:
                    marker = found[2]
                    break
            pos = _STEPS[self._at](self, pos)
        self._cut(pos)
        in_argument = self._in_string and self._at is _At.NESTED and self._value is _Part.ARGUMENTS
        self.flowing = in_argument and not self._escaped and self._sink.flows
        return pos, marker

    def end_region(self, at: int) -> None:
        """A marker at offset `at` ends the region."""
        if self._sink.call is not None:
            self._sink.break_off(at)

    def finish(self, at: int) -> None:
        """The output ends at offset `at`, inside the region."""
        if self._sink.call is not None:
            self._sink.cut_off(at)
        elif self._cut_marker or (self._at is _At.TOP and self._brackets > 0):
            message = "the output ends inside a tool-call region"
            self._sink.diagnose(DiagnosticCode.TRUNCATED, message, at)

    def _cut(self, pos: int, then: _Part | None = None) -> None:
        """The text up to `pos` is one part; what follows is `then`."""
        if pos > self._from:
            self._deliver(self._buffer[self._from : pos], self._base + self._from)
            self._from = pos
        if then is not None:
            self._part = then

    def _deliver(self, text: str, at: int) -> None:
        part, sink = self._part, self._sink
        if part is _Part.LEFTOVER:
            sink.leftover(text, at)
        elif part is _Part.TEXT:
            sink.unexpected(text, at)
        elif part is _Part.BETWEEN:
            sink.between(text, at)
        else:
            sink.take(text, at, _KINDS.get(part, SpanKind.CALL))
            if part is _Part.ARGUMENTS and self._at is _At.NESTED:
                sink.argument_text(text)
            elif part is not _Part.STRUCTURE and part is not _Part.OTHER:
                self._token.append(text)

    def _string(self, pos: int) -> int:
        text = self._buffer
        if self._escaped:
            self._escaped = False
            return pos + 1
        match = IN_STRING.match(text, pos)
        end = pos if match is None else match.end()
        if end == len(text):
            return end
        if text[end] == "\\":
            self._escaped = True
            return end + 1
        self._in_string = False
        if self._at is _At.KEY:
            self._key_read(end + 1)
        elif self._at is _At.STRING:
            self._value_read(end + 1)
        return end + 1

    def _top(self, pos: int) -> int:
        char = self._buffer[pos]
        if char == _FENCE[0]:
            return self._fence(pos)
        if char in BETWEEN:
            end = run_end(self._runs.top, self._buffer, pos)
            self._brackets += self._buffer.count("[", pos, end) - self._buffer.count("]", pos, end)
            return end
        if char == "{":
            self._used = True
            self._cut(pos, _Part.STRUCTURE)
            self._sink.begin(self._base + pos)
            self._seen.clear()
            self._at = _At.KEY
            return pos + 1
        return self._begin_leftover(pos)

    def _fence(self, pos: int) -> int:
        """A code fence around calls is passed over, with the language that it names."""
        ahead = self._buffer[pos : pos + len(_FENCE)]
        if ahead == _FENCE:
            self._at = _At.FENCE
            return pos + len(_FENCE)
        if _FENCE.startswith(ahead) and not self._final:
            self._undecided = True
            return pos
        return self._begin_leftover(pos)

    def _fence_language(self, pos: int) -> int:
        match = self._runs.scalar.match(self._buffer, pos)
        if match is not None:
            return match.end()
        self._at = _At.TOP
        return pos

    def _begin_leftover(self, pos: int) -> int:
        self._used = True
        self._cut(pos, _Part.LEFTOVER)
        self._sink.malformed(self._base + pos)
        self._at = _At.LEFTOVER
        return pos

    def _leftover(self, pos: int) -> int:
        if self._buffer[pos] == "{":
            self._cut(pos, _Part.BETWEEN)
            self._at = _At.TOP
            return pos
        return run_end(self._runs.to_brace, self._buffer, pos)

    def _key(self, pos: int) -> int:
        char = self._buffer[pos]
        if char == '"':
            self._cut(pos, _Part.KEY)
            self._in_string = True
            return pos + 1
        if char == "}":
            return self._object_read(pos)
        return self._blank_or_broken(pos)

    def _key_read(self, end: int) -> None:
        self._cut(end, _Part.STRUCTURE)
        part = self._keys.get(decode_text(self._take_token()) or "", _Part.OTHER)
        if part in self._seen:
            self._sink.diagnose(
                DiagnosticCode.DUPLICATE_KEY,
                "a call repeats a key; the first one counts",
                self._base + end,
            )
            part = _Part.OTHER
        elif part is not _Part.OTHER:
            self._seen.add(part)
        self._value = part
        self._at = _At.COLON

    def _colon(self, pos: int) -> int:
        if self._buffer[pos] == ":":
            self._at = _At.VALUE
            return pos + 1
        return self._blank_or_broken(pos)

    def _value_start(self, pos: int) -> int:
        char = self._buffer[pos]
        if char == '"':
            self._cut(pos, self._value)
            self._in_string = True
            self._at = _At.STRING
            return pos + 1
        if char in "{[":
            self._cut(pos, self._value)
            self._depth = 1
            self._at = _At.NESTED
            return pos + 1
        if char not in BLANK and self._runs.scalar.match(self._buffer, pos):
            self._cut(pos, self._value)
            self._at = _At.SCALAR
            return pos
        return self._blank_or_broken(pos)

    def _scalar(self, pos: int) -> int:
        match = self._runs.scalar.match(self._buffer, pos)
        if match is not None:
            return match.end()
        self._value_read(pos)
        return pos

    def _nested(self, pos: int) -> int:
        char = self._buffer[pos]
        if char == '"':
            self._in_string = True
            return pos + 1
        if char in "{[":
            self._depth += 1
            return pos + 1
        if char not in "}]":
            return run_end(self._runs.nested, self._buffer, pos)
        self._depth -= 1
        if self._depth == 0:
            self._value_read(pos + 1)
        return pos + 1

    def _value_read(self, end: int) -> None:
        """A value ends before `end`: use it."""
        nested = self._at is _At.NESTED
        self._cut(end, _Part.STRUCTURE)
        self._at = _At.AFTER
        literal = self._take_token()
        if self._value is _Part.ID:
            self._sink.set_id(decode_id(literal))
        elif self._value is _Part.NAME:
            name = decode_text(literal)
            if name:
                self._sink.set_name(name)
            else:
                self._break(end)
        elif self._value is _Part.ARGUMENTS:
            if not nested:
                text = "{}" if literal == "null" else json_object_in(literal) or literal
                self._sink.argument_text(text)
            self._sink.close_arguments()

    def _after(self, pos: int) -> int:
        char = self._buffer[pos]
        if char == ",":
            self._at = _At.KEY
            return pos + 1
        if char == "}":
            return self._object_read(pos)
        return self._blank_or_broken(pos)

    def _object_read(self, pos: int) -> int:
        self._cut(pos + 1, _Part.BETWEEN)
        self._sink.end(self._base + pos + 1)
        self._at = _At.TOP
        return pos + 1

    def _blank_or_broken(self, pos: int) -> int:
        if self._buffer[pos] in BLANK:
            return run_end(self._runs.blank, self._buffer, pos)
        self._break(pos)
        return pos

    def _break(self, pos: int) -> None:
        """The object is no call: its text up to its closing brace is left over."""
        self._cut(pos, _Part.LEFTOVER)
        self._sink.break_off(self._base + pos)
        self._token.clear()
        self._depth = 1
        self._at = _At.BROKEN

    def _broken(self, pos: int) -> int:
        char = self._buffer[pos]
        if char not in "{}":
            return run_end(self._runs.to_any_brace, self._buffer, pos)
        self._depth += 1 if char == "{" else -1
        if self._depth == 0:
            self._cut(pos + 1, _Part.BETWEEN)
            self._at = _At.TOP
        return pos + 1

    def _text(self, pos: int) -> int:
        if self._buffer[pos] == '"':
            self._in_string = True
            return pos + 1
        return run_end(self._runs.to_quote, self._buffer, pos)

    def _take_token(self) -> str:
        token = "".join(self._token)
        self._token.clear()
        return token


_STEPS: dict[_At, Callable[[JsonCalls, int], int]] = {
    _At.TOP: JsonCalls._top,
    _At.FENCE: JsonCalls._fence_language,
    _At.LEFTOVER: JsonCalls._leftover,
    _At.KEY: JsonCalls._key,
    _At.COLON: JsonCalls._colon,
    _At.VALUE: JsonCalls._value_start,
    _At.SCALAR: JsonCalls._scalar,
    _At.NESTED: JsonCalls._nested,
    _At.AFTER: JsonCalls._after,
    _At.BROKEN: JsonCalls._broken,
    _At.TEXT: JsonCalls._text,
}
