"""Characters that cannot be seen, and how they are shown."""

from __future__ import annotations

import re
import unicodedata

INVISIBLE = (
    r"\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e"
    r"\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ud800-\udfff\ufeff\uffa0\ufff0-\ufffb"
    r"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""As a class of a pattern: control characters but tab and line end, what turns the direction of
writing, what has no width. Joiners (U+200C, U+200D) and the usual variation selectors are not among
them: they shape the letters beside them, and scripts and emoji need them."""

SIGNS = re.compile(f"[{INVISIBLE}]+")

_CONTROLS = re.findall(
    r"\w+",
    "NUL SOH STX ETX EOT ENQ ACK BEL BS TAB LF VT FF CR SO SI "
    "DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US",
)
"""The short names of the first characters of ASCII, in order."""


def signs_of(characters: str) -> str:
    """What is shown in the characters' place: their short names, or their code points.

    >>> signs_of(chr(27)), signs_of(chr(0) + chr(0x202E))
    ('ESC', 'NUL U+202E')
    """
    return " ".join(map(_sign, characters))


def with_signs(text: str) -> str:
    """A text in one line whose invisible characters are shown.

    >>> with_signs("a" + chr(0x202E) + "b")
    'a<U+202E>b'
    """
    return SIGNS.sub(lambda found: f"<{signs_of(found[0])}>", " ".join(text.splitlines()))


def code_point(character: str) -> str:
    """The character's number as Unicode writes it.

    >>> code_point("é")
    'U+00E9'
    """
    return f"U+{ord(character):04X}"


def name_of(character: str) -> str:
    """The character's number and name, for a tooltip.

    >>> name_of(chr(0x202E)), name_of(chr(27))
    ('U+202E RIGHT-TO-LEFT OVERRIDE', 'U+001B control character')
    """
    return f"{code_point(character)} {unicodedata.name(character, 'control character').strip()}"


def escape_signs(json_text: str) -> str:
    r"""JSON text with its invisible characters escaped; it means the same.

    >>> print(escape_signs(f'"a{chr(0x202E)}"'))
    "a\u202e"
    """
    return SIGNS.sub(lambda found: "".join(map(_json_escape, found[0])), json_text)


def _sign(character: str) -> str:
    code = ord(character)
    return _CONTROLS[code] if code < len(_CONTROLS) else code_point(character)


def _json_escape(character: str) -> str:
    code = ord(character)
    if code > 0xFFFF:
        code -= 0x10000
        return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
    return f"\\u{code:04x}"
