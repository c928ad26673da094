"""Both chat APIs in front of any server that writes raw completions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tagsmith.errors import MissingDependencyError
from tagsmith.guidance import Unenforced
from tagsmith.serve.settings import (
    Limits,
    Settings,
    TagPolicy,
    Upstream,
    UpstreamKind,
)

if TYPE_CHECKING:
    from starlette.types import ASGIApp

__all__ = [
    "Limits",
    "Settings",
    "TagPolicy",
    "Unenforced",
    "Upstream",
    "UpstreamKind",
    "create_app",
]


def create_app(settings: Settings) -> ASGIApp:
    """The ASGI application, to be run by any server or mounted in another application.

    It serves `POST /v1/chat/completions`, `POST /v2/chat`, `GET /v1/models` and `GET /health`.
    Its connections to the upstream are closed with its lifespan.

    Args:
        settings: What the server is told.

    Raises:
        MissingDependencyError: the extra `serve` is not installed.
        RequestError: no prompt can be rendered with these settings.
    """
    try:
        from tagsmith.serve.app import make_app
    except ModuleNotFoundError as error:
        raise missing_dependency(error) from error
    return make_app(settings)


def missing_dependency(error: ModuleNotFoundError) -> MissingDependencyError:
    """What to say of a library that is not there."""
    return MissingDependencyError(
        f"serving needs {error.name}, which is not installed: pip install 'tagsmith[serve]'"
    )
