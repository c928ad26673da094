"""Compile a structural tag in xgrammar and try texts against it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tagsmith.errors import MissingDependencyError, RequestError


@dataclass(frozen=True, slots=True)
class CheckResult:
    """Whether a structural tag accepts one text."""

    accepted: bool
    stopped_at: int | None = None
    """The first character that is refused; the text's length where more of it is wanted."""


def check_structural_tag(
    tag: dict[str, Any], texts: Iterable[str], *, markers: Sequence[str] = ()
) -> list[CheckResult]:
    """Compile a structural tag and say of each text whether it accepts it.

    Args:
        tag: A structural tag, from `Family.structural_tag`.
        texts: Whole outputs.
        markers: The strings that are one token each; every other byte is a token of its own.

    Raises:
        MissingDependencyError: xgrammar is not installed.
        RequestError: xgrammar cannot compile the tag.
    """
    compiled = compile_structural_tag(tag, byte_vocabulary(markers))
    return [_check(compiled, text) for text in texts]


def compile_structural_tag(tag: dict[str, Any], vocabulary: Sequence[bytes]) -> Any:
    """Compile a structural tag in xgrammar, over tokens that are these bytes and one that ends.

    Args:
        tag: A structural tag, from `Family.structural_tag`.
        vocabulary: The bytes of each token, from `byte_vocabulary`; the one that ends follows.

    Returns:
        An `xgrammar.CompiledGrammar`.

    Raises:
        MissingDependencyError: xgrammar is not installed.
        RequestError: xgrammar cannot compile the tag.
    """
    try:
        import xgrammar
    except ImportError:
        raise MissingDependencyError(
            "checking a structural tag needs xgrammar: pip install 'tagsmith[xgrammar]'"
        ) from None
    info = xgrammar.TokenizerInfo(
        [*vocabulary, b"<end>"],
        vocab_type=xgrammar.VocabType.RAW,
        stop_token_ids=[len(vocabulary)],
    )
    compiler = xgrammar.GrammarCompiler(info, cache_enabled=False)
    try:
        return compiler.compile_structural_tag(json.dumps(tag))
    except (RuntimeError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise RequestError("structural_tag", f"xgrammar cannot compile it: {reason}") from None


def byte_vocabulary(markers: Iterable[str]) -> list[bytes]:
    """Every byte, and then every marker once: a vocabulary that can write anything.

    >>> byte_vocabulary(["<a>", "<a>"])[255:]
    [b'\xff', b'<a>']
    """
    return [bytes([byte]) for byte in range(256)] + [m.encode() for m in dict.fromkeys(markers)]


def _check(compiled: Any, text: str) -> CheckResult:
    import xgrammar

    matcher = xgrammar.GrammarMatcher(compiled)
    for offset, char in enumerate(text):
        if not matcher.accept_string(char.encode("utf-8", "surrogatepass")):
            return CheckResult(False, offset)
    return CheckResult(True) if matcher.is_completed() else CheckResult(False, len(text))
