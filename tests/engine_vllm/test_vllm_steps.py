"""Steps as odd as an engine may give them, and what vLLM counts of them."""

from __future__ import annotations

from typing import Any

import prometheus_client
import pytest
from vllm.parser.metrics import init_parser_metrics
from vllm_held import HERMES, OSLO, PROMPT, QWEN
from vllm_kit import BOTH, WEATHER, Make, Told, chat

both = pytest.mark.parametrize("make", BOTH.values(), ids=BOTH)

TEXT = f"<think>\nHm.\n</think>\n\nHi é {OSLO}"
EXPECTED = ("Hm.", "Hi é", [("get_weather", '{"city": "Oslo"}')])


def told_of(steps: list[tuple[str, list[int]]], request: Any, *, finish: bool = True) -> Told:
    """What a stream of these steps tells; the end comes with nothing in it."""
    parser, told = QWEN.parser(request, PROMPT), Told()
    for text, ids in [*steps, ("", [])] if finish else steps:
        delta = parser.parse_delta(text, ids, request, finished=finish and (text, ids) == ("", []))
        if delta is not None:
            told.add(delta)
    return told


@both
def test_text_without_tokens_and_tokens_without_text(make: Make) -> None:
    request = make([WEATHER])
    ids = QWEN.tokenizer.encode(TEXT)
    for steps in (
        [(char, []) for char in TEXT],
        [(TEXT, [])],
        [("", ids)],
        [("", [token]) for token in ids],
        [("anything else", ids)],
    ):
        told = told_of(steps, request)
        assert (told.reasoning, told.content, told.calls) == EXPECTED


@both
def test_nothing_comes_after_the_end(make: Make) -> None:
    request = make([WEATHER])
    ids = QWEN.tokenizer.encode(TEXT)
    parser = QWEN.parser(request, PROMPT)
    assert parser.parse_delta(TEXT, ids, request, finished=True) is not None
    for text, more, finished in (("", [], True), ("more", ids, False), ("more", [], True)):
        assert parser.parse_delta(text, more, request, finished=finished) is None


@both
def test_tokens_that_no_tokenizer_knows_are_read_by_the_text(make: Make) -> None:
    request = make([WEATHER])
    told = told_of([("<think>\nHm.\n</think>\n\n", [10**6]), ("Hi", [-5])], request)
    assert (told.reasoning, told.content) == ("Hm.", "Hi")
    assert QWEN.whole("Hi", request, PROMPT, [10**6]).content == "Hi"


@both
def test_nothing_is_no_message(make: Make) -> None:
    request = make([WEATHER])
    assert told_of([], request) == Told()
    told = QWEN.whole("", request, PROMPT)
    assert (told.reasoning, told.content, told.calls) == (None, None, [])


@both
def test_parsers_of_one_request_do_not_meet(make: Make) -> None:
    """One parser for each choice, fed in turn."""
    request = make([WEATHER], **({"n": 2} if make is chat else {}))
    parsers = [HERMES.parser(request, PROMPT) for _ in range(2)]
    tolds = [Told(), Told()]
    texts = [HERMES.tokenizer.encode(f"A {OSLO}"), HERMES.tokenizer.encode(f"B {OSLO}")]
    for position in range(len(texts[0])):
        for parser, ids, told in zip(parsers, texts, tolds, strict=True):
            finished = position == len(ids) - 1
            delta = parser.parse_delta("", [ids[position]], request, finished=finished)
            if delta is not None:
                told.add(delta)
    assert [told.content for told in tolds] == ["A", "B"]
    assert [told.calls for told in tolds] == [[("get_weather", '{"city": "Oslo"}')]] * 2
    assert len({call for told in tolds for call in told.ids}) == 2


def test_vllm_counts_them() -> None:
    init_parser_metrics(model_name="m")

    def count(mode: str, outcome: str) -> float:
        labels = {"model_name": "m", "request_type": "chat_completions"}
        labels |= {"mode": mode, "outcome": outcome}
        name = "vllm:tool_call_parser_invocations_total"
        return prometheus_client.REGISTRY.get_sample_value(name, labels) or 0

    kinds = [(m, o) for m in ("streaming", "non_streaming") for o in ("tool_call", "no_tool_call")]
    before = {kind: count(*kind) for kind in kinds}
    request = chat([WEATHER])
    HERMES.whole(OSLO, request, PROMPT)
    HERMES.whole("Hi", request, PROMPT)
    HERMES.streamed(HERMES.tokenizer.encode("Hi"), request, PROMPT)
    assert {kind: count(*kind) - before[kind] for kind in kinds} == {
        ("streaming", "tool_call"): 0,
        ("streaming", "no_tool_call"): 2,
        ("non_streaming", "tool_call"): 1,
        ("non_streaming", "no_tool_call"): 1,
    }
