"""What the commands share: options, reading input, and errors told in one line."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import click

if TYPE_CHECKING:
    from tagsmith.family import Family
    from tagsmith.registry import Registry

FINE = 0
PROBLEMS_FOUND = 1
WRONG_USE = 2

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


def one_line(message: str) -> str:
    """The message with every run of whitespace, line ends included, as one space.

    >>> one_line("a\\n  b")
    'a b'
    """
    return " ".join(message.split())


def families_option(command: _Command) -> _Command:
    """The option `--families PATH`, repeatable; the command gets `families`, a tuple of paths."""
    return click.option(
        "--families",
        metavar="PATH",
        multiple=True,
        help="A family file, or a directory of them; may be given again.",
    )(command)


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
        if not Path(path).exists():
            fail(f"--families {path}: no such file or directory; give a family file or a directory")
    return load(families)


def pick_family(name: str, families: tuple[str, ...], model: str | None = None) -> Family:
    """The one family that answers to a name; any lookup error ends the command in one line."""
    return load_registry(families).get(name, model=model)


def read_bytes(path: str) -> bytes:
    """A file's bytes; `-` is standard input, which can be read once."""
    if path == "-":
        return _read_stdin()
    try:
        return Path(path).read_bytes()
    except FileNotFoundError:
        fail(f"{path}: no such file; give the path of a file, or - for standard input")
    except IsADirectoryError:
        fail(f"{path}: is a directory; give the path of a file, or - for standard input")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        fail(f"{path}: cannot be read ({reason}); give a file that can be read")


def read_text(path: str) -> str:
    """A model text, to the letter: strict UTF-8, every character kept, NUL and line ends included.

    `-` is standard input.
    """
    data = read_bytes(path)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        fail(
            f"{_shown(path)}: binary input (byte {error.start} is not UTF-8); "
            "give text in the UTF-8 encoding"
        )


def read_json(path: str) -> Any:
    """The value a JSON file holds; `-` is standard input."""
    text = read_text(path).removeprefix("\ufeff")
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        fail(
            f"{_shown(path)}:{error.lineno}:{error.colno}: not JSON ({error.msg}); "
            "give a file that holds one JSON value"
        )
    except (RecursionError, ValueError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else error
        fail(f"{_shown(path)}: cannot be read as JSON ({reason}); give a simpler JSON value")


def read_json_list(path: str) -> list[Any]:
    """The list a JSON file holds, such as tools or documents; `-` is standard input."""
    value = read_json(path)
    if not isinstance(value, list):
        fail(f"{_shown(path)}: holds {_kind(value)}, not a list; give a JSON list: [...]")
    return value


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
    meta = click.get_current_context().find_root().meta
    if meta.setdefault(__name__, False):
        fail("standard input can be read once; give a file for all but one of the '-'")
    meta[__name__] = True
    return sys.stdin.buffer.read()


def _shown(path: str) -> str:
    return "standard input" if path == "-" else path


def _kind(value: Any) -> str:
    kinds = {dict: "an object", str: "a string", bool: "a truth value", type(None): "null"}
    return kinds.get(type(value), "a number")
