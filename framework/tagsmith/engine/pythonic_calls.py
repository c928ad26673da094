"""The `pythonic` call layout: calls as Python writes them, such as `[f(a="x", b=[1, True]), g()]`.

Calls stand in a list, in several, or in none. Inside a string everything is data; outside one, a
marker ends the region. Values become JSON text as they arrive.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto
from json.encoder import encode_basestring

from tagsmith.engine.buffer import Buffer
from tagsmith.engine.calls import CallSink
from tagsmith.engine.dialects import PYTHON
from tagsmith.engine.json_runs import BLANK
from tagsmith.engine.literals import LiteralReader, State
from tagsmith.engine.pythonic_runs import BETWEEN, Opening, Unknown, pythonic_runs, read_opening
from tagsmith.engine.reader import OVER, Opened, Stop
from tagsmith.engine.runs import run_end
from tagsmith.engine.scanner import Scanner
from tagsmith.engine.spans import SpanKind
from tagsmith.events import DiagnosticCode
from tagsmith.spec.policies import OnRepeatedParameter

_BEFORE_STRING = "=([{,:"
"""What a quote stands behind in a call, and an apostrophe does not."""


class _Part(Enum):
    """What a stretch of the region's text is."""

    BETWEEN = auto()
    LEFTOVER = auto()
    TEXT = auto()
    STRUCTURE = auto()
    NAME = auto()
    ARGUMENTS = auto()
    CUT_OFF = auto()


_KINDS = {
    _Part.STRUCTURE: SpanKind.CALL,
    _Part.NAME: SpanKind.CALL_NAME,
    _Part.ARGUMENTS: SpanKind.ARGUMENTS,
}


