"""Cohere's prompts, made by the vendor's own renderer.

`cohere_melody` knows the templates; what it does to texts on the way is not always right, so that
it is given slots for them. What it would get wrong is done here: markers in texts are broken; all
text blocks of an assistant are one text, as it may show the first alone; citations are written into
it, as it loses the markup at the end of a text that is not ASCII, of adjacent and of nested spans;
what an assistant says beside its calls is a part of its plan, as it shows one of the two; numbers
are written as they were given, as it reads those of more than 64 bits as fractions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any

from tagsmith.engine.melody_filter import load_melody
from tagsmith.errors import RequestError
from tagsmith.events import Target
from tagsmith.render.breaking import (
    Piece,
    Voice,
    broken_value,
    family_markers,
    json_text,
    said_json,
    said_text,
)
from tagsmith.render.citations import cited_pieces, resolve
from tagsmith.render.contents import read_text
from tagsmith.render.options import MarkerPolicy, SafetyMode, Switch
from tagsmith.render.request import PromptRequest, PromptTool
from tagsmith.render.slots import Slots
from tagsmith.render.turns import (
    AssistantTurn,
    Call,
    Document,
    Image,
    Instructions,
    ToolTurn,
    Turn,
    UserTurn,
)
from tagsmith.sources import tool_output
from tagsmith.spec.models import FamilySpec
from tagsmith.spec.policies import MelodyPreset
from tagsmith.wording import one_line, shortened

Config = dict[str, Any]
_APART = "\n\n"
"""What stands between reasoning and content where both are one plan."""


@dataclass(frozen=True, slots=True)
class _Dialect:
    """What is special about a preset's prompts.

    `switches` is the renderer's key and words for citations. `instructions` and `choices` are keys
    of its that template fields may set, texts and others. `silent` is the template that can keep a
    model from thinking where the usual one has no word for it.
    """

    switches: tuple[str, str, str]
    has_safety_mode: bool
    instructions: frozenset[str]
    choices: Mapping[str, tuple[Any, ...]]
    silent: str | None
    name: Callable[[str], Piece]
    result: Callable[[Mapping[str, Any]], Piece]
    arguments: Callable[[Mapping[str, Any], Slots], Any]


def render_by_melody(spec: FamilySpec, request: PromptRequest) -> list[Piece]:
    """The pieces of the prompt for a request.

    Raises:
        RequestError: the family names no preset, or the request cannot be rendered by it.
        MissingDependencyError: the library is absent or of another version.
    """
    if request.documents and not any(isinstance(turn, UserTurn) for turn in request.turns):
        raise RequestError(
            "documents", "stand after what the user says first; give a message of the user"
        )
    slots = Slots()
    return slots.fill(_rendered(spec, request, slots))


def turn_by_melody(spec: FamilySpec, request: PromptRequest) -> list[Piece]:
    """The pieces of the last turn of a request, an assistant's, as the model would have written it.

    Raises: as `render_by_melody`.
    """
    slots = Slots()
    prompt = _rendered(spec, request, slots)
    if not spec.tokens.turn_start or not spec.tokens.turn_end:
        raise RequestError("turn", f"{spec.id} does not say how a turn starts and ends")
    # All that others say is in slots: the last start is that of the turn to come.
    parts = re.split("|".join(map(re.escape, spec.tokens.turn_start)), prompt)
    turn = re.split("|".join(map(re.escape, spec.tokens.turn_end)), parts[-2])[0]
    return slots.fill(turn)


def _rendered(spec: FamilySpec, request: PromptRequest, slots: Slots) -> str:
    if spec.melody is None:
        raise RequestError(
            "chat_template",
            f"{spec.id} names no melody preset, and there is no other renderer; give the text of"
            " the model's chat template",
        )
    preset = spec.melody.preset
    config = _Writer(spec, request, slots, _DIALECTS[preset]).config()
    try:
        prompt: str = getattr(load_melody(), f"render_{preset.value}")(config)
    except (KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:
        # A panic in the library's Rust arrives as a BaseException that is no Exception.
        reason = shortened(one_line(str(error)), 200)
        # All else in a configuration is written here.
        field = "template_fields" if reason.startswith("Invalid config") else "messages"
        raise RequestError(field, f"cohere_melody cannot render them ({reason})") from None
    return prompt


@dataclass(frozen=True, slots=True)
class _Writer:
    """Writes a request as the renderer's configuration, with a slot for all that others say."""

    spec: FamilySpec
    request: PromptRequest
    slots: Slots
    dialect: _Dialect

    def config(self) -> Config:
        """The renderer's configuration."""
        request = self.request
        self._check_order()
        config: Config = {
            "use_jinja": True,  # The other templates show the first block of an answer alone.
            "messages": [self._message(n, turn) for n, turn in enumerate(request.turns)],
            "documents": [self._result(document) for document in request.documents],
            "available_tools": [self._tool(tool) for tool in request.tools],
        }
        if request.reasoning is not Switch.AUTO:
            config["reasoning_type"] = request.reasoning.value
        if request.citations is not Switch.AUTO:
            key, on, off = self.dialect.switches
            config[key] = on if request.citations is Switch.ENABLED else off
        config |= self._safety_mode() | self._response_format()
        return config | self._fields()

    def _fields(self) -> Config:
        """The renderer's own fields, and those of its templates."""
        dialect, fields = self.dialect, dict(self.request.fields)
        own: Config = {}
        if dialect.silent is not None and self.request.reasoning is Switch.DISABLED:
            own["template_id"] = dialect.silent
        for name in dialect.instructions & fields.keys():
            own[name] = self.slots.words(read_text(fields.pop(name), f"template_fields.{name}"))
        for name, allowed in dialect.choices.items():
            if name in fields:
                own[name] = _chosen(fields.pop(name), allowed, f"template_fields.{name}")
        if self.request.markers is MarkerPolicy.ESCAPE:
            fields = broken_value(fields, family_markers(self.spec))
        return own | {"additional_template_fields": fields}

    def _check_order(self) -> None:
        """Refuse what the renderer would give to another call, or fail at."""
        finished: set[str] = set()
        group: set[str] = set()
        for number, turn in enumerate(self.request.turns):
            if not isinstance(turn, ToolTurn):
                finished |= group
                group = set()
                continue
            if turn.call_id in finished:
                raise RequestError(
                    f"messages[{number}].tool_call_id",
                    "the results of this call began before other messages; put them together",
                )
            group.add(turn.call_id)

    def _message(self, number: int, turn: Turn) -> Config:
        if isinstance(turn, AssistantTurn):
            return self._assistant(turn)
        if isinstance(turn, ToolTurn):
            results = [self._result(result) for result in turn.results]
            content = [{"type": "document", "document": result} for result in results]
            return {"role": "tool", "tool_call_id": turn.call_id, "content": content}
        role = "system" if isinstance(turn, Instructions) else "user"
        blocks = [
            self._block(block, f"messages[{number}].content[{index}]")
            for index, block in enumerate(turn.blocks)
        ]
        return {"role": role, "content": blocks}

    def _block(self, block: str | Image, field: str) -> Config:
        if isinstance(block, str):
            return {"type": "text", "text": self.slots.words(block)}
        image = self.spec.tokens.image
        if image is None:
            raise RequestError(field, f"{self.spec.id} sees no pictures; give text")
        return {"type": "image", "image": {"template_placeholder": image}}

    def _assistant(self, turn: AssistantTurn) -> Config:
        thought = self._cited(turn, Target.REASONING, turn.reasoning)
        said = self._cited(turn, Target.CONTENT, turn.content)
        if turn.calls:
            apart = [said_text(_APART)] if turn.reasoning and turn.content else []
            thought, said = [*thought, *apart, *said], []
        blocks = [
            {"type": kind, kind: self.slots.text(*pieces)}
            for kind, pieces in (("thinking", thought), ("text", said))
            if any(piece.text for piece in pieces)
        ]
        calls = [self._call(call) for call in turn.calls]
        return {"role": "chatbot", "content": blocks, "tool_calls": calls}

    def _cited(self, turn: AssistantTurn, target: Target, text: str) -> list[Piece]:
        citations, sources = self.spec.citations, self.request.sources
        if citations is None or sources is None:
            return [said_text(text)]
        spans = [
            (cited.start, min(cited.end, len(text)), resolve(cited, sources))
            for cited in turn.citations
            if cited.target is target
        ]
        return cited_pieces(text, spans, citations.markup)

    def _call(self, call: Call) -> Config:
        arguments = self.dialect.arguments(call.arguments, self.slots)
        name = self.slots.text(self.dialect.name(call.name))
        return {"id": call.id, "name": name, "parameters": json.dumps(arguments)}

    def _result(self, result: str | Document) -> Config:
        data = tool_output(result) if isinstance(result, str) else result.data
        return self.slots.object(self.dialect.result(data))

    def _tool(self, tool: PromptTool) -> Config:
        return {
            "name": self.slots.text(_json_words(tool.name)),
            "description": self.slots.text(_json_words(tool.description)),
            "parameters": self.slots.object(said_json(tool.parameters)),
        }

    def _safety_mode(self) -> Config:
        mode = self.request.safety_mode
        if mode is None:
            return {}
        if not self.dialect.has_safety_mode:
            raise RequestError(
                "safety_mode", f"the prompts of {self.spec.id} have no safety mode; leave it out"
            )
        return {"safety_mode": "none" if mode is SafetyMode.OFF else mode.value}

    def _response_format(self) -> Config:
        schema = self.request.response_schema
        if schema is None:
            return {}
        if schema == {"type": "object"}:
            return {"json_mode": True}
        return {"json_schema": self.slots.text(said_json(schema))}


