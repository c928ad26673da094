"""From the text of a file to nodes with positions.

The tree is built from YAML events with a stack of our own: no nesting can exhaust the C stack, no
tag can build an object, and limits hold while reading.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import yaml

from tagsmith.codes import Code
from tagsmith.errors import FamilyFileError, Location
from tagsmith.loading.nodes import Member, Node, shown
from tagsmith.loading.scalars import ScalarError, is_merge_key, resolve_scalar
from tagsmith.wording import shortened

MAX_DEPTH = 32
MAX_VALUES = 20_000

LINE_END = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
"""What ends a line in YAML."""

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_nodes(text: str, file: str) -> tuple[Node | None, list[FamilyFileError]]:
    """The mapping a text holds, and everything wrong with it as YAML.

    The first is None when nothing can be made of the text; where both are given, the mapping
    lacks what was refused.
    """
    builder = _Builder(file)
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            builder.take(event)
        return builder.finish(), builder.problems
    except FamilyFileError as fatal:
        return None, [*builder.problems, fatal]
    except yaml.YAMLError as error:
        return None, [*builder.problems, _syntax_error(error, text, file)]


@dataclass(slots=True)
class _Frame:
    """A mapping or list that is still open."""

    location: Location
    anchor: str | None
    is_mapping: bool
    items: list[Node] = field(default_factory=list)
    found: dict[str, Member] = field(default_factory=dict)
    at_key: bool = True
    key: str | None = None
    key_location: Location | None = None
    size: int = 1
    height: int = 1

    def close(self) -> Node:
        value = self.found if self.is_mapping else tuple(self.items)
        return Node(value, self.location, self.size, self.height)


class _Builder:
    """Takes events, keeps the open mappings and lists on a stack."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.problems: list[FamilyFileError] = []
        self._root: Node | None = None
        self._stack: list[_Frame] = []
        self._anchors: dict[str, Node | None] = {}
        self._documents = 0
        self._values = 0

    def take(self, event: yaml.Event) -> None:
        """Take the next event. Raises FamilyFileError where reading cannot go on."""
        if isinstance(event, yaml.DocumentStartEvent):
            self._start_document(self._at(event))
        elif isinstance(event, yaml.AliasEvent):
            self._alias(event)
        elif isinstance(event, yaml.ScalarEvent):
            self._refuse_tag(event)
            self._add(self._scalar(event), event.anchor, merge_key=self._is_merge_key(event))
        elif isinstance(event, yaml.CollectionStartEvent):
            self._open(event)
        elif isinstance(event, yaml.CollectionEndEvent):
            frame = self._stack.pop()
            self._add(frame.close(), frame.anchor, counted=True)

    def finish(self) -> Node | None:
        """The mapping at the top."""
        root = self._root
        if root is None or root.value is None:
            self._refuse(Code.EMPTY, "the file is empty; write a family", Location(self.file))
            return None
        if not isinstance(root.value, dict):
            kind = "a list" if isinstance(root.value, tuple) else "a single value"
            what = f"the top level is {kind}; write a mapping: 'tagsmith: 1', 'id: ...'"
            self._refuse(Code.NOT_A_MAPPING, what, root.location)
            return None
        return root

    def _start_document(self, location: Location) -> None:
        self._documents += 1
        if self._documents > 1:
            what = "a second document; put each family in a file of its own"
            raise FamilyFileError(Code.SEVERAL_DOCUMENTS, what, location)

    def _open(self, event: yaml.CollectionStartEvent) -> None:
        self._refuse_tag(event)
        location = self._at(event)
        self._check_depth(1, location)
        self._count(1, location)
        if event.anchor:
            self._anchors[event.anchor] = None
        is_mapping = isinstance(event, yaml.MappingStartEvent)
        self._stack.append(_Frame(location, event.anchor, is_mapping))

    def _alias(self, event: yaml.AliasEvent) -> None:
        location = self._at(event)
        anchor = event.anchor or ""
        node = self._anchors.get(anchor)
        if node is None:
            inside = anchor in self._anchors
            reason = "stands inside the value it names" if inside else "names no anchor before it"
            raise FamilyFileError(
                Code.BAD_ALIAS,
                f"alias '*{shortened(anchor)}' {reason}; write the value out",
                location,
            )
        self._check_depth(node.height, location)
        self._count(node.size, location)
        self._add(Node(node.value, location, node.size, node.height), None, counted=True)

    def _scalar(self, event: yaml.ScalarEvent) -> Node:
        location = self._at(event)
        try:
            value = resolve_scalar(event.value, is_plain=_is_plain(event))
        except ScalarError as error:
            self._refuse(Code.BAD_SCALAR, str(error), location)
            value = event.value.encode("utf-8", "replace").decode("utf-8")
        return Node(value, location)

    def _is_merge_key(self, event: yaml.ScalarEvent) -> bool:
        frame = self._stack[-1] if self._stack else None
        at_key = frame is not None and frame.is_mapping and frame.at_key
        return at_key and is_merge_key(event.value, is_plain=_is_plain(event))

    def _add(
        self, node: Node, anchor: str | None, *, counted: bool = False, merge_key: bool = False
    ) -> None:
        if not counted:
            self._count(node.size, node.location)
        if anchor:
            self._anchors[anchor] = node
        if not self._stack:
            self._root = node
            return
        frame = self._stack[-1]
        frame.size += node.size
        frame.height = max(frame.height, node.height + 1)
        if not frame.is_mapping:
            frame.items.append(node)
        elif frame.at_key:
            self._take_key(frame, node, merge_key)
        else:
            self._take_value(frame, node)

    def _take_key(self, frame: _Frame, node: Node, merge_key: bool) -> None:
        frame.at_key = False
        frame.key_location = node.location
        frame.key = None
        if merge_key:
            what = "the merge key '<<' is not read; write the keys out, or use 'extends'"
            self._refuse(Code.MERGE_KEY, what, node.location)
        elif not isinstance(node.value, str):
            what = f"a key must be a string, not {shown(node)}; quote it"
            self._refuse(Code.KEY_NOT_TEXT, what, node.location)
        elif node.value in frame.found:
            first = frame.found[node.value].key_location
            what = f"key '{shortened(node.value)}' stands twice, first at {first}; keep one"
            self._refuse(Code.DUPLICATE_KEY, what, node.location)
        else:
            frame.key = node.value

    def _take_value(self, frame: _Frame, node: Node) -> None:
        frame.at_key = True
        if frame.key is not None and frame.key_location is not None:
            frame.found[frame.key] = Member(frame.key_location, node)

    def _check_depth(self, height: int, location: Location) -> None:
        if len(self._stack) + height > MAX_DEPTH:
            raise _too_deep(location)

    def _count(self, values: int, location: Location) -> None:
        self._values += values
        if self._values > MAX_VALUES:
            what = f"more than {MAX_VALUES} values, aliases counted in full; write a smaller file"
            raise FamilyFileError(Code.TOO_MANY_VALUES, what, location)

    def _refuse_tag(self, event: yaml.ScalarEvent | yaml.CollectionStartEvent) -> None:
        if event.tag is not None:
            tag = event.tag.replace("tag:yaml.org,2002:", "!!")
            what = (
                f"tag '{shortened(tag)}' is not read; remove it, and quote the value if it is text"
            )
            self._refuse(Code.TAG, what, self._at(event))

    def _refuse(self, code: Code, message: str, location: Location) -> None:
        self.problems.append(FamilyFileError(code, message, location))

    def _at(self, event: yaml.Event) -> Location:
        mark = event.start_mark
        return Location(self.file, mark.line + 1, mark.column + 1) if mark else Location(self.file)


