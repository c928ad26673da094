"""The APIs that are served: how each reads a request, and in which shape it answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tagsmith.serve.answers import Answer, ChatAnswer, CohereAnswer, chat_error, cohere_error
from tagsmith.serve.generation import Generation
from tagsmith.serve.problems import ServeError
from tagsmith.serve.read_chat import NAMES as CHAT_NAMES
from tagsmith.serve.read_chat import read_chat
from tagsmith.serve.read_cohere import NAMES as COHERE_NAMES
from tagsmith.serve.read_cohere import read_cohere
from tagsmith.serve.settings import Limits, Settings


@dataclass(frozen=True, slots=True)
class Api:
    """One API. `path` is where it is asked, `names` are what it calls fields by otherwise."""

    path: str
    read: Callable[[Mapping[str, Any], Limits], Generation]
    answer: Callable[[Settings, Generation], Answer]
    error: Callable[[ServeError], dict[str, Any]]
    names: Mapping[str, str]


CHAT = Api("/v1/chat/completions", read_chat, ChatAnswer, chat_error, CHAT_NAMES)
COHERE = Api("/v2/chat", read_cohere, CohereAnswer, cohere_error, COHERE_NAMES)


def api_of(path: str) -> Api:
    """The API whose shape an error at this path has.

    >>> api_of("/v2/embed").path, api_of("/nowhere").path
    ('/v2/chat', '/v1/chat/completions')
    """
    return COHERE if path.startswith("/v2/") else CHAT
