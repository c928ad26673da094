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
        self._by_tokens = False
        self._finished = False

    def feed(self, text: str, token_ids: Sequence[int], *, finished: bool) -> list[Event]:
        """Take a step, or the whole; return the events that the request wants shown."""
        if self._finished:
            return []
        parser, was_stopped = self._parser, self._parser.stopped
        # Where tokens decide, text without any is what vLLM has held back for a stop string.
        self._by_tokens = self._by_tokens or bool(token_ids)
        if token_ids and finished:
            token_ids = self._without_stop_token(text, token_ids)
        events = parser.feed(text, token_ids=(token_ids or ()) if self._by_tokens else None)
        if finished:
            self._finished = True
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
        stops = [request.stop] if isinstance(request.stop, str) else request.stop or ()
        ends_string = any(_may_end(stop, told) for stop in stops)
        return token_ids if is_in_text or ends_string else token_ids[:-1]

    def _text_of(self, token_id: int) -> str:
        try:
            return str(self._tokenizer.decode([token_id], skip_special_tokens=False))
        except Exception:  # The parser meets the same fault, and reads the step by its text.
            return ""


def _may_end(stop: str, text: str) -> bool:
    """Whether a stop string can end within this text of one token."""
    return stop in text or any(text.startswith(stop[-n:]) for n in range(1, len(stop)))


def _tells_reasoning(event: Event) -> bool:
    return isinstance(event, ReasoningDelta) or (
        isinstance(event, Citation) and event.target is Target.REASONING
    )
