"""Golden cases: an output, and the message that a family must make of it, as YAML."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import Field, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from tagsmith.errors import TagsmithError
from tagsmith.events import DiagnosticCode, Target
from tagsmith.spec.models import NonEmpty, SpecModel
from tagsmith.spec.schema import DIALECT


class CaseFileError(TagsmithError, ValueError):
    """A case file that cannot be used; the message names the file, the case and the key."""


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


CaseFile = TypeAdapter(Annotated[tuple[Case, ...], Field(min_length=1)])
"""A case file: a list of cases."""


def load_cases(path: str | Path | Traversable, families: Mapping[str, str] = {}) -> list[Case]:
    """Read a case file.

    Args:
        path: the file.
        families: short names that the file uses for families, each with the family's own name.

    Raises:
        CaseFileError: the file is not YAML, a key or a value is wrong, or an id comes twice.
        OSError: the file cannot be read.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as directory:
    ...     path = Path(directory, "acme.cases.yaml")
    ...     _ = path.write_text("- {id: greeting, family: a, text: Hi, content: Hi}")
    ...     [case] = load_cases(path, families={"a": "acme-chat"})
    >>> case.family
    'acme-chat'
    """
    file = Path(path) if isinstance(path, str) else path
    data = _yaml(file)
    try:
        cases = CaseFile.validate_python(data)
    except ValidationError as error:
        problems = "; ".join(_problem(data, detail) for detail in error.errors())
        raise CaseFileError(f"{file}: {problems}") from None
    repeated = [case_id for case_id, n in Counter(case.id for case in cases).items() if n > 1]
    if repeated:
        raise CaseFileError(
            f"{file}: ids that come twice: {', '.join(repeated)}; rename one of each"
        )
    return [_with_family(case, families) for case in cases]


def case_file_schema_text() -> str:
    """The JSON Schema of a case file, draft 2020-12, as the text of its file."""
    title = {"$schema": DIALECT, "title": "Tagsmith cases", "description": "A list of cases."}
    schema = title | CaseFile.json_schema()
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def _yaml(file: Path | Traversable) -> Any:
    try:
        return yaml.safe_load(file.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise CaseFileError(f"{file}: not YAML: {' '.join(str(error).split())}") from None


def _problem(data: Any, detail: ErrorDetails) -> str:
    """One wrong value, told by the id of its case and the path of its key."""
    place, *keys = detail["loc"] or ("the file",)
    if isinstance(place, int) and isinstance(data[place], dict):
        place = f"case {data[place].get('id', place)}"
    path = ".".join(map(str, keys))
    return f"{place}: {path + ': ' if path else ''}{detail['msg']}"


def _with_family(case: Case, families: Mapping[str, str]) -> Case:
    return case.model_copy(update={"family": families.get(case.family, case.family)})
