"""From what a caller may hand over (mappings, pydantic objects, JSON text) to plain values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, TypeVar

from tagsmith.errors import RequestError
from tagsmith.wording import shortened

_Named = TypeVar("_Named", bound=StrEnum)


def plain(value: Any) -> Any:
    """The value itself, or what a pydantic object dumps to."""
    dump = getattr(value, "model_dump", None)
    if callable(dump) and not isinstance(value, type):
        return dump(by_alias=True)
    return value


def mapping(value: Any, field: str, expected: str) -> Mapping[str, Any]:
    """The value as a mapping; anything else is an error that says what was expected."""
    value = plain(value)
    if not isinstance(value, Mapping):
        raise RequestError(field, f"expected {expected}, not {type(value).__name__}")
    return value


def from_json(text: str, field: str) -> Any:
    """The value of a JSON text."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RequestError(field, f"the text given is no JSON ({error})") from None


def named(kind: type[_Named], value: Any, field: str) -> _Named:
    """The named value, or an error that lists the allowed ones.

    >>> from tagsmith.request import ReasoningMode
    >>> named(ReasoningMode, "auto", "reasoning")
    <ReasoningMode.AUTO: 'auto'>
    """
    try:
        return kind(value)
    except ValueError:
        allowed = ", ".join(kind)
        shown = shortened(repr(value))
        raise RequestError(field, f"unknown value {shown}; allowed: {allowed}") from None