class PythonicCalls:
    """Reads the tool-call regions of one generation; a `CallReader`.

    `scanner` finds the family's markers. `calls_allowed` is false under `tool_choice="none"`: the
    region is then content, in which strings still protect what they hold. Where no marker closes
    the region, what does not begin as a call does is no part of it.
    """

    # fmt: off
    __slots__ = (
        "_at", "_base", "_before", "_brackets", "_buffer", "_called", "_calls_allowed",
        "_cut_off", "_depth", "_dropping", "_from", "_keys", "_listed", "_over", "_part",
        "_repeated", "_runs", "_scanner", "_sink", "_source", "_token", "_tools", "_undecided",
        "_used", "_values", "flowing", "opened",
    )
    # fmt: on

    def __init__(
        self,
        sink: CallSink,
        scanner: Scanner,
        *,
        calls_allowed: bool,
        repeated: OnRepeatedParameter,
    ) -> None:
        self._sink = sink
        self._scanner = scanner
        self._runs = pythonic_runs(scanner.first_chars)
        names = sink.tool_names
        self._tools = None if names is None else names.union(sink.policies.pseudo_tools)
        self._calls_allowed = calls_allowed
        self._repeated = repeated
        self._values = LiteralReader(PYTHON, scanner)
        self._buffer = Buffer("")
        self._source, self._base, self._from = "", 0, 0
        self._undecided = self._cut_off = False
        self.flowing: Callable[[str], object] | None = None
        self.begin_region(Opened.MARKER)

    def begin_region(self, opened: Opened) -> None:
        """A region opens."""
        self._sink.begin_region(opened)
        self.opened = opened
        self._at: Callable[[PythonicCalls, int], int] = (
            PythonicCalls._top if self._calls_allowed else PythonicCalls._text
        )
        self._part = _Part.BETWEEN if self._calls_allowed else _Part.TEXT
        self._values.begin()
        self._used = self._called = self._listed = self._over = self._dropping = False
        self._brackets = self._depth = 0
        self._before = ""
        self._token: list[str] = []
        self._keys: set[str] = set()

    @property
    def used(self) -> bool:
        """Whether the region holds anything but blanks and brackets so far."""
        return self._used

    @property
    def expects_marker(self) -> bool:
        """Whether what may be the start of a marker can be nothing else here."""
        if self._values.in_string or self._at in _IN_TEXT:
            return False
        return self._called or self.opened is not Opened.NOTHING

    def cut(self) -> None:
        """The output ends inside a marker that stands here."""
        self._cut_off = True

    def read(self, buffer: Buffer, pos: int) -> tuple[int, Stop | None]:
        """Read on from `pos`, as `CallReader.read`."""
        self._buffer, self._undecided = buffer, False
        text = self._source = buffer.text
        self._base, self._from = buffer.base, pos
        stop: Stop | None = None
        while pos < len(text) and not self._undecided:
            if text[pos] in self._scanner.first_chars and not self._values.in_string:
                found = buffer.match(self._scanner, pos)
                if found is not None:
                    stop = None if found[2] is None else Stop(found[2])
                    break
            pos = self._at(self, pos)
            if self._over:
                stop = OVER
                break
        self._cut(pos)
        flows = self._at is PythonicCalls._value and not self._dropping and self._sink.flows
        self.flowing = self._values.flowing if flows else None
        return pos, stop

    def end_region(self, at: int) -> None:
        """A marker at offset `at` ends the region."""
        if self._sink.call is not None:
            self._sink.break_off(at)

    def finish(self, at: int) -> None:
        """The output ends at offset `at`, inside the region."""
        in_list = self._at is PythonicCalls._top and self._brackets > 0
        if self._sink.call is not None:
            self._sink.cut_off(at)
        elif self._cut_off or in_list:
            message = "the output ends inside a tool-call region"
            self._sink.diagnose(DiagnosticCode.TRUNCATED, message, at)

    def _cut(self, pos: int, then: _Part | None = None) -> None:
        """The text up to `pos` is one part; what follows is `then`."""
        if pos > self._from:
            self._deliver(self._source[self._from : pos], self._base + self._from)
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
        elif part is _Part.CUT_OFF:
            sink.mark(at, at + len(text), SpanKind.TRUNCATED)
        else:
            sink.take(text, at, _KINDS[part])

    @property
    def _may_end(self) -> bool:
        """Whether the region may end without a marker: what is no call is then no part of it."""
        return self.opened not in (Opened.MARKER, Opened.TRIED)

    def _top(self, pos: int) -> int:
        """Between calls."""
        char = self._source[pos]
        if char in BETWEEN and not (char == "[" and self._may_end):
            run = self._runs.between_lists if self._may_end else self._runs.between
            end = run_end(run, self._source, pos)
            opened, closed = self._source.count("[", pos, end), self._source.count("]", pos, end)
            self._brackets += opened - closed
            return end
        opening = self._opening(pos)
        if opening is Opening.UNDECIDED:
            return self._may_begin(pos)
        if opening is Opening.NONE:
            return self._no_call(pos)
        if char == "[":
            self._listed = True
            self._brackets += 1
            return pos + 1
        self._used = True
        self._cut(pos, _Part.NAME)
        self._sink.begin(self._base + pos, id_known=True)
        self._keys.clear()
        self._at = PythonicCalls._name
        return self._name(pos)

    def _opening(self, pos: int) -> Opening:
        """What begins here. The more calls can be expected, the less a name has to say of one."""
        if self._may_end and self._listed and self._brackets <= 0 and self._source[pos] != "[":
            return Opening.NONE
        if self._called and self._brackets > 0:
            unknown = Unknown.PARENTHESIS
        elif self.opened is not Opened.NOTHING:
            unknown = Unknown.KEYWORD
        elif self._called or self._tools is None:
            unknown = Unknown.PLAIN_KEYWORD
        else:
            unknown = Unknown.NOTHING
        return read_opening(self._buffer, pos, self._tools, unknown)

    def _may_begin(self, pos: int) -> int:
        """A call may begin here, but its name is not read yet."""
        if not self._buffer.final:
            self._undecided = True
            return pos
        expected = self._brackets > 0 if self._called else self.opened is not Opened.NOTHING
        if not expected:
            return self._no_call(pos)
        self._cut(pos, _Part.CUT_OFF)
        self._cut_off = True
        return len(self._source)

    def _no_call(self, pos: int) -> int:
        """What stands at `pos` ends the region, is text in it, or shows that it is none."""
        if self._may_end and self._called:
            self._over = True
            return pos
        self._used = True
        self._cut(pos, _Part.LEFTOVER)
        self._sink.malformed(self._base + pos)
        self._at = PythonicCalls._leftover
        self._over = self._may_end or (self.opened is Opened.TRIED and not self._called)
        # What no marker opened has to get past its first character, or it would open again.
        return pos + 1 if self.opened is Opened.NOTHING else pos

    def _name(self, pos: int) -> int:
        end = run_end(self._runs.word, self._source, pos)
        if end > pos:
            self._token.append(self._source[pos:end])
        else:
            self._cut(pos, _Part.STRUCTURE)
            self._at = PythonicCalls._parenthesis
        return end

    def _parenthesis(self, pos: int) -> int:
        if self._source[pos] != "(":
            return self._blank_or_fail(pos)
        self._sink.set_name("".join(self._token))
        self._called = True
        self._token.clear()
        self._cut(pos + 1, _Part.ARGUMENTS)
        self._at = PythonicCalls._keyword
        return pos + 1

    def _keyword(self, pos: int) -> int:
        char = self._source[pos]
        if not self._token and char == ")":
            return self._close(pos)
        if not self._token and char in BLANK:
            return self._pass_blank(pos)
        end = run_end(self._runs.word, self._source, pos)
        if end > pos:
            self._token.append(self._source[pos:end])
        elif self._token:
            self._at = PythonicCalls._equals
        else:
            return self._fail(pos)
        return end

    def _equals(self, pos: int) -> int:
        if self._source[pos] != "=":
            return self._blank_or_fail(pos)
        self._begin_argument("".join(self._token), pos)
        self._token.clear()
        self._values.begin()
        self._at = PythonicCalls._value
        return pos + 1

    def _begin_argument(self, key: str, pos: int) -> None:
        self._dropping = self._repeated is OnRepeatedParameter.FIRST and key in self._keys
        if self._dropping:
            message = "a call repeats a parameter; the first one counts"
            self._sink.diagnose(DiagnosticCode.DUPLICATE_KEY, message, self._base + pos)
        else:
            before = ", " if self._keys else "{"
            self._sink.argument_text(f"{before}{encode_basestring(key)}: ")
            self._keys.add(key)

    def _value(self, pos: int) -> int:
        end, text, state = self._values.read(self._buffer, pos)
        if text and not self._dropping:
            self._sink.argument_text(text)
        if state is State.BROKEN:
            return self._fail(end)
        if state is State.DONE:
            self._at = PythonicCalls._after
        self._undecided = state is State.MORE and end < len(self._source)
        return end

    def _after(self, pos: int) -> int:
        char = self._source[pos]
        if char == ",":
            self._at = PythonicCalls._keyword
            return pos + 1
        return self._close(pos) if char == ")" else self._blank_or_fail(pos)

    def _close(self, pos: int) -> int:
        self._cut(pos, _Part.STRUCTURE)
        if self._keys:
            self._sink.argument_text("}")
        self._sink.close_arguments()
        self._cut(pos + 1, _Part.BETWEEN)
        self._sink.end(self._base + pos + 1)
        self._at = PythonicCalls._top
        return pos + 1

    def _blank_or_fail(self, pos: int) -> int:
        return self._pass_blank(pos) if self._source[pos] in BLANK else self._fail(pos)

    def _pass_blank(self, pos: int) -> int:
        return run_end(self._runs.blank, self._source, pos)

    def _fail(self, pos: int) -> int:
        """What stands at `pos` breaks the call off."""
        self._cut(pos, _Part.LEFTOVER)
        self._sink.break_off(self._base + pos)
        self._token.clear()
        self._depth = 1 + self._values.closers.count(")")
        self._at = PythonicCalls._broken
        return pos

    def _broken(self, pos: int) -> int:
        """The rest of a call that was broken off, up to its closing parenthesis."""
        char = self._source[pos]
        if char not in "()":
            return run_end(self._runs.to_parenthesis, self._source, pos)
        self._depth += 1 if char == "(" else -1
        if self._depth == 0:
            self._cut(pos + 1, _Part.BETWEEN)
            self._at = PythonicCalls._top
        return pos + 1

    def _leftover(self, pos: int) -> int:
        return run_end(self._runs.any, self._source, pos)

    def _text(self, pos: int) -> int:
        """Text of a generation that may not call tools."""
        char = self._source[pos]
        if char in "'\"" and self._before and self._before in _BEFORE_STRING:
            self._values.begin()
            self._at = PythonicCalls._text_string
            return pos
        end = max(run_end(self._runs.to_quote, self._source, pos), pos + 1)
        self._before = self._source[pos:end].rstrip(BLANK)[-1:] or self._before
        return end

    def _text_string(self, pos: int) -> int:
        end, _, state = self._values.read(self._buffer, pos)
        if state in (State.DONE, State.BROKEN):
            self._before = ""
            self._at = PythonicCalls._text
        self._undecided = state is State.MORE and end < len(self._source)
        return end


_IN_TEXT = (
    PythonicCalls._broken,
    PythonicCalls._leftover,
    PythonicCalls._text,
    PythonicCalls._text_string,
)
