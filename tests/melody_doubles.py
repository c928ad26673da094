"""A stand-in for cohere_melody's filter that keeps account of what it is given."""

from __future__ import annotations

import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from tagsmith.engine.melody_filter import BLANKS

SECTIONS = {
    "<|START_THINKING|>": "reasoning",
    "<|END_THINKING|>": "content",
    "<|START_RESPONSE|>": "content",
    "<|END_RESPONSE|>": None,
    "<|START_ACTION|>": None,
    "<|END_ACTION|>": None,
}
"""What text is after each marker; after some, it is dropped."""
CLOSE = re.compile(r"</co: (.*)>")
POSITION = re.compile(r"(\d+):\[(\d+)\]")


class EchoFilter:
    """Reads as the real one does, and records each write with what the real one would keep.

    `fail` is called before each write with its number; what it raises, the filter raises.
    """

    def __init__(self, fail: Callable[[int], None] = lambda write: None) -> None:
        self.writes: list[str] = []
        self.most_kept = 0
        self.most_dropped = 0
        self._fail = fail
        self._section: str | None = "content"
        self._span: int | None = None
        self._blanks = 0
        self._dropped = 0

    def write_decoded(self, text: str) -> Any:
        self._fail(len(self.writes))
        text.encode()
        self.writes.append(text)
        if text in SECTIONS:
            self._section = SECTIONS[text]
            self._span, self._blanks, self._dropped = None, 0, 0
        elif text == "<co>":
            self._span = 0
        elif match := CLOSE.fullmatch(text):
            self._span = None
            return self._result("", [self._citation(match[1])] if self._section else [])
        else:
            assert "<" not in text, "text holds nothing that could be markup"
            self._keep(text)
            return self._result(text, [])
        return self._result("", [])

    def _keep(self, text: str) -> None:
        kept = text.rstrip(BLANKS)
        self._blanks = len(text) - len(kept) + (0 if kept else self._blanks)
        self._span = None if self._span is None else self._span + len(text)
        self._dropped += 0 if self._section else len(text)
        self.most_dropped = max(self.most_dropped, self._dropped)
        self.most_kept = max(self.most_kept, self._blanks, self._span or 0)

    def _result(self, text: str, citations: list[Any]) -> Any:
        answers = {"content": None, "reasoning": None}
        if self._section and text:
            answers[self._section] = text
        return SimpleNamespace(**answers, citations=citations)

    def _citation(self, body: str) -> Any:
        pairs = [(int(bucket), int(index)) for bucket, index in POSITION.findall(body)]
        return SimpleNamespace(
            sources=[
                SimpleNamespace(tool_call_index=bucket, tool_result_indices=[index])
                for bucket, index in pairs
            ]
        )
