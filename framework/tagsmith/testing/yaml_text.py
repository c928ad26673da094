"""A YAML text as data, with the place of each value: to tell what is wrong, to edit in place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

import yaml

from tagsmith.codes import Code
from tagsmith.errors import FamilyFileError, Location
from tagsmith.loading.nodes import Member, Node
from tagsmith.loading.reader import read_nodes
from tagsmith.loading.scalars import resolve_scalar

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_OF_A_FAMILY = {Code.EMPTY, Code.NOT_A_MAPPING}
"""What a family file must not be, and a list of cases may."""

Path = tuple[str | int, ...]


class Style(Enum):
    """How a value is written."""

    PLAIN = "plain"
    SINGLE = "'"
    DOUBLE = '"'
    LITERAL = "|"
    FOLDED = ">"
    FLOW = "flow"
    BLOCK = "block"
    ALIAS = "*"


@dataclass(frozen=True, slots=True)
class Extent:
    """Where a value stands: characters `start` to `end` of the text, in a column from 0."""

    start: int
    end: int
    column: int
    style: Style


@dataclass(frozen=True, slots=True)
class YamlText:
    """A text and what it holds."""

    text: str
    root: Node
    extents: Mapping[Path, Extent]
    """Where each value stands, by its path."""
    keys: Mapping[Path, Extent]
    """Where each key stands, by the path of its value."""


def read_yaml(text: str, file: str) -> tuple[YamlText | None, list[FamilyFileError]]:
    """What a text holds, a list at the top included, and everything wrong with it as YAML.

    It is read by the rules for family files: no tags, no merge keys, no key twice.

    >>> found, problems = read_yaml("- {id: a}", "a.yaml")
    >>> found.extents[0, "id"]
    Extent(start=7, end=8, column=7, style=<Style.PLAIN: 'plain'>)
    """
    _, problems = read_nodes(text, file)
    wrong = [problem for problem in problems if problem.code not in _OF_A_FAMILY]
    if wrong:
        return None, wrong
    return _Reader(text, file).read(), []


class _Reader:
    """Builds nodes from the events of a text in which nothing is wrong."""

    def __init__(self, text: str, file: str) -> None:
        self._text = text
        self._file = file
        self._events: Iterator[yaml.Event] = yaml.parse(text, Loader=_LOADER)
        self._anchors: dict[str, Node] = {}
        self._extents: dict[Path, Extent] = {}
        self._keys: dict[Path, Extent] = {}

    def read(self) -> YamlText:
        root = Node(None, Location(self._file))
        for event in self._events:
            if isinstance(event, yaml.NodeEvent):
                root = self._value(event, ())
        return YamlText(self._text, root, self._extents, self._keys)

    def _value(self, event: yaml.Event, path: Path) -> Node:
        start, end = _marks(event)
        location = self._at(start)
        if isinstance(event, yaml.AliasEvent):
            node = Node(self._anchors[event.anchor or ""].value, location)
            last, style = end.index, Style.ALIAS
        elif isinstance(event, yaml.ScalarEvent):
            node = Node(resolve_scalar(event.value, is_plain=bool(event.implicit[0])), location)
            last, style = end.index, Style(event.style or "plain")
            if style in (Style.LITERAL, Style.FOLDED):
                last = start.index + len(self._text[start.index : last].rstrip("\r\n"))
        else:
            assert isinstance(event, yaml.CollectionStartEvent)
            node, last = self._collection(event, location, path)
            style = Style.FLOW if event.flow_style else Style.BLOCK
        if anchor := getattr(event, "anchor", None):
            self._anchors[anchor] = node
        self._extents[path] = Extent(start.index, last, start.column, style)
        return node

    def _collection(
        self, event: yaml.CollectionStartEvent, location: Location, path: Path
    ) -> tuple[Node, int]:
        """A list or mapping. One in block style ends where the last value in it does."""
        items: list[Node] = []
        members: dict[str, Member] = {}
        is_mapping = isinstance(event, yaml.MappingStartEvent)
        end = _marks(event)[1].index
        for child in self._events:
            start, last = _marks(child)
            if isinstance(child, yaml.CollectionEndEvent):
                end = last.index if event.flow_style else end
                break
            if is_mapping:
                assert isinstance(child, yaml.ScalarEvent)
                key, inner = child.value, (*path, child.value)
                members[key] = Member(self._at(start), self._value(next(self._events), inner))
                style = Style(child.style or "plain")
                self._keys[inner] = Extent(start.index, last.index, start.column, style)
            else:
                inner = (*path, len(items))
                items.append(self._value(child, inner))
            end = self._extents[inner].end
        return Node(members if is_mapping else tuple(items), location), end

    def _at(self, mark: Any) -> Location:
        return Location(self._file, mark.line + 1, mark.column + 1)


def _marks(event: yaml.Event) -> tuple[Any, Any]:
    """Where an event starts and ends: always known of what was read from a text."""
    return event.start_mark, event.end_mark
