"""Mending family files: fixes that are certain, and nothing else."""

from __future__ import annotations

from tagsmith.lint.fixing.mending import Mending, mend, mend_bytes

__all__ = ["Mending", "mend", "mend_bytes"]
