"""The melody engine reads as cohere_melody does, and gives the native engine's events but for a
listed and explained few."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import tagsmith
from strategies import MELODY_FAMILIES, cut, cut_sizes, families, generations
from tagsmith.engine import melody
from tagsmith.engine.melody_filter import DIALECTS, MelodyFilter, filter_maker, load_melody
from tagsmith.engine.native import Region
from tagsmith.events import Diagnostic, DiagnosticCode, Event, join_events
from tagsmith.spec.policies import CallLayout, EngineName, InitialRegion, Join, MelodyPreset, Trim
from tagsmith.testing import MockTokenizer, load_cases, run, run_tokens
from tagsmith.testing.writing import write_call

HERE = Path(__file__).parent / "cases"
FAMILIES = {
    "a": "cohere-command-a",
    "v": "cohere-command-a-vision",
    "m": "cohere-north",
}
REQUEST_FIELDS = ("prompt", "tools", "tool_choice", "documents", "messages")
CASES = [
    case
    for name in ("cohere.yaml", "odd_outputs.yaml")
    for case in load_cases(HERE / name, FAMILIES)
]
DIFFERENCES = yaml.safe_load((HERE / "melody_differences.yaml").read_text(encoding="utf-8"))
EXPLAINED = {entry["case"] for entry in DIFFERENCES if "case" in entry}
GUARDS = {
    DiagnosticCode.ENGINE_HANDOVER,
    DiagnosticCode.ENGINE_FAULT,
    DiagnosticCode.ENGINE_DROP,
}

Generation = tuple[tagsmith.Family, str, dict[str, Any]]
thoroughly = settings(max_examples=50, deadline=None)


def is_guard(event: Event) -> bool:
    return isinstance(event, Diagnostic) and event.code in GUARDS


def joined(family: tagsmith.Family, deltas: Sequence[str], **options: Any) -> list[Event]:
    return join_events(run(family, deltas, **options).events)


def apart(events: list[Event]) -> tuple[list[Event], list[str]]:
    """The events without the engine's own diagnostics, and those diagnostics' codes."""
    rest = join_events(event for event in events if not is_guard(event))
    return rest, [event.code.value for event in events if is_guard(event)]  # type: ignore[union-attr]


def changed(family: tagsmith.Family, **changes: Any) -> tagsmith.Family:
    """The family with other values in its file."""
    data = family.spec.model_dump(exclude_unset=True) | changes
    return tagsmith.Family(type(family.spec).model_validate(data))


def options_of(case: Any) -> dict[str, Any]:
    given_fields = {field: getattr(case, field) for field in REQUEST_FIELDS}
    return {
        field: list(value) if isinstance(value, tuple) else value
        for field, value in given_fields.items()
        if value is not None
    }


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_both_engines_agree_on_a_case_unless_it_is_listed(case: Any) -> None:
    family, options = tagsmith.get_family(case.family), options_of(case)
    native = joined(family, [case.text], **options)
    melody = joined(family, [case.text], engine="melody", **options)
    for size in (1, 2, 3, 7, 16):
        assert joined(family, cut(case.text, [size]), engine="melody", **options) == melody
    assert (melody != native) == (case.id in EXPLAINED)


def listed() -> Iterator[Any]:
    """Each listed difference: a family, its output, the request, and what comes under melody."""
    cases = {case.id: case for case in CASES}
    for entry in DIFFERENCES:
        if "case" in entry:
            case = cases[entry["case"]]
            family, text, request = case.family, case.text, options_of(case)
        else:
            family, request = FAMILIES[entry["family"]], entry.get("request", {})
            text = "".join(piece * times for piece, times in entry["text"])
        name = entry.get("case") or entry["kind"]
        yield pytest.param(family, text, request, entry.get("melody", {}), entry["adds"], id=name)


def parts_of(message: tagsmith.Message) -> dict[str, Any]:
    codes = [d.code for d in message.diagnostics if d.code not in GUARDS]
    return {
        "content": message.content,
        "reasoning": message.reasoning,
        "tool_calls": message.tool_calls,
        "citations": [citation.text for citation in message.citations],
        "diagnostics": [code.value for code in codes],
        "stop": message.stop,
    }


@pytest.mark.parametrize(("name", "text", "request_", "parts", "adds"), list(listed()))
@pytest.mark.parametrize("size", [1, 7, 10**6], ids=["characters", "sevens", "whole"])
def test_a_listed_difference_is_what_it_says(
    name: str,
    text: str,
    request_: dict[str, Any],
    parts: dict[str, Any],
    adds: list[str],
    size: int,
) -> None:
    family = tagsmith.get_family(name)
    native = run(family, [text], **request_)
    melody = run(family, cut(text, [size]), engine="melody", **request_)
    rest, added = apart(join_events(melody.events))
    assert added == adds
    assert parts_of(melody.message) == parts_of(native.message) | parts
    assert all(parts_of(native.message)[part] != value for part, value in parts.items())
    assert parts or rest == join_events(native.events)


def test_every_difference_is_explained() -> None:
    names = [entry.get("case") or entry["kind"] for entry in DIFFERENCES]
    assert len(set(names)) == len(names)
    for entry in DIFFERENCES:
        assert entry["adds"]
        reference, _, _ = entry["why"].removeprefix("as ").rstrip(".").partition(";")
        assert reference in names or not entry["why"].startswith("as ")


def test_case_ids_are_unique_over_both_files() -> None:
    assert len({case.id for case in CASES}) == len(CASES)


WORDS = st.text(st.characters(codec="utf-8", exclude_characters="<"), max_size=12)
LOOKALIKES = st.sampled_from(["a < b", "<|START", "<b>", "x<", "</co>", "<co", " ", "\n\n"])
POSITIONS = st.lists(
    st.tuples(st.integers(0, 12), st.lists(st.integers(0, 99), min_size=1, max_size=3)),
    min_size=1,
    max_size=3,
)


@st.composite
def cited_texts(draw: st.DrawFn) -> str:
    """Text with cited spans, none within another."""
    parts: list[str] = []
    for _ in range(draw(st.integers(0, 4))):
        plain = draw(st.one_of(WORDS, LOOKALIKES))
        cited = draw(st.one_of(WORDS, st.sampled_from(["a < b", "<b>x</b>", " s "])))
        places = ",".join(f"{bucket}:{indexes}" for bucket, indexes in draw(POSITIONS))
        parts.append(f"{plain} <co>{cited}</co: {places.replace(' ', '')}>")
    return "".join([*parts, draw(WORDS)])


BETWEEN = st.sampled_from(["", " ", "\n", "\n\n", " \n\t"])


@st.composite
def well_formed(draw: st.DrawFn) -> tuple[tagsmith.Family, str]:
    """A family and an output as its models write it: reasoning, then an answer or calls, with
    blanks between them."""
    family = draw(families(MELODY_FAMILIES))
    style = family.spec.tag_style
    assert style.reasoning is not None
    assert style.tool_calls is not None
    assert family.spec.tool_calls is not None
    reasoning = draw(st.one_of(st.none(), cited_texts()))
    text = draw(BETWEEN)
    if reasoning is not None:
        text += style.reasoning.start + reasoning + style.reasoning.end + draw(BETWEEN)
    if draw(st.booleans()):
        wrapper = draw(st.sampled_from(style.content))
        return family, text + wrapper.start + draw(cited_texts()) + wrapper.end + draw(BETWEEN)
    arguments = st.dictionaries(WORDS, st.one_of(WORDS, st.integers(), st.lists(WORDS)), max_size=3)
    given_arguments = [draw(arguments) for _ in range(draw(st.integers(1, 3)))]
    if family.spec.tool_calls.layout is not CallLayout.JSON:
        written = (write_call(family.spec, "f", one, i) for i, one in enumerate(given_arguments))
        return family, text + "".join(written) + draw(BETWEEN)
    calls = [
        {"tool_call_id": str(i), "tool_name": "f", "parameters": one}
        for i, one in enumerate(given_arguments)
    ]
    region = json.dumps(
        calls, ensure_ascii=draw(st.booleans()), indent=draw(st.sampled_from([0, 4]))
    )
    return family, text + style.tool_calls.start + region + style.tool_calls.end + draw(BETWEEN)


@pytest.mark.parametrize("preset", MelodyPreset)
@settings(max_examples=30, deadline=None)
@given(well_formed(), cut_sizes())
def test_both_engines_agree_on_well_formed_outputs(
    preset: MelodyPreset, generation: tuple[tagsmith.Family, str], sizes: list[int]
) -> None:
    family, text = generation
    native = joined(family, [text])
    assert joined(family, cut(text, sizes), engine="melody") == native
    family = changed(family, melody={"preset": preset})
    assert joined(family, [text], engine="melody") == native


def is_left_of(shorter: str | None, longer: str | None) -> bool:
    """Whether the one text is the other with some of it left out."""
    rest = iter(longer or "")
    return all(character in rest for character in shorter or "")


def check_against_native(generation: Generation, deltas: list[str]) -> None:
    """The melody engine gives what native does, but for text that it says it drops."""
    family, text, request = generation
    native = run(family, [text], **request)
    melody = run(family, deltas, engine="melody", **request)
    rest, added = apart(join_events(melody.events))
    assert set(added) <= {"engine-handover", "engine-drop"}
    assert added.count("engine-handover") <= ("<co>" in text)
    if "engine-drop" not in added:
        assert rest == join_events(native.events)
    elif "stop" not in request:
        assert melody.message.tool_calls == native.message.tool_calls
        assert is_left_of(melody.message.content, native.message.content)
        assert is_left_of(melody.message.reasoning, native.message.reasoning)


@thoroughly
@given(generations(MELODY_FAMILIES), cut_sizes())
def test_on_any_text_they_differ_in_stated_ways_at_most(
    generation: Generation, sizes: list[int]
) -> None:
    check_against_native(generation, cut(generation[1], sizes))


@thoroughly
@given(generations(MELODY_FAMILIES), cut_sizes())
def test_the_cutting_makes_no_difference(generation: Generation, sizes: list[int]) -> None:
    family, text, request = generation
    one = run(family, [text], engine="melody", **request)
    many = run(family, cut(text, sizes), engine="melody", **request)
    assert join_events(many.events) == join_events(one.events)
    assert many.message == one.message


@thoroughly
@given(generations(MELODY_FAMILIES))
def test_nothing_leaks(generation: Generation) -> None:
    family, text, request = generation
    # Without quotes there is no JSON string, so no marker of the text can be data.
    for event in run(family, [text.replace('"', "")], engine="melody", **request).events:
        shown = getattr(event, "text", "") + getattr(event, "arguments", "")
        assert not any(marker in shown for marker in family.markers)


PIECES = st.sampled_from([
    "<|START_THINKING|>", "<|END_THINKING|>", "<|START_RESPONSE|>", "<|END_RESPONSE|>",
    "<|START_ACTION|>[]", "<|END_ACTION|>", "<co>x</co: 0:[1]>", "<co>y z</co: 2:[0,3]>",
    "word", " and", "\n", "é",
])  # fmt: skip


@thoroughly
@given(st.sampled_from(["a", "m"]), st.lists(PIECES, max_size=9), cut_sizes())
def test_it_reads_what_the_bare_library_reads(
    name: str, pieces: list[str], sizes: list[int]
) -> None:
    """But for blanks, of which those at the edges of a text go by the family's own policy."""
    family, text = tagsmith.get_family(FAMILIES[name]), "".join(pieces)
    assert family.spec.melody is not None
    bare = filter_maker(family.spec.melody.preset, Region.OUTSIDE)().process_full_text(text)
    message = run(family, cut(text, sizes), engine="melody").message
    # Text in a tool-call region is Tagsmith's.
    assume(DiagnosticCode.MALFORMED_CALL not in [d.code for d in message.diagnostics])
    assert "".join((message.content or "").split()) == "".join((bare.content or "").split())
    assert "".join((message.reasoning or "").split()) == "".join((bare.reasoning or "").split())
    assert [(c.text, c.positions) for c in message.citations] == [
        (c.text, tuple((s.tool_call_index, i) for s in c.sources for i in s.tool_result_indices))
        for c in bare.citations
    ]


