"""The fixes that are certain: what the file means is known, and only its spelling is wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tagsmith.codes import Code
from tagsmith.errors import FamilyFileError
from tagsmith.lint.comments import ignore_comments
from tagsmith.lint.fixing.tree import Entry, Path, Tree, at, same
from tagsmith.loading.scalars import ScalarError, resolve_scalar
from tagsmith.loading.shape import fits, keys_at, values_at
from tagsmith.spec.models import FORMAT_VERSION

_SHORTEST = 4
"""A shorter word is too near to too many others."""
_TEXT = "tag:yaml.org,2002:str"
_GAP = re.compile(r"\s*,\s*")


@dataclass(frozen=True, slots=True)
class Fix:
    """Other text for a stretch of a file, and what that does to what the file says."""

    start: int
    end: int
    text: str
    change: Callable[[Any], None]


def fix_of(error: FamilyFileError, tree: Tree) -> Fix | None:
    """The one certain way to mend a problem of a file; None where there is none."""
    make = _FIXES.get(str(error.code))
    return None if make is None else make(tree, tree.source.offset(error.line, error.column))


def near_spelling(wrong: str, allowed: Iterable[str]) -> str | None:
    """The one allowed word that a wrong one is a slip away from: a letter left out, doubled,
    wrong, or in the other's place; letter case, and `-` for `_`, do not count.

    >>> near_spelling("titel", ["title", "tokens"]), near_spelling("cmd6", ["cmd3", "cmd4"])
    ('title', None)
    """
    near = [word for word in dict.fromkeys(allowed) if _is_slip(_folded(wrong), _folded(word))]
    return near[0] if len(near) == 1 and len(wrong) >= _SHORTEST else None


def _folded(word: str) -> str:
    return word.casefold().replace("-", "_")


def _is_slip(one: str, other: str) -> bool:
    while one and other and one[0] == other[0]:
        one, other = one[1:], other[1:]
    while one and other and one[-1] == other[-1]:
        one, other = one[:-1], other[:-1]
    swapped = len(one) == len(other) == 2 and one == other[::-1]
    return swapped or max(len(one), len(other)) <= 1


def _misspelt_key(tree: Tree, offset: int) -> Fix | None:
    entry = tree.key_at(offset)
    if entry is None:
        return None
    *above, key = entry.path
    mapping, known = tree.data_at(above), keys_at(above)
    free = [other for other in known if other not in mapping]
    near = near_spelling(str(key), free)
    rivals = [
        other for other in mapping if other not in known and near_spelling(other, free) == near
    ]
    if near is None or rivals != [key] or not fits((*above, near), mapping[key]):
        return None
    written = tree.source.text[entry.start :]
    for quote in ("", '"', "'"):
        if written.startswith(f"{quote}{key}{quote}"):
            start = entry.start + len(quote)
            return Fix(start, start + len(str(key)), near, _rename(entry.path, near))
    return None


def _misspelt_value(tree: Tree, offset: int) -> Fix | None:
    entry = tree.value_at(offset)
    if entry is None or entry.node.tag != _TEXT:
        return None
    near = near_spelling(entry.node.value, values_at(entry.path))
    inner = _inner(tree, entry)
    if near is None or inner is None:
        return None
    return Fix(*inner, near, _put(entry.path, near))


def _wrong_type(tree: Tree, offset: int) -> Fix | None:
    entry = tree.value_at(offset)
    if entry is None:
        return None
    written = tree.written(entry)
    text = str(entry.node.value)
    is_plain = written == text
    if is_plain and not isinstance(_resolved(text), str | None) and fits(entry.path, text):
        return _other_value(entry, f'"{text}"', text)
    if not is_plain and _inner(tree, entry) and _is_number(text):
        number = _resolved(text)
        return _other_value(entry, text, number) if fits(entry.path, number) else None
    if entry.node.tag == _TEXT and fits(entry.path, [text]) and "\n" not in written:
        quoted = json.dumps(text, ensure_ascii=False) if is_plain and _is_odd(text) else written
        return _other_value(entry, f"[{quoted}]", [text])
    return None


def _quoted_version(tree: Tree, offset: int) -> Fix | None:
    entry = tree.value_at(offset)
    version = str(FORMAT_VERSION)
    if entry is None or entry.node.value != version or _inner(tree, entry) is None:
        return None
    return _other_value(entry, version, FORMAT_VERSION)


def _same_key_again(tree: Tree, offset: int) -> Fix | None:
    entry = tree.key_at(offset)
    if entry is None or entry.twin is None or not same(entry.twin, entry.node):
        return None
    return _without(tree, entry, lambda data: None)


def _same_entry_again(tree: Tree, offset: int) -> Fix | None:
    entry = tree.value_at(offset)
    if entry is None or not isinstance(entry.path[-1], int):
        return None
    return _without(tree, entry, _drop(entry.path))


def _unused_ignore(tree: Tree, offset: int) -> Fix | None:
    text = tree.source.text
    for comment in ignore_comments(tree.source):
        if not comment.start <= offset < comment.end:
            continue
        column = tree.source.place(offset)[1]
        rest = [code.code for code in comment.codes if code.column != column]
        if rest:
            kept = f"# tagsmith: ignore[{', '.join(rest)}]"
            return Fix(comment.start, comment.end, kept, lambda data: None)
        line_start = tree.source.line_starts[comment.line - 1]
        line_end = line_start + len(tree.source.lines[comment.line - 1])
        if text[comment.end : line_end].strip():
            return None
        before = text[line_start : comment.start].rstrip()
        if not before:
            return Fix(line_start, tree.source.line_after(comment.end), "", lambda data: None)
        return Fix(line_start + len(before), line_end, "", lambda data: None)
    return None


def _without(tree: Tree, entry: Entry, change: Callable[[Any], None]) -> Fix | None:
    """Take an entry out that is not the first, with nothing else that stands there."""
    text = tree.source.text
    if entry.before is None:
        return None
    if entry.is_flow:
        is_next = _GAP.fullmatch(text, entry.before, entry.start)
        return Fix(entry.before, entry.end, "", change) if is_next else None
    line_start = tree.source.line_start(entry.start)
    next_line = tree.source.line_after(entry.end)
    alone = text[line_start : entry.start].strip(" -") == text[entry.end : next_line].strip() == ""
    if not alone or tree.source.line_after(entry.start) != next_line:
        return None
    return Fix(line_start, next_line, "", change)


def _inner(tree: Tree, entry: Entry) -> tuple[int, int] | None:
    """Where the text of a value stands that is written to the letter, with or without quotes."""
    written, value = tree.written(entry), entry.node.value
    for quote in ("", '"', "'"):
        if written == f"{quote}{value}{quote}":
            return entry.value_start + len(quote), entry.end - len(quote)
    return None


def _other_value(entry: Entry, written: str, value: Any) -> Fix:
    return Fix(entry.value_start, entry.end, written, _put(entry.path, value))


def _resolved(text: str) -> Any:
    """What a text means without quotes."""
    try:
        return resolve_scalar(text, is_plain=True)
    except ScalarError:
        return text


def _is_number(text: str) -> bool:
    return type(_resolved(text)) in (int, float)


def _is_odd(text: str) -> bool:
    """Whether a text without quotes means something else inside of brackets."""
    return any(char in text for char in ",[]{}")


def _put(path: Path, value: Any) -> Callable[[Any], None]:
    def change(data: Any) -> None:
        at(data, path[:-1])[path[-1]] = value

    return change


def _drop(path: Path) -> Callable[[Any], None]:
    def change(data: Any) -> None:
        del at(data, path[:-1])[path[-1]]

    return change


def _rename(path: Path, key: str) -> Callable[[Any], None]:
    def change(data: Any) -> None:
        mapping = at(data, path[:-1])
        mapping[key] = mapping.pop(path[-1])

    return change


_FIXES: Mapping[str, Callable[[Tree, int], Fix | None]] = {
    Code.DUPLICATE_KEY: _same_key_again,
    Code.UNKNOWN_KEY: _misspelt_key,
    Code.WRONG_TYPE: _wrong_type,
    Code.NOT_ALLOWED: _misspelt_value,
    Code.FORMAT_VERSION: _quoted_version,
    Code.DUPLICATE_ENTRY: _same_entry_again,
    Code.UNUSED_IGNORE: _unused_ignore,
}
