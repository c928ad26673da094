"""The options that describe the request whose output is read: shared by `parse` and `explain`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from tagsmith.cli.common import exists, fail, read_json_list, read_text
from tagsmith.wording import shortened

if TYPE_CHECKING:
    from tagsmith.family import Family

_Command = TypeVar("_Command", bound=Callable[..., Any])

_MODES = ("auto", "none", "required")
_OPTIONS = (
    click.option("--tools", metavar="FILE", help="The request's tools, as a JSON list."),
    click.option("--tool-choice", metavar="CHOICE", help="auto, none, required or a tool's name."),
    click.option("--documents", metavar="FILE", help="The documents to cite, as a JSON list."),
    click.option(
        "--messages", metavar="FILE", help="The conversation so far, as a JSON list of messages."
    ),
    click.option(
        "--prompt",
        metavar="TEXT|FILE",
        help="The prompt, or the file that holds it: it tells where the output begins.",
    ),
    click.option(
        "--stop", metavar="TEXT", multiple=True, help="A stop string; may be given again."
    ),
)


def request_options(command: _Command) -> _Command:
    """The options of a request; the command passes them on to `read_request_options`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def read_request_options(
    family: Family,
    *,
    tools: str | None,
    tool_choice: str | None,
    documents: str | None,
    messages: str | None,
    prompt: str | None,
    stop: tuple[str, ...],
) -> dict[str, Any]:
    """Read the files that the options name, as keyword arguments for `Family.parser`."""
    known = read_tools_option(tools)
    return {
        "tools": known,
        "tool_choice": read_choice(tool_choice, known),
        "documents": None if documents is None else read_json_list(documents, "--documents"),
        "messages": None if messages is None else read_json_list(messages, "--messages"),
        "prompt": _read_prompt(prompt, family.markers),
        "stop": stop,
    }


def read_tools_option(path: str | None) -> list[Any] | None:
    """The list in the file that `--tools` names."""
    return None if path is None else read_json_list(path, "--tools")


def read_choice(choice: str | None, tools: list[Any] | None) -> Any:
    """A tool choice as the request spells it: a mode, or the tool of this name.

    >>> read_choice("f", [{"name": "f"}])
    {'type': 'function', 'name': 'f'}
    """
    if choice is None or choice.lower() in _MODES:
        return choice
    if tools is None:
        fail(
            f"--tool-choice {shortened(choice)}: give auto, none, required, or a tool's name with "
            "--tools"
        )
    return {"type": "function", "name": choice}


def _read_prompt(prompt: str | None, markers: tuple[str, ...]) -> str | None:
    """A prompt that holds a marker is the prompt itself, an empty one none; else it is a path."""
    if not prompt or any(marker in prompt for marker in markers):
        return prompt or None
    if prompt != "-" and not exists(prompt):
        fail(
            f"--prompt {shortened(prompt)}: neither a file nor text with one of the family's "
            "markers in it; give the path of a file that holds the prompt, or the prompt with its "
            "special tokens"
        )
    return read_text(prompt, "--prompt")
