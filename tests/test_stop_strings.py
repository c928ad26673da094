"""A user's stop strings: they end the content, and nothing else."""

from __future__ import annotations

import sys

import pytest

import tagsmith
from tagsmith.testing import all_cuttings, run

FAMILY = tagsmith.get_family("cohere-command-a")
CALL = '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "f", "parameters": {"q": "END"}}]'


@pytest.mark.parametrize(
    ("text", "stop", "content", "stopped"),
    [
        ("<|START_RESPONSE|>one END two<|END_RESPONSE|>", ["END"], "one", "END"),
        ("<|START_THINKING|>END<|END_THINKING|><|START_RESPONSE|>a", ["END"], "a", None),
        ("<|START_RESPONSE|>a EN<|END_RESPONSE|>D", ["END"], "a END", None),
        ("<|START_RESPONSE|>a E<co>N</co: 0:[0]>D b<|END_RESPONSE|>", ["END"], "a END b", None),
        ("<|START_RESPONSE|>a <co>END</co: 0:[0]> b<|END_RESPONSE|>", ["END"], "a", "END"),
        ("<|START_RESPONSE|>ab<|END_RESPONSE|>", ["END"], "ab", None),
        ("<|START_RESPONSE|>xabcd", ["abcd", "bc"], "xa", "bc"),
        ("<|START_RESPONSE|>xabce", ["abcd", "bc"], "xa", "bc"),
        ("<|START_RESPONSE|>line\n\nmore", ["\n\n"], "line", "\n\n"),
        ("答四是", ["四"], "答", "四"),
        (f"{CALL}<|END_ACTION|>a END", ["END"], "a", "END"),
    ],
)
def test_stop(text: str, stop: list[str], content: str, stopped: str | None) -> None:
    for label, deltas in all_cuttings(text):
        message = run(FAMILY, deltas, stop=stop).message
        assert (message.content, message.stop) == (content, stopped), label


def test_long_stop_strings() -> None:
    stop = "q" * 255 + "b"
    message = run(FAMILY, ["a ", *"q" * 500, "b c"], stop=[stop, *map(str, range(63))]).message
    assert message.content == "a " + "q" * 245
    assert message.stop == stop


@pytest.mark.heavy
def test_stop_strings_that_are_all_alike_take_linear_work() -> None:
    parser = FAMILY.parser(stop=["a" * size + "b" for size in range(192, 256)])
    steps = 0

    def count(frame: object, event: str, arg: object) -> None:
        nonlocal steps
        steps += event in ("call", "c_call")

    deltas = ["<|START_RESPONSE|>", *"a" * 2000]
    sys.setprofile(count)
    try:
        for delta in deltas:
            parser.feed(delta)
    finally:
        sys.setprofile(None)
    assert steps < 2000 * 2000
    parser.finish()
    assert parser.message.content == "a" * 2000


def test_nothing_comes_after_a_stop() -> None:
    parser = FAMILY.parser(stop="END")
    parser.feed("a END")
    assert parser.stopped
    assert parser.feed(f"b{CALL}") == []
    parser.finish("stop")
    assert parser.message.tool_calls == ()
    spans = FAMILY.explain(f"a ENDb{CALL}", stop="END")
    assert [span.kind.value for span in spans] == ["content", "whitespace", "after-stop"]


@pytest.mark.parametrize("stop", ["", [""], [3], ["a", ""], 1, {"a": 1}, ["x"] * 65, "x" * 257])
def test_stop_strings_that_are_none_are_refused(stop: object) -> None:
    with pytest.raises(tagsmith.RequestError, match=r"^stop: "):
        FAMILY.parser(stop=stop)  # type: ignore[arg-type]
