"""From the bytes of a request to all that its generation needs. Plain work, done in a thread."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from tagsmith.errors import RequestError
from tagsmith.parser import Parser
from tagsmith.render.options import THINKING_SWITCHES, Switch
from tagsmith.serve.apis import Api
from tagsmith.serve.generation import Generation
from tagsmith.serve.problems import ServeError, bad_request, unknown_model
from tagsmith.serve.settings import Settings
from tagsmith.serve.spellings import upstream_body
from tagsmith.serve.tags import choose_tag
from tagsmith.wire.options import CitationOrder
from tagsmith.wording import one_line, shortened

_HALF_PAIR = re.compile(rb"\\u[dD][89a-fA-F]")


@dataclass(frozen=True, slots=True)
class Prepared:
    """What a request has become: the upstream's request, and a parser for each choice."""

    generation: Generation
    body: dict[str, Any]
    parsers: tuple[Parser, ...]
    unenforced: tuple[str, ...]


def prepare(api: Api, raw: bytes, settings: Settings) -> Prepared:
    """Read a request, make its prompt and its structural tag.

    Raises:
        ServeError: the request cannot be served; it says which field is wrong.
    """
    try:
        generation = _read(api, raw, settings)
        prompt = render_prompt(settings, generation)
        chosen = choose_tag(settings, generation, prompt)
        return Prepared(
            generation=generation,
            body=upstream_body(settings, generation, prompt, chosen.tag),
            parsers=tuple(_parser(settings, generation, prompt) for _ in range(generation.choices)),
            unenforced=chosen.unenforced,
        )
    except RequestError as error:
        raise bad_request(error, api.names) from None
    except RecursionError:
        raise ServeError(400, "the body is nested too deeply") from None


def _read(api: Api, raw: bytes, settings: Settings) -> Generation:
    try:
        generation = api.read(read_json(raw), settings.limits)
    except RequestError as error:
        raise bad_request(error) from None
    if generation.model != settings.model_name:
        raise unknown_model(generation.model, settings.model_name)
    return generation


def read_json(raw: bytes) -> Mapping[str, Any]:
    """The object that a body holds.

    Raises:
        ServeError: the body is no JSON object in UTF-8.

    >>> read_json(b'{"n": 1}')
    {'n': 1}
    """
    try:
        value = json.loads(raw.decode(), parse_constant=_no_constant)
        if _HALF_PAIR.search(raw):
            json.dumps(value, ensure_ascii=False).encode()
    except ValueError as error:
        raise ServeError(400, f"the body is no JSON in UTF-8: {one_line(str(error))}") from None
    if not isinstance(value, dict):
        raise ServeError(400, "the body is no JSON object")
    return value


def render_prompt(settings: Settings, generation: Generation) -> str:
    """The prompt of a request, by the settings' chat template or the family's own renderer.

    Raises:
        RequestError: it cannot be rendered.
    """
    order = generation.citation_order(settings.citations)
    fields = generation.template_fields
    if settings.chat_template is None:
        unseen = fields.keys() - {*THINKING_SWITCHES, "reasoning_effort"}
        if unseen:
            names = one_line(shortened(", ".join(sorted(unseen))))
            raise RequestError("chat_template_kwargs", f"no chat template is there to see {names}")
        fields = {}
    return settings.family.render(
        generation.messages,
        tools=generation.tools,
        documents=generation.documents,
        response_format=generation.response_format,
        reasoning=generation.reasoning,
        citations=Switch.DISABLED if order is CitationOrder.OFF else Switch.AUTO,
        safety_mode=generation.safety_mode,
        chat_template=settings.chat_template,
        template_fields=fields or None,
        special_tokens=settings.special_tokens,
        units=settings.units,
    )


def _parser(settings: Settings, generation: Generation, prompt: str) -> Parser:
    return settings.family.parser(
        tools=generation.tools,
        tool_choice=generation.tool_choice,
        documents=generation.documents,
        messages=generation.messages,
        prompt=prompt,
        stop=generation.stop,
    )


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")
