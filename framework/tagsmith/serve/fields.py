"""The fields of a request body, each taken by the type that its API gives it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeGuard, TypeVar

from tagsmith.errors import RequestError
from tagsmith.wording import one_line, shortened

_Value = TypeVar("_Value")
_Number = TypeVar("_Number", int, float)


class Fields:
    """A body, field by field. A field that is null counts as one that is not there.

    `path` is what errors put before a field's name: where an inner object stands.
    Every method raises `RequestError` for a value of another type or out of its range.

    >>> fields = Fields({"n": 3, "seed": None})
    >>> fields.whole("n", low=1), fields.whole("seed")
    (3, None)
    """

    def __init__(self, body: Mapping[str, Any], path: str = "") -> None:
        self._body = {name: value for name, value in body.items() if value is not None}
        self._path = path

    def __contains__(self, name: str) -> bool:
        return name in self._body

    def value(self, name: str) -> Any:
        """Whatever the field holds."""
        return self._body.get(name)

    def text(self, name: str, among: Iterable[str] | None = None) -> str | None:
        """A text, one of those allowed if they are listed; letter case does not count then."""
        value = self._take(name, _is_text, "must be text")
        if value is None or among is None:
            return value
        allowed = tuple(among)
        for one in allowed:
            if value.lower() == one.lower():
                return one
        raise self._error(name, f"{_shown(value)} is unknown; allowed: {', '.join(allowed)}")

    def flag(self, name: str) -> bool | None:
        """True or false."""
        return self._take(name, _is_flag, "must be true or false")

    def whole(self, name: str, low: int | None = None, high: int | None = None) -> int | None:
        """A whole number."""
        value = self._take(name, _is_whole, "must be a whole number")
        return self._bounded(name, value, low, high)

    def number(self, name: str, low: float, high: float | None = None) -> float | None:
        """A number."""
        value = self._take(name, _is_number, "must be a number")
        return self._bounded(name, value, low, high)

    def listed(self, name: str) -> list[Any] | None:
        """A list."""
        return self._take(name, _is_list, "must be a list")

    def mapping(self, name: str) -> dict[str, Any] | None:
        """An object."""
        return self._take(name, _is_object, "must be an object")

    def inner(self, name: str) -> Fields:
        """The fields of an object; none where there is no object."""
        return Fields(self.mapping(name) or {}, f"{self._path}{name}.")

    def refuse(self, refused: Mapping[str, tuple[Any, ...]], known: Iterable[str]) -> None:
        """Refuse what cannot be served, by name.

        Parameters: `refused` are fields that this server knows and cannot serve, each with the
        values that ask for nothing. `known` are all others that there are.

        Raises:
            RequestError: the body holds a refused field with another value, or an unknown one.
        """
        known = {*known, *refused}
        for name, value in self._body.items():
            if name in refused and value not in refused[name]:
                raise self._error(name, "is not supported by this server; leave it out")
            if name not in known:
                raise self._error(name, "is no field that this server knows; leave it out")

    def _take(
        self, name: str, fits: Callable[[Any], TypeGuard[_Value]], wanted: str
    ) -> _Value | None:
        value = self._body.get(name)
        if value is None or fits(value):
            return value
        raise self._error(name, f"{wanted}, not {_shown(value)}")

    def _bounded(
        self, name: str, value: _Number | None, low: float | None, high: float | None
    ) -> _Number | None:
        if value is None:
            return None
        if (low is None or value >= low) and (high is None or value <= high):
            return value
        bounds = f"from {low}" if high is None else f"from {low} to {high}"
        raise self._error(name, f"must be {bounds}, not {_shown(value)}")

    def _error(self, name: str, message: str) -> RequestError:
        return RequestError(f"{self._path}{one_line(shortened(name))}", message)


def given(**values: _Value | None) -> dict[str, _Value]:
    """The values that are there.

    >>> given(top_p=0.5, seed=None)
    {'top_p': 0.5}
    """
    return {name: value for name, value in values.items() if value is not None}


def _is_text(value: Any) -> TypeGuard[str]:
    return isinstance(value, str)


def _is_flag(value: Any) -> TypeGuard[bool]:
    return isinstance(value, bool)


def _is_whole(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> TypeGuard[float]:
    return _is_whole(value) or (isinstance(value, float) and math.isfinite(value))


def _is_list(value: Any) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


def _is_object(value: Any) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def _shown(value: Any) -> str:
    return one_line(shortened(repr(value)))
