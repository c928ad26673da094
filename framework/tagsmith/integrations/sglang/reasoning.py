"""A family as SGLang's reasoning detector.

A served pair is one parser (`output`). The detector is what SGLang asks for the markers of
reasoning, and what splits texts that are handed to it: `/separate_reasoning`, offline use.
"""

from __future__ import annotations

from typing import Any, ClassVar

from sglang.srt.parser.reasoning_parser import BaseReasoningFormatDetector, StreamingParseResult

from tagsmith.integrations.sglang.model import Adapter
from tagsmith.integrations.sglang.splitting import Split, Splitter
from tagsmith.serving import Serving

_ALWAYS = "always"


class TagsmithReasoningDetector(BaseReasoningFormatDetector):
    """Splits reasoning from the rest. The rest holds calls as the model wrote them.

    Parameters: those that SGLang gives. `force_reasoning` says that the prompt has opened it.
    """

    adapter: ClassVar[Adapter]

    def __init__(
        self,
        stream_reasoning: bool = True,
        force_reasoning: bool | None = None,
        continue_final_message: bool = False,
        previous_content: str = "",
        force_nonempty_content: bool = False,
        tokenizer: Any = None,
    ) -> None:
        self.family = self.adapter.family(tokenizer)
        facts = self.family.serving
        super().__init__(
            next(iter(facts.reasoning_start), ""),
            next(iter(facts.reasoning_end), ""),
            force_reasoning=bool(force_reasoning),
            stream_reasoning=stream_reasoning,
            continue_final_message=continue_final_message,
            previous_content=previous_content or "",
            reasoning_default=_ALWAYS if facts.reasoning_start else None,
            force_nonempty_content=force_nonempty_content,
        )
        self._prompt = _prompt(facts, force_reasoning, previous_content)
        self._splitter = self._new_splitter()
        self._kept = ""

    def get_think_end_token_ids(self, tokenizer: Any) -> list[int]:
        """The tokens that end reasoning; none where the family has none."""
        return _ids(tokenizer, self.think_end_token)

    def get_self_opened_think_start_token_ids(self, tokenizer: Any) -> list[int] | None:
        """The tokens by which the model opens reasoning itself."""
        return _ids(tokenizer, self.think_start_token) or None

    def detect_and_parse(self, text: str) -> StreamingParseResult:
        """Split a whole output."""
        splitter = self._new_splitter()
        first, last = splitter.feed(text), splitter.finish()
        split = Split(first.reasoning + last.reasoning, first.rest + last.rest)
        if self._force_nonempty_content and not split.rest:
            split = Split(rest=split.reasoning)
        return _result(split)

    def parse_streaming_increment(self, new_text: str) -> StreamingParseResult:
        """Split the next piece."""
        return self._told(self._splitter.feed(new_text))

    def finish(self) -> StreamingParseResult:
        """The output has ended."""
        split = self._told(self._splitter.finish())
        split.reasoning_text, self._kept = self._kept + split.reasoning_text, ""
        return split

    def _told(self, split: Split) -> StreamingParseResult:
        """What is told now: reasoning that is not to be streamed waits for what comes after it."""
        if not self.stream_reasoning:
            self._kept += split.reasoning
            split.reasoning = ""
            if split.rest:
                split.reasoning, self._kept = self._kept, ""
        return _result(split)

    def _new_splitter(self) -> Splitter:
        return Splitter(self.family.parser(prompt=self._prompt))


def _result(split: Split) -> StreamingParseResult:
    return StreamingParseResult(normal_text=split.rest, reasoning_text=split.reasoning)


def _prompt(facts: Serving, force_reasoning: bool | None, before: str) -> str | None:
    """How the prompt ends, as far as SGLang says it."""
    if force_reasoning is None and not before:
        return None
    opener = facts.reasoning_start[:1] if force_reasoning else ()
    return "".join((*facts.turn_start[:1], *opener, before or ""))


def _ids(tokenizer: Any, marker: str) -> list[int]:
    return list(tokenizer.encode(marker, add_special_tokens=False)) if marker else []
