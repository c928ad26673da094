"""The upstream, asked for a stream of completions. Whatever it does, it ends in time."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable
from contextlib import aclosing
from typing import Any, TypeVar

import httpx2

from tagsmith.serve.frames import Frame, error_text, read_failure, read_frame
from tagsmith.serve.problems import ServeError, upstream_failed, upstream_late, upstream_said
from tagsmith.serve.settings import Limits, Upstream
from tagsmith.serve.sse_reader import FrameTooLongError, ServerEvent, SseReader

_DONE = "[DONE]"
_LONGEST_ERROR = 1 << 16
_LONGEST_WAIT = 3600
"""The longest `retry-after` that is passed on, in seconds."""

_Value = TypeVar("_Value")


class UpstreamClient:
    """Keeps the connections to one upstream. It is used in one event loop at a time."""

    def __init__(self, upstream: Upstream, limits: Limits) -> None:
        self._upstream = upstream
        self._limits = limits
        self._http: httpx2.AsyncClient | None = None

    async def close(self) -> None:
        """Close the connections; the next request opens new ones."""
        if self._http is not None:
            await self._http.aclose()
            self._http = None

    async def frames(self, body: dict[str, Any]) -> AsyncGenerator[Frame]:
        """The frames of one answer, up to its end. Closing the iterator ends the request.

        Raises:
            ServeError: the upstream cannot be reached, refuses, fails, stalls, or sends what is no
                stream of completions.
        """
        limits = self._limits
        request = self._client().build_request(
            "POST",
            self._upstream.completions_url,
            content=json.dumps(body).encode(),
            headers=self._headers(),
        )
        patience = _Patience(limits.first_token_timeout, "has sent nothing for")
        response = await patience.wait(self._send(request))
        try:
            await self._check(response)
            async with aclosing(self._events(response)) as events:
                while (event := await patience.wait(anext(events, None))) is not None:
                    if event.data == _DONE:
                        return
                    if event.name == "error":
                        raise read_failure(event.data)
                    if event.data:
                        yield read_frame(event.data)
                        patience = _Patience(limits.stall_timeout, "has stalled for")
        finally:
            await response.aclose()

    def _client(self) -> httpx2.AsyncClient:
        if self._http is None:
            timeout = httpx2.Timeout(None, connect=self._limits.connect_timeout)
            # As many connections as generations, which are counted elsewhere. What the environment
            # says of proxies and passwords is not for this address.
            pool = httpx2.Limits(max_connections=None, max_keepalive_connections=32)
            self._http = httpx2.AsyncClient(
                timeout=timeout,
                limits=pool,
                trust_env=False,
                # Without TLS, there is no need to read the certificates of this machine.
                verify=self._upstream.url.startswith("https:"),
            )
        return self._http

    def _headers(self) -> dict[str, str]:
        # Frames are read as they come: a compressed one could be longer than any limit.
        headers = {
            "content-type": "application/json",
            "accept": "text/event-stream",
            "accept-encoding": "identity",
        }
        if self._upstream.key is not None:
            headers["authorization"] = f"Bearer {self._upstream.key}"
        return headers

    async def _send(self, request: httpx2.Request) -> httpx2.Response:
        try:
            return await self._client().send(request, stream=True)
        except httpx2.ConnectTimeout:
            seconds = self._limits.connect_timeout
            raise upstream_late(f"has not taken the connection for {seconds:g} seconds") from None
        except httpx2.ConnectError:
            raise upstream_failed("cannot be reached") from None
        except httpx2.HTTPError as error:
            raise upstream_failed(f"broke the connection ({type(error).__name__})") from None

    async def _check(self, response: httpx2.Response) -> None:
        """Raise the problem of an answer that is no stream."""
        status = response.status_code
        if status != httpx2.codes.OK:
            raise await self._refusal(response)
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "text/event-stream":
            raise upstream_failed("answered with something else than a stream")
        if response.headers.get("content-encoding", "identity") != "identity":
            raise upstream_failed("compressed its answer, which nobody had asked for")

    async def _refusal(self, response: httpx2.Response) -> ServeError:
        patience = _Patience(self._limits.stall_timeout, "has stalled for")
        said = await patience.wait(_start_of(response))
        status, text = response.status_code, error_text(said)
        problem = upstream_said(status, text, _seconds(response.headers.get("retry-after", "")))
        return problem or upstream_failed(f"answered {status}: {text}")

    async def _events(self, response: httpx2.Response) -> AsyncGenerator[ServerEvent]:
        reader = SseReader(self._limits.max_frame_bytes)
        try:
            async with aclosing(response.aiter_raw()) as chunks:
                async for chunk in chunks:
                    for event in reader.feed(chunk):
                        yield event
        except FrameTooLongError as error:
            raise upstream_failed(f"sent a frame {error}") from None
        except httpx2.HTTPError as error:
            raise upstream_failed(f"broke the connection ({type(error).__name__})") from None


class _Patience:
    """How long the upstream may take for what comes next; its comments do not count as anything."""

    def __init__(self, seconds: float, waited: str) -> None:
        self._until = asyncio.get_running_loop().time() + seconds
        self._message = f"{waited} {seconds:g} seconds"

    async def wait(self, step: Awaitable[_Value]) -> _Value:
        try:
            async with asyncio.timeout_at(self._until):
                return await step
        except TimeoutError:
            raise upstream_late(self._message) from None


async def _start_of(response: httpx2.Response) -> bytes:
    """As much of an error's body as is worth reading."""
    said = bytearray()
    try:
        async for chunk in response.aiter_raw():
            said += chunk
            if len(said) > _LONGEST_ERROR:
                break
    except httpx2.HTTPError:
        pass
    return bytes(said[:_LONGEST_ERROR])


def _seconds(later: str) -> int:
    """When to try again; a header may also hold a date, or nonsense."""
    if not later.isdecimal() or len(later) > len(str(_LONGEST_WAIT)):
        return 1
    return min(int(later), _LONGEST_WAIT)
