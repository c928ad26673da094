"""One cohere_melody filter, given only what it reads well and checked at every step.

The vendor's filter may overflow the stack, take quadratic time, panic, or lose characters, all
depending on what it is given in one write. So it is given a text that this project has read first:
one section at a time, one piece of markup per write, every other `<` replaced by a stand-in, and no
more text at a time than it may read again and again.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from functools import cache
from importlib import metadata
from typing import Any

from tagsmith.errors import MissingDependencyError
from tagsmith.events import Target
from tagsmith.sources import Position
from tagsmith.spec.policies import MelodyPreset

MAX_REREAD = 4096
"""The most characters the filter is given while it keeps them: in one cited span, in one run of
blanks, and in one write. It reads what it keeps again at every write."""

BLANKS = "\t\n\x0b\x0c\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
"""What the filter takes for whitespace, which it keeps until other text comes."""

_REQUIREMENT = "cohere-melody>=0.15,<0.16"
_SUPPORTED = "0.15"
_SECTIONS = {
    Target.REASONING: ("<|START_THINKING|>", "<|END_THINKING|>"),
    Target.CONTENT: ("<|START_RESPONSE|>", "<|END_RESPONSE|>"),
}
_SPAN_OPEN, _SPAN_CLOSE = "<co>", "</co: {}>"
# All its markup begins with "<"; a lone surrogate is no text to it. The stand-in is a character
# that Unicode sets aside for a program's own use, as long as the one it stands for.
_NOT_FOR_THE_FILTER = re.compile(r"[<\ud800-\udfff]")
_STAND_IN = "\ufdd0"
_LONGEST_REASON = 200


class FilterError(Exception):
    """The filter failed, or gave back something other than what it was given."""


@cache
def load_melody() -> Any:
    """The cohere_melody module.

    Raises `MissingDependencyError` when it is absent, cannot be imported, or has a version whose
    behaviour is not known.
    """
    try:
        module = importlib.import_module("cohere_melody")
        version = metadata.version("cohere-melody")
    except ImportError as error:
        raise _missing(f"and none can be imported here ({error})") from error
    if version.split(".")[:2] != _SUPPORTED.split("."):
        raise _missing(f"and {version} is installed")
    return module


def _missing(found: str) -> MissingDependencyError:
    return MissingDependencyError(
        f"the melody engine needs cohere-melody {_SUPPORTED}.x, {found};"
        f" run: pip install '{_REQUIREMENT}', or use the native engine"
    )


def filter_maker(preset: MelodyPreset) -> Callable[[], Any]:
    """What makes a new filter of a preset. Raises `MissingDependencyError`."""
    melody = load_melody()
    return lambda: melody.PyFilter(getattr(melody.PyFilterOptions(), preset.value)())


class MelodyFilter:
    """One filter for one generation. `make` makes it, when the first text comes.

    Any method raises `FilterError`; the filter is then of no more use.
    """

    __slots__ = ("_blank_run", "_filter", "_make", "_owed", "_section", "_span", "_text_begun")

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._filter: Any = None
        self._section: Target | None = None
        self._text_begun = False
        self._span: int | None = None
        self._blank_run = 0
        self._owed = ""

    def room(self, text: str, pos: int) -> int:
        """How many characters of `text` from `pos` on may be given at once; 0 at a bound."""
        room = MAX_REREAD if self._span is None else MAX_REREAD - self._span
        if self._text_begun:
            ahead = text[pos : pos + MAX_REREAD]
            blanks = len(ahead) - len(ahead.lstrip(BLANKS))
            if self._blank_run + blanks > MAX_REREAD:
                room = min(room, MAX_REREAD - self._blank_run)
        return room

    def text(self, target: Target, text: str) -> None:
        """Give text of a region, no more than there is room for.

        Blanks before a section's first text are not given: what becomes of them is the family's
        own policy, and the filter's depends on the section before.
        """
        if not self._text_begun:
            text = text.lstrip(BLANKS)
        if not text:
            return
        self._enter(target)
        self._text_begun = True
        if self._span is not None:
            self._span += len(text)
        kept = len(text.rstrip(BLANKS))
        self._blank_run = len(text) - kept + (0 if kept else self._blank_run)
        self._write(_NOT_FOR_THE_FILTER.sub(_STAND_IN, text), is_text=True)

    def open_span(self, target: Target) -> None:
        """Begin a cited span. The filter knows no span within a span."""
        self._enter(target)
        self._write(_SPAN_OPEN)
        self._span = 0

    def close_span(self, positions: tuple[Position, ...]) -> tuple[Position, ...]:
        """End the cited span; returns the positions that the filter makes of the closing tag."""
        tag = _SPAN_CLOSE.format(",".join(f"{bucket}:[{index}]" for bucket, index in positions))
        self._span = None
        found: list[list[Position]] = self._write(tag)
        if len(found) != 1:
            raise FilterError(f"gave {len(found)} citations for one closing tag")
        return tuple(found[0])

    def end_section(self) -> None:
        """A region boundary: what the filter still keeps is blank, and it drops that."""
        section, self._section = self._section, None
        if section is not None:
            self._write(_SECTIONS[section][1])
        self._text_begun = False
        self._span = None
        self._blank_run = 0
        self._owed = ""

    def _enter(self, target: Target) -> None:
        if self._section is None:
            self._section = target
            self._write(_SECTIONS[target][0])

    def _write(self, text: str, *, is_text: bool = False) -> list[list[Position]]:
        """Give the filter one piece and check its answer; returns the citations' positions."""
        try:
            if self._filter is None:
                self._filter = self._make()
            result = self._filter.write_decoded(text)
            answers = {Target.CONTENT: result.content, Target.REASONING: result.reasoning}
            found = [
                [(s.tool_call_index, i) for s in citation.sources for i in s.tool_result_indices]
                for citation in result.citations
            ]
        except (KeyboardInterrupt, SystemExit, GeneratorExit):
            raise
        except BaseException as error:
            # A panic in the library's Rust arrives as a BaseException that is no Exception.
            raise FilterError(_reason(error)) from error
        if is_text:
            self._owed += text
        self._settle(answers)
        return found

    def _settle(self, answers: dict[Target, str | None]) -> None:
        """What the filter gives back must be what it was given, but for blanks that it keeps."""
        answer = answers.pop(self._section, None) or "" if self._section is not None else ""
        if any(answers.values()) or not self._owed.startswith(answer):
            raise FilterError("gave back other text than it was given")
        self._owed = self._owed[len(answer) :]
        if self._owed.strip(BLANKS):
            raise FilterError("kept text that it was given")


def _reason(error: BaseException) -> str:
    text = " ".join(str(error).split())[:_LONGEST_REASON]
    return f"failed with {type(error).__name__}: {text}"