STARTS = [
    ({}, InitialRegion.CONTENT),
    ({}, InitialRegion.REASONING),
    ({"prompt": "<|CHATBOT_TOKEN|><|START_THINKING|>"}, InitialRegion.CONTENT),
    ({"prompt": "<|CHATBOT_TOKEN|><|START_RESPONSE|>a"}, InitialRegion.REASONING),
    ({"prompt": "<|START_THINKING|><|END_THINKING|>"}, InitialRegion.REASONING),
    ({"prompt": "<|START_ACTION|>["}, InitialRegion.REASONING),
]


@pytest.mark.parametrize("preset", MelodyPreset)
@pytest.mark.parametrize(("request_", "initial"), STARTS)
@pytest.mark.parametrize(
    "text", ["a <co>b</co: 0:[1]> c", "]<|END_ACTION|><|START_RESPONSE|>a", " <|END_THINKING|>a"]
)
def test_the_filter_starts_where_the_output_does(
    preset: MelodyPreset, request_: dict[str, Any], initial: InitialRegion, text: str
) -> None:
    family = tagsmith.get_family("cohere-command-a")
    family = changed(family, melody={"preset": preset}, initial_region=initial)
    check_against_native((family, text, request_), list(text))


@pytest.mark.parametrize(
    ("preset", "initial", "fault"),
    [
        (MelodyPreset.CMD3, InitialRegion.REASONING, "took reasoning for content"),
        (MelodyPreset.CMD4, InitialRegion.CONTENT, "took content for reasoning"),
        (MelodyPreset.CMD5, InitialRegion.CONTENT, "took content for reasoning"),
    ],
)
def test_the_presets_own_reading_counts(
    monkeypatch: pytest.MonkeyPatch, preset: MelodyPreset, initial: InitialRegion, fault: str
) -> None:
    """One bare text under two presets: where nothing tells them of the start, it shows."""
    family = tagsmith.get_family("cohere-command-a")
    family = changed(family, melody={"preset": preset}, initial_region=initial)
    assert joined(family, ["Hi"], engine="melody") == joined(family, ["Hi"])

    class Untold(MelodyFilter):
        def __init__(self, make: Any, preset: MelodyPreset, start: Region) -> None:
            make = filter_maker(preset, Region.OUTSIDE)
            super().__init__(make, preset, DIALECTS[preset].start)

    monkeypatch.setattr(melody, "MelodyFilter", Untold)
    message = family.parse("Hi", engine="melody")
    assert parts_of(message) == parts_of(family.parse("Hi"))
    assert [d.message for d in message.diagnostics] == [
        f"cohere_melody {fault}; the native engine reads on"
    ]


