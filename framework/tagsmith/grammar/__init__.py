"""Structural tags: the grammar side of a family."""

from tagsmith.grammar.build import build_structural_tag, list_limitations
from tagsmith.grammar.check import CheckResult, check_structural_tag

__all__ = ["CheckResult", "build_structural_tag", "check_structural_tag", "list_limitations"]
