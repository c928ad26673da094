"""Tokenizers made for tests: small, and written to files as those of models are."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers


def bytes_tokenizer(special: Iterable[str] = (), plain: Iterable[str] = ()) -> Tokenizer:
    """Every byte is a token, and so is each of these."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(vocab={c: i for i, c in enumerate(alphabet)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(t, special=True, normalized=False) for t in special])
    tokenizer.add_tokens([AddedToken(t, normalized=False) for t in plain])
    return tokenizer


def words_tokenizer(*words: str, unknown: str = "<unk>") -> Tokenizer:
    """Words that blanks part; all others are one unknown token."""
    vocabulary = {word: number for number, word in enumerate([unknown, *words])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=unknown))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return tokenizer


def write_model(
    directory: Path,
    tokenizer: Tokenizer | str | None = None,
    config: Mapping[str, Any] | str | None = None,
    template: str | None = None,
) -> Path:
    """A model's directory with these files; what is text is written as it is."""
    directory.mkdir(parents=True, exist_ok=True)
    files = {
        "tokenizer.json": tokenizer.to_str() if isinstance(tokenizer, Tokenizer) else tokenizer,
        "tokenizer_config.json": json.dumps(config) if isinstance(config, Mapping) else config,
        "chat_template.jinja": template,
    }
    for name, text in files.items():
        if text is not None:
            (directory / name).write_text(text, encoding="utf-8")
    return directory
