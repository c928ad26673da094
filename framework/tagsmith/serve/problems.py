"""What a server answers when it cannot serve, before either API's own shape is put on it."""

from __future__ import annotations

from collections.abc import Mapping

from tagsmith.errors import RequestError, TagsmithError
from tagsmith.wording import one_line, shortened

_LONGEST = 2000
# What the client may mend: its prompt is too long, a value is out of the model's range.
_OF_THE_CLIENT = (400, 413, 422)
_LATER = (429, 503)


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
    message = f"{param}{str(error).removeprefix(error.field)}"
    return ServeError(400, shortened(message, _LONGEST), param=param)


def unknown_model(name: str, served: str) -> ServeError:
    """The request asks for another model than the one that is served."""
    shown = one_line(shortened(name))
    message = f"model: there is no model {shown!r}; this server serves {served!r}"
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


def upstream_said(status: int | None, text: str, retry_after: int = 1) -> ServeError | None:
    """What a client can do about this status of the upstream; None if nothing.

    >>> upstream_said(400, "the prompt is too long").message
    'upstream: refused the request: the prompt is too long'
    """
    if status in _OF_THE_CLIENT:
        message = f"upstream: refused the request: {text}"
        return ServeError(400, message, code="upstream_refused")
    if status in _LATER:
        return upstream_failed("is busy", status=status, retry_after=retry_after)
    return None


def upstream_late(message: str) -> ServeError:
    """The upstream took too long."""
    return ServeError(504, f"upstream: {message}", kind="timeout_error", code="upstream_timeout")


def stopping() -> ServeError:
    """The server is told to stop, and has waited for this answer as long as it does."""
    message = "the server is being stopped; ask again"
    return ServeError(503, message, kind="server_error", code="stopping", retry_after=1)


def internal() -> ServeError:
    """A fault of this server, of which a client is told nothing more."""
    return ServeError(500, "the server has failed; its log says where", kind="server_error")
