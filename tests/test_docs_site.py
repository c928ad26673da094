"""The documentation as a site: every page is found in it, and it builds without a warning."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from workspace import ROOT, run

CONFIG = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
PAGES = sorted(path.relative_to(ROOT / "docs").as_posix() for path in ROOT.glob("docs/**/*.md"))
LINK = re.compile(r"(?<!`)\]\(([^)#\s]+)(#[^)\s]*)?\)")
ESCAPED_PIPE = re.compile(r"<td>.*\\\|")
ELSEWHERE = re.compile(r"<(?:link|script|img|iframe)\b[^>]*\b(?:href|src)=\"(?:https?:)?//")


def in_nav(entries: list[Any]) -> Iterator[str]:
    for entry in entries:
        for value in entry.values():
            if isinstance(value, str):
                yield value
            else:
                yield from in_nav(value)


def test_every_page_is_in_the_navigation_once() -> None:
    assert sorted(in_nav(CONFIG["nav"])) == PAGES


@pytest.mark.parametrize("page", PAGES)
def test_a_page_links_to_pages_alone(page: str) -> None:
    """What is not a page is no part of the site: it is named, not linked."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    targets = {found[1] for found in LINK.finditer(text) if "://" not in found[1]}
    assert targets <= set(PAGES)


@pytest.mark.heavy
def test_the_site_builds_without_a_warning_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    run(sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", tmp_path, cwd=ROOT)
    pages = {path.relative_to(tmp_path).as_posix() for path in tmp_path.glob("*.html")}
    assert {page.replace(".md", ".html") for page in PAGES} <= pages
    for page in pages:
        text = (tmp_path / page).read_text(encoding="utf-8")
        assert not ELSEWHERE.findall(text)
        assert not ESCAPED_PIPE.findall(text), "docs/site_tables.py sees to these"