def _chosen(value: Any, allowed: Sequence[Any], field: str) -> Any:
    if type(value) is not type(allowed[0]) or value not in allowed:
        shown, choices = shortened(repr(value)), ", ".join(map(str, allowed))
        raise RequestError(field, f"unknown value {shown}; allowed: {choices}")
    return value


def _json_words(text: str) -> Piece:
    """A text within the quotes of a JSON string."""
    return Piece(json_text(text)[1:-1], Voice.JSON)


def _attribute(text: str) -> Piece:
    """A text within the quotes of an XML attribute."""
    return said_text(escape(text, quote=False).replace('"', "&quot;"))


def _json_in_xml(value: Mapping[str, Any]) -> Piece:
    """JSON within XML; what looks like the edges of a special token is no markup of either."""
    text = escape(json_text(value), quote=False)
    return Piece(text.replace("&lt;|", "<|").replace("|&gt;", "|>"), Voice.JSON)


def _json_arguments(arguments: Mapping[str, Any], slots: Slots) -> Any:
    return slots.object(said_json(arguments))


def _tagged_arguments(value: Any, slots: Slots) -> Any:
    """Arguments whose structure the template writes, with slots for keys, texts and numbers."""
    if isinstance(value, str):
        return slots.words(value)
    if isinstance(value, Mapping):
        return {
            slots.text(_attribute(key)): _tagged_arguments(item, slots)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_tagged_arguments(item, slots) for item in value]
    if value is None or isinstance(value, bool):
        return value
    return slots.number(value)


_CMD3 = _Dialect(
    switches=("citation_quality", "on", "off"),
    has_safety_mode=True,
    instructions=frozenset({"dev_instruction"}),
    choices={"template_id": ("cmd3-v1", "cmd3-v2", "cmd3-v3"), "skip_preamble": (False, True)},
    silent=None,
    name=_json_words,
    result=said_json,
    arguments=_json_arguments,
)
_CMD4 = replace(
    _CMD3,
    switches=("grounding", "enabled", "disabled"),
    has_safety_mode=False,
    instructions=frozenset({"dev_instruction", "platform_instruction"}),
    choices={"template_id": ("cmd4-v1", "cmd4-v2")},
    silent="cmd4-v2",
)
_CMD5 = replace(
    _CMD4,
    choices={},  # Its other templates write another dialect.
    silent=None,
    name=_attribute,
    result=_json_in_xml,
    arguments=_tagged_arguments,
)
_DIALECTS = {MelodyPreset.CMD3: _CMD3, MelodyPreset.CMD4: _CMD4, MelodyPreset.CMD5: _CMD5}
