"""Who is let in: by key, and by the name that a request calls the server by."""

from __future__ import annotations

import hmac
import logging

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from tagsmith.serve.apis import api_of
from tagsmith.serve.http import path_of, send_problem
from tagsmith.serve.problems import ServeError, unauthorized
from tagsmith.serve.settings import Settings

log = logging.getLogger("tagsmith.serve")

OPEN_PATHS = ("/health",)
"""Paths that need no key."""


class Guard:
    """Stands before an application."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._keys = [key.encode() for key in settings.api_keys]
        self._hosts = {host.lower() for host in settings.trusted_hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or refuse it in the shape of its API."""
        if scope["type"] == "http":
            problem = self._problem(scope)
            if problem is not None:
                api = api_of(path_of(scope))
                log.info("%s %s %s", api.path, problem.status, problem.kind)
                await send_problem(send, api, problem)
                return
        await self._app(scope, receive, send)

    def _problem(self, scope: Scope) -> ServeError | None:
        headers = Headers(scope=scope)
        # A page in a browser may give this machine a name of its own, and then read the answers.
        if self._hosts and host_name(headers.get("host", "")) not in self._hosts:
            return ServeError(403, "the Host header names another server than this one")
        if self._keys and path_of(scope) not in OPEN_PATHS:
            scheme, _, token = headers.get("authorization", "").partition(" ")
            given = (
                token.strip().encode("latin-1", "replace") if scheme.lower() == "bearer" else b""
            )
            # Every key is compared, and each in constant time.
            if True not in [hmac.compare_digest(given, key) for key in self._keys]:
                return unauthorized()
        return None


def host_name(host: str) -> str:
    """The name in a Host header, without its port.

    >>> host_name("LocalHost:8000"), host_name("[::1]:8000")
    ('localhost', '[::1]')
    """
    name, colon, port = host.lower().rpartition(":")
    return name if colon and port.isdigit() else host.lower()
