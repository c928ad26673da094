"""Structural tags: the grammar side of a family."""

from tagsmith.grammar.build import build_structural_tag, list_limitations
from tagsmith.grammar.check import CheckResult, check_structural_tag
from tagsmith.grammar.shared import (
    StructuralTag,
    shared_structural_tag,
    validate_structural_tag,
)

__all__ = [
    "CheckResult",
    "StructuralTag",
    "build_structural_tag",
    "check_structural_tag",
    "list_limitations",
    "shared_structural_tag",
    "validate_structural_tag",
]
