"""What a call layout's reader is given and must do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from typing import Protocol

from tagsmith.engine.buffer import Buffer


class Opened(Enum):
    """What opened a tool-call region."""

    MARKER = auto()
    """The region's marker, which another marker answers."""
    TRIED = auto()
    """The same, inside reasoning: without a call, the marker is only mentioned there."""
    MARKER_ALONE = auto()
    """The region's marker, which none answers: the region ends with what it holds."""
    CALL = auto()
    """The opener of a call, outside of a region: the region ends with the call."""
    NOTHING = auto()
    """The shape of the text: it may still turn out to be none."""


@dataclass(frozen=True, slots=True)
class Stop:
    """Why a reader stopped: at a marker, or because the region is over without one."""

    marker: str | None


OVER = Stop(None)


class CallReader(Protocol):
    """Reads the tool-call regions of one generation; it never raises on text.

    `flowing` looks for what ends the run of arguments that the reader stands in: while it finds
    nothing, text can only be more of them, as it stands. None where text is not so simple.
    """

    @property
    def flowing(self) -> Callable[[str], object] | None:
        """What ends a run of arguments."""
        ...

    @property
    def opened(self) -> Opened:
        """What opened the region."""
        ...

    def begin_region(self, opened: Opened) -> None:
        """A region opens. After `CALL` the opener itself comes again, as the first text."""
        ...

    def read(self, buffer: Buffer, pos: int) -> tuple[int, Stop | None]:
        """Read on from `pos`: where reading stopped, and why, if not for want of text.

        Without a reason, what is left from there on must be given again together with the text
        that follows it. In a final buffer nothing is left.
        """
        ...

    def end_region(self, at: int) -> None:
        """A marker at offset `at` ends the region."""
        ...

    def finish(self, at: int) -> None:
        """The output ends at offset `at`, inside the region."""
        ...

    def cut(self) -> None:
        """The output ends inside a marker that stands here."""
        ...

    @property
    def used(self) -> bool:
        """Whether the region holds anything but blanks and brackets so far."""
        ...

    @property
    def expects_marker(self) -> bool:
        """Whether what may be the start of a marker can be nothing else here."""
        ...
