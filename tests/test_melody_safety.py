"""Whatever the text, the melody engine neither ends, hangs nor starves the process."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tagsmith
from melody_doubles import EchoFilter
from melody_killers import KILLERS
from strategies import cut, cut_sizes
from tagsmith.engine import melody, melody_filter
from tagsmith.events import Diagnostic, DiagnosticCode, Event, join_events
from tagsmith.testing import run

ALL_IN = 300
"""Seconds for all killers together, many times what they take: only a hang comes near."""
LINEAR = 12
"""The most that four times the text may cost: between the 4 of linear and the 16 of quadratic."""
CLOCK = 0.05
"""Seconds under which nothing is told from the clock's noise."""


@pytest.fixture(scope="module")
def results() -> dict[str, dict[str, Any]]:
    """What a separate process, with a small stack, makes of the killers; those it lives to tell."""
    program = Path(__file__).parent / "melody_killers.py"
    done = subprocess.run(
        [sys.executable, program], text=True, capture_output=True, check=False, timeout=ALL_IN
    )
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, f"after {len(found)} killers: {done.returncode} {done.stderr}"
    return {result["name"]: result for result in found}


@pytest.mark.heavy
@pytest.mark.parametrize("name", KILLERS)
def test_a_killer_gives_the_right_message(results: dict[str, dict[str, Any]], name: str) -> None:
    killer, result = KILLERS[name], results[name]
    expected = dict.fromkeys(["content", "reasoning", "tool_calls", "citations"], 0)
    expected |= killer.expect(killer.size)  # type: ignore[arg-type]
    assert {part: result["found"][part] for part in expected} == expected
    assert result["codes"] == sorted(killer.codes)


@pytest.mark.heavy
@pytest.mark.parametrize("name", KILLERS)
def test_a_killer_takes_time_in_proportion(results: dict[str, dict[str, Any]], name: str) -> None:
    result = results[name]
    assert result["seconds"] < LINEAR * max(result["quarter"], CLOCK)


def watched(
    monkeypatch: pytest.MonkeyPatch, text: list[str], double: EchoFilter, **options: Any
) -> tuple[list[Event], tagsmith.Message]:
    """Parse with the stand-in in the library's place."""
    monkeypatch.setattr(melody, "filter_maker", lambda preset, start: lambda: double)
    family = tagsmith.get_family("cohere-command-a")
    result = run(family, text, engine="melody", **options)
    return join_events(result.events), result.message


