"""Chat templates of strangers, rendered within limits of time and memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tagsmith.errors import MissingDependencyError, RequestError

SECONDS = 10
"""How long all prompts of a template may take."""
MEMORY = 2 * 1024**3
"""How much memory, in bytes, they may take, where the system can limit it."""

Wanted = Mapping[str, Sequence[Mapping[str, Any]]]
"""For each prompt, the variables to try until the template takes some."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """What became of a prompt: its text, or why there is none."""

    text: str | None
    error: str = ""


def render_bounded(template: str, wanted: Wanted) -> dict[str, Prompt]:
    """Render a template in another process.

    Args:
        template: the template's text.
        wanted: for each prompt, by a name of the caller's, variables to try in order.

    Returns:
        What became of each prompt.

    Raises:
        RequestError: it takes too long, too much memory, or ends its process.
        MissingDependencyError: jinja2 is not installed.
    """
    given = {"template": template, "wanted": wanted, "seconds": SECONDS, "memory": MEMORY}
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    try:
        done = subprocess.run(
            # Without -P, a json.py beside a stranger's template would be run as the module.
            [sys.executable, "-P", "-m", "tagsmith.authoring.render_worker"],
            input=json.dumps(given),
            env=environ,
            timeout=SECONDS + 5,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise RequestError("chat_template", _too_long()) from None
    if done.returncode != 0:
        raise _failure(done.returncode, done.stderr)
    return {
        name: Prompt(found.get("text"), found.get("error", ""))
        for name, found in json.loads(done.stdout).items()
    }


def _failure(code: int, said: str) -> Exception:
    last = (said.strip().splitlines() or [""])[-1]
    if "MissingDependencyError" in last:
        return MissingDependencyError(last.partition(": ")[2])
    if "MemoryError" in last:
        return RequestError("chat_template", "takes more memory than a prompt may")
    if code < 0:
        return RequestError("chat_template", _too_long())
    return RequestError("chat_template", f"cannot be rendered ({last or f'exit code {code}'})")


def _too_long() -> str:
    return f"takes longer than {SECONDS} seconds, or ends the process that renders it"
