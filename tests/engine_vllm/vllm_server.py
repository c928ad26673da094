"""vLLM's server but for the model: real configs, renderer, input and output processing, grammars
and serving classes, around an engine that writes what it is told."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Sequence
from copy import copy
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast
from vllm.config import DeviceConfig, ModelConfig, StructuredOutputsConfig, VllmConfig
from vllm.entrypoints.cohere.serving import CohereServingChatV2
from vllm.entrypoints.openai.chat_completion.serving import OpenAIServingChat
from vllm.entrypoints.openai.models.protocol import BaseModelPath
from vllm.entrypoints.openai.models.serving import OpenAIServingModels
from vllm.entrypoints.openai.responses.serving import OpenAIServingResponses
from vllm.model_executor.models import ModelRegistry
from vllm.outputs import RequestOutput
from vllm.renderers import renderer_from_config
from vllm.renderers.online_renderer import OnlineRenderer
from vllm.v1.engine import EngineCoreOutput, EngineCoreRequest, FinishReason
from vllm.v1.engine.input_processor import InputProcessor
from vllm.v1.engine.output_processor import OutputProcessor, RequestOutputCollector
from vllm.v1.engine.parallel_sampling import ParentRequest
from vllm.v1.request import Request
from vllm.v1.structured_output import StructuredOutputManager

import tagsmith
from tagsmith.testing import MockTokenizer

MODEL = "served"
TEMPLATE = (
    "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}"
    "{% if tools %}[tools]{{ tools | tojson }}{% endif %}"
    "{{ turn }}{% if enable_thinking is defined and not enable_thinking %}"
    "<think>\n\n</think>\n\n{% endif %}"
)


class _Model(torch.nn.Module):
    """What vLLM takes for a model that writes text."""

    def __init__(self, *, vllm_config: Any, prefix: str = "") -> None:
        super().__init__()

    def embed_input_ids(self, input_ids: Any) -> Any:
        return input_ids

    def forward(self, input_ids: Any, positions: Any) -> Any:
        return input_ids

    def compute_logits(self, hidden_states: Any) -> Any:
        return hidden_states


def write_model(directory: Path, family: tagsmith.Family, turn: str) -> None:
    """The files of a model of this family: a byte-level tokenizer, a template and a config."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokens = Tokenizer(models.BPE(vocab={c: n for n, c in enumerate(letters)}, merges=[]))
    tokens.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokens.decoder = decoders.ByteLevel()
    markers = MockTokenizer.for_family(family).get_vocab()
    tokens.add_special_tokens(
        [AddedToken(m, special=True, normalized=False) for m, n in markers.items() if n >= 256]
    )
    (end, *_) = family.serving.stop_tokens
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=tokens, eos_token=end)
    tokenizer.chat_template = TEMPLATE.replace("{{ turn }}", turn)
    tokenizer.save_pretrained(directory)
    (architecture, *_) = family.spec.match.architectures
    ModelRegistry.register_model(architecture, _Model)
    config = {
        "architectures": [architecture],
        "model_type": "llama",
        "hidden_size": 8,
        "intermediate_size": 8,
        "num_attention_heads": 1,
        "num_hidden_layers": 1,
        "vocab_size": len(tokenizer),
        "max_position_embeddings": 4096,
        "eos_token_id": tokenizer.eos_token_id,
        "bos_token_id": None,
    }
    (directory / "config.json").write_text(json.dumps(config))


