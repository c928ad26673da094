"""Data with positions: what a family file holds, and where each key and value stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tagsmith.errors import Location

Scalar = str | int | float | bool | None
Path = Sequence[str | int]
"""The way from the top to a value: keys and list indices."""


@dataclass(frozen=True, slots=True)
class Member:
    """One key of a mapping and its value."""

    key_location: Location
    value: Node


@dataclass(frozen=True, slots=True)
class Node:
    """A value and where it stands.

    `size` and `height` count the values in it and its deepest nesting, aliases as what they
    stand for.
    """

    value: Scalar | tuple[Node, ...] | Mapping[str, Member]
    location: Location
    size: int = 1
    height: int = 1


def plain(node: Node) -> Any:
    """The value without positions: dicts, lists and scalars."""
    if isinstance(node.value, Mapping):
        return {key: plain(member.value) for key, member in node.value.items()}
    if isinstance(node.value, tuple):
        return [plain(item) for item in node.value]
    return node.value


def members(node: Node) -> Mapping[str, Member]:
    """The keys of a mapping; none for any other value."""
    return node.value if isinstance(node.value, Mapping) else {}


def dotted(path: Path) -> str:
    """A path as people write it.

    >>> dotted(["tag_style", "content", 0, "start"])
    'tag_style.content[0].start'
    """
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "".join(steps).removeprefix(".")


def shown(node: Node | None) -> str:
    """A value as an error names it: short, and without what is inside it."""
    if node is None or node.value is None:
        return "null"
    if isinstance(node.value, tuple):
        return "a list"
    if isinstance(node.value, Mapping):
        return "a mapping"
    if isinstance(node.value, bool):
        return "true" if node.value else "false"
    text = repr(node.value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def descend(node: Node, path: Path) -> Node | None:
    """The value at a path, or None where there is none."""
    for step in path:
        child = _child(node, step)
        if child is None:
            return None
        node = child
    return node


def locate(node: Node, path: Path) -> Location:
    """Where the value at a path stands; where the path ends early, the last value on it."""
    for step in path:
        child = _child(node, step)
        if child is None:
            break
        node = child
    return node.location


def locate_key(node: Node, path: Path) -> Location:
    """Where the last key of a path stands; like `locate` when the last step is no key."""
    parent = descend(node, path[:-1])
    member = members(parent).get(str(path[-1])) if parent is not None and path else None
    return member.key_location if member else locate(node, path)


def merge(base: Node, over: Node) -> Node:
    """`over` laid on `base`: mappings merge key by key, anything else replaces.

    Every key and value keeps the position it was written at.
    """
    if not (isinstance(base.value, Mapping) and isinstance(over.value, Mapping)):
        return over
    merged = dict(base.value)
    for key, member in over.value.items():
        below = merged.get(key)
        value = merge(below.value, member.value) if below else member.value
        merged[key] = Member(member.key_location, value)
    return Node(merged, over.location, over.size + base.size, max(over.height, base.height))


def without(node: Node, keys: Sequence[str]) -> Node:
    """A mapping without some of its keys."""
    kept = {key: member for key, member in members(node).items() if key not in keys}
    return Node(kept, node.location, node.size, node.height)


def _child(node: Node, step: str | int) -> Node | None:
    if isinstance(node.value, Mapping):
        member = node.value.get(str(step))
        return member.value if member else None
    if isinstance(node.value, tuple) and isinstance(step, int) and step < len(node.value):
        return node.value[step]
    return None
