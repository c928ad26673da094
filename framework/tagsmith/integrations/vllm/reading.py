"""One choice as it is read: what vLLM hands over made what a parser takes, and what the request
wants shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tagsmith.events import Citation, ContentDelta, Event, ReasoningDelta, Target
from tagsmith.integrations.vllm.requests import Served
from tagsmith.parser import Parser

_CUT_CHARACTER = "\ufffd"
"""What a tokenizer decodes a part of a character to."""


class Reading:
    """Reads one choice of a request."""

    def __init__(self, parser: Parser, request: Served, tokenizer: Any) -> None:
        self._parser = parser
        self._request = request
        self._tokenizer = tokenizer

    def feed(self, text: str, token_ids: Sequence[int], *, finished: bool) -> list[Event]:
        """Take a step, or the whole; return the events that the request wants shown."""
        parser, was_stopped = self._parser, self._parser.stopped
        if token_ids and finished:
            token_ids = self._without_stop_token(text, token_ids)
        events = parser.feed(text, token_ids=token_ids) if token_ids else parser.feed(text)
        if finished:
            events += parser.finish()
        if parser.stopped and not was_stopped and self._request.include_stop_str_in_output:
            events.append(ContentDelta(parser.message.stop or ""))
        if self._request.include_reasoning:
            return events
        return [event for event in events if not _tells_reasoning(event)]

    def _without_stop_token(self, text: str, token_ids: Sequence[int]) -> Sequence[int]:
        """vLLM tells the token at which it stopped, and keeps it out of the text.

        It keeps a stop string out of the text as well, which the parser finds by the tokens.
        """
        request, last = self._request, token_ids[-1]
        told = self._text_of(last)
        is_in_text = text.endswith(told) or _CUT_CHARACTER in told
        ends_string = bool(request.stop) and last not in (request.stop_token_ids or ())
        return token_ids if is_in_text or ends_string else token_ids[:-1]

    def _text_of(self, token_id: int) -> str:
        try:
            return str(self._tokenizer.decode([token_id], skip_special_tokens=False))
        except Exception:  # The parser meets the same fault, and reads the step by its text.
            return ""


def _tells_reasoning(event: Event) -> bool:
    return isinstance(event, ReasoningDelta) or (
        isinstance(event, Citation) and event.target is Target.REASONING
    )
