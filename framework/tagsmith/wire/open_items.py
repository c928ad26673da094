"""One item of a streamed response as it is written, and the events that tell of it."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from tagsmith.events import Target
from tagsmith.wire.responses import Item, fill_text, text_item, text_part

Step = tuple[str, dict[str, Any]]
"""The type of an event, without `response.`, and its fields but for the sequence number."""


class OpenItem:
    """An item that is being written. Its text, or its arguments, come in fragments.

    Args:
        item: As it is told at its beginning.
        index: Its place in the output.
    """

    __slots__ = ("_fragments", "index", "item")

    def __init__(self, item: Item, index: int) -> None:
        self.item = item
        self.index = index
        self._fragments: list[str] = []

    def begin(self) -> list[Step]:
        """The item is there."""
        return [self._told("output_item.added")]

    def _told(self, kind: str) -> Step:
        return kind, {"output_index": self.index, "item": deepcopy(self.item)}

    def _step(self, kind: str, **fields: Any) -> Step:
        return kind, {"item_id": self.item["id"], "output_index": self.index, **fields}


class OpenText(OpenItem):
    """A stretch of content or reasoning: an item with one part.

    >>> text = OpenText(Target.CONTENT, "1", 0)
    >>> [kind for kind, _ in [*text.begin(), *text.more("Hi")]]
    ['output_item.added', 'content_part.added', 'output_text.delta']
    """

    __slots__ = ("_kind", "citations", "target")

    def __init__(self, target: Target, response_id: str, index: int) -> None:
        super().__init__(text_item(target, response_id, index), index)
        self.target = target
        is_content = target is Target.CONTENT
        self._kind = "output_text" if is_content else "reasoning_text"
        self.citations: list[dict[str, Any]] = []

    def begin(self) -> list[Step]:
        """The item and its part are there."""
        part = text_part(self.item, "")
        added = self._step("content_part.added", content_index=0, part=part)
        return [*super().begin(), added]

    def more(self, text: str) -> list[Step]:
        """More text."""
        self._fragments.append(text)
        return [self._text_step("delta", delta=text)]

    def done(self, status: str) -> list[Step]:
        """The text is whole, or the response ends in it."""
        text = "".join(self._fragments)
        fill_text(self.item, text, self.citations, status)
        part = deepcopy(self.item["content"][0])
        return [
            self._text_step("done", text=text),
            self._step("content_part.done", content_index=0, part=part),
            self._told("output_item.done"),
        ]

    def _text_step(self, kind: str, **fields: Any) -> Step:
        if self.target is Target.CONTENT:
            fields["logprobs"] = []
        return self._step(f"{self._kind}.{kind}", content_index=0, **fields)


class OpenCall(OpenItem):
    """A function call."""

    __slots__ = ()

    def more(self, fragment: str) -> list[Step]:
        """More of its arguments."""
        self._fragments.append(fragment)
        return [self._step("function_call_arguments.delta", delta=fragment)]

    def done(self, status: str) -> list[Step]:
        """The call is complete, or was cut off: then its arguments are never told as done."""
        arguments = "".join(self._fragments)
        self.item |= {"arguments": arguments, "status": status}
        if status != "completed":
            return [self._told("output_item.done")]
        name = self.item["name"]
        return [
            self._step("function_call_arguments.done", name=name, arguments=arguments),
            self._told("output_item.done"),
        ]
