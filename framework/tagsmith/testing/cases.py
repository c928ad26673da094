"""Golden cases: an output, and the message that a family must make of it."""

from __future__ import annotations

import json
from typing import Annotated, Any

from pydantic import Field, TypeAdapter

from tagsmith.events import DiagnosticCode, Target
from tagsmith.spec.models import NonEmpty, OneOrMore, SpecModel
from tagsmith.spec.schema import DIALECT


class ExpectedCall(SpecModel):
    """A tool call that the output must give."""

    id: str
    """The call's id."""
    name: str
    """The tool's name."""
    arguments: str
    """The exact text of the arguments."""
    complete: bool = True
    """Whether the output closed the arguments."""


class ExpectedCitation(SpecModel):
    """A citation that the output must give."""

    start: int
    """Where the cited span starts: code points of the text that `target` names."""
    end: int
    """Where it ends."""
    text: str
    """The cited span."""
    target: Target
    """The text that the offsets count in."""
    positions: tuple[tuple[int, int], ...] = ()
    """(bucket, index) pairs as the markup gives them."""
    sources: tuple[dict[str, Any], ...] | None = None
    """What the positions resolve to; not checked when absent."""


class Case(SpecModel):
    """One output, the request it answers, and the message it must give."""

    id: NonEmpty
    """The case's name, unique in its file."""
    family: NonEmpty
    """The family that wrote the output."""
    text: str
    """The output."""
    prompt: str | None = None
    """The prompt it follows."""
    tools: tuple[dict[str, Any], ...] | None = None
    """The request's tools."""
    tool_choice: str | dict[str, Any] | None = None
    """The request's tool choice."""
    documents: tuple[str | dict[str, Any], ...] | None = None
    """The request's documents."""
    messages: tuple[dict[str, Any], ...] | None = None
    """The conversation so far."""
    stop: OneOrMore | None = None
    """The request's stop strings."""
    finish_reason: NonEmpty = "stop"
    """How the generation ended."""
    reasoning: str | None = None
    """The expected reasoning; absent means none."""
    content: str | None = None
    """The expected content; absent means none."""
    tool_calls: tuple[ExpectedCall, ...] = ()
    """The expected tool calls; absent means none."""
    citations: tuple[ExpectedCitation, ...] = ()
    """The expected citations; absent means none."""
    diagnostics: tuple[DiagnosticCode, ...] | None = None
    """Codes that must appear; an empty list means that none may, absent means not checked."""
    note: str | None = None
    """Why the values are what they are."""

    @property
    def request(self) -> dict[str, Any]:
        """The options of a parser that the case gives, lists as lists, as a client sends them."""
        given = {field: getattr(self, field) for field in REQUEST_FIELDS}
        return {
            field: list(value) if isinstance(value, tuple) else value
            for field, value in given.items()
            if value is not None
        }


REQUEST_FIELDS = ("prompt", "tools", "tool_choice", "documents", "messages", "stop")

CaseList = TypeAdapter(Annotated[tuple[Case, ...], Field(min_length=1)])
"""What a case file holds."""


def case_file_schema_text() -> str:
    """The JSON Schema of a case file, draft 2020-12, as the text of its file."""
    title = {"$schema": DIALECT, "title": "Tagsmith cases", "description": "A list of cases."}
    schema = title | CaseList.json_schema()
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
