"""What a request of SGLang's asks, and how it is changed so that the engine gives it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from sglang.srt.environ import ToolStrictLevel, envs
from sglang.srt.sampling.sampling_params import set_request_reasoning_in_grammar

from tagsmith.errors import RequestError
from tagsmith.family import Family
from tagsmith.guidance import (
    Asked,
    Unenforced,
    fields_asked,
    guiding_tag,
    strict_fields,
)
from tagsmith.integrations.stops import may_stop_engine
from tagsmith.render.options import Switch, read_thinking_switch
from tagsmith.request import ReasoningMode, Strictness
from tagsmith.request.plain import plain

_OWN_CONSTRAINTS = ("regex", "ebnf", "structural_tag")
_tags_elsewhere: ContextVar[bool] = ContextVar("tagsmith_tags_elsewhere", default=False)


@dataclass(frozen=True, slots=True)
class Plan:
    """What becomes of one request, from its prompt to its sampling parameters.

    `prompt` is the end of the prompt as text. `tools` and `tool_choice` are those of the request,
    in the Chat Completions shape, where its calls are read, else none and "none". `stop_ids` are
    the tokens that end the turn. `backend` is the engine's grammar backend.
    """

    family: Family
    prompt: str
    tools: Sequence[Any] | None
    tool_choice: Any
    parallel_tool_calls: bool
    mode: ReasoningMode
    stop_ids: Sequence[int] = ()
    backend: str | None = None

    def engine_stops(self, stops: str | Sequence[str] | None, users: Any) -> list[str]:
        """Those stop strings that the engine may look for; the parser looks for the user's."""
        given = read_stops(stops)
        if may_stop_engine(
            self.family,
            read_stops(users),
            may_call=bool(self.tools) and self.tool_choice != "none",
            may_reason=self.mode is not ReasoningMode.DISABLED,
        ):
            return given
        return [stop for stop in given if stop not in read_stops(users)]

    def apply(self, request: Any, params: dict[str, Any]) -> None:
        """Set what the engine is told.

        Raises:
            RequestError: the request asks for what no grammar holds, or a field of it is wrong.
        """
        request._response_parser_prefix = self.prompt
        params["skip_special_tokens"] = params["spaces_between_special_tokens"] = False
        if self.stop_ids and not params.get("ignore_eos"):
            known = params.get("stop_token_ids") or ()
            params["stop_token_ids"] = list(dict.fromkeys([*known, *self.stop_ids]))
        self._constrain(request, params)

    def _constrain(self, request: Any, params: dict[str, Any]) -> None:
        level = envs.SGLANG_TOOL_STRICT_LEVEL.get()
        response_format = _response_format(request, params)
        asked = Asked(
            tools=self.tools,
            tool_choice=self.tool_choice,
            response_format=response_format,
            parallel_tool_calls=self.parallel_tool_calls,
            strict=Strictness.ALL if level >= ToolStrictLevel.PARAMETER else Strictness.PER_TOOL,
            held=strict_fields(self.tools, response_format),
        )
        needs = fields_asked(asked)
        if not needs and not (self.tools and level >= ToolStrictLevel.FUNCTION):
            return
        own = [name for name in _OWN_CONSTRAINTS if params.get(name)]
        if own and "tool_choice" not in needs:
            # The user's own grammar stands.
            return
        if own:
            raise RequestError("tool_choice", f"a forced call cannot be combined with {own[0]}")
        if self.backend not in (None, "xgrammar"):
            raise RequestError(
                needs[0] if needs else "tools",
                f"asks for what only a grammar holds, and the grammar backend {self.backend} takes "
                "no structural tag; start SGLang with --grammar-backend xgrammar",
            )
        params["structural_tag"] = guiding_tag(
            self.family, asked, self.mode, Unenforced.REFUSE
        ).text
        params.pop("json_schema", None)
        # The tag covers the whole output, so the engine need not wait for the end of reasoning.
        set_request_reasoning_in_grammar(params, self.mode is ReasoningMode.ENABLED)


def reasoning_of(family: Family, prompt: str, template_fields: Mapping[str, Any]) -> ReasoningMode:
    """Where the grammar meets reasoning, by the prompt and what the request says of thinking."""
    wanted = read_thinking_switch(template_fields)
    return family.reasoning_mode(prompt, wanted or Switch.AUTO)


def read_tools(tools: Iterable[Any]) -> list[dict[str, Any]]:
    """Tools of SGLang's, of whichever of its models, in the Chat Completions shape."""
    shown = []
    for tool in tools:
        function = tool.function
        given = {
            "name": function.name,
            "description": function.description,
            "parameters": function.parameters,
            "strict": getattr(function, "strict", None),
        }
        fields = {name: value for name, value in given.items() if value is not None}
        shown.append({"type": "function", "function": fields})
    return shown


def read_choice(choice: Any) -> Any:
    """A tool choice of SGLang's in the Chat Completions shape."""
    return plain(choice)


def read_stops(stops: str | Sequence[str] | None) -> list[str]:
    """Stop strings as a list."""
    return [stops] if isinstance(stops, str) else list(stops or ())


@contextmanager
def with_tags_elsewhere() -> Iterator[None]:
    """While SGLang reads a request whose tag is made from the whole of it."""
    token = _tags_elsewhere.set(True)
    try:
        yield
    finally:
        _tags_elsewhere.reset(token)


def tags_elsewhere() -> bool:
    """Whether a detector that is asked for a tag need not make one."""
    return _tags_elsewhere.get()


def _response_format(request: Any, params: Mapping[str, Any]) -> Any:
    """The schema that the answer has to keep, whichever field of whichever API gives it."""
    schema = params.get("json_schema")
    if schema is None:
        return None
    given = getattr(request, "response_format", None)
    text = getattr(request, "text", None)
    config = getattr(given, "json_schema", None) or getattr(text, "format", None)
    strict = getattr(config, "strict", None) is True
    return {
        "type": "json_schema",
        "json_schema": {"schema": json.loads(schema), "strict": strict},
    }
