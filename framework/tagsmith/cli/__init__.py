"""The command line. A command's module is imported only when that command runs."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import click

from tagsmith.cli.common import FINE, INTERRUPTED, WRONG_USE
from tagsmith.errors import RequestError, TagsmithError
from tagsmith.wording import one_line, shortened

COMMANDS = {
    "parse": "Read a model's output: reasoning, content, tool calls, citations.",
    "batch": "Read a file of raw outputs, in worker processes.",
    "explain": "Show what every character of an output is.",
    "structural-tag": "Print the structural tag that constrains an output.",
    "render": "Print the prompt that a chat request becomes.",
    "families": "List the families that can be used.",
    "lint": "Check family files.",
    "test": "Hold families to their golden cases and to the laws.",
    "new": "Write a plug-in package for a new family, or draft one from a chat template.",
    "convert": "Read and write transformers' response templates.",
    "plugins": "List the plug-ins and how they loaded.",
    "serve": "Serve both chat APIs in front of a server of raw completions.",
    "bench": "Measure what reading a family's output costs.",
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
            wrong = f"there is no command '{shortened(args[0])}'; there are: {known}"
            raise click.UsageError(wrong, ctx)
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
        args = sys.argv[1:] if args is None else args
        try:
            code = super().main(args, name, complete_var, standalone_mode=False, **extra)
        except click.ClickException as error:
            return _report(_told(error, args))
        except RequestError as error:
            return _report(_by_option(error, args))
        except TagsmithError as error:
            return _report(str(error))
        except OSError as error:
            reason = error.strerror or error
            if error.filename is not None:
                return _report(f"{error.filename}: {reason}; check the path and its permissions")
            return _report(f"the output cannot be written ({reason}); give it somewhere else to go")
        except (click.Abort, KeyboardInterrupt):
            return INTERRUPTED
        except SystemExit:
            # So click ends where the output is closed: whoever reads it has enough.
            return FINE
        return code if isinstance(code, int) else FINE


def _report(message: str) -> int:
    click.echo(f"tagsmith: {one_line(message)}", err=True)
    return WRONG_USE


def _by_option(error: RequestError, args: Sequence[str]) -> str:
    """The error under the name that the user gave the field by."""
    option = f"--{error.field.replace('_', '-')}"
    given = any(arg.partition("=")[0] == option for arg in args)
    return f"{option}{str(error).removeprefix(error.field)}" if given else str(error)


def _told(error: click.ClickException, args: Sequence[str]) -> str:
    message = error.format_message().rstrip(".")
    if isinstance(error, click.UsageError):
        for value in (part for arg in args for part in (arg, arg.partition("=")[2])):
            message = message.replace(value, shortened(value)) if value else message
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
