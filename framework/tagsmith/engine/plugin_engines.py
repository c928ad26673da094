"""What an engine of a plug-in is: the program it compiles a family to, and the reader that the
program makes for each generation. `tagsmith.engines` says what they have to do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from functools import lru_cache
from typing import Protocol

from tagsmith.engine.base import Context
from tagsmith.errors import RequestError
from tagsmith.events import Event
from tagsmith.spec.models import FamilySpec
from tagsmith.wording import one_line, shortened

_LONGEST_FAULT = 300
_KEPT = 256
"""For how many families the program of an engine is kept."""


class EngineReader:
    """Reads one generation. A plug-in's reader derives from this class.

    What `feed` and `finish` return is looked through at once, so that either may be a generator.
    """

    held: str = ""
    """The end of what was fed, as far as nothing has been made of it: what may still become a
    marker, and so on. Where this reader fails, the native engine begins with it."""

    def feed(self, text: str) -> Iterable[Event]:
        """Take the next piece of output; return what is certain now."""
        raise NotImplementedError

    def feed_literal(self, text: str) -> Iterable[Event]:
        """Take text in which the family's markers are only spelled, as token ids have told."""
        return self.feed(text)

    def feed_marker(self, marker: str) -> Iterable[Event]:
        """Take one marker that token ids have told apart from text of the same spelling."""
        return self.feed(marker)

    def finish(self) -> Iterable[Event]:
        """The output has ended: give back what was held."""
        return ()


class EngineProgram(Protocol):
    """An engine, compiled for one family; shared by all its parsers, so that it never changes."""

    def reader(self, context: Context) -> EngineReader:
        """A reader for one generation. `context` is the reader's own."""
        ...


EngineMaker = Callable[[FamilySpec], EngineProgram]
"""Compiles an engine for a family; raises where the family does not say what it needs."""


Engines = Mapping[str, EngineMaker]
"""The engines that plug-ins bring, by the names that families give them."""


def compile_engine(name: str, make: EngineMaker, spec: FamilySpec) -> EngineProgram:
    """An engine compiled for a family, once for each.

    Raises `RequestError` where it does not take the family.
    """
    try:
        return _program(make, spec)
    except INTERRUPTS:
        raise
    except BaseException as fault:
        what = f"{name} cannot read the family {spec.id} ({fault_text(fault)})"
        raise RequestError("engine", what) from fault


@lru_cache(maxsize=_KEPT)
def _program(make: EngineMaker, spec: FamilySpec) -> EngineProgram:
    program = make(spec)
    if not callable(getattr(program, "reader", None)):
        raise TypeError(f"it returns {type(program).__name__}, which makes no reader")
    return program


INTERRUPTS = (KeyboardInterrupt, GeneratorExit)
"""What does not come from the plug-in, although it arrives while one runs. Anything else does, a
SystemExit and a panic of a library in another language included."""


def fault_text(fault: BaseException) -> str:
    """What a plug-in raised, in one line.

    >>> fault_text(ValueError("no\\n  good"))
    'ValueError: no good'
    """
    try:
        said = str(fault)
    except Exception:
        said = "(and what it says cannot be shown)"
    return shortened(one_line(f"{type(fault).__name__}: {said}".removesuffix(": ")), _LONGEST_FAULT)


def own_copy(context: Context) -> Context:
    """The context for a plug-in alone: what it does to it reaches nobody else.

    Raises `RequestError` where what the request gave cannot be copied.
    """
    try:
        return deepcopy(context)
    except Exception as fault:
        raise RequestError("tools", f"cannot be copied ({fault_text(fault)})") from fault
