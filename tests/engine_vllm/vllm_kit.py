"""From a family's name to an answer, by vLLM's own way: its registries, its `ParserManager`, its
requests, and text as its detokenizer would cut it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import tagsmith
from tagsmith import Family
from tagsmith.integrations.vllm import register
from tagsmith.testing import Case, MockTokenizer, by_n_tokens
from tagsmith.testing.driver import decode_groups

register()

from vllm.entrypoints.generate.base.protocol import DeltaMessage  # noqa: E402
from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest  # noqa: E402
from vllm.entrypoints.openai.responses.protocol import ResponsesRequest  # noqa: E402
from vllm.parser import Parser, ParserManager  # noqa: E402

Request: TypeAlias = ChatCompletionRequest | ResponsesRequest
Make: TypeAlias = Callable[..., Request]

QUESTION = "What is the weather?"
WEATHER = {
    "name": "get_weather",
    "description": "Tells the weather.",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["city"],
    },
}
NOW = {"name": "now", "parameters": {"type": "object", "properties": {}}}


def parser_class(name: str, tokenizer: Any = None, **options: Any) -> type[Parser]:
    """What vLLM makes at start of `--reasoning-parser NAME --tool-call-parser NAME`."""
    given = {
        "tool_parser_name": name,
        "reasoning_parser_name": name,
        "enable_auto_tools": True,
        "model_name": "served-model",
        "tokenizer": tokenizer,
    }
    made = ParserManager.get_parser(**(given | options))
    assert made is not None
    return made


def chat(tools: Sequence[dict[str, Any]] | None = None, **fields: Any) -> ChatCompletionRequest:
    """A request of Chat Completions. `tools` are functions, whichever way they are spelled."""
    if tools is not None:
        fields["tools"] = [{"type": "function", "function": function(tool)} for tool in tools]
    messages = [{"role": "user", "content": QUESTION}]
    return ChatCompletionRequest.model_validate({"messages": messages} | fields)


def responses(tools: Sequence[dict[str, Any]] | None = None, **fields: Any) -> ResponsesRequest:
    """The same of the Responses API, which has neither messages nor documents, and other tools."""
    if tools is not None:
        fields["tools"] = [
            {"type": "function"} | function(tool) if _is_function(tool) else tool for tool in tools
        ]
    choice = fields.get("tool_choice")
    if isinstance(choice, dict) and "function" in choice:
        fields["tool_choice"] = {"type": "function", "name": choice["function"]["name"]}
    for only_chat in ("messages", "documents"):
        fields.pop(only_chat, None)
    return ResponsesRequest.model_validate({"input": QUESTION} | fields)


BOTH = {"chat": chat, "responses": responses}
"""Ways to make a request, by the API's name."""


def function(tool: dict[str, Any]) -> dict[str, Any]:
    """The function of a tool in any spelling, with what the Responses API asks for."""
    told = tool.get("function", tool)
    return {"strict": None, "parameters": None} | {
        key: told[key] for key in ("name", "description", "parameters", "strict") if key in told
    }


def _is_function(tool: dict[str, Any]) -> bool:
    return tool.get("type", "function") == "function"


@dataclass
class Told:
    """What a client was told in the end."""

    reasoning: str | None = None
    content: str | None = None
    calls: list[tuple[str, str]] = field(default_factory=list)
    """Name and arguments of each call, by its index."""
    ids: list[str] = field(default_factory=list)
    citations: list[Any] = field(default_factory=list)

    def add(self, delta: DeltaMessage) -> None:
        """Take a step of a stream as a client does."""
        if delta.reasoning:
            self.reasoning = (self.reasoning or "") + delta.reasoning
        if delta.content:
            self.content = (self.content or "") + delta.content
        for call in delta.tool_calls:
            assert call.function is not None
            if call.index == len(self.calls):
                assert call.type == "function"
                self.calls.append((call.function.name, ""))
                self.ids.append(call.id)
            else:
                assert call.function.name is None
                assert call.id is None
            name, arguments = self.calls[call.index]
            self.calls[call.index] = name, arguments + (call.function.arguments or "")
        self.citations += getattr(delta, "citations", None) or []


