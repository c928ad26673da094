"""What every engine is given and what it must do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from io import StringIO
from typing import Any, Protocol

from tagsmith.events import Event
from tagsmith.sources import SourceMap


@dataclass(frozen=True, slots=True)
class Context:
    """What one request says that changes how its output is read."""

    parameters: Mapping[str, Any] | None = None
    """The schema of each tool's parameters; None when the request did not say which tools."""
    calls_allowed: bool = True
    """False under `tool_choice="none"`: a tool-call region is then text."""
    prompt_tail: str = ""
    """The part of the prompt that belongs to the model's turn: what follows the last turn_start."""
    follows_prompt: bool = True
    """Whether the output begins where the prompt ends; what reads the prompt itself does not."""
    sources: SourceMap | None = None
    """From citation positions to sources; None when the request gave nothing to cite."""
    stop: tuple[str, ...] = ()
    """The user's stop strings; they end the content, and apply nowhere else."""

    @property
    def tool_names(self) -> frozenset[str] | None:
        """The tools of the request; None when the request did not say."""
        return None if self.parameters is None else frozenset(self.parameters)

    @property
    def calls_possible(self) -> bool:
        """Whether the output may hold calls at all."""
        return self.calls_allowed and (self.parameters is None or bool(self.parameters))


MAX_HELD_IN_RUN = 64
"""How much whitespace may wait in a run, in characters."""


@dataclass(slots=True, eq=False)
class Run:
    """A stretch in which text, as it comes, is nothing but more of one thing.

    Text ends it that holds the `sign` and in which `ends` finds something, where there is such a
    thing. Until then text is shown as the `event` it makes, but for the `trim` at its end, which
    waits for more. Whoever reads on so writes what was shown to `shown`, puts what waits into
    `held`, and gives the run back to the engine before anything else.
    """

    event: Callable[[str], Event]
    sign: str = ""
    ends: Callable[[str], object] | None = None
    trim: str = ""
    held: str = ""
    shown: StringIO = field(default_factory=StringIO)


class Engine(Protocol):
    """Runs one family over one generation. Cheap, never shared, and it never raises on text."""

    def feed(self, text: str) -> list[Event]:
        """Take the next piece of output; every marker's text in it is that marker."""
        ...

    def feed_literal(self, text: str) -> list[Event]:
        """Take text in which the family's token markers are only spelled, not meant."""
        ...

    def feed_marker(self, marker: str) -> list[Event]:
        """Take one marker that token ids have told apart from text of the same spelling."""
        ...

    def finish(self) -> list[Event]:
        """The output has ended: give back what was held."""
        ...

    def begin_run(self) -> Run | None:
        """The run in which the output stands now, if it does."""
        ...

    def end_run(self, run: Run) -> None:
        """Take a run back, with what was shown of it."""
        ...

    @property
    def stop(self) -> str | None:
        """The stop string that ended the content, if one did."""
        ...

    @property
    def offset(self) -> int:
        """How many characters were read."""
        ...
