"""Built structural tags: immutable, and one for all equal requests."""

from __future__ import annotations

import json
import marshal
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

from tagsmith.grammar.build import list_limitations, write_tag
from tagsmith.grammar.check import byte_vocabulary, compile_structural_tag
from tagsmith.grammar.token_markers import with_token_markers
from tagsmith.request import Request, Unenforceable
from tagsmith.spec.models import FamilySpec

KEPT_TAGS = 128
"""How many built tags are kept; the one that was asked for longest ago goes first."""


@dataclass(frozen=True)
class StructuralTag:
    """A built structural tag that nobody can change, so that equal requests may share it.

    >>> StructuralTag.freeze({"type": "structural_tag"}).text
    '{"type":"structural_tag"}'
    """

    packed: bytes = field(repr=False)
    limitations: tuple[str, ...] = ()
    """What the schemas of the request ask and the tag does not hold, one line each."""

    @classmethod
    def freeze(cls, tag: dict[str, Any], limitations: tuple[str, ...] = ()) -> StructuralTag:
        """Take a copy."""
        return cls(marshal.dumps(tag), limitations)

    @cached_property
    def text(self) -> str:
        """The tag as JSON text, which is what serving engines take; written once."""
        return json.dumps(self.to_dict(), ensure_ascii=False, separators=(",", ":"))

    def to_dict(self) -> dict[str, Any]:
        """A fresh dict, the caller's own."""
        tag: dict[str, Any] = marshal.loads(self.packed)
        return tag


@lru_cache(maxsize=KEPT_TAGS)
def shared_structural_tag(
    spec: FamilySpec, request: Request, tokens: frozenset[str] | None = None
) -> StructuralTag:
    """The structural tag of a request: built once, then the same object for every equal one.

    Args:
        spec: The family.
        request: What the output must keep to, from `read_request`.
        tokens: The family's markers that are one token each, for a tag with tokens in their
            place; None leaves them text.

    Raises:
        RequestError: as `build_structural_tag`; or the markers cannot be tokens for this request.

    >>> from tagsmith.request import read_request
    >>> spec = FamilySpec(tagsmith=1, id="plain")
    >>> shared_structural_tag(spec, read_request()) is shared_structural_tag(spec, read_request())
    True
    """
    tag = write_tag(spec, request)
    if tokens is not None:
        tag["format"] = with_token_markers(spec, request, tag["format"], tokens)
    # Where they are an error, there are none in a tag that was written.
    is_reported = request.unenforceable is Unenforceable.REPORT
    return StructuralTag.freeze(tag, list_limitations(spec, request) if is_reported else ())


@lru_cache(maxsize=KEPT_TAGS)
def validate_structural_tag(tag: StructuralTag, markers: tuple[str, ...]) -> None:
    """Compile a tag in xgrammar, once, over the bytes and these markers as tokens.

    Raises:
        MissingDependencyError: xgrammar is not installed.
        RequestError: xgrammar cannot compile the tag.
    """
    compile_structural_tag(tag.to_dict(), byte_vocabulary(markers))
