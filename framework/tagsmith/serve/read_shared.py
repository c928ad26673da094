"""What both APIs read alike."""

from __future__ import annotations

from typing import Any

from tagsmith.errors import RequestError
from tagsmith.serve.fields import Fields
from tagsmith.wire.options import CitationOrder

_MODES = {
    "FAST": CitationOrder.FAST,
    "ACCURATE": CitationOrder.ACCURATE,
    "OFF": CitationOrder.OFF,
    "DISABLED": CitationOrder.OFF,
    "ENABLED": None,
}


def read_messages(fields: Fields) -> list[Any]:
    """The conversation: a list of one message or more. Each is read where the prompt is made.

    Raises:
        RequestError: there is none, or one of them is no object.
    """
    messages = fields.listed("messages")
    if not messages:
        raise RequestError("messages", "must be a list of one message or more")
    for index, message in enumerate(messages):
        if not isinstance(message, dict):
            raise RequestError("messages", f"message {index} must be an object")
    return messages


def read_citations(fields: Fields) -> CitationOrder | None:
    """The order of citations by Cohere's `citation_options.mode`; None leaves it to the server.

    >>> read_citations(Fields({"citation_options": {"mode": "ACCURATE"}}))
    <CitationOrder.ACCURATE: 'accurate'>
    """
    options = fields.inner("citation_options")
    options.refuse({}, ["mode"])
    mode = options.text("mode", _MODES)
    return None if mode is None else _MODES[mode]
