"""From nodes to a FamilySpec, or every reason why there is none, each with its place."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, BeforeValidator, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from tagsmith.codes import Code
from tagsmith.engine.layouts import Encodings
from tagsmith.errors import FamilyFileError, Location
from tagsmith.loading.consistency import findings
from tagsmith.loading.nodes import Node, Path, descend, dotted, locate, locate_key, plain, shown
from tagsmith.loading.shape import keys_at, models_at
from tagsmith.loading.subject import Subject
from tagsmith.spec.models import FORMAT_VERSION, FamilySpec, Match, OneOrMore
from tagsmith.wording import did_you_mean, shortened

_Model = TypeVar("_Model", bound=BaseModel)

_MEMBER = re.compile(r"<\w+\.\w+: ('[^']*')>")
"""A member of an enumeration, as a literal of some of them is described."""
_CLOSE_MARKUP = ("citations", "markup", "close")
_TYPE_NAMES = {
    "string_type": "a string",
    "tuple_type": "a list",
    "model_type": "a mapping",
    "int_type": "an integer",
    "bool_type": "true or false",
}
_RANGES = {
    "string_too_short": "must not be empty",
    "too_short": "must not be empty",
    "string_too_long": "must have at most {max_length} characters",
    "too_long": "must have at most {max_length} entries",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
}


def validate(root: Node, encodings: Encodings) -> tuple[FamilySpec | None, list[FamilyFileError]]:
    """The family that a file with all it inherits describes, or every problem with it.

    Args:
        root: what the file says, and what it inherits.
        encodings: the argument encodings that it may name.
    """
    if problem := _version_problem(root):
        return None, [problem]
    data = plain(root)
    try:
        spec = _read_strictly(FamilySpec, data)
    except ValidationError as error:
        details = _own_faults(error.errors(include_url=False))
        problems = [_problem(root, detail) for detail in details]
        broken = _broken_sections(details)
        # What is right in the rest of the file is still checked, so that all problems show at once.
        rest = {key: value for key, value in data.items() if key not in broken}
        needed = {"tagsmith": FORMAT_VERSION, "id": "unnamed"}
        partial = _read_strictly(FamilySpec, needed | rest)
        return None, problems + _inconsistencies(Subject(partial, root, encodings), broken)
    problems = _inconsistencies(Subject(spec, root, encodings), frozenset())
    return (None if problems else spec), problems


def read_match(root: Node) -> Match | None:
    """What a file says it serves, whatever else is wrong with it; None where that is not clear."""
    if _version_problem(root):
        return None
    node = descend(root, ["match"])
    try:
        return _read_strictly(Match, {} if node is None else plain(node))
    except ValidationError:
        return None


def _read_strictly(model: type[_Model], data: Any) -> _Model:
    # Strict JSON takes what the generated schema takes: no number for a string, and the reverse.
    return model.model_validate_json(json.dumps(data), strict=True)


def _inconsistencies(subject: Subject, broken: frozenset[str]) -> list[FamilyFileError]:
    return [
        FamilyFileError(finding.code, finding.message, locate(subject.root, finding.path))
        for finding in findings(subject, broken)
    ]


def _own_faults(details: list[ErrorDetails]) -> list[ErrorDetails]:
    """Without what only follows from another: a list whose one entry is wrong counts as empty."""
    inner = {detail["loc"][:-1] for detail in details}
    return [d for d in details if d["type"] != "too_short" or d["loc"] not in inner]


def _broken_sections(details: list[ErrorDetails]) -> frozenset[str]:
    """The keys at the top that have a problem; a misspelt one counts as what it was meant to be."""
    keys = {str(detail["loc"][0]) for detail in details if detail["loc"]}
    meant = {near for key in keys for near in get_close_matches(key, FamilySpec.model_fields, n=1)}
    return frozenset(keys | meant)


def _version_problem(root: Node) -> FamilyFileError | None:
    node = descend(root, ["tagsmith"])
    if node is None or (type(node.value) is int and node.value == FORMAT_VERSION):
        return None
    if type(node.value) is int and node.value > FORMAT_VERSION:
        what = (
            f"tagsmith: {node.value} is a newer version of the format than this tagsmith reads, "
            f"which is {FORMAT_VERSION}; upgrade tagsmith (pip install --upgrade tagsmith), or "
            f"write 'tagsmith: {FORMAT_VERSION}' and what that version has"
        )
    else:
        what = f"tagsmith: {shown(node)} is no version of the format; write 'tagsmith: 1'"
    return FamilyFileError(Code.FORMAT_VERSION, what, node.location)


def _problem(root: Node, detail: ErrorDetails) -> FamilyFileError:
    path = _as_written(root, detail["loc"])
    describe = _DESCRIBE.get(detail["type"])
    if describe is None and detail["type"] in _TYPE_NAMES:
        describe = _wrong_type
    if describe is None and detail["type"] in _RANGES:
        describe = _out_of_range
    code, message = (describe or _other)(root, path, detail)
    return FamilyFileError(code, message, _place(root, path, code))


def _as_written(root: Node, path: Path) -> Path:
    """The path of a value, where one text was written for a list of one."""
    above = descend(root, path[:-1])
    is_text = above is not None and isinstance(above.value, str)
    return path[:-1] if is_text and isinstance(path[-1], int) else path


def _place(root: Node, path: Path, code: Code) -> Location:
    if code is Code.MISSING_KEY:
        return locate(root, path[:-1])
    if code is Code.UNKNOWN_KEY:
        return locate_key(root, path)
    return locate(root, path)


_Described = tuple[Code, str]


def _unknown_key(root: Node, path: Path, _: ErrorDetails) -> _Described:
    allowed = keys_at(path[:-1])
    key = str(path[-1])
    listed = ", ".join(allowed)
    what = f"unknown key '{shortened(key)}'{_inside(path)};{_hint(key, allowed)} allowed: {listed}"
    return Code.UNKNOWN_KEY, what


def _missing_key(root: Node, path: Path, _: ErrorDetails) -> _Described:
    key = path[-1]
    meaning = _meaning(path)
    return Code.MISSING_KEY, f"missing key '{key}'{_inside(path)}; write '{key}: ...'{meaning}"


def _wrong_type(root: Node, path: Path, detail: ErrorDetails) -> _Described:
    node = descend(root, path)
    wanted = _TYPE_NAMES[detail["type"]]
    if wanted == "a list" and _takes_one(path):
        wanted = "a string or a list of strings"
    quotable = (
        wanted.startswith("a string") and node is not None and isinstance(node.value, int | float)
    )
    mend = "; quote it" if quotable else ""
    return Code.WRONG_TYPE, f"{dotted(path)} must be {wanted}, not {shown(node)}{mend}"


def _not_allowed(root: Node, path: Path, detail: ErrorDetails) -> _Described:
    node = descend(root, path)
    expected = _MEMBER.sub(r"\1", str(detail["ctx"]["expected"]))
    near = _hint(str(node.value) if node else "", re.findall("'([^']*)'", expected))
    return (
        Code.NOT_ALLOWED,
        f"{dotted(path)}: {shown(node)} is not allowed;{near} allowed: {expected}",
    )


def _pattern(root: Node, path: Path, detail: ErrorDetails) -> _Described:
    value = shown(descend(root, path))
    if tuple(path) == _CLOSE_MARKUP:
        what = "must hold '{positions}' once, with text on both sides, such as '</co: {positions}>'"
        return Code.CLOSE_WITHOUT_POSITIONS, f"{dotted(path)}: {value} {what}"
    wanted = detail["ctx"]["pattern"]
    return Code.PATTERN, f"{dotted(path)}: {value} does not match {wanted}{_meaning(path)}"


def _out_of_range(root: Node, path: Path, detail: ErrorDetails) -> _Described:
    rule = _RANGES[detail["type"]].format(**detail.get("ctx", {}))
    return Code.OUT_OF_RANGE, f"{dotted(path)} {rule}, not {shown(descend(root, path))}"


def _other(root: Node, path: Path, detail: ErrorDetails) -> _Described:
    return Code.NOT_ALLOWED, f"{dotted(path) or 'the family'}: {detail['msg']}"


_DESCRIBE: dict[str, Callable[[Node, Path, ErrorDetails], _Described]] = {
    "extra_forbidden": _unknown_key,
    "missing": _missing_key,
    "enum": _not_allowed,
    "literal_error": _not_allowed,
    "string_pattern_mismatch": _pattern,
}


def _hint(wrong: str, allowed: list[str]) -> str:
    near = did_you_mean(wrong, allowed)
    return f" did you mean '{near}'?" if near else ""


def _inside(path: Path) -> str:
    return f" in {dotted(path[:-1])}" if len(path) > 1 else ""


def _meaning(path: Path) -> str:
    for model in models_at(path[:-1]):
        described: FieldInfo | None = model.model_fields.get(str(path[-1]))
        if described is not None and described.description:
            return f" ({described.description.rstrip('.')})"
    return ""


def _takes_one(path: Path) -> bool:
    """Whether a key takes one text in place of a list of them."""
    fields = [model.model_fields.get(str(path[-1])) for model in models_at(path[:-1])]
    return any(
        OneOrMore in get_args(field.annotation)
        or any(isinstance(part, BeforeValidator) for part in field.metadata)
        for field in fields
        if field is not None
    )