class Engine:
    """The engine's client as the serving classes know it; `say` tells what is written next."""

    errored = False

    def __init__(self, config: VllmConfig, tokens_a_step: int) -> None:
        self.vllm_config = config
        self.model_config = config.model_config
        self.renderer = renderer_from_config(config)
        self.input_processor = InputProcessor(config, renderer=self.renderer)
        self.output_processor = OutputProcessor(self.renderer.tokenizer, log_stats=False)
        self.grammars = StructuredOutputManager(config)
        self.tokens_a_step = tokens_a_step
        self.texts: list[str] = []
        self.requests: list[EngineCoreRequest] = []
        """What reached the engine."""

    def say(self, *texts: str) -> None:
        """What the choices of the next request are, each with its turn's end where there is one."""
        self.texts = list(texts)

    def check_admission(self, n: int = 1, request_id: str | None = None) -> None:
        """Any number is served."""

    async def generate(
        self,
        prompt: Any,
        params: Any,
        request_id: str,
        *,
        reasoning_ended: bool | None = None,
        reasoning_parser_kwargs: Any = None,
        **_: Any,
    ) -> AsyncIterator[RequestOutput]:
        """What vLLM's own client does, up to the other process and back."""
        request = self.input_processor.process_inputs(
            request_id, prompt, params, supported_tasks=("generate",)
        )
        request.reasoning_ended = reasoning_ended
        request.reasoning_parser_kwargs = reasoning_parser_kwargs
        self.input_processor.assign_request_id(request)
        self.requests.append(request)
        queue = RequestOutputCollector(request.params.output_kind, request.request_id)
        children, parent = [request], None
        if request.params.n > 1:
            parent = ParentRequest(request)
            children = [self._child(parent, number) for number in range(request.params.n)]
        assert len(children) == len(self.texts)
        for number, child in enumerate(children):
            self.output_processor.add_request(child, None, parent, number, queue)
        steps = [self._steps(*pair) for pair in zip(children, self.texts, strict=True)]
        while steps:
            outputs = [output for one in steps if (output := next(one, None)) is not None]
            steps = [one for one in steps if one.gi_frame is not None]
            self.output_processor.process_outputs(outputs)
            told = queue.get_nowait()
            if told is not None:
                yield told
                if told.finished:
                    return

    def _child(self, parent: ParentRequest, number: int) -> EngineCoreRequest:
        child = copy(self.requests[-1])
        child.request_id, child.sampling_params = parent.get_child_info(number)
        return child

    def _steps(self, request: EngineCoreRequest, text: str) -> Any:
        """The steps of one choice: as many tokens as are told, until one at which vLLM stops."""
        core, params = Request.from_engine_core_request(request, None), request.params
        tokenizer = self.renderer.tokenizer
        ids: Sequence[int] = tokenizer.encode(text, add_special_tokens=False)[: params.max_tokens]
        ends = {*params.all_stop_token_ids}
        stop = next((n for n, token in enumerate(ids) if token in ends), None)
        reason = FinishReason.LENGTH if stop is None else FinishReason.STOP
        ids = ids[: len(ids) if stop is None else stop + 1]
        if core.structured_output_request is not None:
            self.grammars.grammar_init(core)
            while not core.structured_output_request.is_grammar_ready:
                time.sleep(0.001)
        for start in range(0, max(len(ids), 1), self.tokens_a_step):
            step = list(ids[start : start + self.tokens_a_step])
            core.append_output_token_ids(step)
            assert self.grammars.accept_tokens(core, step), f"refused: {text!r} at token {start}"
            is_last = start + self.tokens_a_step >= len(ids)
            yield EngineCoreOutput(
                request_id=request.request_id,
                new_token_ids=step,
                finish_reason=reason if is_last else None,
                stop_reason=None,
            )


class Server:
    """A running server of one family's model, by `--reasoning-parser NAME --tool-call-parser NAME`.

    `turn` is how the chat template begins the model's turn.
    """

    def __init__(
        self,
        directory: Path,
        family: str,
        *,
        turn: str,
        parser: str = "tagsmith",
        tokens_a_step: int = 1,
    ) -> None:
        self.family = tagsmith.get_family(family)
        write_model(directory, self.family, turn)
        model = ModelConfig(
            model=str(directory), tokenizer=str(directory), dtype="float32", max_model_len=4096
        )
        config = VllmConfig(
            model_config=model,
            device_config=DeviceConfig(device="cpu"),
            structured_outputs_config=StructuredOutputsConfig(reasoning_parser=parser),
        )
        self.engine = Engine(config, tokens_a_step)
        paths = [BaseModelPath(name=MODEL, model_path=str(directory))]
        self._models = OpenAIServingModels(self.engine, paths)
        self._parsers = {
            "reasoning_parser": parser,
            "tool_parser": parser,
            "enable_auto_tools": True,
        }
        self._template = {"chat_template": None, "chat_template_content_format": "string"}
        self._renderer = OnlineRenderer(
            model, self.engine.renderer, request_logger=None, **self._template, **self._parsers
        )

    @cached_property
    def chat(self) -> OpenAIServingChat:
        """Chat Completions."""
        return OpenAIServingChat(response_role="assistant", **self._serving)

    @cached_property
    def responses(self) -> OpenAIServingResponses:
        """The Responses API."""
        return OpenAIServingResponses(**self._serving)

    @cached_property
    def cohere(self) -> CohereServingChatV2:
        """Cohere's Chat API."""
        return CohereServingChatV2(response_role="assistant", **self._serving)

    @property
    def _serving(self) -> dict[str, Any]:
        return {
            "engine_client": self.engine,
            "models": self._models,
            "online_renderer": self._renderer,
            "request_logger": None,
            **self._template,
            **self._parsers,
        }


async def frames(stream: AsyncIterator[Any]) -> list[dict[str, Any]]:
    """The events of a stream, as JSON that a client reads."""
    told = []
    async for frame in stream:
        text = frame if isinstance(frame, str) else f"data: {frame.model_dump_json()}"
        data = text.strip().removeprefix("data: ")
        if data != "[DONE]":
            told.append(json.loads(data))
    return told
