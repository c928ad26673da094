"""What an argument encoding is: how one call's arguments are written in a `template` layout.

An encoding compiles what a family's file says of it to a program; the program makes a reader for
each generation; the reader turns the arguments, as they arrive, into JSON text.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto
from typing import Protocol

from tagsmith.engine.base import Context
from tagsmith.engine.buffer import Buffer
from tagsmith.engine.calls import CallSink
from tagsmith.engine.templates import Place
from tagsmith.spec.models import FamilySpec


class Ended(Enum):
    """How arguments ended where their reader stopped."""

    WHOLE = auto()
    BROKEN = auto()
    """Something stands there that can be no part of them."""


class ArgumentsReader(Protocol):
    """Reads the arguments of one generation's calls, one call after the other.

    It hands every character that it passes to `CallSink.take`, and the arguments as JSON text to
    `CallSink.argument_text`; where what it reads can be nothing but arguments, it says so with
    `CallSink.confirm`. It never raises on text. `flowing` is as in `CallReader`.
    """

    @property
    def flowing(self) -> Callable[[str], object] | None:
        """What ends a run of arguments."""
        ...

    def begin(self, tool: str, after: Place) -> None:
        """The arguments of a call to this tool begin; `after` is the place behind them."""
        ...

    def read(self, buffer: Buffer, pos: int) -> tuple[int, Ended | None]:
        """Read on from `pos`: where reading stopped, and how they ended, if they did.

        Otherwise what is left must be given again together with the text that follows it. In a
        final buffer nothing is left.
        """
        ...

    def finish(self) -> bool:
        """The output ends inside the arguments; whether they may be whole, as far as they go."""
        ...

    @property
    def expects_marker(self) -> bool:
        """Whether what may be the start of a marker can be nothing else here."""
        ...


class ArgumentsProgram(Protocol):
    """An encoding, compiled for one family."""

    @property
    def starts(self) -> frozenset[str]:
        """Literals that arguments may begin with, which end a name that stands before them."""
        ...

    @property
    def literals(self) -> frozenset[str]:
        """Literals that arguments are made of, and no name."""
        ...

    def reader(self, sink: CallSink, context: Context) -> ArgumentsReader:
        """A reader for one generation."""
        ...


Encoding = Callable[[FamilySpec, frozenset[str]], ArgumentsProgram]
"""Compiles an encoding for a family; the literals given with it end a call wherever they stand."""
