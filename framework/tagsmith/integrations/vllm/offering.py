"""The names under which vLLM finds Tagsmith's parsers."""

from __future__ import annotations

import os
from typing import Any

from tagsmith.integrations.naming import adapter_names
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
    taken_over = [name for name in overridden() if name in manager.list_registered()]
    for name in [*adapter_names(), *taken_over]:
        loaded.pop(name, None)
        manager.register_lazy_module(name, NAMES, f"{kind}{name}")


def overridden() -> list[str]:
    """The names that are to be taken over; vLLM may know one for reasoning or for tools alone."""
    return [name for name in map(str.strip, os.environ.get(OVERRIDE, "").split(",")) if name]
