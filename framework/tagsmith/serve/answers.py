"""An answer in the shape of the API that asked for it, streamed or whole."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol
from uuid import uuid4

from tagsmith.message import Message
from tagsmith.serve.generation import Generation
from tagsmith.serve.problems import ServeError
from tagsmith.serve.run import Step
from tagsmith.serve.settings import Settings
from tagsmith.wire import (
    DONE,
    ChatChunks,
    CitationOrder,
    CohereEvents,
    StreamUsage,
    Usage,
    chat_completion,
    cohere_response,
    sse_frame,
    usage_chunk,
)


class Answer(Protocol):
    """One answer. A stream is `step` for each step, then `end` or `fail`; each gives frames."""

    id: str

    def step(self, step: Step) -> str:
        """What a client sees of a step; of the first one, with the beginning."""
        ...

    def end(self, usage: Usage | None) -> str:
        """The last frames."""
        ...

    def fail(self, problem: ServeError) -> str:
        """The last frames of an answer that goes wrong in the middle."""
        ...

    def whole(self, messages: Sequence[Message], usage: Usage | None) -> dict[str, Any]:
        """The body of an answer that is not streamed."""
        ...


class ChatAnswer:
    """A Chat Completions answer.

    Source: the OpenAI API reference. An error in the middle of a stream is a frame `{"error": ...}`
    in place of all others, which the official SDKs raise.
    """

    def __init__(self, settings: Settings, generation: Generation) -> None:
        self.id = f"chatcmpl-{uuid4().hex}"
        self._settings = settings
        self._order = generation.citation_order(settings.citations)
        self._head: dict[str, Any] = {
            "id": self.id,
            "model": generation.model,
            "created": int(time.time()),
        }
        self._usage = StreamUsage.LAST if generation.include_usage else StreamUsage.NONE
        self._choices = [
            ChatChunks(
                **self._head,
                index=index,
                reasoning_field=settings.reasoning_field,
                citations=self._order,
                units=settings.units,
                usage=self._usage,
            )
            for index in range(generation.choices)
        ]

    def step(self, step: Step) -> str:
        # The official SDK puts a choice where it is first seen: all begin, in order.
        chunks = [chunk for choice in self._choices for chunk in choice.start()]
        chunks += self._choices[step.index].feed(step.events)
        if step.message is not None:
            chunks += self._choices[step.index].finish(step.message.finish_reason)
        return _frames(chunks)

    def end(self, usage: Usage | None) -> str:
        if self._usage is StreamUsage.NONE or usage is None:
            return DONE
        return sse_frame(usage_chunk(**self._head, usage=usage)) + DONE

    def fail(self, problem: ServeError) -> str:
        return sse_frame(chat_error(problem))

    def whole(self, messages: Sequence[Message], usage: Usage | None) -> dict[str, Any]:
        return chat_completion(
            _cited(messages, self._order),
            **self._head,
            usage=usage,
            reasoning_field=self._settings.reasoning_field,
            units=self._settings.units,
        )


class CohereAnswer:
    """A Cohere v2 chat answer, which has one choice.

    Source: the Cohere API reference. An error in the middle of a stream ends the message with
    `finish_reason` `ERROR`.
    """

    def __init__(self, settings: Settings, generation: Generation) -> None:
        self.id = str(uuid4())
        self._settings = settings
        self._order = generation.citation_order(settings.citations)
        self._last: Message | None = None
        self._events = CohereEvents(
            id=self.id,
            thoughts=settings.thoughts,
            citations=self._order,
            units=settings.units,
        )

    def step(self, step: Step) -> str:
        self._last = step.message
        return _frames(self._events.feed(step.events))

    def end(self, usage: Usage | None) -> str:
        last = self._last or Message()
        events = self._events.finish(last.finish_reason, stop=last.stop, usage=usage)
        return _frames(events) + DONE

    def fail(self, problem: ServeError) -> str:
        return _frames(self._events.fail(problem.message)) + DONE

    def whole(self, messages: Sequence[Message], usage: Usage | None) -> dict[str, Any]:
        [message] = _cited(messages, self._order)
        return cohere_response(
            message,
            id=self.id,
            usage=usage,
            thoughts=self._settings.thoughts,
            units=self._settings.units,
        )


def chat_error(problem: ServeError) -> dict[str, Any]:
    """An error in the shape of the OpenAI API.

    >>> chat_error(ServeError(400, "n: is wrong", param="n"))["error"]["param"]
    'n'
    """
    error = {
        "message": problem.message,
        "type": problem.kind,
        "param": problem.param,
        "code": problem.code,
    }
    return {"error": error}


def cohere_error(problem: ServeError) -> dict[str, Any]:
    """An error in the shape of the Cohere API.

    >>> sorted(cohere_error(ServeError(400, "p: is wrong")))
    ['id', 'message']
    """
    return {"id": str(uuid4()), "message": problem.message}


def _cited(messages: Sequence[Message], order: CitationOrder) -> list[Message]:
    if order is CitationOrder.OFF:
        return [replace(message, citations=()) for message in messages]
    return list(messages)


def _frames(values: Iterable[Mapping[str, Any]]) -> str:
    return "".join(map(sse_frame, values))
