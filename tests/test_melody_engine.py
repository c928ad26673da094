"""The melody engine gives the native engine's events, but for a listed and explained few."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import tagsmith
from strategies import cut, cut_sizes, families, generations
from tagsmith.engine.melody_filter import load_melody
from tagsmith.events import Diagnostic, DiagnosticCode, Event, join_events
from tagsmith.spec.policies import EngineName, InitialRegion, Join, Trim
from tagsmith.testing import MockTokenizer, all_cuttings, load_cases, run, run_tokens

HERE = Path(__file__).parent / "cases"
FAMILIES = {
    "a": "cohere-command-a",
    "v": "cohere-command-a-vision",
    "m": "cohere-north",
}
REQUEST_FIELDS = ("prompt", "tools", "tool_choice", "documents", "messages")
CASES = load_cases(HERE / "cohere.yaml", FAMILIES)
DIFFERENCES = yaml.safe_load((HERE / "melody_differences.yaml").read_text(encoding="utf-8"))
EXPLAINED = {entry["case"] for entry in DIFFERENCES if "case" in entry}
GUARDS = {DiagnosticCode.ENGINE_HANDOVER, DiagnosticCode.ENGINE_FAULT}

Generation = tuple[tagsmith.Family, str, dict[str, Any]]
thoroughly = settings(max_examples=80, deadline=None)


def is_guard(event: Event) -> bool:
    return isinstance(event, Diagnostic) and event.code in GUARDS


def joined(family: tagsmith.Family, deltas: Sequence[str], **options: Any) -> list[Event]:
    return join_events(run(family, deltas, **options).events)


def apart(events: list[Event]) -> tuple[list[Event], list[str]]:
    """The events without the engine's own diagnostics, and those diagnostics' codes."""
    rest = join_events(event for event in events if not is_guard(event))
    return rest, [event.code.value for event in events if is_guard(event)]  # type: ignore[union-attr]


def options_of(case: Any) -> dict[str, Any]:
    given_fields = {field: getattr(case, field) for field in REQUEST_FIELDS}
    return {
        field: list(value) if isinstance(value, tuple) else value
        for field, value in given_fields.items()
        if value is not None
    }


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_both_engines_agree_on_a_case(case: Any) -> None:
    family, options = tagsmith.get_family(case.family), options_of(case)
    native = joined(family, [case.text], **options)
    melody = joined(family, [case.text], engine="melody", **options)
    for way, deltas in all_cuttings(case.text):
        assert joined(family, deltas, engine="melody", **options) == melody, way
    if case.id not in EXPLAINED:
        assert melody == native


def texts_that_differ() -> Iterator[Any]:
    texts = {case.id: (case.family, case.text) for case in CASES}
    for entry in DIFFERENCES:
        if "case" in entry:
            family, text = texts[entry["case"]]
        else:
            family = FAMILIES[entry["family"]]
            text = "".join(piece * times for piece, times in entry["text"])
        name = entry.get("case") or entry["kind"]
        yield pytest.param(family, text, entry["adds"], id=name)


@pytest.mark.parametrize(("name", "text", "adds"), list(texts_that_differ()))
@pytest.mark.parametrize("size", [1, 7, 10**6], ids=["characters", "sevens", "whole"])
def test_a_listed_difference_is_what_it_says(
    name: str, text: str, adds: list[str], size: int
) -> None:
    family = tagsmith.get_family(name)
    native = joined(family, [text])
    rest, added = apart(joined(family, cut(text, [size]), engine="melody"))
    assert added == adds
    assert rest == native


def test_every_difference_is_explained() -> None:
    assert all(entry["why"].strip() and entry["adds"] for entry in DIFFERENCES)


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


@st.composite
def well_formed(draw: st.DrawFn) -> tuple[tagsmith.Family, str]:
    """A family and an output as its models write it: reasoning, then an answer or calls."""
    family = draw(families())
    style = family.spec.tag_style
    assert style.reasoning is not None
    assert style.tool_calls is not None
    reasoning = draw(st.one_of(st.none(), cited_texts()))
    text = "" if reasoning is None else style.reasoning.start + reasoning + style.reasoning.end
    if draw(st.booleans()):
        wrapper = draw(st.sampled_from(style.content))
        return family, text + wrapper.start + draw(cited_texts()) + wrapper.end
    arguments = st.dictionaries(WORDS, st.one_of(WORDS, st.integers(), st.lists(WORDS)), max_size=3)
    calls = [
        {"tool_call_id": str(i), "tool_name": "f", "parameters": draw(arguments)}
        for i in range(draw(st.integers(1, 3)))
    ]
    region = json.dumps(
        calls, ensure_ascii=draw(st.booleans()), indent=draw(st.sampled_from([0, 4]))
    )
    return family, text + style.tool_calls.start + region + style.tool_calls.end


@thoroughly
@given(well_formed(), cut_sizes())
def test_both_engines_agree_on_well_formed_outputs(
    generation: tuple[tagsmith.Family, str], sizes: list[int]
) -> None:
    family, text = generation
    native = joined(family, [text])
    assert joined(family, [text], engine="melody") == native
    assert joined(family, cut(text, sizes), engine="melody") == native


@thoroughly
@given(generations(), cut_sizes())
def test_on_any_text_they_differ_in_a_stated_handover_at_most(
    generation: Generation, sizes: list[int]
) -> None:
    family, text, request = generation
    melody = joined(family, [text], engine="melody", **request)
    assert joined(family, cut(text, sizes), engine="melody", **request) == melody
    rest, added = apart(melody)
    assert rest == joined(family, [text], **request)
    assert added in ([], ["engine-handover"])
    assert not added or text.count("<co>") > 1


@thoroughly
@given(generations(), cut_sizes())
def test_melody_shows_each_event_as_soon_as_native_does(
    generation: Generation, sizes: list[int]
) -> None:
    family, text, request = generation
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


@thoroughly
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
    "<|START_RESPONSE|><co>abcdef<|END_RESPONSE|>xSTOP",
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
@given(generation=generations())
def test_the_family_file_decides_not_the_preset(
    changes: dict[str, Any], generation: Generation
) -> None:
    family, text, request = generation
    spec = type(family.spec).model_validate(family.spec.model_dump(exclude_unset=True) | changes)
    changed = tagsmith.Family(spec)
    native = joined(changed, [text], **request)
    assert apart(joined(changed, list(text), engine="melody", **request))[0] == native


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
