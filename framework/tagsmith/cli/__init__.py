"""The command line. A command's module is imported only when that command runs."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import click

from tagsmith.cli.common import WRONG_USE, one_line
from tagsmith.errors import TagsmithError

COMMANDS = {
    "parse": "Read a model's output: reasoning, content, tool calls, citations.",
    "explain": "Show what every character of an output is.",
    "structural-tag": "Print the structural tag that constrains an output.",
    "families": "List the families that can be used.",
    "lint": "Check family files.",
    "plugins": "List the plug-ins and how they loaded.",
    "schema": "Print the JSON Schema of a file format.",
}
"""Each command and its line in the list; `tagsmith.cli.<name>` holds it, named `command`."""


class LazyGroup(click.Group):
    """The commands, each imported when it runs, and every error told in one line.

    A command returns its exit code, or nothing for 0.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order a user meets them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"tagsmith.cli.{cmd_name.replace('-', '_')}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands from the table, so that help imports none of them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or say which there are."""
        if args and not args[0].startswith("-") and args[0] not in COMMANDS:
            known = ", ".join(COMMANDS)
            raise click.UsageError(f"there is no command '{args[0]}'; there are: {known}", ctx)
        return super().resolve_command(ctx, args)

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run, and end the process with the exit code."""
        name = prog_name or "tagsmith"
        if not standalone_mode:
            return super().main(args, name, complete_var, standalone_mode=False, **extra)
        sys.exit(self._run(args, name, complete_var, **extra))

    def _run(
        self, args: Sequence[str] | None, name: str, complete_var: str | None, **extra: Any
    ) -> int:
        for stream in (sys.stdout, sys.stderr):
            # A terminal that cannot show a character must not end the command.
            getattr(stream, "reconfigure", lambda **_: None)(errors="backslashreplace")
        try:
            code = super().main(args, name, complete_var, standalone_mode=False, **extra)
        except click.ClickException as error:
            return _report(_told(error))
        except (TagsmithError, OSError) as error:
            return _report(str(error))
        except click.Abort:
            return 130
        return code if isinstance(code, int) else 0


def _report(message: str) -> int:
    click.echo(f"tagsmith: {one_line(message)}", err=True)
    return WRONG_USE


def _told(error: click.ClickException) -> str:
    message = error.format_message().rstrip(".")
    if isinstance(error, click.UsageError) and error.ctx is not None:
        return f"{message}; see '{error.ctx.command_path} --help'"
    return message


def _print_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if not wanted:
        return
    try:
        number = version("tagsmith")
    except PackageNotFoundError:
        number = "(not installed)"
    click.echo(f"tagsmith {number}")
    ctx.exit()


@click.command("tagsmith", cls=LazyGroup, no_args_is_help=False)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Print the version and leave.",
)
def main() -> None:
    """One YAML file per model family: a parser, a structural tag, and the serving facts.

    \b
    Example:
      tagsmith parse --family Cohere2ForCausalLM output.txt

    Exit codes: 0 fine, 1 problems found, 2 wrong use.
    """
