"""Literal values of a dialect, turned into JSON text as they arrive, each character once.

The JSON text is built as `json.dumps(ensure_ascii=False)` builds it.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto

from tagsmith.engine.buffer import Buffer
from tagsmith.engine.dialects import Dialect, Escapes, StringForm, json_inside
from tagsmith.engine.json_runs import BLANK, FEW_BLANKS
from tagsmith.engine.runs import none_of, run_beside, run_end
from tagsmith.engine.scanner import Found, Scanner, build_scanner

_AFTER_RAW = ",}]:"
_AFTER_VALUE = _AFTER_RAW + ")"
NO_MARKERS = build_scanner(())


class State(Enum):
    """Where the reading of a value stands."""

    MORE = auto()
    """The value goes on."""
    DONE = auto()
    """The value is whole."""
    BROKEN = auto()
    """What stands here cannot go on with the value."""
    MARKER = auto()
    """A marker stands here, outside of the value's strings. Reading may go on after it."""


class LiteralReader:
    """Reads one value at a time; `markers` are what ends it early, outside of its strings.

    `closers` are the brackets that are still to come. `flowing` looks for what ends the stretch of
    a string that the reader stands in: while it finds nothing, text is its own JSON. None where
    text is not so simple. What stands in round brackets is kept back until they are known to be
    those of a list, or of nothing but one value.

    >>> from tagsmith.engine.dialects import PYTHON
    >>> reader = LiteralReader(PYTHON)
    >>> reader.read(Buffer("{'a': 'b"), 0)
    (8, '{"a": "b', <State.MORE: 1>)
    >>> reader.read(Buffer("c', 'n': 0x"), 0)
    (11, 'c", "n": ', <State.MORE: 1>)
    >>> reader.read(Buffer("f}, 2"), 0)
    (2, '15}', <State.DONE: 2>)
    """

    # fmt: off
    __slots__ = (
        "_at", "_blank", "_buffer", "_dialect", "_form", "_held", "_is_key", "_key_run", "_markers",
        "_out", "_round", "_separator", "_state", "_text", "_undecided", "_word", "_word_run",
        "closers", "flowing",
    )
    # fmt: on

    def __init__(self, dialect: Dialect, markers: Scanner = NO_MARKERS) -> None:
        self._dialect = dialect
        self._markers = markers
        first_chars = markers.first_chars
        self._blank = run_beside(f"[{BLANK}]", first_chars)
        raw = "".join(sorted(dialect.raw_quotes.first_chars))
        self._word_run = run_beside(none_of(dialect.word_ends + raw), first_chars)
        self._key_run = run_beside(none_of(dialect.key_ends + raw), first_chars)
        self._buffer = Buffer("")
        self._text = ""
        self.begin()

    def begin(self) -> None:
        """A value comes next."""
        self._at: Callable[[LiteralReader, int], int] = LiteralReader._value
        self._state = State.MORE
        self._form: StringForm | None = None
        self.closers: list[str] = []
        self._is_key = self._undecided = False
        self._separator = ""
        self._word: list[str] = []
        self._out: list[str] = []
        # For each round bracket that may be a list's: how deep it is, and its place in `_held`.
        self._round: dict[int, int] = {}
        self._held: list[str] = []
        self.flowing: Callable[[str], object] | None = None

    @property
    def begun(self) -> bool:
        """Whether any of the value has been read."""
        return self._at is not LiteralReader._value or bool(self.closers) or self.in_string

    @property
    def in_string(self) -> bool:
        """Whether the next character is inside a string, where everything is data."""
        return self._form is not None

    def read(self, buffer: Buffer, pos: int) -> tuple[int, str, State]:
        """Read on from `pos`: where reading stopped, the JSON text of what was read, and why.

        Blanks before the value are read with it. After `MORE`, what is left must be given again
        together with the text that follows it; in a final buffer nothing is left.
        """
        self._buffer, self._text, self._undecided = buffer, buffer.text, False
        self._out = []
        state = self._state
        end = len(self._text)
        while pos < end and state is State.MORE:
            found = self._marker(pos) if self._form is None else None
            if found is not None:
                self._undecided = found[2] is None
                state = State.MORE if self._undecided else State.MARKER
                break
            pos = self._at(self, pos) if self._form is None else self._string(pos)
            if self._undecided:
                break
            state = self._state
        flows = self._form is not None and not self._undecided and not self._round
        self.flowing = self._form.flowing if flows and self._form is not None else None
        return pos, "".join(self._out), state

    def finish(self) -> str | None:
        """No text follows: the JSON text of a value that nothing but its end was missing of."""
        if self.closers or self._at not in (LiteralReader._read_word, LiteralReader._behind):
            return None
        self._out = []
        self._token_read()
        return "".join(self._out)

    def _marker(self, pos: int) -> Found | None:
        if self._text[pos] in self._markers.first_chars:
            return self._buffer.match(self._markers, pos)
        return None

    def _put(self, text: str) -> None:
        (self._held if self._round else self._out).append(text)

    def _emit(self, text: str) -> None:
        self._put(self._separator + text)
        self._separator = ""

    def _string(self, pos: int) -> int:
        form = self._form
        assert form is not None, "inside a string there is a form of it"
        # Also where no text follows, the start of a quote is none of the string.
        found = form.end.find(self._text, pos, final=False)
        start, end, literal = found or (len(self._text), len(self._text), "")
        if start > pos:
            self._put(json_inside(self._text[pos:start]))
        if literal is None:
            self._undecided = not self._buffer.final
            return start if self._undecided else end
        if literal == form.quote and form.escapes is None and not self._quote_closes(end):
            if self._undecided:
                return start
            self._put(json_inside('"'))
        elif literal == form.quote:
            self._form = None
            self._at = LiteralReader._behind
            if not self._dialect.strings_join:
                self._token_read()
        elif literal and form.escapes is not None:
            return self._escape(start, form.escapes)
        return end

    def _quote_closes(self, end: int) -> bool:
        """Whether a quote that ends before `end` closes its string: what goes on behind one does.

        Models write the quote's token where they mean a quote inside the string, too.
        """
        blanks = FEW_BLANKS.match(self._text, end)
        after = end if blanks is None else blanks.end()
        if after == len(self._text):
            self._undecided = not self._buffer.final
            return self._buffer.final
        marker = self._marker(after)
        if marker is None:
            return self._text[after] in _AFTER_RAW
        self._undecided = marker[2] is None
        return not self._undecided

    def _escape(self, pos: int, escapes: Escapes) -> int:
        escape = escapes.read(self._text, pos)
        if escape is None:
            self._undecided = not self._buffer.final
            return pos if self._undecided else len(self._text)
        self._put(escape[0])
        return escape[1]

    def _value(self, pos: int) -> int:
        char = self._text[pos]
        closer = "}" if char == "{" else self._dialect.lists.get(char)
        if closer is None:
            return self._token(pos)
        self.closers.append(closer)
        if closer == ")":
            self._round[len(self.closers)] = len(self._held)
        self._emit({"}": "{", "]": "[", ")": ""}[closer])
        self._at = LiteralReader._key if closer == "}" else LiteralReader._item
        return pos + 1

    def _item(self, pos: int) -> int:
        if self._text[pos] == self.closers[-1]:
            self._is_list()
            return self._close(pos)
        return self._value(pos)

    def _is_list(self) -> None:
        """The innermost brackets, if they are round, are those of a list."""
        place = self._round.get(len(self.closers))
        if place is not None:
            self._held[place] += "["
            self._round_known()

    def _round_known(self) -> None:
        """It is known what the innermost brackets, which are round, are."""
        del self._round[len(self.closers)]
        if not self._round:
            self._out += self._held
            self._held.clear()

    def _key(self, pos: int) -> int:
        if self._text[pos] == "}":
            return self._close(pos)
        self._is_key = True
        return self._token(pos)

    def _token(self, pos: int) -> int:
        """A string or a bare word, as a key or a value."""
        if self._text[pos] in BLANK:
            return self._pass_blank(pos)
        end = self._opened(pos)
        if end > pos:
            self._emit('"')
        elif not self._undecided:
            self._at = LiteralReader._read_word
            return self._read_word(pos)
        return end

    def _opened(self, pos: int) -> int:
        """Where a string's text begins that is opened here; `pos` if none is, as far as known."""
        quotes = self._dialect.quotes
        found = self._buffer.match(quotes, pos) if self._text[pos] in quotes.first_chars else None
        if found is None:
            return pos
        if found[2] is None:
            self._undecided = True
            return pos
        self._form = self._dialect.strings[found[2]]
        return found[1]

    def _read_word(self, pos: int) -> int:
        end = run_end(self._key_run if self._is_key else self._word_run, self._text, pos)
        if end > pos:
            self._word.append(self._text[pos:end])
        elif self._text[pos] in self._dialect.raw_quotes.first_chars:
            return self._stray_quote(pos)
        elif self._word:
            self._at = LiteralReader._behind
        else:
            self._left_out(pos)
        return end

    def _left_out(self, pos: int) -> None:
        """Where a key or a value is to stand, none does."""
        of_object = self.closers[-1:] == ["}"] and not self._is_key
        if of_object and self._text[pos] in ",}" and self._dialect.no_value is not None:
            self._emit(self._dialect.no_value)
            self._read_one()
        else:
            self._state = State.BROKEN

    def _stray_quote(self, pos: int) -> int:
        """The quote that closes a string whose opening quote was left out, or one like it."""
        found = self._buffer.match(self._dialect.raw_quotes, pos)
        if found is None:
            self._word.append(self._text[pos])
            return pos + 1
        if found[2] is None:
            self._undecided = True
            return pos
        self._token_read()
        return found[1]

    def _behind(self, pos: int) -> int:
        """Behind a string or a word, which is one if what stands here may follow it."""
        char = self._text[pos]
        if char in BLANK:
            return self._pass_blank(pos)
        if self._dialect.strings_join and not self._word:
            end = self._opened(pos)
            if end > pos or self._undecided:
                return end
        if char in _AFTER_VALUE:
            self._token_read()
        else:
            self._state = State.BROKEN
        return pos

    def _token_read(self) -> None:
        """A word is whole, or a string, of which only the quote is missing."""
        if self._word:
            text = self._dialect.word_json("".join(self._word).rstrip(BLANK))
            self._word.clear()
            self._emit(f'"{text}"' if self._is_key and text[0] != '"' else text)
        else:
            self._put('"')
        self._read_one()

    def _read_one(self) -> None:
        """A key or a value is whole."""
        if self._is_key:
            self._is_key = False
            self._at = LiteralReader._colon
        elif self.closers:
            self._at = LiteralReader._after
        else:
            self._state = State.DONE

    def _colon(self, pos: int) -> int:
        if self._text[pos] != ":":
            return self._blank_or_broken(pos)
        self._put(": ")
        self._at = LiteralReader._value
        return pos + 1

    def _after(self, pos: int) -> int:
        char = self._text[pos]
        if char == self.closers[-1]:
            return self._close(pos)
        if char != ",":
            return self._blank_or_broken(pos)
        self._is_list()
        self._separator = ", "
        self._at = LiteralReader._key if self.closers[-1] == "}" else LiteralReader._item
        return pos + 1

    def _close(self, pos: int) -> int:
        self._separator = ""
        self._is_key = False
        if len(self.closers) in self._round:
            self._round_known()
        else:
            self._emit("}" if self.closers[-1] == "}" else "]")
        self.closers.pop()
        self._read_one()
        return pos + 1

    def _blank_or_broken(self, pos: int) -> int:
        if self._text[pos] in BLANK:
            return self._pass_blank(pos)
        self._state = State.BROKEN
        return pos

    def _pass_blank(self, pos: int) -> int:
        return run_end(self._blank, self._text, pos)


def to_json(text: str, dialect: Dialect) -> str | None:
    """The whole text, blanks aside, as one value: its JSON text, or None if it is none.

    >>> from tagsmith.engine.dialects import PYTHON, bare_keys
    >>> to_json("(1, 'a', None)", PYTHON), to_json("1, 2", PYTHON)
    ('[1, "a", null]', None)
    >>> to_json("{k:|a\\"b|}", bare_keys("|"))
    '{"k": "a\\\\"b"}'
    """
    reader = LiteralReader(dialect)
    end, json_text, state = reader.read(Buffer(text, final=True), 0)
    if state is State.MORE:
        rest = reader.finish()
        return None if rest is None else json_text + rest
    return json_text if state is State.DONE and not text[end:].strip(BLANK) else None
