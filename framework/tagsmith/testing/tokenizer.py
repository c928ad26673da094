"""A small tokenizer that makes the hard cases easy to reach: every byte is a token, so characters
split over tokens, and every marker is one token, so it differs from the same text spelled out."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tagsmith.family import Family

BYTE_TOKENS = 256


class MockTokenizer:
    """A byte-level tokenizer: ids 0 to 255 are the bytes, the markers follow from 256 in order.

    Args:
        markers: the strings that are one token each; a repeated one keeps its first id.

    >>> tokenizer = MockTokenizer(["<|A|>"])
    >>> tokenizer.encode("é<|A|>")
    [195, 169, 256]
    >>> tokenizer.decode([195, 169, 256])
    'é<|A|>'
    """

    def __init__(self, markers: Sequence[str]) -> None:
        self._markers = tuple(dict.fromkeys(markers))
        self._ids = {marker: BYTE_TOKENS + n for n, marker in enumerate(self._markers)}
        self._vocabulary = {f"<0x{n:02X}>": n for n in range(BYTE_TOKENS)} | self._ids
        longest_first = sorted(self._markers, key=len, reverse=True)
        alternatives = "|".join(map(re.escape, longest_first))
        self._pattern = re.compile(f"({alternatives})") if alternatives else None

    @classmethod
    def for_family(cls, family: Family) -> MockTokenizer:
        """The tokenizer that holds each of `family.markers`, in that order.

        One that is made of others, such as `<|im_start|>assistant`, is none: its parts are.
        Citation markup is not among them: models write it with ordinary tokens.
        """
        known = family.markers
        made_of_others = {m for m in known if any(part in m for part in known if part != m)}
        return cls([marker for marker in known if marker not in made_of_others])

    @property
    def all_special_ids(self) -> list[int]:
        """The ids of the markers."""
        return list(self._ids.values())

    def encode(self, text: str) -> list[int]:
        """The ids of `text`; where markers overlap, the leftmost and then the longest one counts.

        >>> MockTokenizer(["<a", "<a>"]).encode("<a>")
        [257]
        """
        pieces = self._pattern.split(text) if self._pattern else [text]
        return [token for piece in pieces for token in self._piece_ids(piece)]

    def encode_ordinary(self, text: str) -> list[int]:
        """The ids of `text` with every marker in it only spelled, by ordinary byte tokens.

        >>> MockTokenizer(["<a>"]).encode_ordinary("<a>")
        [60, 97, 62]
        """
        return list(text.encode("utf-8", errors="replace"))

    def decode(self, token_ids: Sequence[int], skip_special_tokens: bool = False) -> str:
        """The text of ids; bytes that make no character become U+FFFD.

        >>> MockTokenizer(["<a>"]).decode([104, 256, 195], skip_special_tokens=True)
        'h\ufffd'
        """
        data = b"".join(self._bytes(token, skip_special_tokens) for token in token_ids)
        return data.decode("utf-8", errors="replace")

    def get_vocab(self) -> dict[str, int]:
        """Every token's string and id; byte tokens are written `<0x41>`."""
        return dict(self._vocabulary)

    def token_to_id(self, token: str) -> int | None:
        """The id of a token's string, or None."""
        return self._vocabulary.get(token)

    def convert_tokens_to_ids(self, token: str) -> int | None:
        """The id of a token's string, or None: this tokenizer has no unknown token."""
        return self.token_to_id(token)

    def _piece_ids(self, piece: str) -> list[int]:
        marker = self._ids.get(piece)
        return self.encode_ordinary(piece) if marker is None else [marker]

    def _bytes(self, token: int, skip_special: bool) -> bytes:
        if 0 <= token < BYTE_TOKENS:
            return bytes([token])
        marker = self._markers[token - BYTE_TOKENS]
        return b"" if skip_special else marker.encode()
