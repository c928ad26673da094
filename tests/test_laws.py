"""The laws of the design, each on generated outputs of every built-in family."""

from __future__ import annotations

import json
import random
import sys
import threading
from dataclasses import FrozenInstanceError
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tagsmith
from strategies import FAMILIES, TOOLS, cut, cut_sizes, families, fragments, generations, outputs
from tagsmith.engine.templates import Hole, call_openers, holds_token, split_template
from tagsmith.events import (
    Citation,
    ContentDelta,
    DiagnosticCode,
    Event,
    ReasoningDelta,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    join_events,
)
from tagsmith.spec.models import FamilySpec
from tagsmith.spec.policies import CallLayout, EngineName, OnOpener, Unmarked
from tagsmith.testing import MockTokenizer, run, run_tokens
from tagsmith.testing.writing import write_call

Generation = tuple[tagsmith.Family, str, dict[str, Any]]
both_engines = pytest.mark.parametrize("engine", EngineName)
settings.register_profile("laws", max_examples=100, deadline=None)
settings.load_profile("laws")


def joined(events: tuple[Event, ...]) -> list[Event]:
    return join_events(events)


@given(generations(), cut_sizes())
def test_same_text_same_result_for_every_cutting(generation: Generation, sizes: list[int]) -> None:
    family, text, request = generation
    one = run(family, [text], **request)
    cut_up = run(family, cut(text, sizes), **request)
    assert joined(cut_up.events) == joined(one.events)
    assert cut_up.message == one.message


@given(generations(), st.integers(1, 5))
def test_same_text_same_result_for_token_aware_feeding(generation: Generation, step: int) -> None:
    family, text, request = generation
    tokenizer = MockTokenizer.for_family(family)
    # Only real text: U+FFFD stands for bytes that are no text, and surrogates have no bytes.
    text = text.replace("\ufffd", "?").encode("utf-8", "replace").decode()
    ids = tokenizer.encode(text)
    groups = [ids[start : start + step] for start in range(0, len(ids), step)]
    one = run(family, [text], **request)
    assert joined(run_tokens(family, groups, tokenizer, **request).events) == joined(one.events)


@both_engines
@given(generations(), cut_sizes())
def test_nothing_is_taken_back(
    engine: EngineName, generation: Generation, sizes: list[int]
) -> None:
    family, text, request = generation
    engine = engine if family.spec.melody else EngineName.NATIVE
    events = run(family, cut(text, sizes), engine=engine, **request).events
    started: list[int] = []
    ended: list[int] = []
    shown = {"content": "", "reasoning": ""}
    for event in events:
        if isinstance(event, ToolCallStart):
            assert event.index == len(started) == len(ended), "calls come one after the other"
            started.append(event.index)
        elif isinstance(event, ToolCallDelta):
            assert started[-1:] == [event.index], "arguments follow their call's start"
            assert event.index not in ended
        elif isinstance(event, ToolCallEnd):
            assert started[-1:] == [event.index]
            ended.append(event.index)
        elif isinstance(event, ContentDelta | ReasoningDelta):
            assert event.text
            shown[event.type] += event.text
        elif isinstance(event, Citation):
            assert shown[event.target.value][event.start : event.end] == event.text
    assert started == ended


@given(generations(), cut_sizes())
def test_nothing_waits_without_need(generation: Generation, sizes: list[int]) -> None:
    family, text, request = generation
    request = {key: value for key, value in request.items() if key != "stop"}
    longest = max(map(len, family.markers))
    deltas = cut(text, sizes)
    for count in range(1, min(len(deltas), 12) + 1):
        parser = family.parser(**request)
        for delta in deltas[:count]:
            parser.feed(delta)
        last = parser.finish("length")
        if any(getattr(event, "code", None) is DiagnosticCode.MALFORMED_CALL for event in last):
            continue  # what might have been a call had to wait until it was known to be none
        late = [e for e in last if isinstance(e, ContentDelta | ReasoningDelta)]
        held = "".join(event.text for event in late).lstrip(" \t\n\r")
        if family.spec.tool_calls and family.spec.tool_calls.unmarked is Unmarked.AT_START:
            held = (
                held.removeprefix("".join(held.splitlines(keepends=True))) if _bare(held) else held
            )
        assert len(held) < longest