@pytest.mark.parametrize("name", KILLERS)
@pytest.mark.parametrize("size", [4, 10**9], ids=["fours", "whole"])
def test_what_the_filter_is_given_is_bounded(
    monkeypatch: pytest.MonkeyPatch, name: str, size: int
) -> None:
    killer, double = KILLERS[name], EchoFilter()
    unit = len(killer.text(2)) - len(killer.text(1)) or 1
    text = killer.text(min(killer.size, 20_000 // unit))
    deltas = cut(text, [size])
    _, message = watched(monkeypatch, deltas, double)
    assert DiagnosticCode.ENGINE_FAULT not in [d.code for d in message.diagnostics]
    bound = melody_filter.MAX_REREAD
    assert double.most_kept <= bound, "characters read again at every write"
    assert double.most_dropped <= bound, "characters kept that it drops"
    assert all(len(write) <= bound for write in double.writes), "one write"
    assert all(write.count("<") <= 1 for write in double.writes), "one piece of markup a write"
    assert len(double.writes) <= 2 + len(text) / 4
    assert sum(map(len, double.writes)) <= 6 * len(text)


class PanicException(BaseException):
    """As pyo3_runtime.PanicException: no Exception."""


TEXT = (
    "<|START_THINKING|>a b<|END_THINKING|><|START_RESPONSE|>c <co>d e</co: 0:[1]> f<|END_RESPONSE|>"
)
FAULTS = [
    PanicException("called `Option::unwrap()` on a `None` value"),
    PanicException(),
    UnicodeEncodeError("utf-8", "x", 0, 1, "no"),
    RuntimeError("two\nlines"),
    MemoryError(),
    RecursionError(),
]


def guards(events: list[Event]) -> tuple[list[Event], list[Diagnostic]]:
    """The events besides the engine's own diagnostics, and those."""
    found = [
        event
        for event in events
        if isinstance(event, Diagnostic) and event.code.value.startswith("engine-")
    ]
    return join_events(event for event in events if event not in found), found


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: type(fault).__name__)
@pytest.mark.parametrize("at", range(13))
@pytest.mark.parametrize("size", [1, 10**6], ids=["characters", "whole"])
def test_a_fault_at_any_write_goes_on_natively(
    monkeypatch: pytest.MonkeyPatch, fault: BaseException, at: int, size: int
) -> None:
    def fail(write: int) -> None:
        if write == at:
            raise fault

    events, message = watched(monkeypatch, cut(TEXT, [size]), EchoFilter(fail))
    rest, found = guards(events)
    assert rest == join_events(run(tagsmith.get_family("cohere-command-a"), [TEXT]).events)
    assert message.content == "c d e f"
    assert len(found) <= 1
    if size == 1 or at < 10:
        assert found[0].code is DiagnosticCode.ENGINE_FAULT
        assert found[0].message.startswith(f"cohere_melody failed with {type(fault).__name__}")
        assert found[0].message.endswith("; the native engine reads on")
        assert "\n" not in found[0].message


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_what_is_meant_to_end_the_program_does(
    monkeypatch: pytest.MonkeyPatch, stop: type[BaseException]
) -> None:
    def fail(write: int) -> None:
        raise stop

    with pytest.raises(stop):
        watched(monkeypatch, [TEXT], EchoFilter(fail))


class Altered(EchoFilter):
    """Changes what it gives back, as a filter with a defect would."""

    def __init__(self, change: Any) -> None:
        super().__init__()
        self._change = change

    def write_decoded(self, text: str) -> Any:
        result = super().write_decoded(text)
        self._change(result)
        return result


def swap(result: Any) -> None:
    result.content, result.reasoning = result.reasoning, result.content


def double(result: Any) -> None:
    result.content = result.content and result.content * 2


def cut_short(result: Any) -> None:
    result.content = result.content and result.content[:2]


def replace(result: Any) -> None:
    result.content = result.content and result.content.upper()


def cite_nothing(result: Any) -> None:
    result.citations = []


def no_result(result: Any) -> None:
    del result.content


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (swap, "took reasoning for content"),
        (double, "gave back other text than it was given"),
        (cut_short, "kept text that it was given"),
        (replace, "gave back other text than it was given"),
        (cite_nothing, "gave 0 citations for one closing tag"),
        (no_result, "failed with AttributeError"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_an_answer_that_is_not_what_was_given_is_a_fault(
    monkeypatch: pytest.MonkeyPatch, change: Any, message: str
) -> None:
    events, _ = watched(monkeypatch, [TEXT], Altered(change))
    rest, found = guards(events)
    assert rest == join_events(run(tagsmith.get_family("cohere-command-a"), [TEXT]).events)
    assert [diagnostic.code for diagnostic in found] == [DiagnosticCode.ENGINE_FAULT]
    assert found[0].message.startswith(f"cohere_melody {message}")


def lose_content(result: Any) -> None:
    result.content = None
    result.citations = []


def lose_reasoning(result: Any) -> None:
    result.reasoning = None


@pytest.mark.parametrize("size", [1, 7, 10**6], ids=["characters", "sevens", "whole"])
@pytest.mark.parametrize(
    ("change", "content", "reasoning", "citations", "where"),
    [
        (lose_content, None, "a b", [], "c "),
        (lose_reasoning, "c d e f", None, ["d e"], "a b"),
    ],
)
def test_what_the_filter_drops_is_not_shown(
    monkeypatch: pytest.MonkeyPatch,
    change: Any,
    content: str | None,
    reasoning: str | None,
    citations: list[str],
    where: str,
    size: int,
) -> None:
    events, message = watched(monkeypatch, cut(TEXT, [size]), Altered(change))
    assert (message.content, message.reasoning) == (content, reasoning)
    assert [citation.text for citation in message.citations] == citations
    [drop] = guards(events)[1]
    assert (drop.code, drop.offset) == (DiagnosticCode.ENGINE_DROP, TEXT.index(where))
    assert message.diagnostics == (drop,)


def cite_another(result: Any) -> None:
    for citation in result.citations:
        citation.sources[0].tool_call_index = 7


def test_citations_point_where_the_filter_says(monkeypatch: pytest.MonkeyPatch) -> None:
    _, message = watched(monkeypatch, [TEXT], Altered(cite_another))
    assert [citation.positions for citation in message.citations] == [((7, 1),)]
    assert message.diagnostics == ()


def test_a_filter_that_cannot_be_made_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def make() -> Any:
        raise AttributeError("cmd3")

    monkeypatch.setattr(melody, "filter_maker", lambda preset, start: make)
    message = tagsmith.get_family("cohere-command-a").parse("Hi", engine="melody")
    assert message.content == "Hi"
    assert [d.code for d in message.diagnostics] == [DiagnosticCode.ENGINE_FAULT]


def test_call_numbers_and_offsets_go_on_after_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    call = '<|START_ACTION|>[{"tool_name": "f"}]<|END_ACTION|>'
    answer = "<|START_RESPONSE|>"
    text = f"{call}{answer}a <co>b</co: 0:[0]>{call}{answer}c <co>d</co: 0:[1]>"

    def fail(write: int) -> None:
        if write > 8:
            raise PanicException

    _, message = watched(monkeypatch, list(text), EchoFilter(fail))
    assert [call.id for call in message.tool_calls] == ["0", "1"]
    assert [(c.start, c.end, c.text) for c in message.citations] == [(2, 3, "b"), (5, 6, "d")]
    assert [d.code for d in message.diagnostics] == [DiagnosticCode.ENGINE_FAULT]


PARTS = ["<co>", "</co: 0:[1]>", "<", "word ", "  ", "\n\n\n", "\u00a0", "\x1c", "<|END_RESPONSE|>",
         "<|START_THINKING|>", "longer words"]  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(PARTS), max_size=12), cut_sizes(), st.integers(1, 6))
