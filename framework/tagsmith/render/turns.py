"""A conversation as a prompt needs it: what each turn says, whatever the API it was written for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tagsmith.events import Target
from tagsmith.sources import Position


@dataclass(frozen=True, slots=True)
class Image:
    """A picture in what a user says; `block` is the content block as it was given."""

    block: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Document:
    """A document: what a tool brought, or what the request gives to cite."""

    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call that an assistant made."""

    id: str
    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Cited:
    """What an assistant cited: `start` and `end` in code points of its content or its reasoning.

    What it points to are `positions`, or `sources` as an answer shows them.
    """

    target: Target
    start: int
    end: int
    positions: tuple[Position, ...] = ()
    sources: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Instructions:
    """What the system or the developer says; `role` is the word that was used."""

    role: str
    blocks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UserTurn:
    """What the user says."""

    blocks: tuple[str | Image, ...]


@dataclass(frozen=True, slots=True)
class AssistantTurn:
    """What the model said before; texts are empty where there is none."""

    reasoning: str = ""
    content: str = ""
    calls: tuple[Call, ...] = ()
    citations: tuple[Cited, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolTurn:
    """What one tool call brought."""

    call_id: str
    results: tuple[str | Document, ...]
    name: str | None = None


Turn = Instructions | UserTurn | AssistantTurn | ToolTurn
