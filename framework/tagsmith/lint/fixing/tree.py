"""A family file as it is written: which characters are each key and each single value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from tagsmith.lint.source import SourceText

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

Path = tuple[str | int, ...]
YamlNode = Any
"""A node of the YAML library, which has no types of its own for what differs by kind."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a mapping or a list: offsets in the text, and the node of its value.

    `start` is where its key begins, in a list the value; `value_start` and `end` are those of the
    value. `before` is where the entry before it ends, None for the first one.
    """

    path: Path
    start: int
    value_start: int
    end: int
    node: YamlNode
    before: int | None
    twin: YamlNode
    """The value that the same key has the last time before this one in the mapping."""
    is_flow: bool
    """Whether it stands in brackets or braces."""


class Tree:
    """Every entry of a file that reading found no end of, by where it is written.

    What an alias stands for is written elsewhere: a value with more than one path has no entry.
    """

    def __init__(self, source: SourceText, data: Any) -> None:
        self.source = source
        self.data = data
        """What the file says, but for what reading refused."""
        self._keys: dict[int, Entry] = {}
        self._values: dict[int, Entry] = {}
        seen: set[int] = set()
        root: Any = yaml.compose(source.text, Loader=_LOADER)
        for entry in _entries((), root):
            shared = id(entry.node) in seen
            seen.add(id(entry.node))
            if not shared and isinstance(entry.node, yaml.ScalarNode):
                self._values[entry.value_start] = entry
            elif shared:
                self._values.pop(entry.node.start_mark.index, None)
            if isinstance(entry.path[-1], str):
                self._keys[entry.start] = entry

    def key_at(self, offset: int) -> Entry | None:
        """The entry whose key begins at an offset."""
        return self._keys.get(offset)

    def value_at(self, offset: int) -> Entry | None:
        """The entry whose single value begins at an offset."""
        return self._values.get(offset)

    def data_at(self, path: Iterable[str | int]) -> Any:
        """What the file says at a path."""
        return at(self.data, path)

    def written(self, entry: Entry) -> str:
        """The value as it stands in the text."""
        return self.source.text[entry.value_start : entry.end]


def at(data: Any, path: Iterable[str | int]) -> Any:
    """What data says at a path."""
    for step in path:
        data = data[step]
    return data


def same(one: YamlNode, other: YamlNode) -> bool:
    """Whether two values are the same, however they are written."""
    if type(one) is not type(other) or one.tag != other.tag:
        return False
    if isinstance(one, yaml.ScalarNode):
        return bool(one.value == other.value)
    if len(one.value) != len(other.value):
        return False
    return all(same(*pair) for pair in zip(_parts(one), _parts(other), strict=True))


def _parts(node: YamlNode) -> list[YamlNode]:
    if isinstance(node, yaml.MappingNode):
        return [part for pair in node.value for part in pair]
    return list(node.value)


def _entries(path: Path, node: YamlNode) -> Iterator[Entry]:
    before: int | None = None
    last: dict[str | int, YamlNode] = {}
    for step, key, value in _children(node):
        start = key.start_mark.index if key is not None else value.start_mark.index
        value_start, end = value.start_mark.index, value.end_mark.index
        entry = Entry(
            path=(*path, step),
            start=start,
            value_start=value_start,
            end=end,
            node=value,
            before=before,
            twin=last.get(step),
            is_flow=bool(node.flow_style),
        )
        yield entry
        yield from _entries(entry.path, value)
        before = end
        last[step] = value


def _children(node: YamlNode) -> Iterator[tuple[str | int, YamlNode, YamlNode]]:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode):
                yield key.value, key, value
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            yield index, None, value
