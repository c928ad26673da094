"""The shapes that a message is written in."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any

from tagsmith.message import Message
from tagsmith.wire.chat import chat_message
from tagsmith.wire.cohere import cohere_message


class Shape(StrEnum):
    """How a message is written: `message` has everything, the others are what clients read."""

    MESSAGE = "message"
    OPENAI = "openai"
    COHERE = "cohere"


SHAPES: dict[Shape, Callable[[Message], dict[str, Any]]] = {
    Shape.MESSAGE: Message.to_dict,
    Shape.OPENAI: chat_message,
    Shape.COHERE: cohere_message,
}
"""Makes the JSON-ready values of each shape."""
