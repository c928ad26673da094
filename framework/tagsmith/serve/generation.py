"""What one request asks for, whichever API it came by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tagsmith.render import Switch
from tagsmith.request import Strictness
from tagsmith.wire.options import CitationOrder

NEUTRAL: Mapping[str, Any] = {
    "temperature": None,
    "top_p": 1,
    "top_k": 0,
    "min_p": 0,
    "seed": None,
    "frequency_penalty": 0,
    "presence_penalty": 0,
    "repetition_penalty": 1,
    "logit_bias": {},
    "n": 1,
}
"""The sampling parameters that are passed on, each with the value that changes nothing, if any."""


@dataclass(frozen=True, slots=True)
class Generation:
    """One request, read and checked as far as the API says; families check the rest.

    Parameters: `sampling` holds what the request gives of `NEUTRAL`, by these names. `reasoning`
    is what the request wants of thoughts, `template_fields` are variables for a chat template.
    `held` are the fields whose schemas the request wants held strictly; `strict_tools` is `all`
    where it wants that of every tool.
    """

    model: str
    messages: list[Any]
    tools: list[Any] | None = None
    tool_choice: Any = None
    parallel_tool_calls: bool | None = None
    response_format: Any = None
    documents: list[Any] | None = None
    stop: tuple[str, ...] = ()
    sampling: Mapping[str, Any] = field(default_factory=dict)
    max_tokens: int | None = None
    stream: bool = False
    include_usage: bool = False
    reasoning: Switch = Switch.AUTO
    citations: CitationOrder | None = None
    safety_mode: str | None = None
    strict_tools: Strictness = Strictness.PER_TOOL
    held: frozenset[str] = frozenset()
    template_fields: Mapping[str, Any] = field(default_factory=dict)

    @property
    def choices(self) -> int:
        """How many answers are asked for."""
        wanted: int = self.sampling.get("n", 1)
        return wanted

    def citation_order(self, usual: CitationOrder) -> CitationOrder:
        """When citations are told: as usual, where the request does not say."""
        return usual if self.citations is None else self.citations
