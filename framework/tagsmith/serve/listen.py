"""Run the application on a socket of this machine."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import socket
import sys
from typing import TYPE_CHECKING

from tagsmith.errors import RequestError

if TYPE_CHECKING:
    import uvicorn
    from starlette.types import ASGIApp

LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")
"""The names under which a browser on this machine knows it."""
SHUTDOWN_TIMEOUT = 10
"""How long generations may go on when the server is told to stop, in seconds."""
_BACKLOG = 2048


def is_loopback(host: str) -> bool:
    """Whether nobody but this machine can reach a server that listens there.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def bind(host: str, port: int) -> socket.socket:
    """A socket that takes connections from now on; port 0 is any free one.

    Raises:
        RequestError: there is no such address, or it is taken.
    """
    try:
        family, kind, number, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listening = socket.socket(family, kind, number)
    except OSError as error:
        raise RequestError("host", f"{host} is no address here ({error.strerror})") from None
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(_BACKLOG)
    except OSError as error:
        listening.close()
        raise RequestError("port", f"{host}:{port} cannot be had ({error.strerror})") from None
    return listening


def address_of(listening: socket.socket) -> str:
    """Where a socket listens, as clients write it."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def make_server(
    app: ASGIApp, *, head_timeout: float, shutdown_timeout: int = SHUTDOWN_TIMEOUT
) -> uvicorn.Server:
    """The server that runs the application. It logs faults; requests are logged where they are
    served, without what a path or a header may hold.

    Args:
        app: The application.
        head_timeout: How long a connection may take to send the head of a request, in seconds.
        shutdown_timeout: How long generations may go on when the server is told to stop.
    """
    import uvicorn

    config = uvicorn.Config(
        app,
        http=_patient(head_timeout),
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="on",
        timeout_graceful_shutdown=shutdown_timeout,
    )
    return uvicorn.Server(config)


def _patient(seconds: float) -> type[asyncio.Protocol]:
    """uvicorn's reader of HTTP, which by itself waits for the head of a request for ever."""
    from uvicorn.protocols.http.auto import AutoHTTPProtocol

    class Patient(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
        def connection_made(self, transport: asyncio.Transport) -> None:
            super().connection_made(transport)
            self._timer = self.loop.call_later(seconds, self._look, None)

        def connection_lost(self, error: Exception | None) -> None:
            self._timer.cancel()
            super().connection_lost(error)

        def _look(self, before: object) -> None:
            """Close the connection if it has asked for nothing since the look before."""
            idle = self.cycle is None or self.cycle.response_complete
            if idle and self.cycle is before:
                self.transport.close()
            else:
                self._timer = self.loop.call_later(seconds, self._look, self.cycle)

    return Patient


def run(app: ASGIApp, listening: socket.socket, *, head_timeout: float) -> None:
    """Serve until the process is told to stop; a line for each request goes to standard error."""
    logging.basicConfig(stream=sys.stderr, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("tagsmith.serve").setLevel(logging.INFO)
    make_server(app, head_timeout=head_timeout).run(sockets=[listening])
