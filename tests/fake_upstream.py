"""An upstream that does what a test tells it, and a server in front of it, each in a thread."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.routing import Mount

from tagsmith.serve import Limits, Settings, Upstream
from tagsmith.serve.listen import address_of, bind, make_server

FOREVER = 3600.0
STREAM = "text/event-stream"


@dataclass(frozen=True)
class Reply:
    """What the upstream answers: bytes are sent, a number is a wait in seconds.

    Without `whole`, the connection breaks where the steps end, in the middle of the body.
    """

    steps: Sequence[bytes | float] = ()
    status: int = 200
    content_type: str = STREAM
    headers: Sequence[str] = ()
    whole: bool = True


def frame(value: Any) -> bytes:
    """One frame of a stream."""
    return f"data: {json.dumps(value)}\n\n".encode()


DONE = b"data: [DONE]\n\n"


def piece(
    text: str, index: int = 0, finish: str | None = None, usage: dict[str, int] | None = None
) -> bytes:
    """One frame of a completion."""
    choice = {"index": index, "text": text, "logprobs": None, "finish_reason": finish}
    return frame({"id": "cmpl-1", "object": "text_completion", "choices": [choice], "usage": usage})


def counted(prompt: int, completion: int) -> dict[str, int]:
    """The usage object of an upstream."""
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
    }


def saying(text: str, finish: str = "stop", size: int = 5) -> Reply:
    """A whole completion, a few characters at a time, with usage at its end."""
    parts = [text[start : start + size] for start in range(0, len(text), size)]
    frames = [piece(part) for part in parts]
    usage = frame({"object": "text_completion", "choices": [], "usage": counted(11, len(parts))})
    return Reply([*frames, piece("", finish=finish), usage, DONE])


@dataclass
class FakeUpstream:
    """Answers each request with `reply`, and keeps what was asked.

    `left` holds for each client that left before its answer's end when that was noticed, as
    `time.monotonic` counts; `open` is how many answers are under way.
    """

    reply: Callable[[dict[str, Any]], Reply] = field(default=lambda _: saying("Hi"))
    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    left: list[float] = field(default_factory=list)
    open: int = 0

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection: one request and its answer."""
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            lines = [line.partition(":") for line in head.split("\r\n")[1:] if line]
            headers = {name.lower(): value.strip() for name, _, value in lines}
            body = json.loads(await reader.readexactly(int(headers["content-length"])))
            self.headers.append(headers)
            self.requests.append(body)
            self.open += 1
            await self._answer(self.reply(body), reader, writer)
            self.open -= 1
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _answer(
        self, reply: Reply, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        sending = asyncio.ensure_future(self._send(reply, writer))
        leaving = asyncio.ensure_future(reader.read(1))
        await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not sending.done() or sending.exception() is not None:
            self.left.append(time.monotonic())
        for task in (sending, leaving):
            task.cancel()
        await asyncio.gather(sending, leaving, return_exceptions=True)

    async def _send(self, reply: Reply, writer: asyncio.StreamWriter) -> None:
        head = [
            f"HTTP/1.1 {reply.status} X",
            f"content-type: {reply.content_type}",
            "transfer-encoding: chunked",
            "connection: close",
            *reply.headers,
        ]
        writer.write("\r\n".join([*head, "", ""]).encode())
        for step in reply.steps:
            if isinstance(step, float):
                await writer.drain()
                await asyncio.sleep(step)
            else:
                writer.write(b"%x\r\n%b\r\n" % (len(step), step))
        if reply.whole:
            writer.write(b"0\r\n\r\n")
        await writer.drain()


@contextmanager
def fake_upstream(port: int = 0) -> Iterator[FakeUpstream]:
    """A fake upstream on the loopback, on a free port if none is given."""
    upstream = FakeUpstream()
    loop = asyncio.new_event_loop()
    listening = bind("127.0.0.1", port)
    upstream.url = address_of(listening)
    starting = asyncio.start_server(upstream.answer, sock=listening, backlog=2048)
    server = loop.run_until_complete(starting)
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    async def stop() -> None:
        server.close()
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    try:
        yield upstream
    finally:
        asyncio.run_coroutine_threadsafe(stop(), loop).result(5)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(5)
        loop.close()


def settings_for(family: Any, upstream: str = "http://127.0.0.1:9", **options: Any) -> Settings:
    """Settings of a server before that upstream; `kind`, `adds`, `fields`, `key` are the
    upstream's, whatever `Limits` calls its own are limits."""
    of_upstream = {n: options.pop(n) for n in ("adds", "fields", "key") if n in options}
    limits = {n: options.pop(n) for n in Limits.__dataclass_fields__ if n in options}
    kind = options.pop("kind", "vllm")
    return Settings(
        family=family,
        model_name=options.pop("model_name", "m"),
        upstream=Upstream(upstream, kind, "upstream-m", **of_upstream),
        limits=Limits(**limits),
        **options,
    )


@contextmanager
def running(app: Any, *, head_timeout: float = 30.0) -> Iterator[str]:
    """The address of an application, served by uvicorn on a free port of the loopback."""
    listening = bind("127.0.0.1", 0)
    server = make_server(app, head_timeout=head_timeout, shutdown_timeout=1)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield address_of(listening)
    finally:
        server.should_exit = True
        thread.join(5)
        listening.close()


def mounted(apps: dict[str, Any]) -> Starlette:
    """One application that holds others, each at a path of its own."""

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for app in apps.values():
                await stack.enter_async_context(app.router.lifespan_context(app))
            yield

    return Starlette(routes=[Mount(path, app) for path, app in apps.items()], lifespan=lifespan)


def until(condition: Callable[[], Any], seconds: float = 10.0) -> float:
    """Wait until it holds; how long that took."""
    begun = time.monotonic()
    while not condition():
        assert time.monotonic() - begun < seconds, "it has not come to hold"
        time.sleep(0.002)
    return time.monotonic() - begun