@thoroughly
@given(generations(MELODY_FAMILIES), cut_sizes())
def test_melody_shows_each_event_as_soon_as_native_does(
    generation: Generation, sizes: list[int]
) -> None:
    family, text, request = generation
    if "engine-drop" in apart(joined(family, [text], engine="melody", **request))[1]:
        return
    native, melody = (family.parser(engine=engine, **request) for engine in EngineName)
    for delta in cut(text, sizes):
        shown, _ = apart(melody.feed(delta))
        assert shown == join_events(native.feed(delta))


@thoroughly
@given(st.text(st.characters(), max_size=40), cut_sizes())
def test_text_that_is_no_unicode_text_is_kept(text: str, sizes: list[int]) -> None:
    family = tagsmith.get_family("cohere-command-a")
    output = f"<|START_RESPONSE|>x{text}y\ufdd0\ud800<"
    deltas = cut(output, sizes)
    assert joined(family, deltas, engine="melody") == joined(family, deltas)


@settings(max_examples=40, deadline=None)
@given(well_formed(), st.integers(1, 4))
def test_both_engines_agree_on_tokens(generation: tuple[tagsmith.Family, str], step: int) -> None:
    family, text = generation
    tokenizer = MockTokenizer.for_family(family)
    text = text.replace("\ufffd", "?")
    spelled = "<|END_RESPONSE|> <|START_ACTION|>[]"
    ids = [*tokenizer.encode_ordinary(spelled), *tokenizer.encode(text)]
    groups = [ids[start : start + step] for start in range(0, len(ids), step)]
    native, melody = (
        join_events(run_tokens(family, groups, tokenizer, engine=engine).events)
        for engine in EngineName
    )
    assert melody == native
    assert spelled in "".join(getattr(event, "text", "") for event in melody)


