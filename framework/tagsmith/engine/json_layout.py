"""The `json` call layout of one family, compiled, and the words its reader thinks in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum, auto

from tagsmith.engine.json_runs import Runs, runs_beside
from tagsmith.engine.scanner import Scanner
from tagsmith.spec.models import CallKeys, MarkerPair


class At(IntEnum):
    """Where in the region the reader stands."""

    TOP = auto()
    FENCE = auto()
    LEFTOVER = auto()
    KEY = auto()
    KEY_TEXT = auto()
    COLON = auto()
    VALUE = auto()
    VALUE_TEXT = auto()
    AFTER = auto()
    BROKEN = auto()
    TEXT = auto()


class Part(IntEnum):
    """What a stretch of the region's text is."""

    BETWEEN = auto()
    LEFTOVER = auto()
    TEXT = auto()
    STRUCTURE = auto()
    KEY = auto()
    OTHER = auto()
    ID = auto()
    NAME = auto()
    ARGUMENTS = auto()


@dataclass(frozen=True, slots=True)
class JsonProgram:
    """What one family's calls are made of. `markers` finds what ends a region of them."""

    keys: Mapping[str, Part]
    other_keys: frozenset[str]
    writes_ids: bool
    markers: Scanner
    runs: Runs
    marker_opens_list: bool
    """Whether a marker that nothing answers ends in the list's own bracket."""
    marker_opens_fence: bool
    """Whether it holds a code fence."""


def compile_json_calls(
    keys: CallKeys, regions: Sequence[MarkerPair], markers: Scanner
) -> JsonProgram:
    """Compile the keys of a family's calls, and what their regions begin with."""
    alone = [pair.start for pair in regions if pair.end is None]
    parts = dict.fromkeys(keys.name, Part.NAME) | dict.fromkeys(keys.arguments, Part.ARGUMENTS)
    if keys.id is not None:
        parts[keys.id] = Part.ID
    runs = runs_beside(markers.first_chars)
    return JsonProgram(
        keys=parts,
        other_keys=frozenset(keys.other),
        writes_ids=keys.id is not None,
        markers=markers,
        runs=runs,
        marker_opens_list=any(start.endswith("[") for start in alone),
        marker_opens_fence=any("```" in start for start in alone),
    )
