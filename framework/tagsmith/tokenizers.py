"""Asking a tokenizer, whoever made it, for the ids of a family's markers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol


class Tokenizer(Protocol):
    """What token-aware feeding needs; transformers, tokenizers and the test kit all have it."""

    def decode(self, token_ids: Sequence[int], skip_special_tokens: bool = ...) -> str:
        """The text of these tokens."""
        ...


def marker_id(tokenizer: Any, marker: str) -> int | None:
    """The id of a marker that is one token of this tokenizer, or None.

    >>> class Vocabulary:
    ...     def get_vocab(self): return {"<|START_TEXT|>": 258}
    >>> marker_id(Vocabulary(), "<|START_TEXT|>"), marker_id(Vocabulary(), "<co>")
    (258, None)
    """
    for name in ("token_to_id", "convert_tokens_to_ids"):
        lookup: Callable[[str], Any] | None = getattr(tokenizer, name, None)
        if callable(lookup):
            return _real_id(tokenizer, lookup(marker), marker)
    vocabulary = _vocabulary(tokenizer)
    return _real_id(tokenizer, vocabulary.get(marker), marker)


def marker_ids(tokenizer: Any, markers: Iterable[str]) -> dict[int, str]:
    """Those markers that are one token each, by id."""
    found = ((marker_id(tokenizer, marker), marker) for marker in markers)
    return {token_id: marker for token_id, marker in found if token_id is not None}


def _real_id(tokenizer: Any, token_id: Any, marker: str) -> int | None:
    """None for the unknown token's id, which some tokenizers give for a word they do not hold."""
    if not isinstance(token_id, int) or isinstance(token_id, bool):
        return None
    unknown = getattr(tokenizer, "unk_token_id", None)
    if unknown == token_id and getattr(tokenizer, "unk_token", None) != marker:
        return None
    return token_id


def _vocabulary(tokenizer: Any) -> Mapping[str, Any]:
    if isinstance(tokenizer, Mapping):
        return tokenizer
    get_vocab = getattr(tokenizer, "get_vocab", None)
    vocabulary = get_vocab() if callable(get_vocab) else getattr(tokenizer, "vocab", {})
    return vocabulary if isinstance(vocabulary, Mapping) else {}
