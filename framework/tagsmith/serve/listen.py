"""Run the application on a socket of this machine."""

from __future__ import annotations

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


def make_server(app: ASGIApp, *, shutdown_timeout: int = SHUTDOWN_TIMEOUT) -> uvicorn.Server:
    """The server that runs the application. It logs faults; requests are logged where they are
    served, without what a path or a header may hold."""
    import uvicorn

    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="on",
        timeout_graceful_shutdown=shutdown_timeout,
    )
    return uvicorn.Server(config)


def run(app: ASGIApp, listening: socket.socket) -> None:
    """Serve until the process is told to stop; a line for each request goes to standard error."""
    logging.basicConfig(stream=sys.stderr, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("tagsmith.serve").setLevel(logging.INFO)
    make_server(app).run(sockets=[listening])
