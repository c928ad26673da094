"""One frame of an upstream's stream of completions, read and checked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard

from tagsmith.serve.problems import upstream_failed
from tagsmith.wire.options import Usage
from tagsmith.wire.safe_text import safe_error
from tagsmith.wording import one_line, shortened

_SHOWN = 500


@dataclass(frozen=True, slots=True)
class Piece:
    """More text of one choice, and why it ended, if it did."""

    index: int
    text: str
    finish: str | None


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame: pieces of choices, and tokens counted so far, if it says."""

    pieces: tuple[Piece, ...]
    usage: Usage | None


def read_frame(data: str) -> Frame:
    """Read the data of one event.

    Raises:
        ServeError: it is no frame of completions, or it says that the upstream failed.

    >>> read_frame('{"choices": [{"index": 0, "text": "Hi", "finish_reason": ""}]}').pieces
    (Piece(index=0, text='Hi', finish=None),)
    """
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        raise upstream_failed("sent a frame that is no JSON") from None
    if not isinstance(value, dict):
        raise upstream_failed("sent a frame that is no object")
    if value.get("error") or value.get("object") == "error":
        raise upstream_failed(f"failed: {error_text(value)}")
    choices = value.get("choices")
    if not isinstance(choices, list):
        raise upstream_failed("sent a frame without choices")
    return Frame(tuple(map(_piece, choices)), _usage(value.get("usage")))


def error_text(value: Any) -> str:
    """What an upstream's error says, in one line that a client may see.

    >>> error_text({"error": {"message": "too long"}}), error_text({"error": "no memory"})
    ('too long', 'no memory')
    """
    for key in ("error", "detail", "message"):
        if isinstance(value, Mapping) and value.get(key):
            value = value[key]
    text = value if isinstance(value, str) else json.dumps(value)
    return one_line(shortened(safe_error(text), _SHOWN))


def _piece(choice: Any) -> Piece:
    if not isinstance(choice, dict):
        raise upstream_failed("sent a choice that is no object")
    index, text, finish = choice.get("index", 0), choice.get("text"), choice.get("finish_reason")
    if type(index) is not int or not isinstance(text, str | None):
        raise upstream_failed("sent a choice without its index or its text")
    if not isinstance(finish, str | None):
        raise upstream_failed("sent a finish reason that is no text")
    # Some servers say "" for a choice that goes on.
    return Piece(index, text or "", finish or None)


def _usage(value: Any) -> Usage | None:
    if not isinstance(value, dict):
        return None
    details = value.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else None
    prompt, completion = value.get("prompt_tokens"), value.get("completion_tokens")
    if not _is_count(prompt) or not _is_count(completion):
        return None
    return Usage(prompt, completion, cached if _is_count(cached) else None)


def _is_count(value: Any) -> TypeGuard[int]:
    return type(value) is int and value >= 0
