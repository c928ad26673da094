"""A family as vLLM's tool parser: a name to choose; `TagsmithParser` reads the output."""

from __future__ import annotations

from typing import ClassVar

from vllm.tool_parsers import ToolParser

from tagsmith.integrations.vllm.model import Adapter


class TagsmithToolParser(ToolParser):
    """Chooses a family, whose own grammar holds required and named calls as well."""

    adapter: ClassVar[Adapter]
    supports_required_and_named = False
