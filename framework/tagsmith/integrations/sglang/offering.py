"""The names under which SGLang finds Tagsmith's parsers, and the places where it is hooked into.

SGLang runs a reasoning detector and a call detector one after the other. A pair of Tagsmith's is
one parser in their place, for which SGLang has a seam of its own: an output adapter. The hooks set
it, and carry what it needs through SGLang's own way of a request.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sglang.srt.entrypoints.openai.protocol import ChatCompletionRequest, ResponsesRequest
from sglang.srt.entrypoints.openai.serving_chat import OpenAIServingChat
from sglang.srt.environ import envs
from sglang.srt.function_call.function_call_parser import FunctionCallParser
from sglang.srt.parser.reasoning_parser import ReasoningParser
from sglang.srt.plugins.hook_registry import HookRegistry, HookType

from tagsmith.integrations.naming import PREFIX, adapter_names
from tagsmith.integrations.sglang import serving
from tagsmith.integrations.sglang.calls import TagsmithCallDetector
from tagsmith.integrations.sglang.model import Adapter
from tagsmith.integrations.sglang.reasoning import TagsmithReasoningDetector

_HOOKS: tuple[tuple[type, str, Callable[..., Any], HookType], ...] = (
    (OpenAIServingChat, "__init__", serving.pair_up, HookType.AFTER),
    (OpenAIServingChat, "_encoding_output", serving.output_adapter, HookType.AROUND),
    (OpenAIServingChat, "_process_messages", serving.process_messages, HookType.AROUND),
    (ChatCompletionRequest, "to_sampling_params", serving.to_sampling_params, HookType.AROUND),
    (ResponsesRequest, "to_sampling_params", serving.to_sampling_params, HookType.AROUND),
)


def offer() -> None:
    """Offer the parsers, and hook into SGLang.

    Raises:
        AttributeError: this SGLang lacks a place where a hook goes; then nothing is offered, as a
            request that nobody holds is worse than a server that does not start.
        ValueError: this server reads outputs in Rust; then nothing is offered either.
    """
    if envs.SGLANG_RUST_SERVER.get():
        raise ValueError("SGLANG_RUST_SERVER reads outputs in Rust, where no plug-in is asked")
    hooks = [(_path(owner, name), hook, kind) for owner, name, hook, kind in _HOOKS]
    known = FunctionCallParser.ToolCallParserEnum
    new = {name: family_id for name, family_id in adapter_names().items() if name not in known}
    for name, family_id in new.items():
        fields = {"adapter": Adapter(name, family_id)}
        ReasoningParser.DetectorMap[name] = type(
            "TagsmithReasoningDetector", (TagsmithReasoningDetector,), fields
        )
        known[name] = type("TagsmithCallDetector", (TagsmithCallDetector,), fields)
    for path, hook, kind in hooks if PREFIX in new else ():
        HookRegistry.register(path, hook, kind)


def _path(owner: type, name: str) -> str:
    getattr(owner, name)
    return f"{owner.__module__}.{owner.__qualname__}.{name}"
