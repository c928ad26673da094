"""The prompt for a request, by whichever renderer makes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tagsmith.errors import RequestError, require_text
from tagsmith.render.breaking import Piece, break_markers, family_markers
from tagsmith.render.conversation import message_list
from tagsmith.render.melody import render_by_melody, turn_by_melody
from tagsmith.render.options import MarkerPolicy
from tagsmith.render.request import read_prompt_request
from tagsmith.render.turns import AssistantTurn
from tagsmith.spec.models import FamilySpec


def render_prompt(
    spec: FamilySpec, messages: Any, *, chat_template: str | None = None, **options: Any
) -> str:
    """See `Family.render`."""
    request = read_prompt_request(spec, messages, **options)
    if chat_template is None:
        return _joined(spec, render_by_melody(spec, request), request.markers)
    require_text("chat_template", chat_template)
    from tagsmith.render.chat_template import render_chat_template

    return render_chat_template(spec, request, chat_template)


def render_turn(
    spec: FamilySpec,
    turn: Any,
    *,
    messages: Any = None,
    documents: Any = None,
    units: str = "code-points",
) -> str:
    """See `Family.render_turn`."""
    history = () if messages is None else message_list(messages)
    request = read_prompt_request(spec, [*history, turn], documents=documents, units=units)
    if not isinstance(request.turns[-1], AssistantTurn):
        raise RequestError("turn", "must be a message of the assistant")
    return _joined(spec, turn_by_melody(spec, request), request.markers)


def _joined(spec: FamilySpec, pieces: Sequence[Piece], markers: MarkerPolicy) -> str:
    if markers is MarkerPolicy.KEEP:
        return "".join(piece.text for piece in pieces)
    return break_markers(pieces, family_markers(spec))
