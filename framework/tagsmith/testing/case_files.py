"""Reading case files; what is wrong with one is told with its place."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from pathlib import Path

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from tagsmith.errors import Location, TagsmithError
from tagsmith.loading.nodes import Node, descend, dotted, locate, locate_key, members, shown
from tagsmith.loading.nodes import plain as plain_value
from tagsmith.testing.cases import Case, CaseList, ExpectedCall, ExpectedCitation
from tagsmith.testing.yaml_text import YamlText, read_yaml
from tagsmith.wording import did_you_mean, one_line, shortened

_WANTED = {
    "string_type": "a string",
    "int_type": "an integer",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
}
_ONE_OR_OTHER = {
    "tool_choice": "a string or a mapping",
    "stop": "a string or a list of strings",
    "documents[]": "a string or a mapping",
}
_NUMBER = re.compile(r"\[\d+\]")
_PARTS: Mapping[str, type[BaseModel]] = {"tool_calls": ExpectedCall, "citations": ExpectedCitation}


@dataclass(frozen=True, slots=True)
class CaseProblem:
    """What is wrong in a case file, and where."""

    location: Location
    message: str

    def __str__(self) -> str:
        return one_line(f"{self.location}: {self.message}")


class CaseFileError(TagsmithError, ValueError):
    """A case file that cannot be used; each of its `problems` has its place and what is allowed."""

    def __init__(self, problems: Sequence[CaseProblem]) -> None:
        super().__init__("; ".join(map(str, problems)))
        self.problems = tuple(problems)


@dataclass(frozen=True, slots=True)
class CaseFile:
    """A case file as it was read."""

    name: str
    """Its path, as it was given."""
    cases: tuple[Case, ...]
    yaml: YamlText

    def location(self, case: int, key: str = "id") -> Location:
        """Where a key of a case has its value; cases count from 0."""
        return locate(self.yaml.root, (case, key))


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
    cases = read_case_file(path).cases
    return [
        case.model_copy(update={"family": families.get(case.family, case.family)}) for case in cases
    ]


def read_case_file(path: str | Path | Traversable) -> CaseFile:
    """Read a case file with the places of what it holds.

    Raises what `load_cases` does.
    """
    file = Path(path) if isinstance(path, str) else path
    return parse_cases(_decode(file.read_bytes(), str(file)), str(file))


def parse_cases(text: str, name: str) -> CaseFile:
    """The cases in the text of a file.

    Args:
        text: the file's text, line ends as they are.
        name: its path, for messages.

    Raises:
        CaseFileError: as in `load_cases`.
    """
    yaml, wrong = read_yaml(text, name)
    if yaml is None:
        raise CaseFileError([CaseProblem(error.location, error.message) for error in wrong])
    try:
        # Strict JSON takes what the schema takes: no number for a string, and the reverse.
        cases = CaseList.validate_json(json.dumps(plain_value(yaml.root)), strict=True)
    except ValidationError as error:
        details = (detail for detail in error.errors() if not _is_echo(yaml.root, detail))
        problems = {str(p): p for p in (_problem(yaml.root, detail) for detail in details)}
        raise CaseFileError(list(problems.values())) from None
    file = CaseFile(name, cases, yaml)
    repeated = list(_repeated_ids(file))
    if repeated:
        raise CaseFileError(repeated)
    return file


def _decode(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line, column = before.count(b"\n") + 1, error.start - (before.rfind(b"\n") + 1) + 1
        what = f"not UTF-8 (byte 0x{data[error.start]:02x}); save the file as UTF-8"
        raise CaseFileError([CaseProblem(Location(name, line, column), what)]) from None


def _repeated_ids(file: CaseFile) -> Iterator[CaseProblem]:
    first: dict[str, Location] = {}
    for number, case in enumerate(file.cases):
        location = file.location(number)
        if case.id in first:
            what = f"the id '{shortened(case.id)}' stands twice, first at {first[case.id]}"
            yield CaseProblem(location, f"{what}; rename one of the two")
        first.setdefault(case.id, location)


def _is_echo(root: Node, detail: ErrorDetails) -> bool:
    """Whether a list is only taken for empty because of what is wrong in it."""
    node = descend(root, detail["loc"])
    return detail["type"] == "too_short" and node is not None and bool(node.value)


def _problem(root: Node, detail: ErrorDetails) -> CaseProblem:
    """What is wrong with one value, which is at the path's end or above it."""
    path = _as_written(root, detail["loc"])
    kind, key = detail["type"], str(detail["loc"][-1]) if detail["loc"] else ""
    if kind == "extra_forbidden":
        what, location = _unknown_key(path, key), locate_key(root, path)
    elif kind == "missing":
        what, location = f"the key '{key}' is missing; write '{key}: ...'", locate(root, path)
    else:
        what, location = _wrong_value(root, path, detail), locate(root, path)
    return CaseProblem(location, f"{_case(root, path)}{what}")


def _as_written(root: Node, path: tuple[int | str, ...]) -> tuple[int | str, ...]:
    """The path without the steps that are a schema's and not the file's."""
    while path and descend(root, path) is None:
        path = path[:-1]
    return path


def _case(root: Node, path: tuple[int | str, ...]) -> str:
    """The name of the case that a path leads into."""
    named = descend(root, (*path[:1], "id")) if path else None
    name = named.value if named is not None else None
    return f"case '{shortened(name)}': " if isinstance(name, str) else ""


def _unknown_key(path: tuple[int | str, ...], key: str) -> str:
    parts = [step for step in path[1:-1] if isinstance(step, str)]
    allowed = list((_PARTS[parts[0]] if parts else Case).model_fields)
    inside = f" in {dotted(path[1:-1])}" if parts else ""
    listed, hint = ", ".join(allowed), _hint(key, allowed)
    return f"unknown key '{shortened(key)}'{inside};{hint} allowed: {listed}"


def _wrong_value(root: Node, path: tuple[int | str, ...], detail: ErrorDetails) -> str:
    node = descend(root, path)
    name = dotted(path[1:]) or ("the case" if path else "the file")
    kind = detail["type"]
    if kind == "enum":
        expected = detail["ctx"]["expected"]
        hint = _hint(str(node and node.value), re.findall("'([^']*)'", expected))
        return f"{name}: {shown(node)} is not allowed;{hint} allowed: {expected}"
    if kind in ("string_too_short", "too_short"):
        mend = "; write a case: '- id: ...'" if not path else ""
        return f"{name} must not be empty{mend}"
    if kind not in _WANTED:
        return f"{name}: {detail['msg']}"
    wanted = _wanted(name, kind)
    scalar = node is not None and not members(node) and not isinstance(node.value, tuple)
    mend = "; quote it" if wanted.startswith("a string") and scalar else ""
    if not path:
        wanted = "a list of cases: '- id: ...'"
    return f"{name} must be {wanted}, not {shown(node)}{mend}"


def _wanted(name: str, kind: str) -> str:
    return _ONE_OR_OTHER.get(_NUMBER.sub("[]", name), _WANTED[kind])


def _hint(wrong: str, allowed: Sequence[str]) -> str:
    near = did_you_mean(wrong, allowed)
    return f" did you mean '{near}'?" if near else ""
