"""What a run is told about its rows: checked, immutable, and cheap to send to a worker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from tagsmith.batch.shapes import Shape
from tagsmith.errors import RequestError, require_text
from tagsmith.request import read_tools
from tagsmith.request.plain import named

OUTPUT = "output"
MESSAGE = "message"
ERROR = "error"
DIAGNOSTICS = "diagnostics"
ROW = "row"
_OWN = (ERROR, DIAGNOSTICS, ROW)
"""Columns that a run writes beside the messages: the last two to Parquet."""


class Field(StrEnum):
    """What can be read of each row besides the output."""

    FAMILY = "family"
    MODEL = "model"
    TOOLS = "tools"
    TOOL_CHOICE = "tool_choice"
    PROMPT = "prompt"
    DOCUMENTS = "documents"
    MESSAGES = "messages"
    STOP = "stop"
    FINISH_REASON = "finish_reason"


class OnBadRow(StrEnum):
    """What becomes of a row that cannot be read.

    `keep`: it is written with no message and an `error`; `drop`: it is left out; `stop`: the run
    ends before it.
    """

    KEEP = "keep"
    DROP = "drop"
    STOP = "stop"


@dataclass(frozen=True, slots=True)
class RowOptions:
    """How rows are read and written.

    Parameters: `column` holds the output. `read` names, for each field that is read of each row,
    its column. `family`, `model` and `tools` are those of every row that does not say its own;
    `families` are further family files, or directories of them. `shape` is how a message is
    written, `into` the column it is written to. `keep` names the columns that are passed on; all
    but that of the output by default.

    Raises `RequestError` for an option that makes no sense.

    >>> RowOptions(family="qwen3", read={"tools": "functions"}).read
    {<Field.TOOLS: 'tools'>: 'functions'}
    """

    family: str | None = None
    model: str | None = None
    families: Sequence[str] = ()
    column: str = OUTPUT
    read: Mapping[Field, str] = field(default_factory=dict)
    tools: Any = None
    shape: Shape = Shape.MESSAGE
    into: str = MESSAGE
    keep: Sequence[str] | None = None
    on_bad_row: OnBadRow = OnBadRow.KEEP

    def __post_init__(self) -> None:
        for name in ("column", "into"):
            require_text(name, getattr(self, name))
        if self.into in _OWN:
            raise RequestError("into", f"the column '{self.into}' is the run's own; give another")
        read = {named(Field, key, "read"): column for key, column in self.read.items()}
        if self.family is None and not read.keys() & {Field.FAMILY, Field.MODEL}:
            raise RequestError("family", "give a family, or read it of each row (read: family)")
        if isinstance(self.families, str):
            raise RequestError("families", f"must be a list of paths: [{self.families!r}]")
        read_tools(self.tools)
        checked = {
            "read": read,
            "shape": named(Shape, self.shape, "shape"),
            "on_bad_row": named(OnBadRow, self.on_bad_row, "on_bad_row"),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def saved(self) -> dict[str, Any]:
        """What two runs have to agree in for one to go on from the other."""
        return asdict(self)
