"""The laws of the design, each on generated outputs of every built-in family."""

from __future__ import annotations

import random
import threading
from collections.abc import Sequence
from dataclasses import FrozenInstanceError
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tagsmith
from strategies import FAMILIES, cut_sizes, families, fragments, generations, outputs
from tagsmith.spec.policies import EngineName
from tagsmith.testing import run
from tagsmith.testing.laws import (
    Check,
    Generation,
    independent,
    linear,
    nothing_leaks,
    nothing_lost,
    nothing_raises,
    nothing_taken_back,
    nothing_waits,
    quotable,
    quoted_is_data,
    same_text,
    worst_texts,
)

Drawn = tuple[tagsmith.Family, str, dict[str, Any]]
settings.register_profile("laws", max_examples=100, deadline=None)
settings.load_profile("laws")


def assert_held(
    check: Check, drawn: Drawn, sizes: Sequence[int] = (1,), step: int = 1, **request: Any
) -> None:
    family, text, asked = drawn
    assert list(check(Generation(family, text, asked | request, sizes, step))) == []


def engines_of(family: tagsmith.Family) -> list[EngineName]:
    return list(EngineName) if family.spec.melody else [EngineName.NATIVE]


@given(generations(), cut_sizes(), st.integers(1, 5))
def test_same_text_same_result(drawn: Drawn, sizes: list[int], step: int) -> None:
    assert_held(same_text, drawn, sizes, step)


@given(generations(), cut_sizes())
def test_nothing_is_taken_back(drawn: Drawn, sizes: list[int]) -> None:
    for engine in engines_of(drawn[0]):
        assert_held(nothing_taken_back, drawn, sizes, engine=engine)


@given(generations(), cut_sizes())
def test_nothing_waits_without_need(drawn: Drawn, sizes: list[int]) -> None:
    assert_held(nothing_waits, drawn, sizes)


@given(generations())
def test_nothing_leaks(drawn: Drawn) -> None:
    assert_held(nothing_leaks, drawn)


@given(families(), st.data())
def test_a_marker_inside_an_argument_is_data(family: tagsmith.Family, data: Any) -> None:
    markers = quotable(family.spec, family.markers)
    parts = st.sampled_from([*markers, "<co>", "</co: 0:[1]>", '"', "\\", "}]", "é", "\n", "'"])
    assert_held(quoted_is_data, (family, "".join(data.draw(st.lists(parts, max_size=6))), {}))


@given(generations())
def test_nothing_is_lost(drawn: Drawn) -> None:
    assert_held(nothing_lost, drawn)


@given(families(), st.text(st.characters(), max_size=80), cut_sizes())
def test_nothing_raises(family: tagsmith.Family, text: str, sizes: list[int]) -> None:
    for engine in engines_of(family):
        assert_held(nothing_raises, (family, text, {}), sizes, engine=engine)


@pytest.mark.parametrize("name", FAMILIES)
def test_work_is_linear_in_the_text(name: str) -> None:
    family = tagsmith.get_family(name)
    texts = worst_texts(family, fragments(family))
    worst, size = random.Random(name).choice(texts), (1, 4, 10**9)[FAMILIES.index(name) % 3]
    assert_held(linear, (family, worst, {}), [size])


@pytest.mark.heavy
@pytest.mark.parametrize("size", [1, 4, 10**9], ids=["characters", "fours", "whole"])
@pytest.mark.parametrize("name", FAMILIES)
def test_work_is_linear_in_every_worst_text(name: str, size: int) -> None:
    family = tagsmith.get_family(name)
    for worst in worst_texts(family, fragments(family)):
        assert_held(linear, (family, worst, {}), [size])


@given(generations(), cut_sizes())
def test_parsers_of_one_family_share_nothing(drawn: Drawn, sizes: list[int]) -> None:
    assert_held(independent, drawn, sizes)


@settings(max_examples=40)
@given(st.lists(generations(), min_size=2, max_size=4), st.randoms(use_true_random=False))
def test_parsers_share_nothing(several: list[Drawn], order: Any) -> None:
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
