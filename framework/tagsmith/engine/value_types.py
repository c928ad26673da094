"""From text that says no type of its own to a JSON value of the types that a schema admits.

Which types those are is said by `parameter_types`. Where nothing says it, a value is read as `TEXT`
or, as a guess, as `ANYTHING`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, StrEnum, auto

from tagsmith.engine.call_values import STRICT_DECODER
from tagsmith.engine.json_runs import BLANK

LONGEST_NUMBER = 400
"""Where a string is admitted, digits beyond this many characters are a string: so no more of a
value has to wait for its end. The longest number that a double holds is shorter."""


class JsonType(StrEnum):
    """The types of JSON Schema."""

    STRING = "string"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    NULL = "null"
    OBJECT = "object"
    ARRAY = "array"


Types = frozenset[JsonType]

TEXT: Types = frozenset({JsonType.STRING})
ANYTHING: Types = frozenset(JsonType)

_WORDS = {"true": JsonType.BOOLEAN, "false": JsonType.BOOLEAN, "null": JsonType.NULL}
_OTHER_WORDS = _WORDS | {"none": JsonType.NULL}
_BRACKETS = {"{": JsonType.OBJECT, "[": JsonType.ARRAY}
_CLOSERS = {"{": "}", "[": "]"}

_NUMBER = re.compile(
    r"-?(?:0|[1-9][0-9]*)(?:\.(?P<fraction>[0-9]+))?(?:[eE](?P<exponent>[-+]?[0-9]+))?"
)
_START_OF_NUMBER = re.compile(r"-?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*|(?:\.[0-9]+)?[eE][-+]?[0-9]*)?)?")
_TO_BLANK = re.compile(rf"[^{BLANK}]*")
# A quote that opens nothing whole is found alone, so that no text is looked through twice.
_STRING_OR_BRACKET = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|["{}\[\]]', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Typed:
    """A value as JSON text, and whether it is of a type that was admitted."""

    json: str
    fits: bool


def typed_json(
    text: str, types: Types, fallback: Callable[[str], str | None] | None = None
) -> Typed:
    r"""The JSON text of a whole value.

    What reads as JSON of an admitted type keeps its characters, without the blanks around it. What
    does not is a string, to the letter: it fits where one is admitted. The words of other languages
    (`True`, `None`) are taken only where none is. Objects and arrays have to be JSON; what their
    schemas say of what they hold is not looked at.

    Args:
        text: The value as it was written; text that spells a JSON string is a string as it stands.
        types: The types that are admitted.
        fallback: Makes JSON of an object or array in another notation, or None; asked only where no
            string is admitted.

    >>> typed_json(" 1.10\n", frozenset({JsonType.NUMBER}))
    Typed(json='1.10', fits=True)
    >>> typed_json("5", frozenset({JsonType.STRING})), typed_json("5", ANYTHING)
    (Typed(json='"5"', fits=True), Typed(json='5', fits=True))
    >>> typed_json("True", frozenset({JsonType.BOOLEAN}))
    Typed(json='true', fits=True)
    >>> typed_json("soon", frozenset({JsonType.INTEGER}))
    Typed(json='"soon"', fits=False)
    """
    has_text = JsonType.STRING in types
    if len(types) > has_text:
        bare = text.strip(BLANK)
        if _reads(bare, types):
            return Typed(bare, fits=True)
        other = None if has_text else _other_notation(bare, types, fallback)
        if other is not None:
            return Typed(other, fits=True)
    return Typed(_encode(text), fits=has_text)


class _Part(Enum):
    """How far a value of which some has arrived has got."""

    BLANKS_BEFORE = auto()
    TOKEN = auto()
    BLANKS_AFTER = auto()
    NESTED = auto()
    TEXT = auto()


class Undecided:
    """Tells, as a value arrives, whether it may still be something other than a string.

    For each text, `after` is called once with what is new of it, and costs no more than that is
    long. Once it has said no, `typed_json` makes a string of the whole value, to the letter.

    >>> value = Undecided(frozenset({JsonType.STRING, JsonType.INTEGER}))
    >>> value.after("4"), value.after("2"), value.after(" km")
    (True, True, False)
    """

    __slots__ = ("_part", "_token", "_types")

    def __init__(self, types: Types) -> None:
        self._types = types
        self._token = ""
        self._part = _Part.BLANKS_BEFORE
        if JsonType.STRING not in types:
            self._part = _Part.NESTED
        elif len(types) == 1:
            self._part = _Part.TEXT

    def after(self, more: str) -> bool:
        """Whether the value is undecided after this text, too."""
        if self._part is _Part.BLANKS_BEFORE:
            more = more.lstrip(BLANK)
            if more:
                self._part = self._begun(more[0])
        if self._part is _Part.TOKEN:
            end = self._end_of_token(more)
            self._part = self._token_part(is_whole=end < len(more))
            more = more[end:]
        if self._part is _Part.BLANKS_AFTER and more.strip(BLANK):
            self._part = _Part.TEXT
        return self._part is not _Part.TEXT

    def _begun(self, first: str) -> _Part:
        if first in _BRACKETS:
            return _Part.NESTED if _BRACKETS[first] in self._types else _Part.TEXT
        return _Part.TOKEN

    def _end_of_token(self, more: str) -> int:
        match = _TO_BLANK.match(more)
        end = match.end() if match else 0
        self._token += more[: min(end, LONGEST_NUMBER + 1)]
        return end

    def _token_part(self, *, is_whole: bool) -> _Part:
        token = self._token
        if is_whole:
            return _Part.BLANKS_AFTER if _reads(token, self._types) else _Part.TEXT
        starts_word = any(word.startswith(token) for word in _WORDS if _WORDS[word] in self._types)
        starts_number = (
            len(token) <= LONGEST_NUMBER
            and not self._types.isdisjoint({JsonType.INTEGER, JsonType.NUMBER})
            and _START_OF_NUMBER.fullmatch(token)
        )
        return _Part.TOKEN if starts_word or starts_number else _Part.TEXT


def _reads(bare: str, types: Types) -> bool:
    """Whether text without blanks around it reads as JSON of one of these types, strings aside."""
    if not bare:
        return False
    if bare[0] in _BRACKETS:
        return _BRACKETS[bare[0]] in types and _is_json(bare)
    if bare in _WORDS:
        return _WORDS[bare] in types
    if JsonType.STRING in types and len(bare) > LONGEST_NUMBER:
        return False
    number = _NUMBER.fullmatch(bare)
    if number is None:
        return False
    return JsonType.NUMBER in types or (
        JsonType.INTEGER in types and _is_whole(number["fraction"] or "", number["exponent"] or "0")
    )


def _is_whole(fraction: str, exponent: str) -> bool:
    """Whether a number with this fraction and exponent has nothing behind its point.

    >>> _is_whole("0", "0"), _is_whole("50", "1"), _is_whole("5", "0"), _is_whole("", "-1")
    (True, True, False, False)
    """
    digits = exponent.lstrip("+-0")
    if not digits or exponent.startswith("-"):
        return not digits and not fraction.rstrip("0")
    # No fraction is longer than a number of so many digits says.
    return len(digits) > 15 or len(fraction.rstrip("0")) <= int(digits)


def _is_json(bare: str) -> bool:
    """Whether text that begins as an object or array does is one.

    Where it is nested deeper than the interpreter's own reader goes, its brackets decide.
    """
    try:
        STRICT_DECODER.decode(bare)
    except ValueError:
        return False
    except RecursionError:
        return _is_balanced(bare)
    return True


def _is_balanced(bare: str) -> bool:
    """Whether the brackets answer each other, and the last one ends the text.

    >>> _is_balanced('[{"a": "]"}]'), _is_balanced("[]]"), _is_balanced("[}")
    (True, False, False)
    """
    open_brackets: list[str] = []
    for match in _STRING_OR_BRACKET.finditer(bare):
        token = match[0]
        if token in _CLOSERS:
            open_brackets.append(_CLOSERS[token])
        elif len(token) > 1:
            continue
        elif not open_brackets or open_brackets.pop() != token:
            return False
        elif not open_brackets:
            return match.end() == len(bare)
    return False


def _other_notation(
    bare: str, types: Types, fallback: Callable[[str], str | None] | None
) -> str | None:
    word = bare[:8].lower()
    if len(bare) == len(word) and _OTHER_WORDS.get(word) in types:
        return "null" if word == "none" else word
    if fallback is None or types.isdisjoint({JsonType.OBJECT, JsonType.ARRAY}):
        return None
    converted = fallback(bare) if bare[:1] in ("{", "[", "(") else None
    if converted is None or _BRACKETS.get(converted[:1]) not in types:
        return None
    return converted


_encode = json.JSONEncoder(ensure_ascii=False).encode
