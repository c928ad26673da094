"""Fresh copies and environments for the tests that install things."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
LEFT_OUT = shutil.ignore_patterns(
    ".git", ".venv*", "build", "dist", "*.egg-info", "__pycache__", ".*_cache", ".hypothesis"
)


def clean_environ(*first_on_path: Path) -> dict[str, str]:
    """The environment without what would lead Python or Tagsmith elsewhere."""
    environ = {k: v for k, v in os.environ.items() if not k.startswith(("TAGSMITH", "PYTHON"))}
    environ.pop("VIRTUAL_ENV", None)
    for variable in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS"):
        environ.pop(variable, None)
    path = [*map(str, first_on_path), environ.get("PATH", os.defpath)]
    return environ | {"PATH": os.pathsep.join(path)}


def run(*command: str | Path, cwd: Path, path: tuple[Path, ...] = ()) -> str:
    """Run a command that must succeed; its standard output."""
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=clean_environ(*path),
        text=True,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def copy_of_repository(target: Path) -> Path:
    """The project's files as a fresh clone has them."""
    return Path(shutil.copytree(ROOT, target, ignore=LEFT_OUT))


def new_environment(target: Path, *install: str | Path) -> Path:
    """A virtual environment with these installed; its directory of programs."""
    run(sys.executable, "-m", "venv", target, cwd=target.parent)
    programs = target / "bin"
    pip = (programs / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    if install:
        run(*pip, *install, cwd=target.parent)
    return programs