@pytest.mark.parametrize("text", [
    "<|START_RESPONSE|>one STOP two",
    "<|START_RESPONSE|>one <co>b STOP c</co: 0:[1]> d<|END_RESPONSE|>",
    "<|START_RESPONSE|><co>abcdef<|END_RESPONSE|><|START_RESPONSE|>xSTOP",
    "<|START_THINKING|>STOP<|END_THINKING|>a ST<co>OP</co: 0:[1]>",
    '<|START_ACTION|>[{"tool_name": "f", "parameters": {"q": "STOP"}}]<|END_ACTION|>',
])  # fmt: skip
def test_stop_strings_end_the_content_alone(text: str) -> None:
    family = tagsmith.get_family("cohere-command-a")
    for deltas in ([text], list(text)):
        native, melody = (
            run(family, deltas, stop=["STOP", "STOPPED"], engine=engine).message
            for engine in EngineName
        )
        assert melody == native


@pytest.mark.parametrize("changes", [
    {"initial_region": InitialRegion.CONTENT},
    {"whitespace": {"content": Trim.KEEP, "reasoning": Trim.KEEP, "join": Join.NOTHING}},
    {"whitespace": {"content": Trim.BOTH, "reasoning": Trim.END, "join": Join.BLANK_LINE}},
], ids=lambda changes: " ".join(changes))  # fmt: skip
@settings(max_examples=30, deadline=None)
@given(generation=generations(MELODY_FAMILIES))
def test_the_family_file_decides_not_the_preset(
    changes: dict[str, Any], generation: Generation
) -> None:
    family, text, request = generation
    check_against_native((changed(family, **changes), text, request), list(text))


