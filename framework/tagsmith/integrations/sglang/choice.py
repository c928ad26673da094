"""One choice of an answer: its tokens in, a parser's events out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sglang.srt.entrypoints.openai.chat_encoding_adapters import select_new_output_ids
from sglang.srt.runtime_context import get_serving

from tagsmith.events import Event, ToolCallStart
from tagsmith.message import Message
from tagsmith.parser import Parser


@dataclass(frozen=True, slots=True)
class Step:
    """What SGLang tells of a choice at a time: tokens and text, of this step or of all so far."""

    output_ids: Sequence[int]
    text: str
    completion_tokens: int
    finish_reason: dict[str, Any] | None

    @classmethod
    def of(cls, content: dict[str, Any], finish_reason: dict[str, Any] | None = None) -> Step:
        """A step as SGLang's tokenizer manager tells it."""
        meta = content["meta_info"]
        return cls(
            content.get("output_ids") or (),
            content.get("text") or "",
            meta["completion_tokens"],
            finish_reason or meta.get("finish_reason"),
        )


class Choice:
    """Reads one choice, streamed or whole."""

    def __init__(self, parser: Parser) -> None:
        self._parser = parser
        self._tokens = 0
        self._characters = 0
        self._finished = False
        self.has_calls = False

    @property
    def message(self) -> Message:
        """What was said so far."""
        return self._parser.message

    def read_whole(self, output_ids: Sequence[int], finish_reason: dict[str, Any]) -> list[Event]:
        """Take a whole answer, and set why it ended."""
        return self._read(output_ids, "", finish_reason)

    def read_step(self, step: Step) -> list[Event]:
        """Take a step of a stream; of the last one, set why the answer ended."""
        incremental = get_serving().incremental_streaming_output
        ids = select_new_output_ids(
            output_ids=list(step.output_ids),
            num_consumed_tokens=self._tokens,
            completion_tokens=step.completion_tokens,
            finish_reason_type=(step.finish_reason or {}).get("type"),
            incremental=incremental,
        )
        text = step.text if incremental else step.text[self._characters :]
        self._characters += len(text)
        return self._read(ids, text, step.finish_reason)

    def _read(
        self, ids: Sequence[int], text: str, finish_reason: dict[str, Any] | None
    ) -> list[Event]:
        if self._finished:
            return []
        self._tokens += len(ids)
        if finish_reason is not None and ids and ids[-1] == finish_reason.get("matched"):
            # The token at which the engine stopped is no part of the answer.
            ids = ids[:-1]
        events = self._parser.feed(text, token_ids=ids)
        if finish_reason is not None:
            self._finished = True
            events += self._finish(finish_reason)
        self.has_calls = self.has_calls or any(isinstance(e, ToolCallStart) for e in events)
        return events

    def _finish(self, finish_reason: dict[str, Any]) -> list[Event]:
        reason = "stop" if self._parser.stopped else finish_reason["type"]
        events = self._parser.finish(reason)
        set_finish_reason(finish_reason, self._parser.message)
        return events


def set_finish_reason(finish_reason: dict[str, Any], message: Message) -> None:
    """Tell SGLang why the answer ended, in the record that it goes by."""
    if message.finish_reason is not None:
        finish_reason["type"] = message.finish_reason
    if message.stop is not None:
        finish_reason["matched"] = message.stop
    elif message.finish_reason == "tool_calls":
        finish_reason["matched"] = None
