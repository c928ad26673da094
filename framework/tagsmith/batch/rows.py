"""One row: from its columns to a message. The same for `tagsmith batch` and for Ray."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Any, Protocol, TypeVar

from tagsmith.batch.options import Field, OnBadRow, RowOptions
from tagsmith.batch.tally import Problem, Tally
from tagsmith.errors import (
    FamilyFileError,
    FamilyLookupError,
    RequestError,
    UnknownFamilyError,
    require_text,
)
from tagsmith.family import Family
from tagsmith.message import Message
from tagsmith.registry import load_registry
from tagsmith.request.plain import from_json
from tagsmith.wire.finish import read_finish_reason
from tagsmith.wording import shortened

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

_REQUEST = (
    Field.TOOLS,
    Field.TOOL_CHOICE,
    Field.PROMPT,
    Field.DOCUMENTS,
    Field.MESSAGES,
    Field.STOP,
)
"""The fields that are options of `Family.parse` under their own names."""
_LISTS = (Field.DOCUMENTS, Field.MESSAGES)
"""Those of them that may be JSON text."""
_KEPT_FAMILIES = 4096
"""For how many names it is kept which family they mean."""
_ABSENT = object()


class Fault(StrEnum):
    """What can be wrong with a row. Each has its line in docs/batch.md."""

    NOT_UTF8 = "not-utf-8"
    NOT_JSON = "not-json"
    NOT_AN_OBJECT = "not-an-object"
    TOO_LONG = "too-long"
    NO_OUTPUT = "no-output"
    NO_FAMILY = "no-family"
    BAD_REQUEST = "bad-request"
    FAILED = "failed"
    WORKER_LOST = "worker-lost"


class BadRowError(Exception):
    """A row that cannot be read: its fault, and the fault in words."""

    def __init__(self, fault: Fault, message: str) -> None:
        super().__init__(message)
        self.fault = fault

    def fields(self, row: int) -> dict[str, Any]:
        """What is written in the row's place, under `error`."""
        return {"code": self.fault.value, "message": str(self), "row": row}


Row = dict[str, Any] | BadRowError
"""A row by column, or why it cannot be read."""


class RowWriter(Protocol[T_co]):
    """Makes what is written of each row, whose number goes with it."""

    def message(self, number: int, row: dict[str, Any], message: Message) -> T_co:
        """What is written of a row that was read."""
        ...

    def error(self, number: int, row: dict[str, Any], error: dict[str, Any]) -> T_co:
        """What is written of a bad row; `row` is what could be read of it."""
        ...


class RowReader:
    """Reads rows. It loads its families itself, so it is made where the rows are read.

    >>> reader = RowReader(RowOptions(family="cohere-command-a"))
    >>> reader.read({"output": "<|START_RESPONSE|>Hi<|END_RESPONSE|>"}, Tally()).content
    'Hi'
    """

    def __init__(self, options: RowOptions) -> None:
        """Raises FamilyLookupError or FamilyFileError where the options name no usable family."""
        self.options = options
        self._registry = load_registry(options.families)
        self._families: dict[tuple[str | None, str | None], Family | str] = {}
        self._request = [(f, options.read[f]) for f in _REQUEST if f in options.read]
        self._common = {} if options.tools is None else {Field.TOOLS.value: options.tools}
        if options.family is not None:
            self._get(options.family, options.model)  # What there is not is told before any row.

    def read(self, row: Mapping[str, Any], tally: Tally) -> Message:
        """The message of a row. Columns that it lacks are counted in `tally`.

        Raises:
            BadRowError: it cannot be read; any text in its output can.
        """
        text = row.get(self.options.column, _ABSENT)
        if not isinstance(text, str):
            raise BadRowError(Fault.NO_OUTPUT, self._no_output(row, text))
        try:
            family = self._family_of(row, tally)
            reason = read_finish_reason(self._text(row, Field.FINISH_REASON, tally))
            return family.parse(text, finish_reason=reason, **self._request_of(row, tally))
        except RequestError as error:
            raise BadRowError(Fault.BAD_REQUEST, str(error)) from None

    def convert(
        self, rows: Iterable[tuple[int, Row]], writer: RowWriter[T], tally: Tally
    ) -> Iterator[T]:
        """Read numbered rows and write each; bad ones as the options say. `tally` counts them."""
        for number, row in rows:
            tally.rows += 1
            known = row if isinstance(row, dict) else {}
            try:
                if isinstance(row, BadRowError):
                    raise row
                message = self.read(row, tally)
                written = writer.message(number, row, message)
            except BadRowError as error:
                fault = error
            except (RecursionError, MemoryError) as error:  # So would be what is passed on of it.
                fault, known = BadRowError(Fault.FAILED, f"too much ({type(error).__name__})"), {}
            except Exception as error:  # One row must not end the run, whatever a plug-in raises.
                fault = BadRowError(Fault.FAILED, f"{type(error).__name__}: {error}")
            else:
                if message.diagnostics:
                    tally.count_diagnostics(found.code for found in message.diagnostics)
                yield written
                continue
            tally.count_bad(Problem(number, fault.fault, str(fault)))
            if self.options.on_bad_row is OnBadRow.STOP:
                return
            if self.options.on_bad_row is OnBadRow.KEEP:
                yield writer.error(number, known, fault.fields(number))

    def _request_of(self, row: Mapping[str, Any], tally: Tally) -> dict[str, Any]:
        request = dict(self._common)
        for field, column in self._request:
            value = self._value(row, column, tally)
            if value is not None:
                is_text = field in _LISTS and isinstance(value, str)
                request[field.value] = from_json(value, field) if is_text else value
        return request

    def _family_of(self, row: Mapping[str, Any], tally: Tally) -> Family:
        name = self._text(row, Field.FAMILY, tally) or self.options.family
        model = self._text(row, Field.MODEL, tally) or self.options.model
        found = self._families.get((name, model))
        if found is None:
            if len(self._families) >= _KEPT_FAMILIES:
                self._families.clear()
            found = self._families[name, model] = self._look_up(name, model)
        if isinstance(found, str):
            raise BadRowError(Fault.NO_FAMILY, found)
        return found

    def _look_up(self, name: str | None, model: str | None) -> Family | str:
        """The family, or why there is none: it is looked for once, as that can take long."""
        try:
            return self._get(name, model)
        except (FamilyLookupError, FamilyFileError) as error:
            return str(error)

    def _get(self, name: str | None, model: str | None) -> Family:
        """The family of this name, or the model's where there is no name."""
        wanted = name or model
        if wanted is None:
            raise UnknownFamilyError("the row names no family")
        return self._registry.get(wanted, model=model)

    def _text(self, row: Mapping[str, Any], field: Field, tally: Tally) -> str | None:
        column = self.options.read.get(field)
        value = None if column is None else self._value(row, column, tally)
        if value is not None:
            require_text(field, value)
        return value

    def _value(self, row: Mapping[str, Any], column: str, tally: Tally) -> Any:
        value = row.get(column, _ABSENT)
        if value is _ABSENT:
            tally.absent[column] += 1
            return None
        return value

    def _no_output(self, row: Mapping[str, Any], value: Any) -> str:
        column = shortened(self.options.column)
        if value is _ABSENT:
            held = shortened(", ".join(map(str, row)))
            return f"no column '{column}'; the row has: {held or 'none'}"
        return f"column '{column}' holds {type(value).__name__}, not text"
