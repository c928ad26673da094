"""Which case files, and which family files, stand at paths that somebody names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

CASE_SUFFIXES = (".cases.yaml", ".cases.yml")
"""How the names of case files end."""
YAML_SUFFIXES = (".yaml", ".yml")

_SAYS_FAMILY = re.compile(rb"""^[ \t{]*["']?tagsmith["']?[ \t]*:""", re.MULTILINE)
"""What every family file holds, and hardly another: the version of its format."""


@dataclass(frozen=True, slots=True)
class FoundFiles:
    """The files at some paths, each once, in order."""

    cases: tuple[Path, ...]
    """Case files: by their name below a directory, by their own path whatever their name."""
    families: tuple[Path, ...]
    """Family files: those named, and those below a directory."""
    beside: tuple[Path, ...]
    """Family files that stand beside a case file which was named itself."""


def find_test_files(paths: Iterable[str | Path]) -> FoundFiles:
    """Find what there is to test.

    Of a family file that is named, the case file of its name beside it is found too. Hidden
    directories, links to directories, and pipes in directories are passed over.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as directory:
    ...     _ = Path(directory, "acme.yaml").write_text("tagsmith: 1")
    ...     _ = Path(directory, "acme.cases.yaml").touch()
    ...     found = find_test_files([directory])
    >>> [path.name for path in (*found.cases, *found.families)]
    ['acme.cases.yaml', 'acme.yaml']
    """
    cases: dict[Path, Path] = {}
    families: dict[Path, Path] = {}
    beside: dict[Path, Path] = {}
    for path in map(Path, paths):
        if path.is_dir():
            _add(cases, _below(path, CASE_SUFFIXES))
            _add(families, filter(is_family_file, _below(path, YAML_SUFFIXES)))
        elif is_family_file(path):
            _add(families, [path])
            _add(cases, filter(Path.is_file, map(path.with_suffix, CASE_SUFFIXES)))
        else:
            _add(cases, [path])
            _add(beside, families_beside(path))
    return FoundFiles(tuple(cases.values()), tuple(families.values()), tuple(beside.values()))


def families_beside(path: Path) -> list[Path]:
    """The family files in the directory of a case file."""
    return [child for child in sorted(path.parent.iterdir()) if is_family_file(child)]


def is_family_file(path: Path) -> bool:
    """Whether this is a family file, to judge by its name and its version of the format."""
    if not path.name.endswith(YAML_SUFFIXES) or path.name.endswith(CASE_SUFFIXES):
        return False
    return path.is_file() and _SAYS_FAMILY.search(path.read_bytes()) is not None


def _add(files: dict[Path, Path], found: Iterable[Path]) -> None:
    for file in found:
        files.setdefault(file.resolve(), file)


def _below(directory: Path, suffixes: tuple[str, ...]) -> Iterator[Path]:
    for child in sorted(directory.iterdir()):
        if child.name.startswith("."):
            continue
        if child.is_dir():
            if not child.is_symlink():
                yield from _below(child, suffixes)
        elif child.name.endswith(suffixes) and not child.is_fifo():
            yield child
