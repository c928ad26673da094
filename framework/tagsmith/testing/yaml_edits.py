"""Changes values in a YAML text in place: all that is not changed stays to the letter.

PyYAML says where each value stands, so that comments, blank lines, quotes and the layout of
everything else need not be written again: a library that reads and writes whole files would.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tagsmith.loading.nodes import descend, plain
from tagsmith.testing.yaml_text import Extent, Path, Style, YamlText
from tagsmith.testing.yaml_values import write_literal, write_value

Orders = Mapping[str | None, Sequence[str]]
"""The order of the keys of a mapping, by the name of the list it stands in; None at the top."""


def change(yaml: YamlText, path: Path, new: Any, orders: Orders) -> str:
    """The text with the value at a path changed.

    Args:
        yaml: the text, and what it holds.
        path: where the value is.
        new: what it is to be; a mapping keeps all the keys it has.
        orders: where keys that it does not have yet go.

    Raises:
        UnwritableError: a text that YAML cannot hold.

    >>> from tagsmith.testing.yaml_text import read_yaml
    >>> yaml, _ = read_yaml("- a: 1  # one\\n  b: x\\n", "a.yaml")
    >>> print(change(yaml, (0,), {"a": 2, "b": "x"}, {}), end="")
    - a: 2  # one
      b: x
    """
    editor = _Editor(yaml, orders)
    editor.change(path, new)
    return editor.text()


class _Editor:
    def __init__(self, yaml: YamlText, orders: Orders) -> None:
        self._yaml = yaml
        self._orders = orders
        self._edits: list[tuple[int, int, str]] = []
        self._line_end = "\r\n" if "\r\n" in yaml.text else "\n"

    def text(self) -> str:
        """The text with every edit made."""
        pieces, last = [], 0
        for start, end, new in sorted(self._edits, key=lambda edit: edit[0]):
            pieces += [self._yaml.text[last:start], new]
            last = end
        return "".join([*pieces, self._yaml.text[last:]])

    def change(self, path: Path, new: Any) -> None:
        """Change what differs, as deep inside as it can be."""
        node = descend(self._yaml.root, path)
        old = plain(node) if node is not None else None
        if old == new and type(old) is type(new):
            return
        is_written = self._yaml.extents[path].style is not Style.ALIAS
        if is_written and isinstance(old, dict) and isinstance(new, dict):
            if old.keys() <= new.keys() and new.keys() - old.keys() <= set(self._order(path)):
                self._change_mapping(path, old, new)
            else:
                self._replace(path, new)
        elif is_written and isinstance(old, list) and isinstance(new, list) and old and new:
            self._change_list(path, old, new)
        else:
            self._replace(path, new)

    def _change_mapping(self, path: Path, old: dict[str, Any], new: dict[str, Any]) -> None:
        for key, value in new.items():
            if key in old:
                self.change((*path, key), value)
            else:
                self._add_key(path, key, value)

    def _change_list(self, path: Path, old: list[Any], new: list[Any]) -> None:
        kept = min(len(old), len(new))
        for number in range(kept):
            self.change((*path, number), new[number])
        last = self._yaml.extents[*path, len(old) - 1]
        is_flow = self._yaml.extents[path].style is Style.FLOW
        if kept < len(old):
            end = self._yaml.extents[*path, kept - 1].end
            borders = (end, last.end) if is_flow else (self._line_of(end), self._line_of(last.end))
            self._edits.append((*borders, ""))
        added = [write_value(item, in_flow=True) for item in new[kept:]]
        if is_flow:
            self._insert(last.end, "".join(f", {item}" for item in added))
        else:
            before = self._line_end + self._dash(last)
            self._insert(self._line_of(last.end), "".join(before + item for item in added))

    def _add_key(self, path: Path, key: str, value: Any) -> None:
        """Put a key behind the last one that its order has before it."""
        order = self._order(path)
        before = [k for k in order[: order.index(key)] if (*path, k) in self._yaml.extents]
        place = (*path, before[-1])
        end = self._yaml.extents[place].end
        if self._is_in_flow(place):
            self._insert(end, f", {key}: {write_value(value, in_flow=True)}")
            return
        indent = self._line_end + " " * self._yaml.keys[place].column
        if isinstance(value, list) and value and isinstance(value[0], dict):
            items = (f"{indent}  - {write_value(item, in_flow=False)}" for item in value)
            self._insert(self._line_of(end), f"{indent}{key}:{''.join(items)}")
        else:
            written = write_value(value, in_flow=False)
            self._insert(self._line_of(end), f"{indent}{key}: {written}")

    def _order(self, path: Path) -> Sequence[str]:
        """The order of the keys of a mapping; empty where none is known."""
        names = [step for step in path if isinstance(step, str)]
        return self._orders.get(names[-1] if names else None, ())

    def _replace(self, path: Path, new: Any) -> None:
        extent, key = self._yaml.extents[path], self._yaml.keys.get(path)
        style = Style.PLAIN if extent.style is Style.ALIAS else extent.style
        if style in (Style.LITERAL, Style.FOLDED):
            self._edits.append((extent.start, extent.end, self._in_place_of_block(path, new)))
            return
        written = write_value(new, in_flow=self._is_in_flow(path), style=style)
        if style is Style.BLOCK and key is not None:
            # What stood on lines of its own now stands behind its key, before the comment there.
            colon = self._yaml.text.index(":", key.end) + 1
            self._insert(colon, f" {written}")
            self._edits.append((self._line_of(colon), extent.end, ""))
        else:
            gap = " " if self._yaml.text[extent.start - 1 : extent.start] == ":" else ""
            self._edits.append((extent.start, extent.end, gap + written))

    def _in_place_of_block(self, path: Path, new: Any) -> str:
        """What stands where a text in lines stood, the comment behind its sign included."""
        extent, written = self._yaml.extents[path], None
        header = self._yaml.text[extent.start : extent.end].partition("\n")[0].rstrip()
        comment = header.removeprefix(header.split()[0])
        if isinstance(new, str):
            written = write_literal(new, self._indent_of_block(path), self._line_end)
        if written is None:
            in_flow = self._is_in_flow(path)
            return write_value(new, in_flow=in_flow, style=extent.style) + comment
        sign, line_end, lines = written.partition(self._line_end)
        return f"{sign}{comment}{line_end}{lines}"

    def _insert(self, place: int, text: str) -> None:
        if text:
            self._edits.append((place, place, text))

    def _is_in_flow(self, path: Path) -> bool:
        """Whether a value stands between brackets."""
        around = (path[:length] for length in range(len(path)))
        return any(self._yaml.extents[part].style is Style.FLOW for part in around)

    def _line_of(self, place: int) -> int:
        """Where the line of a place ends: its comment belongs to what stands before."""
        end = self._yaml.text.find("\n", place)
        end = len(self._yaml.text) if end < 0 else end
        return end - self._yaml.text.endswith("\r", place, end)

    def _dash(self, item: Extent) -> str:
        """What stands before an item of a list that has lines of its own, up to its value."""
        start = self._yaml.text.rfind("\n", 0, item.start) + 1
        before = self._yaml.text[start : item.start]
        dash = before.rfind("-")
        return " " * dash + before[dash:]

    def _indent_of_block(self, path: Path) -> str:
        extent = self._yaml.extents[path]
        lines = self._yaml.text[extent.start : extent.end].splitlines()[1:]
        first = next((line for line in lines if line.strip()), "")
        return first[: len(first) - len(first.lstrip(" "))] or " " * (
            self._yaml.keys.get(path, extent).column + 2
        )
