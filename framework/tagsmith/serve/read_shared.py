"""What both APIs read alike."""

from __future__ import annotations

from typing import Any

from tagsmith.errors import RequestError
from tagsmith.render.contents import IMAGES
from tagsmith.serve.fields import Fields
from tagsmith.wire.options import CitationOrder

_MODES = {
    "FAST": CitationOrder.FAST,
    "ACCURATE": CitationOrder.ACCURATE,
    "OFF": CitationOrder.OFF,
    "DISABLED": CitationOrder.OFF,
    "ENABLED": None,
}


def read_model(fields: Fields) -> str:
    """The name of the model.

    Raises:
        RequestError: there is none.
    """
    model = fields.text("model")
    if not model:
        raise RequestError("model", "is missing; give the model's name")
    return model


def read_messages(fields: Fields) -> list[Any]:
    """The conversation: a list of one message or more. Each is read where the prompt is made.

    Raises:
        RequestError: there is none, one of them is no object, or one holds a picture.
    """
    messages = fields.listed("messages")
    if not messages:
        raise RequestError("messages", "must be a list of one message or more")
    for index, message in enumerate(messages):
        if not isinstance(message, dict):
            raise RequestError("messages", f"message {index} must be an object")
        _refuse_pictures(message.get("content"), f"messages[{index}].content")
    return messages


def _refuse_pictures(content: Any, field: str) -> None:
    """A prompt would hold a place for each picture, and the upstream would never get it."""
    for index, block in enumerate(content if isinstance(content, list) else ()):
        if isinstance(block, dict) and any(
            name in block or block.get("type") == name for name in IMAGES
        ):
            raise RequestError(
                f"{field}[{index}]", "a picture cannot be passed on; a raw completion takes text"
            )


def read_citations(fields: Fields) -> CitationOrder | None:
    """The order of citations by Cohere's `citation_options.mode`; None leaves it to the server.

    >>> read_citations(Fields({"citation_options": {"mode": "ACCURATE"}}))
    <CitationOrder.ACCURATE: 'accurate'>
    """
    options = fields.inner("citation_options")
    options.refuse({}, ["mode"])
    mode = options.text("mode", _MODES)
    return None if mode is None else _MODES[mode]
