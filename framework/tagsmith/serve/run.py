"""One generation: the upstream's frames in, each choice's events and message out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field

from tagsmith.events import Event
from tagsmith.message import Message
from tagsmith.parser import Parser
from tagsmith.serve.frames import Frame, Piece
from tagsmith.serve.problems import ServeError, upstream_failed
from tagsmith.wire.finish import read_finish_reason
from tagsmith.wire.options import Usage

TAIL_TIMEOUT = 5.0
"""How long to wait for what follows the last choice, in seconds."""


@dataclass(frozen=True, slots=True)
class Step:
    """What a piece of one choice became; with its last step comes its message."""

    index: int
    events: Sequence[Event]
    message: Message | None = None


@dataclass(slots=True)
class _Choice:
    """`done` when the client has its end, `closed` when the upstream writes no more of it."""

    parser: Parser
    left: int
    usage: Usage | None = None
    done: bool = False
    closed: bool = False

    def take(self, piece: Piece) -> Step:
        """Read a piece. A stop string of the user's, or the longest output, ends the choice."""
        text = piece.text[: self.left]
        self.left -= len(text)
        events = self.parser.feed(_whole_characters(text))
        reason = None if piece.finish is None else read_finish_reason(piece.finish)
        if self.parser.stopped:
            reason = "stop"
        elif len(text) < len(piece.text):
            reason = "length"
        elif reason == "error":
            raise upstream_failed(f"ended a choice by {piece.finish}")
        if reason is None:
            return Step(piece.index, events)
        self.done = True
        events += self.parser.finish(reason)
        return Step(piece.index, events, self.parser.message)


@dataclass(slots=True)
class Run:
    """Reads one answer of the upstream, a parser for each of its choices.

    `steps` gives what happens, in order; when it has ended, `messages` are whole, and `usage` is
    what the upstream has counted, if it has.
    """

    parsers: Sequence[Parser]
    longest: int
    usage: Usage | None = None
    _choices: list[_Choice] = field(init=False)

    def __post_init__(self) -> None:
        self._choices = [_Choice(parser, self.longest) for parser in self.parsers]

    @property
    def messages(self) -> list[Message]:
        """The message of each choice."""
        return [choice.parser.message for choice in self._choices]

    async def steps(self, frames: AsyncGenerator[Frame]) -> AsyncGenerator[Step]:
        """What the frames become, up to the end of the last choice.

        Raises:
            ServeError: what `frames` raises; or the upstream ended before its choices did.
        """
        async with aclosing(frames):
            async for frame in frames:
                for piece in frame.pieces:
                    choice = self._choice(piece.index)
                    choice.closed = choice.closed or piece.finish is not None
                    for portion in piece.portions():
                        if not choice.done:
                            yield choice.take(portion)
                self._count(frame)
                if all(choice.done for choice in self._choices):
                    break
            else:
                raise upstream_failed("ended its answer before its end")
            # Of an answer that a stop string has cut, the upstream would write on.
            if all(choice.closed for choice in self._choices):
                await self._read_tail(frames)
        if self.usage is None:
            self.usage = self._sum()

    def _choice(self, index: int) -> _Choice:
        if 0 <= index < len(self._choices):
            return self._choices[index]
        raise upstream_failed(f"sent a choice {index} that nobody asked for")

    def _count(self, frame: Frame) -> None:
        """Usage beside one choice is that choice's, usage alone is that of the whole answer."""
        if frame.usage is None:
            return
        if not frame.pieces:
            self.usage = frame.usage
        elif len(frame.pieces) == 1:
            self._choice(frame.pieces[0].index).usage = frame.usage

    def _sum(self) -> Usage | None:
        counted = [choice.usage for choice in self._choices if choice.usage is not None]
        if len(counted) < len(self._choices):
            return None
        cached = [usage.cached_tokens for usage in counted if usage.cached_tokens is not None]
        return Usage(
            prompt_tokens=max(usage.prompt_tokens for usage in counted),
            completion_tokens=sum(usage.completion_tokens for usage in counted),
            cached_tokens=max(cached, default=None),
        )

    async def _read_tail(self, frames: AsyncGenerator[Frame]) -> None:
        """Usage may follow the last choice; the answer is whole without it."""
        with suppress(ServeError, TimeoutError):
            async with asyncio.timeout(TAIL_TIMEOUT):
                async for frame in frames:
                    self._count(frame)


def _whole_characters(text: str) -> str:
    r"""The text with halves of surrogate pairs replaced, which JSON can hold and UTF-8 cannot.

    >>> _whole_characters("a\ud83d"), _whole_characters("\ud83d\ude00")
    ('a\ufffd', '\U0001f600')
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
