"""The few things that every exchange with a client is made of, on plain ASGI."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine, Mapping
from typing import Any

from starlette.datastructures import Headers
from starlette.types import Message, Receive, Scope, Send

from tagsmith.serve.apis import Api
from tagsmith.serve.problems import ServeError
from tagsmith.serve.settings import Limits


class ClientGoneError(Exception):
    """The client has left; there is nobody to answer."""


def path_of(scope: Scope) -> str:
    """The path of a request, as this application calls it wherever it is mounted.

    >>> path_of({"path": "/here/v2/chat", "root_path": "/here"})
    '/v2/chat'
    """
    path: str = scope["path"]
    return path.removeprefix(scope.get("root_path", ""))


async def read_body(scope: Scope, receive: Receive, limits: Limits) -> bytes:
    """The whole body of a request.

    Raises:
        ServeError: it is too long, too slow, or not announced as JSON.
        ClientGoneError: the client has left before its end.
    """
    headers = Headers(scope=scope)
    # A page in a browser may send other types to any server, this one included, unasked.
    if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise ServeError(415, "the body must be application/json; say so in Content-Type")
    announced = headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > limits.max_body_bytes:
        raise _too_long(limits)
    body = bytearray()
    try:
        async with asyncio.timeout(limits.body_timeout):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise ClientGoneError
                body += message.get("body", b"")
                if len(body) > limits.max_body_bytes:
                    raise _too_long(limits)
                if not message.get("more_body", False):
                    return bytes(body)
    except TimeoutError:
        seconds = f"{limits.body_timeout:g}"
        raise ServeError(408, f"the body was not there within {seconds} seconds") from None


async def while_present(receive: Receive, work: Coroutine[Any, Any, None]) -> None:
    """Do the work, but no longer than the client is there. The body was read before.

    Raises:
        ClientGoneError: the client has left; the work was cancelled, and has ended.
    """
    task = asyncio.create_task(work)
    gone = asyncio.create_task(_until_gone(receive))
    try:
        await asyncio.wait((task, gone), return_when=asyncio.FIRST_COMPLETED)
    finally:
        left = not task.done()
        task.cancel()
        gone.cancel()
        await asyncio.gather(task, gone, return_exceptions=True)
    if left:
        raise ClientGoneError
    task.result()


def noticing_absence(send: Send) -> Send:
    """The same, but that a client that cannot be sent to has left."""

    async def send_or_notice(message: Message) -> None:
        try:
            await send(message)
        except OSError:
            raise ClientGoneError from None

    return send_or_notice


async def send_json(
    send: Send, status: int, value: Mapping[str, Any], headers: Mapping[str, str] | None = None
) -> None:
    """A whole response."""
    body = json.dumps(value, separators=(",", ":")).encode()
    sent = {"content-type": "application/json", "content-length": str(len(body))}
    await send_start(send, status, sent | dict(headers or {}))
    await send({"type": "http.response.body", "body": body})


async def send_problem(send: Send, api: Api, problem: ServeError) -> None:
    """A problem in the shape of its API."""
    headers = {}
    if problem.retry_after is not None:
        headers["retry-after"] = str(problem.retry_after)
    if problem.status == 401:
        headers["www-authenticate"] = "Bearer"
    if problem.status in (408, 413, 415):
        # The rest of the body is not read.
        headers["connection"] = "close"
    await send_json(send, problem.status, api.error(problem), headers)


async def send_start(send: Send, status: int, headers: Mapping[str, str]) -> None:
    """The head of a response."""
    pairs = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _too_long(limits: Limits) -> ServeError:
    return ServeError(413, f"the body is longer than {limits.max_body_bytes} bytes")
