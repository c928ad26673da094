"""From events and messages to what clients read: Chat Completions, Cohere v2, Responses items.

>>> from tagsmith.message import Message
>>> from tagsmith.wire import cohere_response
>>> cohere_response(Message(content="Hi", finish_reason="stop"), id="chat_1")["finish_reason"]
'COMPLETE'
"""

from tagsmith.wire.chat import chat_completion, chat_message
from tagsmith.wire.chat_chunks import ChatChunks, usage_chunk
from tagsmith.wire.cohere import cohere_message, cohere_response
from tagsmith.wire.cohere_events import CohereEvents
from tagsmith.wire.finish import (
    CallCount,
    chat_finish_reason,
    cohere_finish_reason,
    read_finish_reason,
)
from tagsmith.wire.options import (
    CitationOrder,
    OffsetUnit,
    ReasoningField,
    StreamUsage,
    ThoughtForm,
    Usage,
)
from tagsmith.wire.response_events import ResponseEvents
from tagsmith.wire.responses import response, response_items
from tagsmith.wire.safe_text import safe_error
from tagsmith.wire.sse import DONE, sse_frame

__all__ = [
    "DONE",
    "CallCount",
    "ChatChunks",
    "CitationOrder",
    "CohereEvents",
    "OffsetUnit",
    "ReasoningField",
    "ResponseEvents",
    "StreamUsage",
    "ThoughtForm",
    "Usage",
    "chat_completion",
    "chat_finish_reason",
    "chat_message",
    "cohere_finish_reason",
    "cohere_message",
    "cohere_response",
    "read_finish_reason",
    "response",
    "response_items",
    "safe_error",
    "sse_frame",
    "usage_chunk",
]
