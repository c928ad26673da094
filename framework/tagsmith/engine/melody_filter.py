"""One cohere_melody filter, given the output piece by piece and checked at every step.

The vendor's filter may overflow the stack, take quadratic time, panic, or lose characters, all
depending on what it is given in one write. So it is given what this project has taken apart first:
one marker or one piece of markup per write, every other `<` replaced by a stand-in, and no more
text at a time than it may read again and again. What it makes of the text is its own.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from typing import Any

from tagsmith.engine.tables import Region
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

_TEXT_WORDS = {
    Region.REASONING: ("<|START_THINKING|>", "<|END_THINKING|>"),
    Region.CONTENT: ("<|START_RESPONSE|>", "<|END_RESPONSE|>"),
}
_JSON_CALLS = {Region.CALLS: ("<|START_ACTION|>", "<|END_ACTION|>")}
_TAGGED_CALLS = {Region.CALLS: ("<cofl:tool_calls>", "</cofl:tool_calls>")}


@dataclass(frozen=True, slots=True)
class Dialect:
    """A preset's own words: where it starts to read, and its markers for each region."""

    start: Region
    words: Mapping[Region, tuple[str, str]]


DIALECTS = {
    MelodyPreset.CMD3: Dialect(Region.CONTENT, _TEXT_WORDS | _JSON_CALLS),
    MelodyPreset.CMD4: Dialect(Region.REASONING, _TEXT_WORDS | _JSON_CALLS),
    MelodyPreset.CMD5: Dialect(Region.REASONING, _TEXT_WORDS | _TAGGED_CALLS),
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

    Raises `MissingDependencyError` when it is absent, fails on import, lacks what is used of it, or
    has a version whose behaviour is not known.
    """
    try:
        module = importlib.import_module("cohere_melody")
        version = str(metadata.version("cohere-melody"))
        _ = module.PyFilter, module.PyFilterOptions
    except Exception as error:
        raise _missing(f"and none can be used here ({_reason(error)})") from error
    if version.split(".")[:2] != _SUPPORTED.split("."):
        raise _missing(f"and {version} is installed")
    return module


def _missing(found: str) -> MissingDependencyError:
    return MissingDependencyError(
        f"the melody engine needs cohere-melody {_SUPPORTED}.x, {found};"
        f" run: pip install '{_REQUIREMENT}', or use the native engine"
    )


def filter_maker(preset: MelodyPreset, start: Region) -> Callable[[], Any]:
    """What makes a new filter of a preset; it starts in the answer where the output does.

    Raises `MissingDependencyError`.
    """
    melody = load_melody()

    def make() -> Any:
        options = getattr(melody.PyFilterOptions(), preset.value)()
        if start is Region.CONTENT:
            options = options.start_in_answer()
        return melody.PyFilter(options)

    return make


@dataclass(frozen=True, slots=True)
class _Answer:
    """What the filter makes of one write: text as the kind it was given, text as the other kind,
    and the positions of each citation."""

    shown: str
    moved: str
    citations: list[tuple[Position, ...]]


def _read_answer(result: Any, target: Target) -> _Answer:
    kinds = {Target.CONTENT: result.content or "", Target.REASONING: result.reasoning or ""}
    shown = kinds.pop(target)
    citations = [
        tuple((s.tool_call_index, i) for s in citation.sources for i in s.tool_result_indices)
        for citation in result.citations
    ]
    return _Answer(shown, "".join(kinds.values()), citations)


@dataclass(slots=True)
class _Section:
    """What was given since the last marker: whether text was, how many characters of a cited span
    and of blanks at the end, and what has not come back."""

    begun: bool = False
    dropped: bool = False
    span: int | None = None
    blanks: int = 0
    owed: str = ""


class MelodyFilter:
    """One filter for one generation. `make` makes it, when there is first something to give.

    Parameters: `preset` is the filter's, `start` the region in which the output starts.

    Any method raises `FilterError`; the filter is then of no more use.
    """

    __slots__ = ("_filter", "_make", "_section", "_start", "_target", "_words")

    def __init__(self, make: Callable[[], Any], preset: MelodyPreset, start: Region) -> None:
        dialect = DIALECTS[preset]
        self._make = make
        self._filter: Any = None
        self._words = dialect.words
        # Content is an option of the filter, and the preset's own start needs no word.
        told = start in (Region.CONTENT, dialect.start)
        self._start = None if told else dialect.words[start][0]
        self._target = Target.CONTENT
        self._section = _Section()

    @property
    def dropping(self) -> bool:
        """Whether it drops what comes, up to the next marker; it is not to be given that, which
        it would keep in memory."""
        return self._section.dropped

    def room(self, text: str, pos: int) -> int:
        """How many characters of `text` from `pos` on may be given at once; 0 at a bound."""
        section = self._section
        room = MAX_REREAD if section.span is None else MAX_REREAD - section.span
        if section.begun:
            ahead = text[pos : pos + MAX_REREAD]
            blanks = len(ahead) - len(ahead.lstrip(BLANKS))
            if section.blanks + blanks > MAX_REREAD:
                room = min(room, MAX_REREAD - section.blanks)
        return room

    def open_region(self, region: Region) -> None:
        """A marker of the output opens a region."""
        self._marker(self._words[region][0])

    def close_region(self, region: Region) -> None:
        """A marker of the output closes the region."""
        self._marker(self._words[region][1])

    def text(self, target: Target, text: str) -> None:
        """Give text that belongs to `target`, no more than there is room for.

        The filter gives it back, but for blanks that it keeps until other text comes, or else it
        is `dropping`. Blanks before a section's first text are not given: what becomes of them is
        the family's own policy, and the filter's depends on the section before.
        """
        section = self._section
        self._target = target
        if not section.begun:
            text = text.lstrip(BLANKS)
        if not text:
            return
        if section.span is not None:
            section.span += len(text)
        kept = len(text.rstrip(BLANKS))
        section.blanks = len(text) - kept + (0 if kept else section.blanks)
        shown = self._write(_NOT_FOR_THE_FILTER.sub(_STAND_IN, text), is_text=True).shown
        section.begun = True
        section.dropped = kept > 0 and not shown
        if section.owed.strip(BLANKS) and not section.dropped:
            raise FilterError("kept text that it was given")

    def open_span(self, target: Target) -> None:
        """Begin a cited span. The filter knows no span within a span."""
        self._target = target
        self._write(_SPAN_OPEN)
        self._section.span = 0

    def close_span(self, positions: tuple[Position, ...]) -> tuple[Position, ...]:
        """End the cited span; returns the positions that the filter makes of the closing tag.

        When the section has no other text yet, no citation means that it is `dropping`.
        """
        tag = _SPAN_CLOSE.format(",".join(f"{bucket}:[{index}]" for bucket, index in positions))
        self._section.span = None
        found = self._write(tag).citations
        if len(found) == 1:
            return found[0]
        if found or self._section.begun:
            raise FilterError(f"gave {len(found)} citations for one closing tag")
        self._section.dropped = True
        return ()

    def _marker(self, word: str) -> None:
        """What the filter still keeps now is blank or dropped."""
        self._write(word)
        self._section = _Section()

    def _write(self, text: str, *, is_text: bool = False) -> _Answer:
        """Give the filter one piece and check its answer."""
        try:
            if self._filter is None:
                self._filter = self._make()
                if self._start is not None:
                    self._filter.write_decoded(self._start)
            answer = _read_answer(self._filter.write_decoded(text), self._target)
        except (KeyboardInterrupt, SystemExit, GeneratorExit):
            raise
        except BaseException as error:
            # A panic in the library's Rust arrives as a BaseException that is no Exception.
            raise FilterError(_reason(error)) from error
        if is_text:
            self._section.owed += text
        if answer.moved:
            other = Target.CONTENT if self._target is Target.REASONING else Target.REASONING
            raise FilterError(f"took {self._target} for {other}")
        if not self._section.owed.startswith(answer.shown):
            raise FilterError("gave back other text than it was given")
        self._section.owed = self._section.owed[len(answer.shown) :]
        return answer


def _reason(error: BaseException) -> str:
    text = " ".join(str(error).split())[:_LONGEST_REASON]
    return f"failed with {type(error).__name__}: {text}"