def test_a_bound_is_met_at_the_same_character_for_every_cutting(
    parts: list[str], sizes: list[int], bound: int
) -> None:
    text = "".join(parts)
    family = tagsmith.get_family("cohere-command-a")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(melody_filter, "MAX_REREAD", bound)
        one = join_events(run(family, [text], engine="melody").events)
        many = join_events(run(family, cut(text, sizes), engine="melody").events)
    assert many == one
    rest, found = guards(one)
    codes = {diagnostic.code for diagnostic in found}
    assert codes <= {DiagnosticCode.ENGINE_HANDOVER, DiagnosticCode.ENGINE_DROP}
    if DiagnosticCode.ENGINE_DROP not in codes:
        assert rest == join_events(run(family, [text]).events)


def test_an_event_loop_goes_on_while_texts_are_parsed() -> None:
    family = tagsmith.get_family("cohere-command-a")
    text = KILLERS["long argument"].text(20_000) + KILLERS["run of blanks"].text(20_000)

    async def parse() -> tagsmith.Message:
        parser = family.parser(engine="melody")
        for delta in cut(text, [500]):
            parser.feed(delta)
            await asyncio.sleep(0)
        parser.finish()
        return parser.message

    async def several() -> list[tagsmith.Message]:
        return await asyncio.gather(*(parse() for _ in range(4)))

    assert asyncio.run(several()) == [family.parse(text, engine="melody")] * 4


def test_the_library_is_imported_only_for_its_engine() -> None:
    code = """
import sys, tagsmith
family = tagsmith.get_family("cohere-command-a")
family.parse("Hi")
assert "cohere_melody" not in sys.modules
family.parse("Hi", engine="melody")
assert "cohere_melody" in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)
