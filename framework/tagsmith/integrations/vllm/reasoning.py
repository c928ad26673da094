"""A family as vLLM's reasoning parser: what the engine asks of token ids.

The output is read by `TagsmithParser`, which stands for the pair.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, ClassVar, NoReturn

from vllm.reasoning import ReasoningParser

from tagsmith.integrations.vllm.model import Adapter
from tagsmith.reasoning_gate import ReasoningGate


class TagsmithReasoningParser(ReasoningParser):
    """Tells the engine where reasoning ends, so that it can hold a grammar back until then."""

    adapter: ClassVar[Adapter]

    def __init__(self, tokenizer: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(tokenizer, *args, **kwargs)
        self.family = self.adapter.family(tokenizer, kwargs.get("model_config"))
        self.facts = self.family.serving

    @cached_property
    def gate(self) -> ReasoningGate:
        """The family's markers as ids of this tokenizer."""
        return self.family.reasoning_gate(self.model_tokenizer)

    @property
    def reasoning_start_str(self) -> str | None:
        """The marker that opens reasoning, for vLLM's thinking budget."""
        return next(iter(self.facts.reasoning_start), None)

    @property
    def reasoning_end_str(self) -> str | None:
        """The marker that closes reasoning, for vLLM's thinking budget."""
        return next(iter(self.facts.reasoning_end), None)

    def is_reasoning_end(self, input_ids: Sequence[int]) -> bool:
        """Whether these ids end past the reasoning of their last turn, or never had any."""
        return not self.facts.reasoning_start or self.gate.is_end(input_ids)

    def is_reasoning_end_streaming(
        self, input_ids: Sequence[int], delta_ids: Iterable[int]
    ) -> bool:
        """Whether reasoning ends in this step of a generation that was in it, or before it."""
        return self.is_reasoning_end(list(delta_ids))

    def count_reasoning_tokens(self, token_ids: Sequence[int]) -> int:
        """How many of these ids stand in reasoning."""
        return self.gate.count(token_ids)

    def extract_content_ids(self, input_ids: list[int]) -> NoReturn:
        """Not asked of a pair that is one parser."""
        _one_parser()

    def extract_reasoning(self, model_output: str, request: Any) -> NoReturn:
        """Not asked of a pair that is one parser."""
        _one_parser()

    def extract_reasoning_streaming(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Not asked of a pair that is one parser."""
        _one_parser()


def _one_parser() -> NoReturn:
    raise NotImplementedError(
        "Tagsmith reads reasoning and tool calls by one parser; take it from "
        "vllm.parser.ParserManager.get_parser"
    )