def _is_plain(event: yaml.ScalarEvent) -> bool:
    return bool(event.implicit[0])


def _syntax_error(error: yaml.YAMLError, text: str, file: str) -> FamilyFileError:
    if isinstance(error, yaml.MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        message = " ".join(filter(None, (error.context, error.problem)))
        location = Location(file, mark.line + 1, mark.column + 1) if mark else Location(file)
    else:
        message, location = _reader_error(error, text, file)
    if "nesting depth" in message:  # libyaml's own limit, where it reads ahead of us
        return _too_deep(location)
    what = f"not YAML ({message}); mend the text here or just before"
    return FamilyFileError(Code.SYNTAX, what, location)


def _too_deep(location: Location) -> FamilyFileError:
    what = f"nested more than {MAX_DEPTH} deep; a family needs far less"
    return FamilyFileError(Code.TOO_DEEP, what, location)


def _reader_error(error: yaml.YAMLError, text: str, file: str) -> tuple[str, Location]:
    """A character YAML does not allow: the library counts it from the start of the text."""
    found = yaml.reader.Reader.NON_PRINTABLE.search(text)
    if found is None:
        return str(error), Location(file)
    what = f"the character U+{ord(found[0]):04X} is not allowed"
    return what, Location(file, *place_after(text[: found.start()]))


def place_after(text: str) -> tuple[int, int]:
    r"""The line and the column of what comes after a text; lines end where YAML says.

    >>> place_after("a\r\nb\rcd")
    (3, 3)
    """
    lines = LINE_END.split(text)
    return len(lines), len(lines[-1]) + 1
