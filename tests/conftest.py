"""What several test files use."""

import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Path]]:
    """Put a package on the path as if it were installed: its files, and its entry points."""
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)

    def _install(package: str, group: str, value: str, **files: str) -> Path:
        directory = tmp_path / package
        directory.mkdir()
        for name, text in files.items():
            name = name.replace("__py", ".py").replace("__yaml", ".yaml")
            (directory / name).write_text(textwrap.dedent(text))
        info = tmp_path / f"{package}-1.2.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.2\n")
        (info / "entry_points.txt").write_text(f"[{group}]\n{package} = {value}\n")
        return directory

    yield _install
    for name in set(sys.modules) - before:
        del sys.modules[name]