def _bare(held: str) -> bool:
    """Whether this had to wait because calls may begin so, without a marker."""
    return held[:1] in ("{", "[")


@given(generations())
def test_nothing_leaks(generation: Generation) -> None:
    family, text, request = generation
    # Without quotes there is no string, so no marker of the text can be data there.
    for quote in "\"'":
        text = text.replace(quote, "")
    shown = _shown_kinds(family.spec)
    markers = _markers_that_count(family)
    for span in family.explain(text, **request):
        if span.kind in shown:
            assert not any(marker in span.text for marker in markers)


def _shown_kinds(spec: FamilySpec) -> set[str]:
    """What a user is shown; in a template, calls hold markers and raw values may."""
    kinds = {"content", "reasoning", "whitespace"}
    layout = spec.tool_calls.layout if spec.tool_calls else CallLayout.JSON
    return kinds if layout is CallLayout.TEMPLATE else kinds | {"call", "arguments"}


def _markers_that_count(family: tagsmith.Family) -> list[str]:
    """The markers that are structure everywhere.

    The openers of calls that are plain text may be that where no call begins, and in some families
    reasoning may quote openers.
    """
    spec = family.spec
    openers = frozenset[str]() if spec.tool_calls is None else call_openers(spec.tool_calls)
    markers = [m for m in family.markers if m not in openers or holds_token(spec, m)]
    reasoning = spec.tag_style.reasoning
    if reasoning is None or reasoning.on_opener is OnOpener.END:
        return markers
    return list(spec.tokens.hidden)


@given(families(), st.data())
def test_a_marker_inside_an_argument_is_data(family: tagsmith.Family, data: Any) -> None:
    spec = family.spec
    quoted = [m for m in family.markers if m not in _closers_of_values(spec)]
    parts = st.sampled_from([*quoted, "<co>", "</co: 0:[1]>", '"', "\\", "}]", "é", "\n", "'"])
    value = "".join(data.draw(st.lists(parts, max_size=6)))
    call = write_call(spec, "f", {"q": value, "n": [1]})
    message = family.parse(call, tools=TOOLS)
    [found] = message.tool_calls
    assert json.loads(found.arguments)["q"] == value
    assert (found.name, found.complete) == ("f", True)
    assert (message.content, message.reasoning) == (None, None)


def _closers_of_values(spec: FamilySpec) -> set[str]:
    """What an argument cannot quote: no format could tell it from its own end."""
    calls = spec.tool_calls
    if calls is None or calls.layout is not CallLayout.TEMPLATE:
        return set()
    forms = [*(calls.call or ()), *(calls.arguments.parameter or ())]
    words = {step for form in forms for step in split_template(form) if not isinstance(step, Hole)}
    quotes = {calls.arguments.quote} if calls.arguments.quote else set()
    return words if calls.arguments.encoding == "tagged" else quotes


@given(generations())
def test_nothing_is_lost(generation: Generation) -> None:
    family, text, request = generation
    spans = family.explain(text, **request)
    assert "".join(span.text for span in spans) == text
    assert [span.start for span in spans] == [0, *(span.end for span in spans)][: len(spans)]


@both_engines
@given(families(), st.text(st.characters(), max_size=80), cut_sizes(), st.sampled_from([None, "x"]))
def test_nothing_raises(
    engine: EngineName, family: tagsmith.Family, text: str, sizes: list[int], reason: str | None
) -> None:
    engine = engine if family.spec.melody else EngineName.NATIVE
    result = run(family, cut(text, sizes), finish_reason=reason, engine=engine)  # type: ignore[arg-type]
    assert result.message.finish_reason == reason


