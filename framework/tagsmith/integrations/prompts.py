"""The end of a prompt as text, of which an engine knows the tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_FIRST = 256
"""How many tokens are decoded first."""


def end_of_prompt(tokenizer: Any, token_ids: Sequence[int], turn_starts: Sequence[str]) -> str:
    """The text of a prompt from before its last turn start, or the whole of it.

    A prompt may have a hundred thousand tokens, of which the model's own turn is the last few.

    >>> from tagsmith.testing import MockTokenizer
    >>> tokenizer = MockTokenizer(["<|turn|>"])
    >>> text = end_of_prompt(tokenizer, tokenizer.encode("x" * 500 + "<|turn|>Hi"), ["<|turn|>"])
    >>> len(text), text[-10:]
    (263, '<|turn|>Hi')
    """
    size = _FIRST
    while True:
        text = str(tokenizer.decode(list(token_ids[-size:]), skip_special_tokens=False))
        if size >= len(token_ids) or any(start in text for start in turn_starts):
            return text
        size *= 4
