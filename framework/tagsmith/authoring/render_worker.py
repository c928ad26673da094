"""Renders a chat template in a process of its own, which has little time and little memory.

A template is a program: one that runs for ever, or fills the memory, has to end with its process.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from tagsmith.errors import RequestError
from tagsmith.render.chat_template import render_chat_template
from tagsmith.render.options import MarkerPolicy
from tagsmith.render.request import PromptRequest
from tagsmith.spec.models import FamilySpec

MAX_TEXT = 100_000
"""The longest prompt that is taken, in characters."""
_NOBODY = FamilySpec(tagsmith=1, id="nobody")


def render(template: str, fields: Mapping[str, Any]) -> str:
    """One prompt, of exactly these variables.

    Raises:
        RequestError: the template fails, refuses them, or writes too much.

    >>> render("{{ messages[0].content }}!", {"messages": [{"role": "user", "content": "Hi"}]})
    'Hi!'
    """
    request = PromptRequest(turns=(), fields=fields, markers=MarkerPolicy.KEEP)
    text = render_chat_template(_NOBODY, request, template)
    if len(text) > MAX_TEXT:
        raise RequestError("chat_template", f"writes more than {MAX_TEXT} characters")
    return text


def first_rendered(template: str, ways: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The prompt of the first variables that the template takes, or why it takes none of them."""
    error = ""
    for fields in ways:
        try:
            return {"text": render(template, fields)}
        except RequestError as refused:
            error = error or str(refused).removeprefix(f"{refused.field}: ")
    return {"error": error}


def main() -> None:
    """Read a template and the variables to try from standard input, write what comes out."""
    given = json.load(sys.stdin)
    _limit(given["seconds"], given["memory"])
    answer = {
        name: first_rendered(given["template"], ways) for name, ways in given["wanted"].items()
    }
    json.dump(answer, sys.stdout)


def _limit(seconds: int, memory: int) -> None:
    """Bound this process, where the system can; whoever started it waits no longer either."""
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


if __name__ == "__main__":
    main()
