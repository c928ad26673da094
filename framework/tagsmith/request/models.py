"""The records that a request is read into."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from tagsmith.request.schemas import JsonSchema


class ToolChoiceMode(StrEnum):
    """What the request wants of tool calls."""

    AUTO = "auto"
    NONE = "none"
    REQUIRED = "required"


class ReasoningMode(StrEnum):
    """Where the grammar meets reasoning.

    `gated`: the serving engine switches the grammar on after reasoning; `enabled`: the prompt has
    opened it; `auto`: a block or none; `disabled`: there is none.
    """

    GATED = "gated"
    ENABLED = "enabled"
    AUTO = "auto"
    DISABLED = "disabled"


class Strictness(StrEnum):
    """Which tools are held to their schemas: those that do not say `strict: false`, or all."""

    PER_TOOL = "per-tool"
    ALL = "all"


class MarkerForm(StrEnum):
    """What a structural tag takes a family's markers for: their text, or tokens of their own."""

    TEXT = "text"
    TOKENS = "tokens"


class Unenforceable(StrEnum):
    """What becomes of a schema that asks more than a grammar can hold: an error, or a report."""

    ERROR = "error"
    REPORT = "report"


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as the request names it. `parameters` is the caller's own object, not yet checked."""

    name: str
    parameters: Any = None
    strict: bool | None = None


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """Which tools may be called, and whether one must. `names` is None when any may.

    >>> ToolChoice(ToolChoiceMode.REQUIRED, ("get_weather",)).names
    ('get_weather',)
    """

    mode: ToolChoiceMode = ToolChoiceMode.AUTO
    names: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class CallableTool:
    """A tool that this request lets the model call.

    `parameters` is the checked schema of its arguments, None for a tool that takes none. Where
    `strict` is false, any JSON object will do.
    """

    name: str
    parameters: JsonSchema | None
    strict: bool


@dataclass(frozen=True, slots=True)
class Request:
    """What one request asks of the output: checked, immutable, hashable.

    `tools` holds those that may be called: none under `none`, the named ones where the request
    names some.
    """

    tools: tuple[CallableTool, ...] = ()
    mode: ToolChoiceMode = ToolChoiceMode.NONE
    parallel_tool_calls: bool = True
    response_schema: JsonSchema | None = None
    reasoning: ReasoningMode = ReasoningMode.GATED
    unenforceable: Unenforceable = Unenforceable.ERROR
