"""What a caller chooses about the shape of an answer, and the counts it carries."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ReasoningField(StrEnum):
    """The key under which Chat Completions clients look for reasoning; servers differ."""

    REASONING_CONTENT = "reasoning_content"
    REASONING = "reasoning"


class ThoughtForm(StrEnum):
    """How the Cohere v2 shape tells reasoning: models that plan before they call have a plan."""

    THINKING = "thinking"
    TOOL_PLAN = "tool-plan"


class CitationOrder(StrEnum):
    """When a stream tells citations: as each span closes, after the answer, or never."""

    FAST = "fast"
    ACCURATE = "accurate"
    OFF = "off"


class StreamUsage(StrEnum):
    """Whether a chunk of usage follows the last of a Chat Completions stream, which is the client's
    `stream_options.include_usage`. Where one does, all other chunks have a null there."""

    NONE = "none"
    LAST = "last"


class OffsetUnit(StrEnum):
    """What the offsets of citations count; Python counts code points, JavaScript UTF-16 units."""

    CODE_POINTS = "code-points"
    UTF_16 = "utf-16"
    UTF_8 = "utf-8"


@dataclass(frozen=True, slots=True)
class Usage:
    """How many tokens an answer took.

    Args:
        prompt_tokens: Tokens of the prompt, cached ones included.
        completion_tokens: Tokens the model wrote.
        cached_tokens: How many of the prompt's came from a cache; None where nobody counted.
    """

    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int | None = None
