"""Token ids as they come: which are markers, and the text of the rest in whole characters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tagsmith.tokenizers import Tokenizer

_UNFINISHED = "�"
_LONGEST_UNFINISHED = 3
_WINDOW = 32
_CONTEXT = 8


class TokenizerError(Exception):
    """The tokenizer, which is not this project's, failed on the model's tokens."""


class TokenText:
    """Decodes one generation's tokens, holding back a character that is not whole yet.

    `markers` maps the ids that are markers of the family to their text.
    """

    __slots__ = ("_ids", "_markers", "_shown", "_tokenizer")

    def __init__(self, tokenizer: Tokenizer, markers: Mapping[int, str]) -> None:
        self._tokenizer = tokenizer
        self._markers = markers
        self._ids: list[int] = []
        self._shown = 0

    def read(self, token_ids: Sequence[int]) -> Iterator[tuple[str, bool]]:
        """The tokens as pieces of text, each with whether it is a marker."""
        start = 0
        for end, token_id in enumerate(token_ids):
            marker = self._markers.get(token_id)
            if marker is None:
                continue
            # A character that a marker interrupts will never be whole: it stays as decoded.
            yield self._decode(token_ids[start:end]) + self._rest(), False
            yield marker, True
            self._follow(token_id)
            start = end + 1
        yield self._decode(token_ids[start:]), False

    def finish(self) -> bool:
        """The output has ended; true when it ends inside a character, which is dropped."""
        return bool(self._rest())

    def _decode(self, token_ids: Sequence[int]) -> str:
        if not token_ids:
            return ""
        self._ids += token_ids
        text = self._text()
        whole = max(len(text.rstrip(_UNFINISHED)), len(text) - _LONGEST_UNFINISHED, self._shown)
        shown = text[self._shown : whole]
        self._shown = whole
        if len(self._ids) > _WINDOW:
            waiting = len(text) - whole
            self._ids = self._ids[-_CONTEXT:]
            self._shown = len(self._text()) - waiting
        return shown

    def _follow(self, marker_id: int) -> None:
        """Decode what comes next as following this marker: some tokenizers drop first blanks."""
        self._ids = [marker_id]
        self._shown = len(self._text())

    def _rest(self) -> str:
        rest = self._text()[self._shown :] if self._ids else ""
        self.reset()
        return rest

    def reset(self) -> None:
        """Forget the tokens so far."""
        self._ids = []
        self._shown = 0

    def _text(self) -> str:
        try:
            text = self._tokenizer.decode(self._ids, skip_special_tokens=False)
        except (KeyboardInterrupt, SystemExit, GeneratorExit):
            raise
        except BaseException as error:
            # A panic in a tokenizer's Rust arrives as a BaseException that is no Exception.
            raise TokenizerError(f"the tokenizer cannot decode these tokens: {error}") from error
        if not isinstance(text, str):
            raise TokenizerError(f"the tokenizer decodes to {type(text).__name__}, not to text")
        return text
