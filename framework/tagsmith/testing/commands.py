"""The command that shows a failed case again, for bash."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from shlex import join, quote
from typing import Any

from tagsmith.testing.check import CaseFailure

LONGEST = 4000
"""How long a command may be, in characters."""

_BY_SIZE = re.compile(r"fed by (?:(\d+) )?character")
_UNSAYABLE = re.compile("[\x00\ud800-\udfff]")
"""What no argument of a command can be."""
_MODES = ("auto", "none", "required")


def command_for(failure: CaseFailure, families: Sequence[str] = ()) -> str | None:
    """`tagsmith explain`, or `tagsmith parse --stream` where it is the cutting that matters.

    None where no command line can say it: for some cuttings, and for what a shell cannot hold.

    Args:
        failure: the case that failed.
        families: the paths that its family was loaded from.
    """
    case = failure.case
    by_size = _BY_SIZE.search(failure.way)
    if failure.by_cutting and by_size is None:
        return None
    name = _tool_name(case.tool_choice)
    if case.tool_choice is not None and name is None:
        return None
    words = ["tagsmith", "parse" if failure.by_cutting else "explain", "--family", case.family]
    words += [word for path in families for word in ("--families", path)]
    if by_size is not None and failure.by_cutting:
        words += ["--stream", by_size[1] or "1", "--finish-reason", case.finish_reason]
    words += ["--tool-choice", name] if name is not None else []
    words += [word for text in case.stop or () for word in ("--stop", text)]
    command = " ".join([join(words), *_files(failure), "-"])
    command = f"printf %s {quote(case.text)} | {command}"
    return command if len(command) <= LONGEST and not _UNSAYABLE.search(command) else None


def _files(failure: CaseFailure) -> Iterator[str]:
    """The parts of a request that a command reads from files."""
    case = failure.case
    if case.prompt:
        yield f"--prompt {_file(case.prompt)}"
    for option in ("tools", "documents", "messages"):
        value = getattr(case, option)
        if value is not None:
            yield f"--{option} {_file(json.dumps(value, ensure_ascii=False))}"


def _file(text: str) -> str:
    return f"<(printf %s {quote(text)})"


def _tool_name(choice: Any) -> str | None:
    """A tool choice as `--tool-choice` takes it."""
    if isinstance(choice, str):
        return choice
    function = choice.get("function", choice) if isinstance(choice, dict) else None
    name = function.get("name") if isinstance(function, dict) else None
    return name if isinstance(name, str) and name not in _MODES else None
