"""The rule of golden cases: what a family must make of an output is written beside it."""

from __future__ import annotations

import stat
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from tagsmith.lint.rules import Finding, LintSubject, Rule
from tagsmith.spec.models import FamilySpec

_LOADER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
"""Takes every value as text: no date and no number can be a wrong one."""
_MAX_BYTES = 2 * 1024 * 1024
"""The largest case file that is looked into."""


def has_cases(subject: LintSubject) -> Iterator[Finding]:
    """A family whose file has no case file beside it with a case of the family."""
    file = Path(subject.path)
    if not file.is_file():
        return  # standard input, or inside an archive
    if not any(_is_of(subject.spec, name) for name in _families_of(_case_files(file))):
        what = (
            f"no golden case of '{subject.spec.id}' stands beside the file; write what outputs "
            f"must give in {file.stem}.cases.yaml, and try it with tagsmith test"
        )
        yield Finding(what, subject.locate(["id"]))


def _case_files(file: Path) -> list[Path]:
    return [*file.parent.glob("*.cases.yaml"), *file.parent.glob("*.cases.yml")]


def _families_of(files: Iterable[Path]) -> Iterator[str]:
    for file in files:
        try:
            stamp = file.stat()
        except OSError:  # a link that leads nowhere, or in a circle
            continue
        if stat.S_ISREG(stamp.st_mode) and stamp.st_size <= _MAX_BYTES:
            yield from _named_in(file, stamp.st_mtime_ns, stamp.st_size)


@lru_cache(maxsize=256)
def _named_in(file: Path, *_: int) -> frozenset[str]:
    """The families that a case file names; none where it cannot be read, which its test tells."""
    try:
        cases = yaml.load(file.read_text(encoding="utf-8"), Loader=_LOADER)
    except (OSError, UnicodeDecodeError, yaml.YAMLError, RecursionError):
        return frozenset()
    cases = cases if isinstance(cases, list) else []
    named = (case.get("family") for case in cases if isinstance(case, dict))
    return frozenset(name for name in named if isinstance(name, str))


def _is_of(spec: FamilySpec, name: str) -> bool:
    """Whether a case's family is this one: by its id, an architecture or a model's name."""
    if name == spec.id or name in spec.match.architectures:
        return True
    return any(fnmatchcase(name.lower(), glob.lower()) for glob in spec.match.models)


RULES = (
    Rule("TS801", "no-golden-cases", "A family without golden cases beside its file.", has_cases),
)
