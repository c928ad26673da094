"""Writes what a family says as the text of its file, as a person would."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tagsmith.spec.models import FamilySpec
from tagsmith.spec.policies import CallLayout
from tagsmith.testing.yaml_values import write_value

WIDTH = 100
"""How long a line may become before a value is spread over several."""

Path = tuple[str, ...]
Comments = Mapping[Path, Sequence[str]]
"""Lines to stand before a key, by its path."""
_NONE: Comments = {}

_ONE_OR_MORE = {
    "turn_start",
    "turn_end",
    "call",
    "parameter",
    "item",
    ("header", "start"),
    ("keys", "name"),
    ("keys", "arguments"),
    ("types", "string"),
    ("types", "other"),
    ("types", "mapping"),
    ("types", "list"),
}
"""Keys, or keys below another, whose list of one is written as the one."""

_OF_TEMPLATES = ("call", "arguments", "on_outside_region", "on_unknown_parameter")
_UNUSED: Mapping[CallLayout, tuple[str, ...]] = {
    CallLayout.JSON: (*_OF_TEMPLATES, "on_repeated_parameter"),
    CallLayout.TEMPLATE: ("keys", "unmarked"),
    CallLayout.PYTHONIC: (*_OF_TEMPLATES, "keys", "container"),
}
"""Keys that say nothing in a layout: a family may inherit them from one of another layout."""


def family_values(spec: FamilySpec) -> dict[str, Any]:
    """What a family says, as the plain data of a file that extends no other.

    What is as the format has it by default is left out.

    >>> import tagsmith
    >>> family_values(tagsmith.get_family("qwen3").spec)["tag_style"]["reasoning"]
    {'start': '<think>', 'end': '</think>'}
    """
    values = spec.model_dump(mode="json", exclude_defaults=True, exclude={"extends"})
    if spec.tool_calls is not None:
        unused = _UNUSED[spec.tool_calls.layout]
        calls = values["tool_calls"].items()
        values["tool_calls"] = {key: value for key, value in calls if key not in unused}
    found: dict[str, Any] = _simplified(values, ())
    return {"tagsmith": spec.tagsmith, "id": spec.id, **found}


def write_family(
    values: Mapping[str, Any], comments: Comments = _NONE, head: Sequence[str] = ()
) -> str:
    """The text of a family file.

    Args:
        values: what it says, as plain data; keys stand in this order.
        comments: what is said of keys, without the sign of a comment.
        head: what is said of the file.

    >>> print(write_family({"tagsmith": 1, "id": "acme"}, {("id",): ["its name"]}), end="")
    tagsmith: 1
    # its name
    id: acme
    """
    return "\n".join([*_commented(head, ""), *_block(values, comments, ()), ""])


def commented_out(values: Mapping[str, Any]) -> list[str]:
    """The lines of a file that say this, to stand in another as a comment."""
    return list(_block(values, {}, ()))


def _block(values: Mapping[str, Any], comments: Comments, path: Path) -> Iterator[str]:
    indent = "  " * len(path)
    for key, value in values.items():
        place = (*path, key)
        yield from _commented(comments.get(place, ()), indent)
        yield from _entry(f"{indent}{write_value(key, in_flow=False)}:", value, comments, place)


def _entry(start: str, value: Any, comments: Comments, path: Path) -> Iterator[str]:
    line = f"{start} {write_value(value, in_flow=False)}"
    says_more = any(place[: len(path)] == path and place != path for place in comments)
    is_list = isinstance(value, list | tuple)
    if not value or not (is_list or isinstance(value, Mapping)):
        yield line
    elif is_list and (len(line) > WIDTH or isinstance(value[0], Mapping)):
        yield start
        indent = "  " * len(path)
        for item in value:
            yield f"{indent}- {write_value(item, in_flow=False)}"
    elif not is_list and (len(path) == 1 or says_more or len(line) > WIDTH):
        yield start
        yield from _block(value, comments, path)
    else:
        yield line


def _commented(lines: Sequence[str], indent: str) -> Iterator[str]:
    for line in lines:
        yield f"{indent}# {line}".rstrip()


def _simplified(value: Any, path: Path) -> Any:
    if isinstance(value, dict):
        return {key: _simplified(inner, (*path, key)) for key, inner in value.items()}
    if isinstance(value, list):
        if len(value) == 1 and (path[-1] in _ONE_OR_MORE or path[-2:] in _ONE_OR_MORE):
            return value[0]
        return [_simplified(inner, ()) for inner in value]
    return value
