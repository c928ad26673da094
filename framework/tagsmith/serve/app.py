"""The ASGI application."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from tagsmith.serve.apis import CHAT, COHERE, api_of
from tagsmith.serve.client import UpstreamClient
from tagsmith.serve.exchange import FAREWELL_TIMEOUT, Endpoint, Slots
from tagsmith.serve.generation import Generation
from tagsmith.serve.guard import Guard
from tagsmith.serve.http import path_of
from tagsmith.serve.prepare import render_prompt
from tagsmith.serve.problems import ServeError, internal, unknown_model
from tagsmith.serve.settings import Settings
from tagsmith.wording import one_line, shortened

_Handler = Callable[[Request], Awaitable[Response]]


def make_app(settings: Settings) -> ASGIApp:
    """See `tagsmith.serve.create_app`."""
    # What cannot be rendered for any request is told now.
    hello = [{"role": "user", "content": "Hello"}]
    render_prompt(settings, Generation(settings.model_name, hello))
    client = UpstreamClient(settings.upstream, settings.limits)
    slots = Slots(settings.limits.max_generations)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        with suppress(TimeoutError):
            async with asyncio.timeout(2 * FAREWELL_TIMEOUT):
                await slots.all_free()
        await client.close()

    endpoints = [
        Route(api.path, Endpoint(api, settings, client, slots), methods=["POST"])
        for api in (CHAT, COHERE)
    ]
    app = Starlette(
        routes=[
            *endpoints,
            Route("/v1/models", _models(settings), methods=["GET"]),
            Route("/v1/models/{name:path}", _model(settings), methods=["GET"]),
            Route("/health", _health(slots), methods=["GET"]),
        ],
        middleware=[Middleware(Guard, settings=settings)],
        exception_handlers={HTTPException: _no_route, ServeError: _problem},
        lifespan=lifespan,
    )
    # A redirect goes where the Host header says, and the request's body and key with it.
    app.router.redirect_slashes = False
    return app


def _models(settings: Settings) -> _Handler:
    listed = {"object": "list", "data": [_card(settings)]}

    async def answer(_: Request) -> Response:
        return JSONResponse(listed)

    return answer


def _model(settings: Settings) -> _Handler:
    card = _card(settings)

    async def answer(request: Request) -> Response:
        name = request.path_params["name"]
        if name != settings.model_name:
            raise unknown_model(name, settings.model_name)
        return JSONResponse(card)

    return answer


def _card(settings: Settings) -> dict[str, Any]:
    return {
        "id": settings.model_name,
        "object": "model",
        "created": int(time.time()),
        "owned_by": "tagsmith",
    }


def _health(slots: Slots) -> _Handler:
    async def answer(_: Request) -> Response:
        return JSONResponse({"status": "ok", "generations": slots.taken})

    return answer


async def _no_route(request: Request, error: Exception) -> Response:
    """A path or a method that there is not."""
    status, headers = getattr(error, "status_code", 404), getattr(error, "headers", None)
    path = one_line(shortened(path_of(request.scope)))
    problem = ServeError(status, f"there is no {request.method} {path} here", code="not_found")
    return _told(request, problem, headers)


async def _problem(request: Request, error: Exception) -> Response:
    return _told(request, error if isinstance(error, ServeError) else internal())


def _told(
    request: Request, problem: ServeError, headers: Mapping[str, str] | None = None
) -> Response:
    """A problem in the shape of the API that was meant."""
    body = api_of(path_of(request.scope)).error(problem)
    return JSONResponse(body, problem.status, headers=headers)