class Served:
    """One family behind one tokenizer, as a server holds it."""

    def __init__(self, family: Family | str, name: str | None = None, **options: Any) -> None:
        self.family = tagsmith.get_family(family) if isinstance(family, str) else family
        self.tokenizer = MockTokenizer.for_family(self.family)
        self.parser_class = parser_class(
            name or f"tagsmith-{self.family.id}", self.tokenizer, **options
        )

    def parser(self, request: Request, prompt: str | None = None) -> Parser:
        """A parser for one choice, knowing the prompt where one is given."""
        made = self.parser_class(
            self.tokenizer,
            request.tools,
            chat_template_kwargs=request.chat_template_kwargs or {},
        )
        if prompt is not None:
            made.set_prompt_token_ids(self.tokenizer.encode(prompt))
        return made

    def adjusted(self, request: Request, prompt: str | None = None) -> Request:
        """The request as it is changed before it goes to the engine."""
        return self.parser(request, prompt).adjust_request(request)

    def whole(
        self, text: str, request: Request, prompt: str | None = None, ids: Sequence[int] = ()
    ) -> Told:
        """The answer without a stream."""
        parser = self.parser(request, prompt)
        reasoning, content, calls = parser.parse(
            text, request, enable_auto_tools=True, model_output_token_ids=ids
        )
        told = [(call.name, call.arguments) for call in calls or ()]
        call_ids = [call.id for call in calls or ()]
        return Told(reasoning, content, told, call_ids, parser.last_unary_citations or [])

    def streamed(
        self,
        ids: Sequence[int],
        request: Request,
        prompt: str | None = None,
        *,
        tokens_a_step: int = 1,
        hidden_end: bool = False,
    ) -> Told:
        """The answer of a stream, from tokens. `hidden_end`: the last token is not in the text."""
        told = Told()
        for delta in self.deltas(
            ids, request, prompt, tokens_a_step=tokens_a_step, hidden_end=hidden_end
        ):
            told.add(delta)
        return told

    def deltas(
        self,
        ids: Sequence[int],
        request: Request,
        prompt: str | None = None,
        *,
        tokens_a_step: int = 1,
        hidden_end: bool = False,
    ) -> Iterator[DeltaMessage]:
        """The steps of a stream, those that tell something."""
        parser = self.parser(request)
        prompt_ids = None if prompt is None else self.tokenizer.encode(prompt)
        groups = by_n_tokens(list(ids), tokens_a_step) or [[]]
        last = len(groups) - 1
        for number, (text, group) in enumerate(decode_groups(groups, self.tokenizer)):
            if hidden_end and number == last:
                text = text.removesuffix(self.tokenizer.decode(group[-1:]))
            delta = parser.parse_delta(
                text, group, request, prompt_token_ids=prompt_ids, finished=number == last
            )
            if delta is not None:
                yield delta


def tools_of(case: Case) -> list[dict[str, Any]]:
    """The tools of a case; where it names none, those that it calls, which take anything."""
    if case.tools is not None:
        return list(case.tools)
    names = dict.fromkeys([*(call.name for call in case.tool_calls), WEATHER["name"]])
    return [{"name": name} for name in names]


def fresh(code: str, **environment: str) -> tuple[Any, list[str]]:
    """What a new process with the plug-in prints as JSON, and what Tagsmith logs in it."""
    told = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        env=os.environ | {"VLLM_PLUGINS": "tagsmith", "VLLM_LOGGING_LEVEL": "ERROR"} | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 0, told.stderr
    logged = [line for line in told.stderr.splitlines() if "tagsmith" in line]
    return json.loads(told.stdout.splitlines()[-1]), logged
