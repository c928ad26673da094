"""The pytest plug-in: the golden cases of `*.cases.yaml` files are tests, and so are the laws.

It is a package of its own because every run of pytest imports it: Tagsmith itself is imported when
a case file is collected.
"""

from __future__ import annotations

from pathlib import Path

import pytest

CASE_SUFFIXES = (".cases.yaml", ".cases.yml")


def pytest_addoption(parser: pytest.Parser) -> None:
    """The settings, for the section of pytest's own."""
    parser.addini(
        "tagsmith_cases",
        "Whether *.cases.yaml files are collected.",
        type="bool",
        default=True,
    )
    parser.addini(
        "tagsmith_families",
        "Family files, and directories of them, beside those in the directory of a case file.",
        type="paths",
        default=[],
    )
    parser.addini(
        "tagsmith_samples",
        "On how many generated texts each law of Tagsmith is tried; 0 tries none.",
        default="20",
    )


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """The cases in a file, where it is one."""
    is_case_file = file_path.name.endswith(CASE_SUFFIXES)
    if not is_case_file or not parent.config.getini("tagsmith_cases"):
        return None
    from tagsmith.testing.pytest_items import CaseFileCollector

    return CaseFileCollector.from_parent(parent, path=file_path)