WORST = [
    "<" * 120,
    "a" + " " * 120,
    "`" * 120,
    '"' * 120,
    "{" * 120,
    "[" * 120,
    '[{"' * 60,
    "<co></co: " + "1" * 120,
    "<|START_RESPONSE|>" + "<co>x</co: 0:[1]>" * 20,
    "<|START_RESPONSE|>" + "<co>x" * 20 + "</co: 0:[1]>" * 20,
]


def _worst(family: tagsmith.Family) -> list[str]:
    """Texts of this family that a parser might read again and again."""
    spec, markers = family.spec, family.markers
    texts = [*WORST, *(marker * 12 for marker in fragments(family) if len(marker) > 2)]
    call = write_call(spec, "f", {"a": "x", "b": [1]})
    half = call[: len(call) // 2]
    texts += [call * 6, half + "[" * 120, half + "\\" * 120, half + " " * 120, half + "<" * 120]
    return [*texts, half + "\n" * 120, half + markers[-1] * 12, half + "a" * 120, half * 6]


def _assert_linear(family: tagsmith.Family, worst: str, size: int) -> None:
    small, large = (_calls_made(family, worst * times, size) for times in (3, 12))
    assert large < 5.5 * small, worst[:80]


@pytest.mark.parametrize("name", FAMILIES)
def test_work_is_linear_in_the_text(name: str) -> None:
    family = tagsmith.get_family(name)
    texts = _worst(family)
    for number, worst in enumerate(random.Random(name).sample(texts, 3)):
        _assert_linear(family, worst, (1, 4, 10**9)[number % 3])


@pytest.mark.heavy
@pytest.mark.parametrize("size", [1, 4, 10**9], ids=["characters", "fours", "whole"])
@pytest.mark.parametrize("name", FAMILIES)
def test_work_is_linear_in_every_worst_text(name: str, size: int) -> None:
    family = tagsmith.get_family(name)
    for worst in _worst(family):
        _assert_linear(family, worst, size)


def _calls_made(family: tagsmith.Family, text: str, size: int) -> int:
    """How many functions run while the text is parsed: work that no other process disturbs."""
    count = 0

    def profile(frame: object, event: str, arg: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    parser = family.parser()
    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        for start in range(0, len(text), size):
            parser.feed(text[start : start + size])
        parser.finish()
    finally:
        sys.setprofile(before)
    return count


@given(st.lists(generations(), min_size=2, max_size=4), st.randoms(use_true_random=False))
def test_parsers_share_nothing(several: list[Generation], order: Any) -> None:
    alone = [run(family, [text], **request).message for family, text, request in several]
    parsers = [family.parser(**request) for family, _, request in several]
    waiting = [list(text) for _, text, _ in several]
    while any(waiting):
        i = order.choice([i for i, text in enumerate(waiting) if text])
        parsers[i].feed(waiting[i].pop(0))
    for parser in parsers:
        parser.finish("stop")
    assert [parser.message for parser in parsers] == alone


def test_threads_share_a_family() -> None:
    family = tagsmith.get_family("cohere-command-a")
    texts = [f"<|START_THINKING|>t{i}<|END_THINKING|>answer <co>{i}</co: 0:[1]>" for i in range(8)]
    expected = [family.parse(text) for text in texts]
    found: list[tagsmith.Message | None] = [None] * len(texts)

    def work(i: int) -> None:
        for _ in range(50):
            found[i] = run(family, list(texts[i])).message

    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(texts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == expected


def test_a_family_is_immutable() -> None:
    family = tagsmith.get_family("cohere-command-a")
    with pytest.raises(FrozenInstanceError):
        family.spec = None  # type: ignore[misc, assignment]
    with pytest.raises(ValueError, match="frozen"):
        family.spec.tokens.turn_start = ("x",)


@given(st.data(), families())
def test_a_copy_of_a_family_reads_the_same(data: Any, family: tagsmith.Family) -> None:
    text = data.draw(outputs(family))
    assert tagsmith.Family(family.spec, family.source).parse(text) == family.parse(text)
