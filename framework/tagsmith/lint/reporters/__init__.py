"""Telling what linting found: to people, to programs, to GitHub, and to whatever reads SARIF."""

from __future__ import annotations

from tagsmith.lint.reporters.github import github_report
from tagsmith.lint.reporters.machine import json_report
from tagsmith.lint.reporters.sarif import sarif_report
from tagsmith.lint.reporters.text import painted, text_report, unpainted

__all__ = ["github_report", "json_report", "painted", "sarif_report", "text_report", "unpainted"]
