"""Finding family files and reading them into memory, within limits."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.resources.abc import Traversable
from pathlib import Path

from tagsmith.codes import Code
from tagsmith.errors import FamilyFileError, Location
from tagsmith.loading.nodes import Node, descend, locate
from tagsmith.loading.reader import place_after, read_nodes
from tagsmith.wording import one_line

MAX_BYTES = 1024 * 1024
SUFFIXES = (".yaml", ".yml")

Source = str | os.PathLike[str] | Traversable
"""A family file or a directory of them."""


@dataclass(frozen=True, slots=True)
class Root:
    """A place where families are looked for, and who named it.

    Of two files of one id in a layer, that of the lower rank keeps it; of one rank, neither does.
    """

    source: Source
    origin: str
    rank: int = 0


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A family file before it is read."""

    path: Traversable
    """Where it is, wherever the process goes from here."""
    name: str
    """Its path as it was given."""
    origin: str
    layer: int
    rank: int = 0
    is_root: bool = False
    """Whether the file itself was named, and no directory that it stands in."""


@dataclass(frozen=True, slots=True)
class FamilyFile:
    """A family file as it was read: its own keys, nothing inherited."""

    found: FoundFile
    root: Node | None
    problems: tuple[FamilyFileError, ...]

    @property
    def name(self) -> str:
        """The path of the file, as it was given."""
        return self.found.name

    def text_at(self, key: str) -> str | None:
        """The string under a key at the top, or None."""
        node = descend(self.root, [key]) if self.root else None
        return node.value if node is not None and isinstance(node.value, str) else None

    def problem_at(self, key: str, code: Code, message: str) -> FamilyFileError:
        """A problem with the value of a key at the top."""
        location = locate(self.root, [key]) if self.root else Location(self.name)
        return FamilyFileError(code, message, location)


def find_files(
    layers: Sequence[Iterable[Root]],
) -> tuple[list[FoundFile], list[tuple[FamilyFileError, FoundFile]]]:
    """Every family file under the roots, each once, and each root that brings none, with why.

    A file reached from two layers belongs to the later one, within a layer to the first root.
    """
    files: dict[str, FoundFile] = {}
    problems: list[tuple[FamilyFileError, FoundFile]] = []
    for layer, roots in enumerate(layers):
        for root in roots:
            start = as_traversable(root.source)
            place = FoundFile(start, str(start), root.origin, layer, root.rank)
            try:
                paths = list(_walk(start))
            except Exception as error:  # What is no path of the system is anybody's code.
                problems.append((_unreadable(place.name, error), place))
                continue
            if not paths:
                what = "no family file (*.yaml, *.yml) below it; give another path"
                problems.append(
                    (FamilyFileError(Code.UNREADABLE, what, Location(place.name)), place)
                )
            for key, path in zip(_identities(paths), paths, strict=True):
                if key not in files or files[key].layer < layer:
                    is_root = path is start
                    files[key] = replace(
                        place, path=absolute(path), name=str(path), is_root=is_root
                    )
    return list(files.values()), problems


def read_file(found: FoundFile) -> FamilyFile:
    """Read one file; whatever is wrong with it is in the result."""
    return parse_file(found, read_text(found))


def read_text(found: FoundFile) -> str | FamilyFileError:
    """The text of a file, or why there is none."""
    try:
        data = _read_limited(found.path)
    except Exception as error:  # As in `find_files`.
        return _unreadable(found.name, error)
    return _decode(data, found.name)


def parse_file(found: FoundFile, text: str | FamilyFileError) -> FamilyFile:
    """What the text of a file says, and what is wrong with it as data."""
    if isinstance(text, FamilyFileError):
        return FamilyFile(found, None, (text,))
    root, problems = read_nodes(text, found.name)
    return FamilyFile(found, root, tuple(problems))


def absolute(path: Traversable) -> Traversable:
    """The path from the top of the file system; what is no path of the system stays what it is."""
    return path.absolute() if isinstance(path, Path) else path


def as_traversable(source: Source) -> Traversable:
    """The source as something that can be opened and walked."""
    return Path(source) if isinstance(source, str | os.PathLike) else source


def _walk(path: Traversable) -> Iterator[Traversable]:
    """A file itself; below a directory every YAML file that is no case file, in order."""
    if not path.is_dir():
        yield path
        return
    for child in sorted(_children(path), key=lambda child: child.path.name):
        name = child.path.name
        if name.startswith("."):
            continue
        if child.is_dir:
            # A link to a directory may lead in a circle.
            if not child.is_link:
                yield from _walk(child.path)
        elif name.endswith(SUFFIXES) and ".cases." not in name:
            yield child.path


@dataclass(frozen=True, slots=True)
class _Child:
    path: Traversable
    is_dir: bool
    is_link: bool = False


def _children(path: Traversable) -> Iterator[_Child]:
    if not isinstance(path, Path):
        yield from (_Child(child, child.is_dir()) for child in path.iterdir())
        return
    with os.scandir(path) as entries:
        for entry in entries:
            child, is_link = path / entry.name, entry.is_symlink()
            yield _Child(child, child.is_dir() if is_link else entry.is_dir(), is_link)


def identity(path: Traversable) -> str:
    """What tells two files apart, however they were reached."""
    is_place = isinstance(path, Path) and "\0" not in str(path)  # no system has such a path
    return os.path.realpath(str(path)) if is_place else str(path)


def _identities(paths: Iterable[Traversable]) -> Iterator[str]:
    """The identity of each; a directory that several stand in is looked up once."""
    directories: dict[Path, Path] = {}
    for path in paths:
        if not isinstance(path, Path) or path.is_symlink() or not path.name:
            yield identity(path)
            continue
        if path.parent not in directories:
            directories[path.parent] = Path(identity(path.parent))
        yield str(directories[path.parent] / path.name)


def _read_limited(path: Traversable) -> bytes:
    if isinstance(path, Path) and not stat.S_ISREG(path.stat().st_mode):
        # Opening a pipe would wait for whoever writes to it.
        raise ValueError("it is no regular file")
    with path.open("rb") as stream:
        return stream.read(MAX_BYTES + 1)


def _decode(data: bytes, file: str) -> str | FamilyFileError:
    if len(data) > MAX_BYTES:
        what = "larger than 1 MiB; a family file is a few kilobytes"
        return FamilyFileError(Code.TOO_LARGE, what, Location(file))
    if data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        what = "begins with a byte order mark; save the file as UTF-8 without one"
        return FamilyFileError(Code.BYTE_ORDER_MARK, what, Location(file))
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        place = place_after(data[: error.start].decode("utf-8"))
        what = f"binary, or not UTF-8 (byte 0x{data[error.start]:02x}); save the file as UTF-8"
        return FamilyFileError(Code.NOT_UTF8, what, Location(file, *place))


def _unreadable(file: str, error: Exception) -> FamilyFileError:
    if isinstance(error, FileNotFoundError):
        what = "no such file or directory; give the path of a family file or a directory of them"
    elif isinstance(error, IsADirectoryError):
        what = "is a directory; give the path of a file"
    else:
        reason = error.strerror if isinstance(error, OSError) else error
        reason = one_line(str(reason or type(error).__name__))
        what = f"cannot be read ({reason}); check the path and its permissions"
    return FamilyFileError(Code.UNREADABLE, what, Location(file))
