"""What the tutorials show of a file is what stands in it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

import tagsmith
from tagsmith.authoring import package_like

ROOT = Path(__file__).parent.parent
SHOWN = re.compile(r"^```(?:yaml|toml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def shown(page: str) -> list[str]:
    return SHOWN.findall((ROOT / "docs" / page).read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def package() -> Mapping[str, str]:
    """The files that the second tutorial has made."""
    return package_like("acme-coder", "qwen3-coder", tagsmith.load_registry()).files


@pytest.mark.parametrize("number", range(2))
def test_the_architecture_is_the_example(number: int) -> None:
    name = ("cohere3.yaml", "cohere3.cases.yaml")[number]
    text = (ROOT / "examples" / "families" / name).read_text(encoding="utf-8")
    lines = [line for line in text.splitlines(keepends=True) if not line.startswith("#")]
    assert shown("tutorial-architecture.md")[number] == "".join(lines)


@pytest.mark.parametrize("block", shown("tutorial-package.md"))
def test_the_package_is_what_is_written(block: str, package: Mapping[str, str]) -> None:
    files = "\n".join(package.values())
    assert all(part.strip() in files for part in block.split("\n\n"))


def test_the_package_has_the_files_that_are_shown(package: Mapping[str, str]) -> None:
    page = (ROOT / "docs" / "tutorial-package.md").read_text(encoding="utf-8")
    assert "".join(f"tagsmith-acme-coder/{file}\n" for file in package) in page
