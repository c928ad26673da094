"""A family's markers, as free text and names see them: found once for each family."""

from __future__ import annotations

from functools import lru_cache

from tagsmith.engine.tables import Role, marker_meanings
from tagsmith.grammar.turns import header_starts
from tagsmith.spec.models import FamilySpec

KEPT_FAMILIES = 64
"""For how many families what is found is kept."""


@lru_cache(maxsize=KEPT_FAMILIES)
def all_markers(spec: FamilySpec) -> tuple[str, ...]:
    """Every literal that means something outside of strings, hidden tokens too."""
    return tuple(marker_meanings(spec))


@lru_cache(maxsize=KEPT_FAMILIES)
def text_markers(spec: FamilySpec) -> tuple[str, ...]:
    """Every literal that means something in text, and what begins a header."""
    meanings = marker_meanings(spec)
    literals = [text for text, meaning in meanings.items() if meaning.role is not Role.HIDDEN]
    return (*literals, *(start for start in header_starts(spec) if start not in literals))
