"""What a server answers when it cannot serve, before either API's own shape is put on it."""

from __future__ import annotations

from collections.abc import Mapping

from tagsmith.errors import RequestError, TagsmithError


class ServeError(TagsmithError):
    """A request that ends without its answer.

    Parameters: `status` is the HTTP status, `message` one line for the client, `kind` the word
    that Chat Completions calls `type`, `param` the field that is wrong, `code` a word for
    programs, `retry_after` in seconds.
    """

    def __init__(
        self,
        status: int,
        message: str,
        *,
        kind: str = "invalid_request_error",
        param: str | None = None,
        code: str | None = None,
        retry_after: int | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.kind = kind
        self.param = param
        self.code = code
        self.retry_after = retry_after


def bad_request(error: RequestError, names: Mapping[str, str] = {}) -> ServeError:
    """The request is wrong; `names` are what its API calls the fields that families name.

    >>> bad_request(RequestError("stop", "is too long"), {"stop": "stop_sequences"}).message
    'stop_sequences: is too long'
    """
    param = names.get(error.field, error.field)
    return ServeError(400, f"{param}{str(error).removeprefix(error.field)}", param=param)


def unknown_model(name: str, served: str) -> ServeError:
    """The request asks for another model than the one that is served."""
    message = f"model: there is no model {name!r}; this server serves {served!r}"
    return ServeError(404, message, param="model", code="model_not_found")


def unauthorized() -> ServeError:
    """No key, or a wrong one."""
    message = "the API key is missing or wrong; send it as Authorization: Bearer KEY"
    return ServeError(401, message, kind="authentication_error", code="invalid_api_key")


def busy(limit: int) -> ServeError:
    """As many generations run as may."""
    message = f"all {limit} places for generations are taken; try again in a moment"
    return ServeError(503, message, kind="server_error", code="overloaded", retry_after=1)


def upstream_failed(
    message: str, *, status: int = 502, retry_after: int | None = None
) -> ServeError:
    """The upstream did not do what it should."""
    return ServeError(
        status,
        f"upstream: {message}",
        kind="upstream_error",
        code="upstream_failed",
        retry_after=retry_after,
    )


def upstream_late(message: str) -> ServeError:
    """The upstream took too long."""
    return ServeError(504, f"upstream: {message}", kind="timeout_error", code="upstream_timeout")


def internal() -> ServeError:
    """A fault of this server, of which a client is told nothing more."""
    return ServeError(500, "the server has failed; its log says where", kind="server_error")
