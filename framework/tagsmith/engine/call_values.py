"""Reading the small JSON values of a call: its id, its name, and whether its arguments are JSON."""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")


def decode_text(literal: str) -> str | None:
    r"""The text of a JSON string literal; None for anything else.

    >>> decode_text('"caf\\u00e9"'), decode_text("null")
    ('café', None)
    """
    if len(literal) < 2 or literal[0] != '"':
        return None
    if "\\" not in literal:
        return literal[1:-1]
    try:
        value = json.loads(literal, strict=False)
    except ValueError:
        return literal[1:-1]
    return _encodable(value) if isinstance(value, str) else None


def decode_id(literal: str) -> str | None:
    """A call's id: a string's text, a number's own digits, None for anything else.

    >>> decode_id('"call_1"'), decode_id("0"), decode_id("null"), decode_id('""')
    ('call_1', '0', None, None)
    """
    if _NUMBER.fullmatch(literal):
        return literal
    return decode_text(literal) or None


def json_object_in(literal: str) -> str | None:
    r"""The JSON object that a JSON string literal spells, as some models write arguments.

    >>> json_object_in('"{\\"a\\": 1}"'), json_object_in('"a"')
    ('{"a": 1}', None)
    """
    text = decode_text(literal)
    return text if text is not None and arguments_problem(text) is None else None


def is_json_text(text: str) -> bool:
    r"""Whether `text` is a JSON string literal, blanks around it aside.

    >>> is_json_text(' "a\\n" '), is_json_text("a")
    (True, False)
    """
    try:
        return text.lstrip()[:1] == '"' and isinstance(json.loads(text), str)
    except ValueError:
        return False


def arguments_problem(text: str) -> str | None:
    """What keeps `text` from being a JSON object, or None.

    Text nested deeper than the interpreter's own reader goes is taken at its brackets' word.

    >>> arguments_problem('{"a": 1}'), arguments_problem("[1]")
    (None, 'not a JSON object')
    >>> arguments_problem('{"a": tru}')
    'not JSON (Expecting value at character 6)'
    """
    try:
        value: Any = STRICT_DECODER.decode(text)
    except json.JSONDecodeError as error:
        return f"not JSON ({error.msg} at character {error.pos})"
    except ValueError as error:
        return f"not JSON ({error})"
    except RecursionError:
        return None
    return None if isinstance(value, dict) else "not a JSON object"


def _encodable(text: str) -> str:
    """Text that has an encoding: half a surrogate pair, spelled as an escape, has none."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a JSON value")


# Numbers stay text: converting them costs time and refuses very long ones.
STRICT_DECODER = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=_refuse)
