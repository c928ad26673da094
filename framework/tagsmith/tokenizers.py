"""Asking a tokenizer, whoever made it, for the ids of a family's markers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from operator import index
from typing import Any, Protocol

from tagsmith.errors import RequestError
from tagsmith.wording import shortened


class Tokenizer(Protocol):
    """What token-aware feeding needs; transformers, tokenizers and the test kit all have it."""

    def decode(self, token_ids: Sequence[int], skip_special_tokens: bool = ...) -> str:
        """The text of these tokens."""
        ...


def marker_ids(tokenizer: Any, markers: Iterable[str]) -> dict[int, str]:
    """Those markers that are one token each, by id.

    >>> class Vocabulary:
    ...     def get_vocab(self): return {"<|START_TEXT|>": 258}
    >>> marker_ids(Vocabulary(), ["<|START_TEXT|>", "<co>"])
    {258: '<|START_TEXT|>'}

    Raises `RequestError` for a tokenizer that cannot be asked.
    """
    look_up = _look_up(tokenizer)
    # Some tokenizers answer with one id for every word that they do not hold, and not all say
    # which one that is; a word that no vocabulary holds finds it out.
    unknown = look_up(_NO_TOKEN)
    found = {marker: look_up(marker) for marker in dict.fromkeys(markers)}
    shared = Counter(found.values())
    return {
        token_id: marker
        for marker, token_id in found.items()
        if isinstance(token_id, int)
        and not isinstance(token_id, bool)
        and token_id != unknown
        and shared[token_id] == 1
    }


def plain_ids(token_ids: Any) -> list[int]:
    """Token ids as a list of numbers, from any sequence of them, an array or a tensor.

    Raises `RequestError` for anything else.

    >>> plain_ids((1, 2))
    [1, 2]
    """
    as_list = getattr(token_ids, "tolist", None)
    try:
        if isinstance(token_ids, Mapping | str | bytes):
            raise TypeError
        return [index(token_id) for token_id in (as_list() if callable(as_list) else token_ids)]
    except TypeError:
        wrong = f"{shortened(repr(token_ids))} is no sequence of token ids"
        raise RequestError("token_ids", wrong) from None


def check_tokenizer(tokenizer: Any) -> None:
    """Raise `RequestError` for what cannot decode, before a generation has begun."""
    if not callable(getattr(tokenizer, "decode", None)):
        raise RequestError(
            "tokenizer", f"{shortened(repr(tokenizer))} has no decode(); give a tokenizer"
        )


_NO_TOKEN = "<tagsmith: a word that no vocabulary holds>"


def _look_up(tokenizer: Any) -> Callable[[str], Any]:
    for name in ("token_to_id", "convert_tokens_to_ids"):
        look_up: Callable[[str], Any] | None = getattr(tokenizer, name, None)
        if callable(look_up):
            return partial(_answer, look_up)
    get_vocab = getattr(tokenizer, "get_vocab", None)
    vocabulary = get_vocab() if callable(get_vocab) else tokenizer
    if isinstance(vocabulary, Mapping):
        return vocabulary.get
    raise RequestError(
        "tokenizer",
        f"{shortened(repr(tokenizer))} cannot be asked for a token; give one that has token_to_id,"
        " convert_tokens_to_ids or get_vocab, or a mapping from tokens to ids",
    )


def _answer(look_up: Callable[[str], Any], token: str) -> Any:
    try:
        return look_up(token)
    except (LookupError, ValueError):
        return None
