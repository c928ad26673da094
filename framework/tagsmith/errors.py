"""The errors Tagsmith raises: wrong configuration and wrong requests, never model output."""

from __future__ import annotations

from dataclasses import dataclass


class TagsmithError(Exception):
    """Base of every error Tagsmith raises on purpose.

    >>> issubclass(RequestError, TagsmithError)
    True
    """


@dataclass(frozen=True, slots=True)
class Location:
    """A place in a family file; lines and columns count from 1.

    >>> str(Location("cohere.yaml", 3, 7))
    'cohere.yaml:3:7'
    """

    file: str
    line: int = 1
    column: int = 1

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class FamilyFileError(TagsmithError):
    """A family file that cannot be used, with the place and the rule it breaks.

    >>> raise FamilyFileError("TS101", "unknown key", Location("a.yaml", 2, 1))
    Traceback (most recent call last):
    tagsmith.errors.FamilyFileError: a.yaml:2:1: TS101 unknown key
    """

    def __init__(self, code: str, message: str, location: Location) -> None:
        super().__init__(f"{location}: {code} {message}")
        self.code = code
        self.message = message
        self.location = location

    @property
    def file(self) -> str:
        """The path of the file, as it was given."""
        return self.location.file

    @property
    def line(self) -> int:
        """The line, counted from 1."""
        return self.location.line

    @property
    def column(self) -> int:
        """The column, counted from 1."""
        return self.location.column


class FamilyLookupError(TagsmithError, LookupError):
    """No single family answers to a name."""


class UnknownFamilyError(FamilyLookupError):
    """No family has this id, architecture or model name; the message names the nearest ids."""


class AmbiguousFamilyError(FamilyLookupError):
    """Several families claim a name; the message names them and how to choose."""


class RequestError(TagsmithError, ValueError):
    """A request that cannot be served as it stands.

    >>> RequestError("tool_choice", "no tool is named 'f'").field
    'tool_choice'
    """

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field


class MissingDependencyError(TagsmithError, ImportError):
    """A library is absent or of a wrong version; the message says which to install, and how."""


def require_text(field: str, value: object) -> None:
    """Raise `RequestError` when what a request gives in a field is no text.

    >>> require_text("prompt", 5)
    Traceback (most recent call last):
    tagsmith.errors.RequestError: prompt: must be text, not int
    """
    if not isinstance(value, str):
        raise RequestError(field, f"must be text, not {type(value).__name__}")
