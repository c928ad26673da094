"""Dialects of literal values, such as Python's own, as data for the one reader of `literals`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from json.encoder import encode_basestring

from tagsmith.engine.json_runs import BLANK
from tagsmith.engine.scanner import Scanner, build_scanner

_NAMED = {
    "true": "true", "false": "false", "null": "null",
    "True": "true", "False": "false", "None": "null",
}  # fmt: skip
_JSON_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_DIGITS = "[0-9](?:_?[0-9])*+"
_PYTHON_NUMBER = re.compile(
    f"(?P<sign>[-+]?)(?P<whole>{_DIGITS})?(?P<point>\\.(?P<part>{_DIGITS})?)?"
    f"(?P<power>[eE][-+]?{_DIGITS})?"
)
_BASED_NUMBER = re.compile(r"[-+]?0[xXoObB][0-9a-fA-F_]+")


@dataclass(frozen=True, slots=True)
class Escapes:
    """The escapes of a string. `whole` matches one, its group `code` the number of a character, if
    it is one; `cut` matches the start of one that ends a text."""

    whole: re.Pattern[str]
    cut: re.Pattern[str]
    letters: Mapping[str, str]
    """What stands for one text, with the inside of the JSON string that says it; what is neither
    here nor a number is no escape."""

    def read(self, text: str, pos: int) -> tuple[str, int] | None:
        r"""The escape at `pos`: the inside of a JSON string that says the same, and where it ends.

        None if the text ends inside of it. Half a surrogate pair, which has no encoding, stays an
        escape.

        >>> PYTHON_ESCAPES.read(r"\x41", 0), PYTHON_ESCAPES.read(r"\'", 0)
        (('A', 4), ("'", 2))
        >>> PYTHON_ESCAPES.read(r"\ud83d", 0), PYTHON_ESCAPES.read(r"\d", 0)
        (('\\ud83d', 6), ('\\\\d', 2))
        >>> RAW.read(r"\x41", 0), PYTHON_ESCAPES.read(r"\x4", 0)
        (('\\\\x', 2), None)
        """
        if self.cut.match(text, pos):
            return None
        match = self.whole.match(text, pos)
        assert match is not None, "any character may follow a backslash"
        escape, number = match.group(), match["code"]
        if number is None:
            return self.letters.get(escape[1:], json_inside(escape)), match.end()
        return _character(number) or json_inside(escape), match.end()


@dataclass(frozen=True, slots=True)
class StringForm:
    """One way to write a string: up to a closing quote, with escapes or without any."""

    quote: str
    escapes: Escapes | None
    end: Scanner
    """Finds the closing quote, and the backslash of an escape."""
    flowing: Callable[[str], object]
    """Finds what may end the stretch of a string that is the same in JSON."""


NO_QUOTES = build_scanner(())


@dataclass(frozen=True, slots=True)
class Dialect:
    """How values are written. Objects stand in braces, and commas between items, in every one."""

    strings: Mapping[str, StringForm]
    """What opens a string, with how it goes on."""
    quotes: Scanner
    """Finds what opens a string."""
    lists: Mapping[str, str]
    """The brackets of lists. Round ones are of a list only with a comma, or around nothing."""
    word_ends: str
    """The characters that end a value that is a bare word or a number."""
    key_ends: str
    """The characters that end a key that is one."""
    word_json: Callable[[str], str]
    """A bare word as JSON text."""
    raw_quotes: Scanner = NO_QUOTES
    """Finds the quotes of strings without escapes: they may stand in such a string as well, and be
    left out before it."""
    no_value: str | None = None
    """The JSON text of a value that is left out of an object; None where one cannot be."""
    strings_join: bool = False
    """Whether strings beside each other are one."""


def json_inside(text: str) -> str:
    """The text as it stands inside a JSON string."""
    return encode_basestring(text)[1:-1]


def python_word(word: str) -> str:
    """A bare word of Python as JSON text: a number keeps its digits, what has no value is text.

    >>> [python_word(word) for word in ["True", "+.5", "5.", "1_000", "0x10", "nan", "007"]]
    ['true', '0.5', '5.0', '1000', '16', '"nan"', '"007"']
    """
    if word in _NAMED:
        return _NAMED[word]
    if _JSON_NUMBER.fullmatch(word):
        return word
    return _python_number(word) or _based_number(word) or encode_basestring(word)


def json_word(word: str) -> str:
    """A bare word as JSON text: what is no number and no constant is text.

    >>> [json_word(word) for word in ["true", "-1.50", "1_000", "two words"]]
    ['true', '-1.50', '"1_000"', '"two words"']
    """
    if word in _NAMED:
        return _NAMED[word]
    return word if _JSON_NUMBER.fullmatch(word) else encode_basestring(word)


@lru_cache(maxsize=64)
def bare_keys(quote: str) -> Dialect:
    """The dialect of bare keys whose strings stand, to the letter, between two `quote`s."""
    own = [] if quote == '"' else [_string(quote, None)]
    forms = [_string('"', JSON_ESCAPES), _string("'", JSON_ESCAPES), *own]
    return Dialect(
        strings={form.quote: form for form in forms},
        quotes=build_scanner(form.quote for form in forms),
        lists={"[": "]"},
        word_ends=",}]",
        key_ends=":,{}",
        word_json=json_word,
        raw_quotes=build_scanner(form.quote for form in own),
        no_value='""',
    )


def _python_number(word: str) -> str | None:
    match = _PYTHON_NUMBER.fullmatch(word)
    if match is None or not (match["whole"] or match["part"]):
        return None
    whole = (match["whole"] or "").lstrip("0_") or "0"
    integer = not (match["point"] or match["power"])
    if integer and len(whole) < len(match["whole"]):
        return None
    part = f".{match['part'] or 0}" if match["point"] else ""
    number = match["sign"].lstrip("+") + whole + part + (match["power"] or "")
    return number.replace("_", "")


def _based_number(word: str) -> str | None:
    if not _BASED_NUMBER.fullmatch(word):
        return None
    try:
        return str(int(word, 0))
    except ValueError:  # no digits of this base, or more than the interpreter turns to decimal
        return None


def _character(number: str) -> str | None:
    """The character of a number, octal or behind a letter hexadecimal, inside a JSON string."""
    code = int(number, 8) if number.isdecimal() else int(number[1:], 16)
    if 0xD800 <= code <= 0xDFFF:
        return f"\\u{code:04x}"
    return json_inside(chr(code)) if code <= 0x10FFFF else None


def _string(quote: str, escapes: Escapes | None) -> StringForm:
    ends = {quote} if escapes is None else {quote, "\\"}
    return StringForm(
        quote=quote,
        escapes=escapes,
        end=build_scanner(ends),
        flowing=re.compile(f'[\\x00-\\x1f"\\\\{re.escape(quote[0])}]').search,
    )


def _escapes(letters: Mapping[str, str], codes: str, cut: str) -> Escapes:
    """Escapes of a letter, and `codes` of characters; `cut` matches what may go on."""
    return Escapes(
        whole=re.compile(rf"\\(?:(?P<code>{codes})|\r\n|.)", re.DOTALL),
        cut=re.compile(rf"\\(?:{cut}|\r)?\Z"),
        letters={letter: json_inside(text) for letter, text in letters.items()},
    )


_HEX = "[0-9a-fA-F]"
_OCTAL = "[0-7]"
_LETTERS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", '"': '"', "'": "'", "\\": "\\"}
JSON_ESCAPES = _escapes({**_LETTERS, "/": "/"}, f"u{_HEX}{{4}}", f"u{_HEX}{{0,3}}")
PYTHON_ESCAPES = _escapes(
    {**_LETTERS, "a": "\a", "v": "\v", "\n": "", "\r\n": "", "\r": ""},
    rf"x{_HEX}{{2}}|u{_HEX}{{4}}|U{_HEX}{{8}}|{_OCTAL}{{1,3}}",
    rf"x{_HEX}?|u{_HEX}{{0,3}}|U{_HEX}{{0,7}}|{_OCTAL}{{1,2}}",
)
RAW = _escapes({}, "(?!)", "(?!)")
"""What a raw string of Python has for escapes: a backslash and the character that it protects."""
_PREFIXES = {"": PYTHON_ESCAPES, "u": PYTHON_ESCAPES, "U": PYTHON_ESCAPES, "r": RAW, "R": RAW}
_PYTHON_STRINGS = {
    prefix + quote: _string(quote, escapes)
    for prefix, escapes in _PREFIXES.items()
    for quote in ('"""', "'''", '"', "'")
}
PYTHON = Dialect(
    strings=_PYTHON_STRINGS,
    quotes=build_scanner(_PYTHON_STRINGS),
    lists={"[": "]", "(": ")"},
    word_ends=BLANK + "\"',:=()[]{}",
    key_ends=BLANK + "\"',:=()[]{}",
    word_json=python_word,
    strings_join=True,
)
