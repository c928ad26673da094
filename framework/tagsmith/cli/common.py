"""What the commands share: options, reading input, and errors told in one line."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import click

from tagsmith.wording import one_line, shortened

if TYPE_CHECKING:
    from tagsmith.family import Family
    from tagsmith.registry import Registry

FINE = 0
PROBLEMS_FOUND = 1
WRONG_USE = 2
INTERRUPTED = 130

_SHOWN_OF_PATH = 300
"""How many characters of a path a message shows: those of nearly every file there is."""

_Command = TypeVar("_Command", bound=Callable[..., Any])


class WrongUse(click.ClickException):
    """What a user has to mend, in one line; the process ends with exit code 2."""

    exit_code = WRONG_USE


def fail(message: str) -> NoReturn:
    """End the command: one line on standard error, exit code 2.

    The message says what is wrong and what to do.

    >>> fail("tools.json: not a list; give a JSON list of tools")
    Traceback (most recent call last):
    tagsmith.cli.common.WrongUse: tools.json: not a list; give a JSON list of tools
    """
    raise WrongUse(message)


def families_option(command: _Command) -> _Command:
    """The option `--families PATH`, repeatable; the command gets `families`, a tuple of paths."""
    return click.option(
        "--families",
        metavar="PATH",
        multiple=True,
        help="A family file, or a directory of them; may be given again.",
    )(command)


def special_tokens_option(command: _Command) -> _Command:
    """The option `--special-token NAME=TEXT`, repeatable; see `read_special_tokens`."""
    return click.option(
        "--special-token",
        "special_tokens",
        metavar="NAME=TEXT",
        multiple=True,
        help="A special token of the chat template, as in eos_token=</s>; may be given again.",
    )(command)


def read_special_tokens(given: Sequence[str]) -> dict[str, str]:
    """What `--special-token` gave: tokens by the names that chat templates have for them.

    >>> read_special_tokens(["eos_token=</s>"])
    {'eos_token': '</s>'}
    """
    tokens = {}
    for pair in given:
        name, equals, text = pair.partition("=")
        if not name or not equals:
            shown = shortened(pair)
            fail(f"--special-token {shown}: give a name and a token, as in eos_token=</s>")
        tokens[name] = text
    return tokens


def family_option(command: _Command) -> _Command:
    """The options `--family NAME` (needed) and `--model NAME`; the command gets both.

    Pass them to `pick_family`.
    """
    command = click.option(
        "--model",
        metavar="NAME",
        help="The model's name, where several families serve one architecture.",
    )(command)
    return click.option(
        "--family",
        metavar="NAME",
        required=True,
        help="A family's id, an architecture, or a model name.",
    )(command)


def format_option(*formats: str) -> Callable[[_Command], _Command]:
    """The option `--format`; the first format is the default. The command gets `output_format`."""

    def decorate(command: _Command) -> _Command:
        return click.option(
            "--format",
            "output_format",
            type=click.Choice(formats),
            default=formats[0],
            show_default=True,
            help="How to print the result.",
        )(command)

    return decorate


def load_registry(families: tuple[str, ...]) -> Registry:
    """The registry of plug-ins, TAGSMITH_FAMILIES and the `--families` paths.

    A path that does not exist is wrong use; a broken family among the others is not.
    """
    from tagsmith.registry import load_registry as load

    for path in families:
        require_path(path, "--families")
    return load(families)


def pick_family(name: str, families: tuple[str, ...], model: str | None = None) -> Family:
    """The one family that answers to a name; any lookup error ends the command in one line.

    So does a file named by `--families` that cannot be used. What is wrong with the files of a
    directory, or with what TAGSMITH_FAMILIES names, is told on standard error, and the command goes
    on.
    """
    registry = load_registry(families)
    files = {str(Path(path)) for path in families if not Path(path).is_dir()}
    problems = registry.problems_of_named()
    for problem in problems:
        if problem.found.name in files:
            raise problem.error
    found = registry.get(name, model=model)
    for line in dict.fromkeys(str(problem.error) for problem in problems):
        click.echo(f"tagsmith: warning: {one_line(line)}", err=True)
    return found


def require_path(path: str, option: str = "") -> None:
    """End the command unless there is a file or directory of this path."""
    if not exists(path):
        fail(
            f"{shown_path(path, option)}: no such file or directory; give a family file or a "
            "directory of them"
        )


def exists(path: str) -> bool:
    """Whether there is a file or directory of this path."""
    try:
        return Path(path).exists()
    except OSError:  # a name longer than the system allows
        return False


def read_bytes(path: str, option: str = "") -> bytes:
    """A file's bytes; `-` is standard input, which can be read once.

    Errors name the option, if it was one that named the file.
    """
    shown = shown_path(path, option)
    try:
        return _read_stdin() if path == "-" else Path(path).read_bytes()
    except FileNotFoundError:
        fail(f"{shown}: no such file; give the path of a file, or - for standard input")
    except IsADirectoryError:
        fail(f"{shown}: is a directory; give the path of a file, or - for standard input")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        fail(f"{shown}: cannot be read ({reason}); give a file that can be read")


def read_text(path: str, option: str = "") -> str:
    """A model text, to the letter: strict UTF-8, every character kept, NUL and line ends included.

    `-` is standard input.
    """
    data = read_bytes(path, option)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        fail(
            f"{shown_path(path, option)}: binary input (byte {error.start} is not UTF-8); "
            "give text in the UTF-8 encoding"
        )


def read_json(path: str, option: str = "") -> Any:
    """The value a JSON file holds; `-` is standard input."""
    text = read_text(path, option).removeprefix("\ufeff")
    shown = shown_path(path, option)
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        fail(
            f"{shown}:{error.lineno}:{error.colno}: not JSON ({error.msg}); "
            "give a file that holds one JSON value"
        )
    except (RecursionError, ValueError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else error
        fail(f"{shown}: cannot be read as JSON ({reason}); give a simpler JSON value")


def read_json_list(path: str, option: str = "") -> list[Any]:
    """The list a JSON file holds, such as tools or documents; `-` is standard input."""
    value = read_json(path, option)
    if not isinstance(value, list):
        shown = shown_path(path, option)
        fail(f"{shown}: holds {_kind(value)}, not a list; give a JSON list: [...]")
    return value


def shown_path(path: str, option: str = "") -> str:
    """A path as a message names it, after the option that gave it.

    >>> shown_path("-", "--tools"), shown_path("a.txt")
    ('--tools standard input', 'a.txt')
    """
    place = "standard input" if path == "-" else shortened(path, _SHOWN_OF_PATH)
    return f"{option} {place}".lstrip()


def echo_json(value: Any) -> None:
    """Print a value as JSON for machines: two spaces of indent, characters as they are."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))


def echo_table(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print rows of the same keys as a table for people, under the keys in capitals."""
    if not rows:
        click.echo("none")
        return
    cells = [[key.upper() for key in rows[0]]]
    cells += [[_cell(value) for value in row.values()] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for line in cells:
        padded = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        click.echo("  ".join(padded).rstrip())


def _cell(value: Any) -> str:
    if isinstance(value, list):
        value = ", ".join(map(str, value))
    return "-" if value in (None, "") else one_line(str(value))


def _read_stdin() -> bytes:
    if sys.stdin is None:
        fail("standard input is closed; give the path of a file, or something to read")
    meta = click.get_current_context().find_root().meta
    if meta.setdefault(__name__, False):
        fail("standard input can be read once; give a file for all but one of the '-'")
    meta[__name__] = True
    return sys.stdin.buffer.read()


def _kind(value: Any) -> str:
    kinds = {dict: "an object", str: "a string", bool: "a truth value", type(None): "null"}
    return kinds.get(type(value), "a number")
