"""Melody rules: the preset that a family names must read the family's markers as the family does.

Short texts are written from the family's own markers, each around a word or two, and read twice: by
the bare preset of cohere_melody, and by the native engine. (`engine: melody` agrees in any case: it
tells the preset the family's markers in the preset's own words.)
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tagsmith.engine.melody_filter import filter_maker
from tagsmith.engine.tables import Region
from tagsmith.family import Family
from tagsmith.lint.probes.places import place
from tagsmith.lint.rules import Finding, LintSubject, Rule
from tagsmith.loading.nodes import Path
from tagsmith.spec.models import CitationMarkup, FamilySpec, MarkerPair
from tagsmith.spec.policies import InitialRegion, MelodyPreset
from tagsmith.testing.writing import WritingError, write_call
from tagsmith.wording import one_line, shortened

MAX_TEXT = 2048
"""Longer texts are not given to the library, whose time and stack grow with them."""
_SHOWN = 120
_PRESET: Path = ["melody", "preset"]
_ARGUMENTS = {"city": "Paris", "days": 2}
_OPENERS = {
    "reasoning": ("<|START_THINKING|>",),
    "content": ("<|START_RESPONSE|>", "<|START_TEXT|>"),
    "tool_calls": ("<|START_ACTION|>", "<cofl:tool_calls>"),
}
"""What opens a region in one preset or another, by the part of `tag_style`."""


@dataclass(frozen=True, slots=True)
class _Probe:
    """A text, where the file says how it is read, and each marker in it with its own place."""

    text: str
    path: Path
    markers: Mapping[str, Path] = field(default_factory=dict)
    aspect: Callable[[_Reading], object] = lambda reading: reading
    """What of a reading is compared."""


@dataclass(frozen=True, slots=True)
class _Reading:
    """What an output says. A call is its id, its name and its arguments."""

    reasoning: str
    content: str
    calls: tuple[tuple[str, str, Any], ...]
    citations: tuple[tuple[str, tuple[tuple[int, int], ...]], ...]

    def __str__(self) -> str:
        told = [f"{kind} {text!r}" for kind, text in self._texts() if text]
        told += [f"call {name!r} with {_as_json(given)}" for _, name, given in self.calls]
        told += [f"citation of {text!r} at {list(places)}" for text, places in self.citations]
        return shortened(one_line(", ".join(told) or "nothing"), _SHOWN)

    def shows(self, marker: str) -> bool:
        """Whether a marker stands in the text that a user reads."""
        return any(marker in text for _, text in self._texts())

    def _texts(self) -> tuple[tuple[str, str], tuple[str, str]]:
        return ("reasoning", self.reasoning), ("content", self.content)


def _other_readings(subject: LintSubject) -> Iterator[Finding]:
    """TS601."""
    for probe, preset, native in _disagreements(subject):
        if not _unknown(probe, preset, native):
            told = f"{_named(subject)} reads {_both(probe, preset, native)}{_advice(subject)}"
            yield Finding(told, place(subject, probe.path, _PRESET))


def _unknown_markers(subject: LintSubject) -> Iterator[Finding]:
    """TS602."""
    told: set[str] = set()
    for probe, preset, native in _disagreements(subject):
        markers = [m for m in _unknown(probe, preset, native) if m not in told]
        if markers:
            told.update(markers)
            what = (
                f"{_named(subject)} does not know {' or '.join(map(repr, markers))}: it reads"
                f" {_both(probe, preset, native)}{_advice(subject)}"
            )
            yield Finding(what, place(subject, probe.markers[markers[0]], _PRESET))


def _unclaimed_markers(subject: LintSubject) -> Iterator[Finding]:
    """TS603."""
    spec = subject.spec
    if spec.melody is None:
        return
    known = {*subject.family.markers, *spec.tokens.reserved}
    style = spec.tag_style
    declared = {
        "reasoning": style.reasoning is not None,
        "content": bool(style.content),
        "tool_calls": spec.tool_calls is not None,
    }
    openers = [(part, one) for part, some in _OPENERS.items() if declared[part] for one in some]
    for part, opener in openers:
        preset = _by_preset(spec, spec.melody.preset, f"word {opener} word")
        if opener not in known and not preset.shows(opener):
            what = (
                f"{_named(subject)} takes {opener!r} for a marker, and the family does not know"
                " it; add it to tag_style, or choose another preset"
            )
            yield Finding(what, place(subject, _PRESET, ["tag_style", part]))


def _disagreements(subject: LintSubject) -> list[tuple[_Probe, _Reading, _Reading]]:
    melody = subject.spec.melody
    return [] if melody is None else _differences(subject.family, melody.preset)


def _differences(family: Family, preset: MelodyPreset) -> list[tuple[_Probe, _Reading, _Reading]]:
    """The probes that the two read differently, with both readings."""
    found = []
    for probe in _probes(family.spec):
        if len(probe.text) <= MAX_TEXT:
            readings = _by_preset(family.spec, preset, probe.text), _by_family(family, probe.text)
            one, other = map(probe.aspect, readings)
            if one != other:
                found.append((probe, *readings))
    return found


def _probes(spec: FamilySpec) -> Iterator[_Probe]:
    style = spec.tag_style
    yield _Probe("answer", ["initial_region"])
    if style.reasoning is not None:
        for path, pair in _with_paths(["tag_style", "reasoning"], style.reasoning.pairs):
            yield _around("thought", path, pair, after="answer" if pair.end else "")
    for number, pair in enumerate(style.content):
        yield _around("answer", ["tag_style", "content", number], pair)
    yield from _call_probes(spec)
    if spec.citations is not None:
        yield _citation_probe(spec.citations.markup)


def _call_probes(spec: FamilySpec) -> Iterator[_Probe]:
    region = spec.tag_style.tool_calls
    bare = spec.tag_style.model_copy(update={"tool_calls": None})
    try:
        call = write_call(spec.model_copy(update={"tag_style": bare}), "get_weather", _ARGUMENTS)
    except WritingError:
        return
    if region is None:
        yield _Probe(call, ["tool_calls"])
        return
    for path, pair in _with_paths(["tag_style", "tool_calls"], region.pairs):
        yield replace(_around(call, path, pair), path=["tool_calls"])


def _citation_probe(markup: CitationMarkup) -> _Probe:
    path = ["citations", "markup"]
    close, _ = markup.close_parts
    return _Probe(
        f"see {markup.open}this{markup.close.replace('{positions}', '0:[1]')}",
        path,
        {markup.open: [*path, "open"], close: [*path, "close"]},
        # Which text it is cited in is a matter of the initial region.
        lambda reading: (reading.reasoning + reading.content, reading.citations),
    )


def _with_paths(path: Path, pairs: Sequence[MarkerPair]) -> Iterator[tuple[Path, MarkerPair]]:
    yield path, pairs[0]
    for number, pair in enumerate(pairs[1:]):
        yield [*path, "also", number], pair


def _around(text: str, path: Path, pair: MarkerPair, after: str = "") -> _Probe:
    markers: dict[str, Path] = {pair.start: [*path, "start"]}
    if pair.end is not None:
        markers[pair.end] = [*path, "end"]
    return _Probe(f"{pair.start}{text}{pair.end or ''}{after}", path, markers)


def _by_family(family: Family, text: str) -> _Reading:
    message = family.parse(text, engine="native")
    return _Reading(
        message.reasoning or "",
        message.content or "",
        tuple((call.id, call.name, _from_json(call.arguments)) for call in message.tool_calls),
        tuple((citation.text, citation.positions) for citation in message.citations),
    )


def _by_preset(spec: FamilySpec, preset: MelodyPreset, text: str) -> _Reading:
    """What the bare preset reads, told by its own option where the output begins in content."""
    is_content = spec.initial_region is InitialRegion.CONTENT
    make = filter_maker(preset, Region.CONTENT if is_content else Region.REASONING)
    try:
        return _reading_of(make().process_full_text(text))
    except (KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:
        # A panic in the library's Rust arrives as a BaseException that is no Exception.
        return _Reading("", f"{type(error).__name__}: {error}", (), ())


def _reading_of(result: Any) -> _Reading:
    calls: dict[int, list[str]] = {}
    for delta in result.tool_calls:
        call = calls.setdefault(delta.index, ["", "", ""])
        for number, part in enumerate((delta.id, delta.name, delta.arguments)):
            call[number] += part
    citations = [
        (
            citation.text,
            tuple((s.tool_call_index, i) for s in citation.sources for i in s.tool_result_indices),
        )
        for citation in result.citations
    ]
    return _Reading(
        result.reasoning or "",
        result.content or "",
        tuple((id_, name, _from_json(text)) for id_, name, text in calls.values()),
        tuple(citations),
    )


def _unknown(probe: _Probe, preset: _Reading, native: _Reading) -> list[str]:
    """The markers of a probe that the preset shows as text, and the family does not."""
    return [m for m in probe.markers if preset.shows(m) and not native.shows(m)]


def _both(probe: _Probe, preset: _Reading, native: _Reading) -> str:
    text = shortened(repr(probe.text), _SHOWN)
    return f"{text} as {preset}, the family as {native}"


def _named(subject: LintSubject) -> str:
    melody = subject.spec.melody
    return f"the preset {melody.preset}" if melody is not None else "no preset"


def _advice(subject: LintSubject) -> str:
    agreeing = [preset for preset in MelodyPreset if not _differences(subject.family, preset)]
    return f"; {' and '.join(agreeing)} would read all as the family does" if agreeing else ""


def _from_json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


RULES = (
    Rule(
        "TS601",
        "preset-reads-otherwise",
        "A text of the family that its preset reads as something else.",
        _other_readings,
    ),
    Rule(
        "TS602",
        "marker-unknown-to-preset",
        "A marker that the family's preset shows as text.",
        _unknown_markers,
    ),
    Rule(
        "TS603",
        "marker-of-preset-unclaimed",
        "A marker of the preset that the family shows as text.",
        _unclaimed_markers,
    ),
)
"""The rules TS6xx. Each raises `MissingDependencyError` where cohere_melody cannot be used."""