@pytest.mark.parametrize(("stop", "content"), [(None, "a\n "), ("\n", "a")])
def test_blanks_before_dropped_text_are_the_familys(stop: str | None, content: str) -> None:
    family = tagsmith.get_family("cohere-command-a")
    family = changed(family, whitespace={"content": Trim.KEEP})
    text = "<|START_RESPONSE|>a<|END_RESPONSE|>\n b"
    for deltas in ([text], list(text)):
        message = run(family, deltas, engine="melody", stop=stop).message
        assert (message.content, message.stop) == (content, stop)
        assert bool(message.diagnostics) == (stop is None)


def test_a_family_can_choose_the_engine() -> None:
    spec = tagsmith.get_family("cohere-command-a").spec
    family = tagsmith.Family(spec.model_copy(update={"engine": EngineName.MELODY}))
    nested = "<co>a<co>b"
    codes = [d.code for d in family.parse(nested).diagnostics]
    assert DiagnosticCode.ENGINE_HANDOVER in codes
    assert DiagnosticCode.ENGINE_HANDOVER not in [
        d.code for d in family.parse(nested, engine="native").diagnostics
    ]


def test_a_family_without_a_preset_cannot() -> None:
    spec = tagsmith.get_family("cohere-command-a").spec
    family = tagsmith.Family(spec.model_copy(update={"melody": None}))
    assert family.parse("Hi").content == "Hi"
    with pytest.raises(tagsmith.RequestError, match="names no melody preset; use native"):
        family.parse("Hi", engine="melody")


@pytest.fixture
def melody_afresh() -> Iterator[None]:
    """The library is looked for anew in this test, and in the next one."""
    load_melody.cache_clear()
    yield
    load_melody.cache_clear()


@pytest.mark.usefixtures("melody_afresh")
@pytest.mark.parametrize("version", ["0.14.9", "0.16.0", "1.15.0", "0.9"])
def test_another_version_is_refused(monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    monkeypatch.setattr(metadata, "version", lambda name: version)
    family = tagsmith.get_family("cohere-command-a")
    assert family.parse("Hi").content == "Hi"
    with pytest.raises(tagsmith.MissingDependencyError) as refusal:
        family.parse("Hi", engine="melody")
    assert f"needs cohere-melody 0.15.x, and {version} is installed" in str(refusal.value)
    assert "pip install 'cohere-melody>=0.15,<0.16'" in str(refusal.value)
