"""One request of a client, from its body to the last byte of the answer."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterator
from contextlib import ExitStack, aclosing, contextmanager, suppress
from dataclasses import dataclass

from starlette.types import Receive, Scope, Send

from tagsmith.serve.answers import Answer
from tagsmith.serve.apis import Api
from tagsmith.serve.client import UpstreamClient
from tagsmith.serve.http import (
    ClientGoneError,
    noticing_absence,
    read_body,
    send_json,
    send_problem,
    send_start,
    while_present,
)
from tagsmith.serve.prepare import Prepared, prepare
from tagsmith.serve.problems import ServeError, busy, internal, stopping, upstream_late
from tagsmith.serve.run import Run
from tagsmith.serve.settings import Settings
from tagsmith.wording import one_line, shortened

log = logging.getLogger("tagsmith.serve")

FAREWELL_TIMEOUT = 5.0
"""For a client to take the error that ends its stream, in seconds."""
_GLANCE = 0.02
TURN = 16
"""After how many steps others have their turn: frames that are here already need no waiting."""
_LONGEST_HEADER = 2000


class Slots:
    """The places for generations, all of one event loop.

    >>> slots = Slots(1)
    >>> with slots.take():
    ...     print(slots.taken)
    1
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self.taken = 0

    async def all_free(self) -> None:
        """Wait until nobody holds a place."""
        while self.taken:
            await asyncio.sleep(_GLANCE)

    @contextmanager
    def take(self) -> Iterator[None]:
        """Hold a place.

        Raises:
            ServeError: none is free.
        """
        if self.taken >= self._limit:
            raise busy(self._limit)
        self.taken += 1
        try:
            yield
        finally:
            self.taken -= 1


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The ASGI application of one API's path."""

    api: Api
    settings: Settings
    client: UpstreamClient
    slots: Slots

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, and log what became of it: never what was said."""
        exchange = _Exchange(self, noticing_absence(send))
        begun = time.monotonic()
        try:
            await self._serve(exchange, scope, receive)
        except ClientGoneError:
            exchange.outcome = "the client has left"
        finally:
            taken = f"{(time.monotonic() - begun) * 1000:.0f} ms"
            log.info("%s %s %s %s", self.api.path, exchange.status, exchange.outcome, taken)

    async def _serve(self, exchange: _Exchange, scope: Scope, receive: Receive) -> None:
        # A place is held until the client is told how it ended.
        with ExitStack() as place:
            try:
                body = await read_body(scope, receive, self.settings.limits)
                place.enter_context(self.slots.take())
                await while_present(receive, exchange.answer(body))
            except ServeError as problem:
                await exchange.fail(problem)
            except asyncio.CancelledError:
                # Who runs this application stops, and waits no longer for its requests.
                await exchange.fail(stopping())


@dataclass(slots=True)
class _Exchange:
    endpoint: Endpoint
    send: Send
    status: int = 200
    outcome: str = "done"
    _begun: bool = False
    """Whether the head of a response was sent."""
    _stream: Answer | None = None
    """The answer whose stream has begun."""

    async def answer(self, body: bytes) -> None:
        """Answer, one way or another."""
        try:
            await self._serve(body)
        except ServeError as problem:
            await self.fail(problem)
        except ClientGoneError:
            raise
        except Exception as error:
            # A message may hold what a client has said.
            log.error("a fault, %s, at %s", type(error).__name__, _place(error))
            await self.fail(internal())

    async def fail(self, problem: ServeError) -> None:
        """Tell the client, as far as it can still be told."""
        self.status, self.outcome = problem.status, problem.code or problem.kind
        if not self._begun:
            self._begun = True
            await send_problem(self.send, self.endpoint.api, problem)
        elif self._stream is not None:
            # Perhaps the client does not read; then it learns of it when the connection closes.
            with suppress(TimeoutError):
                async with asyncio.timeout(FAREWELL_TIMEOUT):
                    await self._send_text(self._stream.fail(problem), last=True)

    async def _serve(self, body: bytes) -> None:
        endpoint, seconds = self.endpoint, self.endpoint.settings.limits.generation_timeout
        try:
            async with asyncio.timeout(seconds):
                prepared = await asyncio.to_thread(prepare, endpoint.api, body, endpoint.settings)
                await self._generate(prepared)
        except TimeoutError:
            message = f"the generation was not done within {seconds:g} seconds"
            raise upstream_late(message) from None

    async def _generate(self, prepared: Prepared) -> None:
        settings = self.endpoint.settings
        answer = self.endpoint.api.answer(settings, prepared.generation)
        headers = {"x-request-id": answer.id}
        if prepared.unenforced:
            headers["x-tagsmith-unenforced"] = _header("; ".join(prepared.unenforced))
        run = Run(prepared.parsers, settings.limits.max_output_chars)
        async with aclosing(run.steps(self.endpoint.client.frames(prepared.body))) as steps:
            read = 0
            async for step in steps:
                read += 1
                if read % TURN == 0:
                    await asyncio.sleep(0)
                if not prepared.generation.stream:
                    continue
                if self._stream is None:
                    await self._begin(answer, headers)
                await self._send_text(answer.step(step))
        if run.usage is not None:
            self.outcome = f"done {run.usage.prompt_tokens}+{run.usage.completion_tokens} tokens"
        if prepared.generation.stream:
            await self._send_text(answer.end(run.usage), last=True)
        else:
            self._begun = True
            await send_json(self.send, 200, answer.whole(run.messages, run.usage), headers)

    async def _begin(self, answer: Answer, headers: dict[str, str]) -> None:
        sent = {
            "content-type": "text/event-stream; charset=utf-8",
            "cache-control": "no-cache",
            # Proxies that gather what they pass on would hold the stream back.
            "x-accel-buffering": "no",
        }
        self._begun, self._stream = True, answer
        await send_start(self.send, 200, sent | headers)

    async def _send_text(self, text: str, *, last: bool = False) -> None:
        if text or last:
            body = {"type": "http.response.body", "body": text.encode(), "more_body": not last}
            await self.send(body)


def _header(text: str) -> str:
    return one_line(shortened(text, _LONGEST_HEADER)).encode("ascii", "backslashreplace").decode()


def _place(error: BaseException) -> str:
    """Where it was raised: the module and the line, as far down as there are any."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return "an unknown place"
    return f"{trace.tb_frame.f_globals.get('__name__')}:{trace.tb_lineno}"
