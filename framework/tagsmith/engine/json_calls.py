"""The `json` call layout: calls as JSON objects, read as they arrive, each character once.

The reader takes any key order, an array, a single object or several in a row. Inside a JSON string
everything is data; outside one, a marker ends the region. Argument text is passed on to the letter.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from tagsmith.engine.buffer import Buffer
from tagsmith.engine.call_list import CallList
from tagsmith.engine.call_values import decode_id, decode_text, json_object_in
from tagsmith.engine.calls import CallSink
from tagsmith.engine.json_layout import At, JsonProgram, Part
from tagsmith.engine.json_runs import BETWEEN, BLANK
from tagsmith.engine.json_value import ENDS_STRING_RUN, JsonValue
from tagsmith.engine.reader import OVER, Opened, Stop
from tagsmith.engine.runs import run_end
from tagsmith.engine.spans import SpanKind
from tagsmith.events import DiagnosticCode

_FENCE = "```"


_KINDS = {
    Part.ID: SpanKind.CALL_ID,
    Part.NAME: SpanKind.CALL_NAME,
    Part.ARGUMENTS: SpanKind.ARGUMENTS,
}


class JsonCalls:
    """Reads the tool-call regions of one generation; a `CallReader`.

    `calls_allowed` is false under `tool_choice="none"`: the region is then content, in which JSON
    strings still protect what they hold.
    """

    # fmt: off
    __slots__ = (
        "_at", "_base", "_buffer", "_calls_allowed", "_calls_seen", "_cut_marker",
        "_depth", "_fenced", "_final", "_from", "_list", "_name", "_over", "_part",
        "_program", "_runs", "_seen", "_sink", "_text_value", "_token", "_undecided", "_used",
        "_value", "flowing", "opened",
    )
    # fmt: on

    def __init__(self, program: JsonProgram, sink: CallSink, *, calls_allowed: bool) -> None:
        self._program = program
        self._sink = sink
        self._runs = program.runs
        self._calls_allowed = calls_allowed
        self._buffer, self._base, self._from = "", 0, 0
        self._final = self._undecided = self._cut_marker = False
        self._value = JsonValue()
        self.flowing: Callable[[str], object] | None = None
        self.begin_region(Opened.MARKER)

    def begin_region(self, opened: Opened) -> None:
        """A region opens."""
        self._sink.begin_region(opened)
        self.opened = opened
        self._at = At.TOP if self._calls_allowed else At.TEXT
        self._part = Part.BETWEEN if self._calls_allowed else Part.TEXT
        self._text_value = Part.OTHER
        self._used = self._over = self._calls_seen = False
        alone = opened is Opened.MARKER_ALONE
        self._depth = 0
        self._list = CallList(int(alone and self._program.marker_opens_list))
        self._fenced = alone and self._program.marker_opens_fence
        self._value.in_string = False
        self._name: str | None = None
        self._token: list[str] = []
        self._seen: set[Part] = set()

    @property
    def _is_tried(self) -> bool:
        return self.opened is Opened.TRIED

    @property
    def _is_closed_by_marker(self) -> bool:
        """Whether a marker is to end the region, whatever it holds."""
        return self.opened in (Opened.MARKER, Opened.TRIED)

    @property
    def used(self) -> bool:
        """Whether the region holds anything but blanks and brackets so far."""
        return self._used

    @property
    def expects_marker(self) -> bool:
        """Whether what may be the start of a marker can be nothing else here."""
        text = self._at in (At.LEFTOVER, At.BROKEN, At.TEXT)
        return not (text or self._value.in_string)

    def cut(self) -> None:
        """The output ends inside a marker that stands here."""
        self._cut_marker = True

    def read(self, buffer: Buffer, pos: int) -> tuple[int, Stop | None]:
        """Read on from `pos`, as `CallReader.read`."""
        text = self._buffer = buffer.text
        self._base, self._from, self._final = buffer.base, pos, buffer.final
        self._undecided = False
        markers = self._program.markers
        stop: Stop | None = None
        while pos < len(text) and not self._undecided:
            in_string = self._value.in_string
            if not in_string and text[pos] in markers.first_chars:
                found = buffer.match(markers, pos)
                if found is not None:
                    # What stands behind the calls of a region that nothing closes ends it.
                    ends = OVER if self._behind_calls and self._at is At.TOP else Stop(found[2])
                    stop = None if found[2] is None else ends
                    break
            pos = self._in_string(pos) if in_string else _STEPS[self._at](self, pos)
            if self._over:
                stop = OVER
                break
        self._cut(pos)
        in_argument = self._value.flows and self._text_value is Part.ARGUMENTS
        self.flowing = ENDS_STRING_RUN if in_argument and self._sink.flows else None
        return pos, stop

    def end_region(self, at: int) -> None:
        """A marker at offset `at` ends the region."""
        if self._sink.call is not None:
            self._sink.break_off(at)

    def finish(self, at: int) -> None:
        """The output ends at offset `at`, inside the region."""
        if self._sink.call is not None:
            self._sink.cut_off(at)
        elif self._cut_marker or (
            self._at is At.TOP and self._list.open_brackets > 0 and self._used
        ):
            message = "the output ends inside a tool-call region"
            self._sink.diagnose(DiagnosticCode.TRUNCATED, message, at)

    def _cut(self, pos: int, then: Part | None = None) -> None:
        """The text up to `pos` is one part; what follows is `then`."""
        if pos > self._from:
            self._deliver(self._buffer[self._from : pos], self._base + self._from)
            self._from = pos
        if then is not None:
            self._part = then

    def _deliver(self, text: str, at: int) -> None:
        part, sink = self._part, self._sink
        if part is Part.LEFTOVER:
            sink.leftover(text, at)
        elif part is Part.TEXT:
            sink.unexpected(text, at)
        elif part is Part.BETWEEN:
            sink.between(text, at)
        else:
            if not sink.quiet:
                sink.take(text, at, _KINDS.get(part, SpanKind.CALL))
            if part is Part.ARGUMENTS and self._value.nested:
                sink.argument_text(text)
            elif part is not Part.STRUCTURE and part is not Part.OTHER:
                self._token.append(text)

    def _in_string(self, pos: int) -> int:
        """Read on in a string: of a key, of a value, or of text that only looks like a call."""
        pos = self._value.read(self._buffer, pos, self._runs)
        if self._value.done and self._at is At.KEY_TEXT:
            self._key_read(pos)
            return self._jump(self._runs.to_value, At.COLON, At.VALUE, pos)
        if self._value.done and self._at is At.VALUE_TEXT:
            self._value_read(pos)
            return self._jump(self._runs.to_key, At.AFTER, At.KEY, pos)
        return pos

    def _jump(self, signs: re.Pattern[str], here: At, there: At, pos: int) -> int:
        """Go on behind the signs that are usual here, if they stand here whole."""
        found = signs.match(self._buffer, pos) if self._at is here else None
        if found is None:
            return pos
        self._at = there
        return found.end()

    def _top(self, pos: int) -> int:
        char = self._buffer[pos]
        if char == "{":
            return self._begin_call(pos)
        if char == "}" and self._calls_seen:
            self._cut(pos)
            message = "a bracket closes nothing between tool calls"
            self._sink.diagnose(DiagnosticCode.MALFORMED_CALL, message, self._base + pos)
            return pos + 1
        if self._behind_calls:
            return self._behind(pos)
        if char == _FENCE[0]:
            return self._fence(pos)
        if char in BETWEEN:
            # A list that is closed may be all that there is, where no marker closes the region.
            run = self._runs.top if self._is_closed_by_marker else self._runs.to_close
            end = run_end(run, self._buffer, pos)
            return self._list.passed(self._buffer, pos, max(end, pos + 1))
        return self._begin_leftover(pos)

    def _begin_call(self, pos: int) -> int:
        self._used = True
        self._cut(pos, Part.STRUCTURE)
        self._sink.begin(self._base + pos, id_known=not self._program.writes_ids)
        self._seen.clear()
        self._name = None
        self._at = At.KEY
        return pos + 1

    @property
    def _behind_calls(self) -> bool:
        """Whether this may be behind what a region holds that no marker closes."""
        return not self._is_closed_by_marker and (self._calls_seen or self._list.closed)

    def _behind(self, pos: int) -> int:
        """Another call comes, or what closes the list and the fence of calls, or other text."""
        end = self._list.end(self._buffer, pos, final=self._final)
        if end is None:
            self._undecided = True
            return pos
        if end > pos:
            return self._list.passed(self._buffer, pos, end)
        if self._fenced and self._buffer[pos] == _FENCE[0]:
            return self._fence(pos)
        self._over = True
        return pos

    def _fence(self, pos: int) -> int:
        """A code fence around calls is passed over, with the language that it names."""
        ahead = self._buffer[pos : pos + len(_FENCE)]
        if ahead == _FENCE:
            self._at = At.TOP if self._fenced else At.FENCE
            self._fenced = not self._fenced
            return pos + len(_FENCE)
        if not _FENCE.startswith(ahead):
            return self._begin_leftover(pos)
        self._undecided = not self._final
        if self._fenced and self._final:
            return len(self._buffer)
        return self._begin_leftover(pos) if self._final else pos

    def _fence_language(self, pos: int) -> int:
        match = self._runs.scalar.match(self._buffer, pos)
        if match is not None:
            return match.end()
        self._at = At.TOP
        return pos

    def _begin_leftover(self, pos: int) -> int:
        self._used = True
        self._cut(pos, Part.LEFTOVER)
        self._sink.malformed(self._base + pos)
        self._at = At.LEFTOVER
        self._over = not (self._is_closed_by_marker and (self._calls_seen or not self._is_tried))
        return pos

    def _leftover(self, pos: int) -> int:
        if self._buffer[pos] == "{":
            self._cut(pos, Part.BETWEEN)
            self._at = At.TOP
            return pos
        return run_end(self._runs.to_brace, self._buffer, pos)

    def _key(self, pos: int) -> int:
        char = self._buffer[pos]
        if char == '"':
            self._cut(pos, Part.KEY)
            self._at = At.KEY_TEXT
            return self._begin_value(pos)
        if char == "}":
            return self._object_read(pos)
        return self._blank_or_broken(pos)

    def _key_read(self, end: int) -> None:
        self._cut(end, Part.STRUCTURE)
        key = decode_text(self._take_token()) or ""
        part = self._program.keys.get(key, Part.OTHER)
        self._at = At.COLON
        if part in self._seen:
            self._sink.diagnose(
                DiagnosticCode.DUPLICATE_KEY,
                "a call repeats a key; the first one counts",
                self._base + end,
            )
            part = Part.OTHER
        elif part is not Part.OTHER:
            self._seen.add(part)
        elif self.opened is Opened.NOTHING and not (
            key in self._program.other_keys or self._seen_all
        ):
            self._break(end)
        self._text_value = part
        if part is Part.ARGUMENTS and self._name is not None:
            self._sink.set_name(self._name)

    @property
    def _seen_all(self) -> bool:
        """Whether the object has what makes it a call."""
        return Part.ARGUMENTS in self._seen and Part.NAME in self._seen

    def _colon(self, pos: int) -> int:
        if self._buffer[pos] == ":":
            self._at = At.VALUE
            return pos + 1
        return self._blank_or_broken(pos)

    def _value_start(self, pos: int) -> int:
        if not self._value.begin(self._buffer, pos, self._runs):
            return self._blank_or_broken(pos)
        self._cut(pos, self._text_value)
        self._at = At.VALUE_TEXT
        return self._value_text(pos)

    def _begin_value(self, pos: int) -> int:
        self._value.begin(self._buffer, pos, self._runs)
        return self._value.read(self._buffer, pos, self._runs)

    def _value_text(self, pos: int) -> int:
        pos = self._value.read(self._buffer, pos, self._runs)
        if self._value.done:
            self._value_read(pos)
        return pos

    def _value_read(self, end: int) -> None:
        """A value ends before `end`: use it."""
        self._cut(end, Part.STRUCTURE)
        self._at = At.AFTER
        literal = self._take_token()
        if self._text_value is Part.ID:
            self._sink.set_id(decode_id(literal))
        elif self._text_value is Part.NAME:
            self._name_read(decode_text(literal), end)
        elif self._text_value is Part.ARGUMENTS:
            if not self._value.nested:
                text = "{}" if literal == "null" else json_object_in(literal) or literal
                self._sink.argument_text(text)
            self._sink.close_arguments()

    def _name_read(self, name: str | None, end: int) -> None:
        self._name = name
        if not name:
            self._break(end)
        elif self.opened is not Opened.NOTHING or Part.ARGUMENTS in self._seen:
            self._sink.set_name(name)

    def _after(self, pos: int) -> int:
        char = self._buffer[pos]
        if char == ",":
            self._at = At.KEY
            return pos + 1
        if char == "}":
            return self._object_read(pos)
        call = self._sink.call
        if char not in BLANK and call is not None and call.announced and call.closed:
            # Its arguments are whole, and so is the call: only its own brace is missing.
            self._cut(pos, Part.BETWEEN)
            self._sink.break_off(self._base + pos)
            self._calls_seen, self._at = True, At.TOP
            return pos
        return self._blank_or_broken(pos)

    def _object_read(self, pos: int) -> int:
        self._cut(pos + 1, Part.BETWEEN)
        self._sink.end(self._base + pos + 1)
        self._at = At.TOP
        self._calls_seen = True
        return pos + 1

    def _blank_or_broken(self, pos: int) -> int:
        if self._buffer[pos] in BLANK:
            return run_end(self._runs.blank, self._buffer, pos)
        self._break(pos)
        return pos

    def _break(self, pos: int) -> None:
        """The object is no call: its text up to its closing brace is left over."""
        self._cut(pos, Part.LEFTOVER)
        self._sink.break_off(self._base + pos)
        self._token.clear()
        self._depth = 1
        self._at = At.BROKEN
        self._over = self.opened is Opened.NOTHING

    def _broken(self, pos: int) -> int:
        char = self._buffer[pos]
        if char not in "{}":
            return run_end(self._runs.to_any_brace, self._buffer, pos)
        self._depth += 1 if char == "{" else -1
        if self._depth == 0:
            self._cut(pos + 1, Part.BETWEEN)
            self._at = At.TOP
        return pos + 1

    def _text(self, pos: int) -> int:
        if self._buffer[pos] == '"':
            return self._begin_value(pos)
        return run_end(self._runs.to_quote, self._buffer, pos)

    def _take_token(self) -> str:
        token = "".join(self._token)
        self._token.clear()
        return token


_STEPS: dict[At, Callable[[JsonCalls, int], int]] = {
    At.TOP: JsonCalls._top,
    At.FENCE: JsonCalls._fence_language,
    At.LEFTOVER: JsonCalls._leftover,
    At.KEY: JsonCalls._key,
    At.COLON: JsonCalls._colon,
    At.VALUE: JsonCalls._value_start,
    At.VALUE_TEXT: JsonCalls._value_text,
    At.AFTER: JsonCalls._after,
    At.BROKEN: JsonCalls._broken,
    At.TEXT: JsonCalls._text,
}
