"""Prompts made by a model's chat template, in Jinja, as Hugging Face's transformers runs it.

A template looks into what it is given (it splits and trims texts, tests how they begin), so that it
is given the texts themselves, every marker in each of them broken. What could still become one at
the edges of a text is watched on its way through the template.
"""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any, NoReturn

from tagsmith.errors import MissingDependencyError, RequestError
from tagsmith.render.breaking import break_markers, broken_value, family_markers, json_text
from tagsmith.render.contents import read_text
from tagsmith.render.edges import Watch, build_watch
from tagsmith.render.options import THINKING_SWITCHES, MarkerPolicy, Switch
from tagsmith.render.request import PromptRequest
from tagsmith.render.turns import (
    AssistantTurn,
    Document,
    Image,
    ToolTurn,
    Turn,
    UserTurn,
)
from tagsmith.spec.models import FamilySpec
from tagsmith.wording import one_line, shortened

try:
    from jinja2 import TemplateError, nodes
    from jinja2.exceptions import TemplateSyntaxError
    from jinja2.ext import Extension, loopcontrols
    from jinja2.parser import Parser
    from jinja2.sandbox import ImmutableSandboxedEnvironment
except ImportError as error:
    raise MissingDependencyError(
        "chat templates need jinja2; run: pip install 'tagsmith[serve]'"
    ) from error

FIELD = "chat_template"
MAX_TEMPLATE = 1_000_000
"""The longest chat template, in characters."""

_THINKING_FIELDS = (*THINKING_SWITCHES, "reasoning")
"""What templates call the switch for reasoning; each reads one of them."""
_TOKEN_FIELDS = ("bos_token", "eos_token", "pad_token", "unk_token")
"""Empty unless the caller says them: the first token may be the business of who runs the model."""
_LONGEST_REASON = 300


class _Generation(Extension):
    """`{% generation %}`: it marks what a model is trained on, and changes nothing in a prompt."""

    tags = {"generation"}  # noqa: RUF012

    def parse(self, parser: Parser) -> list[nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


def render_chat_template(spec: FamilySpec, request: PromptRequest, template: str) -> str:
    """The prompt that a chat template makes of a request.

    Raises:
        RequestError: the template is none, fails, or refuses the conversation; the line is named.
    """
    variables = {**_variables(request), **request.fields}
    compiled = _compiled(template)
    markers = family_markers(spec)
    watch: Watch | None = None
    if request.markers is MarkerPolicy.ESCAPE:
        variables = broken_value(variables, markers)
        watch = build_watch(variables, markers)
        variables = watch.mark(variables)
    try:
        # Special tokens are the server's own words.
        prompt = compiled({**variables, **request.special_tokens})
    except Exception as error:
        _refuse(error)
    prompt = read_text(prompt, FIELD)
    return prompt if watch is None else break_markers(watch.pieces(prompt), markers)


def _refuse(error: Exception) -> NoReturn:
    line = error.lineno if isinstance(error, TemplateSyntaxError) else _line(error)
    where = f"line {line}: " if line is not None else ""
    reason = shortened(one_line(str(error) or type(error).__name__), _LONGEST_REASON)
    raise RequestError(FIELD, f"{where}{reason}") from None


def _line(error: Exception) -> int | None:
    """The template's line that was at work."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == "<template>"]
    return lines[-1] if lines else None


@lru_cache(maxsize=64)
def _compiled(template: str) -> Callable[[Mapping[str, Any]], str]:
    if len(template) > MAX_TEMPLATE:
        raise RequestError(FIELD, f"is longer than {MAX_TEMPLATE} characters")
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[_Generation, loopcontrols]
    )
    environment.filters["tojson"] = _to_json
    environment.globals["raise_exception"] = _raise_exception
    environment.globals["strftime_now"] = _strftime_now
    try:
        return environment.from_string(template).render
    except Exception as error:
        _refuse(error)


def _to_json(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | str | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    """Jinja's own filter escapes what HTML would read; no model reads HTML."""
    return json.dumps(
        value,
        ensure_ascii=ensure_ascii,
        indent=indent,
        separators=separators,
        sort_keys=sort_keys,
    )


def _raise_exception(message: str) -> NoReturn:
    raise TemplateError(message)


def _strftime_now(form: str) -> str:
    return datetime.now().strftime(form)


def _variables(request: PromptRequest) -> dict[str, Any]:
    """What the template is given; special tokens are empty unless the server says them."""
    names = {
        call.id: call.name
        for turn in request.turns
        if isinstance(turn, AssistantTurn)
        for call in turn.calls
    }
    given: dict[str, Any] = {
        "messages": [_message(turn, names) for turn in request.turns],
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.parameters,
                },
            }
            for tool in request.tools
        ]
        or None,
        "documents": [document.data for document in request.documents] or None,
        "add_generation_prompt": True,
        **dict.fromkeys(_TOKEN_FIELDS, ""),
    }
    if request.response_schema is not None:
        given["response_format"] = {"type": "json_object", "schema": request.response_schema}
    if request.safety_mode is not None:
        given["safety_mode"] = request.safety_mode.value.upper()
    if request.citations is not Switch.AUTO:
        given["enable_citations"] = request.citations is Switch.ENABLED
    if request.reasoning is not Switch.AUTO:
        given |= dict.fromkeys(_THINKING_FIELDS, request.reasoning is Switch.ENABLED)
    return given


def _message(turn: Turn, names: Mapping[str, str]) -> dict[str, Any]:
    """A message as chat templates read it: Chat Completions, with arguments as objects."""
    if isinstance(turn, AssistantTurn):
        return _assistant(turn)
    if isinstance(turn, ToolTurn):
        message = {
            "role": "tool",
            "tool_call_id": turn.call_id,
            "content": "\n".join(map(_result, turn.results)),
        }
        name = turn.name or names.get(turn.call_id)
        return message if name is None else {**message, "name": name}
    role = "user" if isinstance(turn, UserTurn) else turn.role
    if not any(isinstance(block, Image) for block in turn.blocks):
        return {"role": role, "content": "\n".join(map(str, turn.blocks))}
    blocks = [
        {"type": "text", "text": block} if isinstance(block, str) else dict(block.block)
        for block in turn.blocks
    ]
    return {"role": role, "content": blocks}


def _assistant(turn: AssistantTurn) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": turn.content}
    if turn.reasoning:
        message |= {"reasoning_content": turn.reasoning, "reasoning": turn.reasoning}
    if turn.calls:
        message["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in turn.calls
        ]
    return message


def _result(result: str | Document) -> str:
    return result if isinstance(result, str) else json_text(result.data)
