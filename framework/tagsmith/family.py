"""A model family, compiled: the one object from which parsers, grammars and serving facts come."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tagsmith.engine.base import Context, Engine
from tagsmith.engine.guarded import GuardedEngine
from tagsmith.engine.layouts import ENCODINGS, Encodings
from tagsmith.engine.melody import MelodyEngine
from tagsmith.engine.native import NativeEngine
from tagsmith.engine.plugin_engines import Engines
from tagsmith.engine.program import NativeProgram, compile_native
from tagsmith.engine.spans import Span, SpanMap
from tagsmith.engine.tables import marker_meanings
from tagsmith.engine.tokens import TokenText
from tagsmith.errors import RequestError, require_text
from tagsmith.message import Message
from tagsmith.parser import Parser
from tagsmith.reasoning_gate import ReasoningGate, build_reasoning_gate
from tagsmith.request import (
    MarkerForm,
    ReasoningMode,
    Request,
    Tool,
    ToolChoiceMode,
    read_request,
    read_tool_choice,
    read_tools,
)
from tagsmith.request.plain import named
from tagsmith.serving import Serving, serving_facts
from tagsmith.sources import SourceMap, build_source_map, read_source_map
from tagsmith.spec.models import FamilySpec
from tagsmith.spec.policies import EngineName
from tagsmith.tokenizers import Tokenizer, check_tokenizer, marker_ids
from tagsmith.wording import shortened

if TYPE_CHECKING:
    from tagsmith.grammar import StructuralTag

MAX_STOPS = 64
"""How many stop strings a request may give."""
MAX_STOP_LENGTH = 256
"""The longest stop string, in characters."""


@dataclass(frozen=True, slots=True)
class Family:
    """One model family, immutable and shared by all threads.

    Parameters: `spec` is the family file as read, `source` the path it came from, `encodings` the
    argument encodings that it may name: Tagsmith's own, unless a registry adds those of plug-ins,
    as `engines` are theirs.

    >>> import tagsmith
    >>> family = tagsmith.get_family("cohere-command-a")
    >>> family.parse("<|START_RESPONSE|>Paris.<|END_RESPONSE|>").content
    'Paris.'
    """

    spec: FamilySpec
    source: str | None = None
    encodings: Encodings = field(default_factory=lambda: ENCODINGS, repr=False, hash=False)
    engines: Engines = field(default_factory=dict, repr=False, hash=False)
    _native: NativeProgram = field(init=False, repr=False, compare=False)
    _serving: Serving = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_native", compile_native(self.spec, self.encodings))
        object.__setattr__(self, "_serving", serving_facts(self.spec))

    @property
    def id(self) -> str:
        """The family's own name."""
        return self.spec.id

    @property
    def title(self) -> str:
        """The name people use."""
        return self.spec.title or self.spec.id

    @property
    def markers(self) -> tuple[str, ...]:
        """Every marker of the family that a tokenizer may hold as one token."""
        return tuple(marker_meanings(self.spec))

    @property
    def serving(self) -> Serving:
        """What any server must know about the family."""
        return self._serving

    def parser(
        self,
        *,
        tools: Any = None,
        tool_choice: Any = None,
        documents: Sequence[Any] | None = None,
        messages: Sequence[Any] | None = None,
        source_map: Mapping[Any, Any] | SourceMap | None = None,
        prompt: str | None = None,
        stop: str | Sequence[str] | None = None,
        tokenizer: Tokenizer | None = None,
        engine: str | None = None,
    ) -> Parser:
        """A parser for one generation.

        Parameters: `tools` and `tool_choice` as in a chat request. `documents` and `messages`, the
        conversation so far, tell what citations point to; `source_map` is a ready-made map in
        their place. `prompt` is the prompt's text: what follows the last turn start says where the
        output begins. `stop` are the user's stop strings. `tokenizer` is needed for `token_ids`.
        `engine` is `native`, `melody`, or one that a plug-in brings; the family's own choice by
        default.

        Raises `RequestError` for a request that cannot be served.
        """
        context = self._context(tools, tool_choice, documents, messages, source_map, prompt, stop)
        markers = {}
        if tokenizer is not None:
            check_tokenizer(tokenizer)
            markers = marker_ids(tokenizer, self.markers)
        runner = self._engine(engine, context, frozenset(markers.values()))
        return Parser(runner, None if tokenizer is None else TokenText(tokenizer, markers))

    def parse(self, text: str, *, finish_reason: str | None = "stop", **options: Any) -> Message:
        """Read a whole output at once. `options` are those of `parser`.

        Any text gives a message; what was not as the family says stands in its diagnostics.
        """
        parser = self.parser(**options)
        parser.feed(text)
        parser.finish(finish_reason)
        return parser.message

    def explain(self, text: str, **options: Any) -> list[Span]:
        """What each stretch of `text` was read as; the spans tile it. `options` as in `parser`.

        >>> import tagsmith
        >>> spans = tagsmith.get_family("cohere-command-a").explain("<|START_RESPONSE|>Hi ")
        >>> [(span.kind.value, span.text) for span in spans]
        [('marker', '<|START_RESPONSE|>'), ('content', 'Hi'), ('whitespace', ' ')]
        """
        named = ("tools", "tool_choice", "documents", "messages", "source_map", "prompt", "stop")
        context = self._context(*(options.pop(name, None) for name in named))
        if options:
            raise RequestError(", ".join(options), f"explain takes only {', '.join(named)}")
        spans = SpanMap()
        engine = NativeEngine(self._native, context, spans=spans)
        engine.feed(text)
        engine.finish()
        return spans.spans(text)

    def structural_tag(
        self,
        *,
        tools: Any = None,
        tool_choice: Any = None,
        response_format: Any = None,
        parallel_tool_calls: bool | None = None,
        strict: str = "per-tool",
        reasoning: str = "gated",
        unenforceable: str = "error",
        markers: str = "text",
        tokenizer: Any = None,
        validate: bool = False,
    ) -> dict[str, Any]:
        """The structural tag that holds a model to this family's format and the request.

        Parameters: `tools`, `tool_choice`, `response_format` and `parallel_tool_calls` as in a
        chat request. `strict` is `per-tool`, or `all` to hold tools that say `strict: false` too.
        `reasoning` says what the grammar sees of it: `gated` (the server switches the grammar on
        after it), `enabled` (the prompt opened it), `auto` (a block or none) or `disabled`.
        `unenforceable` is `error`, or `report` to go without what no grammar holds. `markers`,
        `tokenizer` and `validate` as in `shared_structural_tag`.

        Raises `RequestError` for a request that cannot be served, or not be enforced, and
        `MissingDependencyError` where `validate` finds no xgrammar.
        """
        request = read_request(
            tools=tools,
            tool_choice=tool_choice,
            response_format=response_format,
            parallel_tool_calls=parallel_tool_calls,
            strict=strict,
            reasoning=reasoning,
            unenforceable=unenforceable,
        )
        return self.shared_structural_tag(
            request, markers=markers, tokenizer=tokenizer, validate=validate
        ).to_dict()

    def shared_structural_tag(
        self,
        request: Request,
        *,
        markers: str = "text",
        tokenizer: Any = None,
        validate: bool = False,
    ) -> StructuralTag:
        """The structural tag of a request that is read already, immutable and shared by all equal
        requests: as JSON text, with what it does not hold.

        Parameters: `request` from `tagsmith.request.read_request`. `markers` is `text`, or
        `tokens` to take the family's markers for tokens of their own, those of `tokenizer`.
        `validate` compiles the tag in xgrammar too.

        >>> import tagsmith
        >>> from tagsmith.request import read_request
        >>> tag = tagsmith.get_family("cohere-command-r").shared_structural_tag(read_request())
        >>> tag.text[:25], tag.limitations
        ('{"type":"structural_tag",', ())
        """
        from tagsmith.grammar import shared_structural_tag, validate_structural_tag

        tokens = None
        if named(MarkerForm, markers, "markers") is MarkerForm.TOKENS:
            if tokenizer is None:
                raise RequestError("tokenizer", 'markers="tokens" asks for the model\'s tokenizer')
            tokens = frozenset(marker_ids(tokenizer, self.markers).values())
        tag = shared_structural_tag(self.spec, request, tokens)
        if validate:
            validate_structural_tag(tag, self.markers)
        return tag

    def render(
        self,
        messages: Any,
        *,
        tools: Any = None,
        documents: Any = None,
        response_format: Any = None,
        reasoning: str = "auto",
        citations: str = "auto",
        safety_mode: str | None = None,
        chat_template: str | None = None,
        template_fields: Mapping[str, Any] | None = None,
        special_tokens: Mapping[str, str] | None = None,
        markers: str = "escape",
        units: str = "code-points",
    ) -> str:
        """The prompt for a conversation, ending where the model begins to write.

        Parameters: `messages`, `tools`, `documents` and `response_format` in the Chat Completions
        or the Cohere v2 shape. `reasoning` and `citations` are `auto`, `enabled` or `disabled`.
        `safety_mode` is Cohere's. `chat_template` is the text of a Jinja template, used in place
        of the family's own renderer; `template_fields` are further variables of the template, and
        `special_tokens` those that hold tokens: `{"eos_token": "</s>"}`.
        `markers` is `escape`, so that nobody can forge a turn, or `keep`. `units` says what the
        offsets of earlier citations count: `code-points`, `utf-16` or `utf-8`.

        Raises `RequestError` for a request that cannot be rendered, `MissingDependencyError` where
        a chat template finds no jinja2.

        >>> import tagsmith
        >>> prompt = tagsmith.get_family("cohere-command-a").render(
        ...     [{"role": "user", "content": "Hi <|USER_TOKEN|>"}]
        ... )
        >>> print(prompt.removesuffix("<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>")[-53:])
        <|USER_TOKEN|>Hi < |USER_TOKEN|><|END_OF_TURN_TOKEN|>
        """
        from tagsmith.render import render_prompt

        return render_prompt(
            self.spec,
            messages,
            tools=tools,
            documents=documents,
            response_format=response_format,
            reasoning=reasoning,
            citations=citations,
            safety_mode=safety_mode,
            chat_template=chat_template,
            template_fields=template_fields,
            special_tokens=special_tokens,
            markers=markers,
            units=units,
        )

    def render_turn(
        self,
        turn: Any,
        *,
        messages: Any = None,
        documents: Any = None,
        units: str = "code-points",
    ) -> str:
        """What the model would have written for this turn of an assistant: `parse` reads it back.

        Parameters: `turn` is a message in the Chat Completions or the Cohere v2 shape, or a
        `Message`. `messages`, the conversation before it, and `documents` are what it may cite.
        `units` as in `render`.

        Raises `RequestError` for a turn that is none, or that cannot be rendered.

        >>> import tagsmith
        >>> family = tagsmith.get_family("cohere-command-a")
        >>> family.render_turn({"role": "assistant", "content": "Hi"})
        '<|START_RESPONSE|>Hi<|END_RESPONSE|>'
        """
        from tagsmith.render import render_turn

        return render_turn(self.spec, turn, messages=messages, documents=documents, units=units)

    def reasoning_mode(self, prompt: str, wanted: str = "auto") -> ReasoningMode:
        """Where a grammar that sees the whole output meets reasoning, by how the prompt ends.

        Parameters: `prompt` is its text, or the end of it. `wanted` is what the request wants of
        reasoning: `auto`, `enabled` or `disabled`.

        >>> import tagsmith
        >>> family = tagsmith.get_family("Cohere2ForCausalLM")
        >>> family.reasoning_mode("<|CHATBOT_TOKEN|><|START_THINKING|>")
        <ReasoningMode.ENABLED: 'enabled'>
        """
        from tagsmith.render.options import Switch

        require_text("prompt", prompt)
        facts = self.serving
        openers, closers = facts.reasoning_start, facts.reasoning_end
        is_open = max(map(prompt.rfind, openers), default=-1) > max(
            map(prompt.rfind, closers), default=-1
        )
        if is_open and self.parse("x", prompt=prompt).reasoning:
            return ReasoningMode.ENABLED
        # A family whose output is taken for reasoning, where nothing says otherwise, writes the
        # opener by itself if the prompt did not.
        disabled = named(Switch, wanted, "wanted") is Switch.DISABLED
        if disabled or not openers or prompt.rstrip().endswith(closers):
            return ReasoningMode.DISABLED
        return ReasoningMode.AUTO

    def is_reasoning_end(self, token_ids: Sequence[int], tokenizer: Any) -> bool:
        """Whether these ids end past the reasoning of their last turn.

        True as well when the model skipped thinking and opened content or a tool-call region.
        """
        return self.reasoning_gate(tokenizer).is_end(token_ids)

    def count_reasoning_tokens(self, token_ids: Sequence[int], tokenizer: Any) -> int:
        """How many of these ids stand in the reasoning of the last turn, markers not counted."""
        return self.reasoning_gate(tokenizer).count(token_ids)

    def reasoning_gate(self, tokenizer: Any) -> ReasoningGate:
        """The answers to both questions above under one tokenizer, for a server that asks at every
        step.

        Raises `RequestError` for a tokenizer that cannot be asked.
        """
        return build_reasoning_gate(self.spec, tokenizer)

    def _context(
        self,
        tools: Any,
        tool_choice: Any,
        documents: Sequence[Any] | None,
        messages: Sequence[Any] | None,
        source_map: Mapping[Any, Any] | SourceMap | None,
        prompt: str | None,
        stop: str | Sequence[str] | None,
    ) -> Context:
        known = read_tools(tools)
        choice = read_tool_choice(tool_choice, known)
        return Context(
            parameters=None if known is None else {tool.name: _parameters(tool) for tool in known},
            calls_allowed=choice.mode is not ToolChoiceMode.NONE,
            prompt_tail=self._prompt_tail(prompt),
            sources=self._sources(documents, messages, source_map),
            stop=_stop_strings(stop),
        )

    def _prompt_tail(self, prompt: str | None) -> str:
        if prompt is None:
            return ""
        require_text("prompt", prompt)
        starts = self.spec.tokens.turn_start
        ends = [prompt.rfind(text) + len(text) for text in starts if text in prompt]
        return prompt[max(ends, default=0) :]

    def _sources(
        self,
        documents: Sequence[Any] | None,
        messages: Sequence[Any] | None,
        source_map: Mapping[Any, Any] | SourceMap | None,
    ) -> SourceMap | None:
        if self.spec.citations is None:
            return None
        if source_map is not None:
            return source_map if isinstance(source_map, SourceMap) else read_source_map(source_map)
        if documents is None and messages is None:
            return None
        key_map = self.spec.citations.key_map
        return build_source_map(key_map, documents=documents, messages=messages)

    def _engine(self, name: str | None, context: Context, token_markers: frozenset[str]) -> Engine:
        chosen = self.spec.engine if name is None else name
        if chosen == EngineName.NATIVE:
            return NativeEngine(self._native, context, token_markers=token_markers)
        if chosen == EngineName.MELODY:
            return MelodyEngine(self._native, context, token_markers=token_markers)
        make = self.engines.get(chosen) if isinstance(chosen, str) else None
        if make is None:
            *others, last = [*map(str, EngineName), *sorted(self.engines)]
            use = f"use {', '.join(others)} or {last}"
            raise RequestError("engine", f"unknown engine {shortened(repr(chosen))}; {use}")
        return GuardedEngine(chosen, make, self._native, context, token_markers=token_markers)


def _parameters(tool: Tool) -> Any:
    """The schema that arguments are read by. Where a tool is not strict, more may be given."""
    schema = tool.parameters
    if tool.strict is False and isinstance(schema, Mapping):
        return {**schema, "additionalProperties": schema.get("additionalProperties") or True}
    return schema


def _stop_strings(stop: str | Sequence[str] | None) -> tuple[str, ...]:
    if stop is None:
        return ()
    if not isinstance(stop, Sequence) or isinstance(stop, bytes):
        raise RequestError("stop", f"must be text or a list, not {type(stop).__name__}")
    strings = (stop,) if isinstance(stop, str) else tuple(stop)
    if len(strings) > MAX_STOPS:
        raise RequestError("stop", f"{len(strings)} stop strings are too many; give {MAX_STOPS}")
    for text in strings:
        if not isinstance(text, str) or not 0 < len(text) <= MAX_STOP_LENGTH:
            raise RequestError(
                "stop",
                f"{shortened(repr(text))} is no stop string; use 1 to {MAX_STOP_LENGTH} characters",
            )
    return strings
