"""The names under which vLLM finds Tagsmith's parsers."""

from __future__ import annotations

import os
from typing import Any

from tagsmith.integrations.naming import adapter_names, tell_once
from tagsmith.integrations.vllm import OVERRIDE
from tagsmith.integrations.vllm.classes import NAMES, REASONING, TOOLS


def offer_reasoning() -> None:
    """Offer the reasoning parsers."""
    from vllm.reasoning import ReasoningParserManager

    _offer(ReasoningParserManager, ReasoningParserManager.reasoning_parsers, REASONING)


def offer_tools() -> None:
    """Offer the tool parsers."""
    from vllm.tool_parsers import ToolParserManager

    _offer(ToolParserManager, ToolParserManager.tool_parsers, TOOLS)


def _offer(manager: Any, loaded: dict[str, Any], kind: str) -> None:
    """A parser that is loaded comes before one that is only named: those taken over go."""
    for name in [*adapter_names(), *_overridden(manager)]:
        loaded.pop(name, None)
        manager.register_lazy_module(name, NAMES, f"{kind}{name}")


def _overridden(manager: Any) -> list[str]:
    names = [name for name in map(str.strip, os.environ.get(OVERRIDE, "").split(",")) if name]
    unknown = [name for name in names if name not in manager.list_registered()]
    if unknown:
        tell_once(f"{OVERRIDE} names what is no parser of vLLM's: {', '.join(unknown)}")
    return [name for name in names if name not in unknown]
