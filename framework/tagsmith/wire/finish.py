"""Why a generation ended: what servers say of it, and what each API calls it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tagsmith.message import ToolCall, told_finish_reason

_WORDS = {
    "stop": ("eos", "eos_token", "stop_token", "stop_sequence", "end_turn", "complete"),
    "length": ("max_tokens", "max_length", "max_output_tokens", "model_length"),
    "tool_calls": ("tool_call", "tool_use", "function_call"),
    "content_filter": ("content_filtered",),
    "error": ("abort", "aborted", "cancelled", "timeout", "error_toxic"),
}
FINISH_REASONS = tuple(_WORDS)
"""The words of `Message.finish_reason`."""
_READ = {said: word for word, others in _WORDS.items() for said in (word, *others)}
_COHERE = {"length": "MAX_TOKENS", "tool_calls": "TOOL_CALL", "error": "ERROR"}


@dataclass(slots=True)
class CallCount:
    """How many tool calls an answer has begun, and how many of them are whole."""

    begun: int = 0
    whole: int = 0

    @classmethod
    def of(cls, calls: Iterable[ToolCall]) -> CallCount:
        """The count of a message's calls."""
        complete = [call.complete for call in calls]
        return cls(len(complete), sum(complete))


NO_CALLS = CallCount()


def read_finish_reason(said: str | None) -> str:
    """The word of `Message.finish_reason` for what a server or an API says.

    Servers of raw completions and both APIs are understood: vLLM, llama.cpp, TGI (`eos_token`),
    SGLang (`abort`), Cohere v2 (`MAX_TOKENS`). Silence and an unknown word are "stop".

    >>> [read_finish_reason(said) for said in ("eos_token", "MAX_TOKENS", "abort", None, "new")]
    ['stop', 'length', 'error', 'stop', 'stop']
    """
    return _READ.get((said or "stop").lower(), "stop")


def chat_finish_reason(reason: str | None, calls: CallCount = NO_CALLS) -> str:
    """The `finish_reason` of a Chat Completions choice, for an answer with these calls.

    >>> chat_finish_reason("stop", CallCount(1, 1)), chat_finish_reason("stop", CallCount(1, 0))
    ('tool_calls', 'length')
    """
    return told_finish_reason(read_finish_reason(reason), begun=calls.begun, whole=calls.whole)


def cohere_finish_reason(
    reason: str | None, calls: CallCount = NO_CALLS, *, stop: str | int | None = None
) -> str:
    """The `finish_reason` of the Cohere v2 API.

    Args:
        reason: What the server says, or a message's own word.
        calls: The answer's calls.
        stop: The user's stop string that ended the content. A token's number is none.

    >>> cohere_finish_reason("stop"), cohere_finish_reason("stop", stop="END")
    ('COMPLETE', 'STOP_SEQUENCE')
    >>> cohere_finish_reason("stop", CallCount(2, 1))
    'MAX_TOKENS'
    """
    word = chat_finish_reason(reason, calls)
    said = (reason or "").lower()
    if word == "stop" and (isinstance(stop, str) or said == "stop_sequence"):
        return "STOP_SEQUENCE"
    if said == "timeout":
        return "TIMEOUT"
    return _COHERE.get(word, "COMPLETE")
