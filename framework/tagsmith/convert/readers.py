"""Who reads response templates."""

from __future__ import annotations

from enum import StrEnum


class Reader(StrEnum):
    """Whose reader a response template is for."""

    TRANSFORMERS = "transformers"
    """That of transformers: 5.24, and from 5.16 on where no calls are in Python."""
    SERVING = "serving"
    """Those of vLLM and SGLang. They are narrower: they stream, so that nothing joins two texts,
    read no calls in Python, and know a thought by another name."""

    @property
    def reasoning(self) -> str:
        """What it calls a thought: that of transformers, what chat templates take for the next
        prompt."""
        return "reasoning_content" if self is Reader.TRANSFORMERS else "thinking"
