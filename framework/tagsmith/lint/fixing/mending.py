"""Mending files: every certain fix, each shown to change nothing else that the file says."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path

from tagsmith.codes import Code
from tagsmith.errors import FamilyFileError
from tagsmith.lint.fixing.files import HeldFile, MendedFile
from tagsmith.lint.fixing.fixes import Fix, fix_of
from tagsmith.lint.fixing.tree import Tree
from tagsmith.lint.run import Report
from tagsmith.lint.source import SourceText
from tagsmith.loading.files import FoundFile, Source
from tagsmith.loading.nodes import plain
from tagsmith.loading.reader import read_nodes

_ROUNDS = 10
"""How often what a fix brings to light is mended as well."""
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"

Relint = Callable[[Sequence[Source]], Report]


@dataclass(frozen=True, slots=True)
class Mending:
    """What can be mended: the files, how many problems, and what lint says of them then."""

    files: tuple[MendedFile, ...]
    mended: int
    report: Report


def mend(report: Report, relint: Relint) -> Mending:
    """Mend what can be mended for certain; nothing is written.

    Args:
        report: what lint found.
        relint: lints these files in place of those of the report, as that was made.
    """
    before = {file.name: _bytes_of(file) for file in report.files}
    edited: dict[str, bytes] = {}
    mended = 0
    for _ in range(_ROUNDS):
        fixed = 0
        for name, errors in _by_file(report).items():
            data = edited.get(name, before.get(name))
            if data is not None:
                after, count = mend_bytes(data, errors)
                edited |= {name: after} if count else {}
                fixed += count
        if not fixed:
            break
        mended += fixed
        report = relint([_source(file, edited) for file in report.files])
    files = [
        MendedFile(file.name, Path(str(file.path)), before[file.name] or b"", edited[file.name])
        for file in report.files
        if file.name in edited
    ]
    return Mending(tuple(files), mended, report)


def mend_bytes(data: bytes, errors: Iterable[FamilyFileError]) -> tuple[bytes, int]:
    """A file with these problems mended where that is certain, and how many were.

    What cannot be read is left as it is.
    """
    errors = list(errors)
    if data.startswith(_BYTE_ORDER_MARK):
        asked = any(error.code == Code.BYTE_ORDER_MARK for error in errors)
        return (data.removeprefix(_BYTE_ORDER_MARK), 1) if asked else (data, 0)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return data, 0
    text, count = _mend_text(text, errors)
    return (text.encode("utf-8"), count) if count else (data, 0)


def _mend_text(text: str, errors: Sequence[FamilyFileError]) -> tuple[str, int]:
    root, refused = read_nodes(text, "")
    if root is None:
        return text, 0
    data = plain(root)
    tree = Tree(SourceText(text), data)
    found = [fix for error in errors if (fix := fix_of(error, tree)) is not None]
    count, limit = 0, len(text)
    # From the end on: what stands before a fix stays where it is.
    for fix in sorted(found, key=lambda fix: fix.start, reverse=True):
        if fix.end > limit:
            continue
        changed, wanted = _applied(text, fix), deepcopy(data)
        fix.change(wanted)
        root, still = read_nodes(changed, "")
        if root is not None and plain(root) == wanted and len(still) <= len(refused):
            text, data, limit, count = changed, wanted, fix.start, count + 1
    return text, count


def _applied(text: str, fix: Fix) -> str:
    return text[: fix.start] + fix.text + text[fix.end :]


def _by_file(report: Report) -> Mapping[str, list[FamilyFileError]]:
    found: dict[str, list[FamilyFileError]] = {}
    for problem in report.problems:
        found.setdefault(problem.file, []).append(problem)
    return found


def _bytes_of(file: FoundFile) -> bytes | None:
    """What a file holds, if it is one that can be written; None where it is not."""
    if not isinstance(file.path, Path) or not file.path.is_file():
        return None
    try:
        return file.path.read_bytes()
    except OSError:
        return None


def _source(file: FoundFile, edited: Mapping[str, bytes]) -> Source:
    if file.name in edited:
        return HeldFile(file.name, edited[file.name])
    return Path(file.name) if isinstance(file.path, Path) else file.path
