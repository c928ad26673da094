"""One frame of an upstream's stream of completions, read and checked."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard

from tagsmith.serve.problems import ServeError, upstream_failed, upstream_said
from tagsmith.wire.options import Usage
from tagsmith.wire.safe_text import safe_error
from tagsmith.wording import one_line, shortened

SILENT = "without saying why"
_SHOWN = 500
# Of a text that is full of markers, this much takes some milliseconds.
_PORTION = 1024
# TGI's words for what others tell by a status.
_STATUS_OF_TYPE = {"validation": 422, "overloaded": 429}


@dataclass(frozen=True, slots=True)
class Piece:
    """More text of one choice, and why it ended, if it did."""

    index: int
    text: str
    finish: str | None

    def portions(self) -> Iterator[Piece]:
        """The same in pieces of bounded length, each to be read at one go; the end ends the last.

        >>> [len(piece.text) for piece in Piece(0, "x" * 1500, "stop").portions()]
        [1024, 476]
        """
        last = max(len(self.text) - 1, 0) // _PORTION * _PORTION
        for start in range(0, last, _PORTION):
            yield Piece(self.index, self.text[start : start + _PORTION], None)
        yield Piece(self.index, self.text[last:], self.finish)


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
        raise _failure(value)
    choices = value.get("choices")
    if not isinstance(choices, list):
        raise upstream_failed("sent a frame without choices")
    return Frame(tuple(map(_piece, choices)), _usage(value.get("usage")))


def read_failure(data: str) -> ServeError:
    """Read the data of an event that says by its name that the upstream failed."""
    try:
        return _failure(json.loads(data))
    except (ValueError, RecursionError):
        return upstream_failed(f"failed: {SILENT}")


def error_text(said: bytes) -> str:
    """What the body of an upstream's error says, in one line that a client may see.

    >>> error_text(b'{"error": {"message": "too long"}}'), error_text(b"<html>")
    ('too long', 'without saying why')
    """
    try:
        return _text(json.loads(said))
    except (ValueError, RecursionError):
        # A page for people, or anything at all: not for this client.
        return SILENT


def _failure(value: Any) -> ServeError:
    """What an error says; a server that has begun its stream tells the status by a word in it."""
    outer = value if isinstance(value, Mapping) else {}
    inner = outer.get("error")
    code = inner.get("code") if isinstance(inner, Mapping) else outer.get("code")
    status = code if type(code) is int else _STATUS_OF_TYPE.get(str(outer.get("error_type")))
    return upstream_said(status, _text(value)) or upstream_failed(f"failed: {_text(value)}")


def _text(value: Any) -> str:
    for key in ("error", "detail", "message"):
        if isinstance(value, Mapping) and value.get(key):
            value = value[key]
    try:
        text = value if isinstance(value, str) else json.dumps(value)
    except RecursionError:
        text = SILENT
    # JSON can hold halves of surrogate pairs, and UTF-8 cannot.
    return one_line(shortened(safe_error(text.encode(errors="replace").decode()), _SHOWN))


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
