"""Tagsmith's own rules: what a file may say, and its author can hardly mean."""

from __future__ import annotations

from tagsmith.lint.builtin import cases, markers, patterns, regions

RULES = (*cases.RULES, *markers.RULES, *regions.RULES, *patterns.RULES)
"""Every rule that looks at the file alone, in the order of their codes."""
