"""The `pythonic` call layout: lists of Python calls, with a marker before them or without."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import cut, cut_sizes
from tagsmith.engine.buffer import Buffer
from tagsmith.engine.calls import CallSink
from tagsmith.engine.pythonic_calls import PythonicCalls
from tagsmith.engine.pythonic_runs import MAX_OPENING
from tagsmith.engine.reader import Opened
from tagsmith.engine.scanner import build_scanner
from tagsmith.engine.spans import SpanKind, SpanMap
from tagsmith.engine.text import TextSink
from tagsmith.events import (
    ContentDelta,
    Diagnostic,
    Event,
    Target,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    join_events,
)
from tagsmith.spec.models import ToolCalls
from tagsmith.spec.policies import CallLayout, Join, OnRepeatedParameter, Trim

END = "<|end|>"
SCANNER = build_scanner([END, "<|eot|>", "\n\n\n"])


@dataclass
class Region:
    """One region, read to its end: the events, where it ended and by which marker."""

    events: list[Event] = field(default_factory=list)
    end: int = 0
    marker: str | None = None
    spans: SpanMap = field(default_factory=SpanMap)

    @property
    def calls(self) -> list[tuple[str, str]]:
        """Name and arguments of each call."""
        return [(name, arguments) for name, arguments, _ in self.all_calls]

    @property
    def all_calls(self) -> list[tuple[str, str, bool]]:
        """Name and arguments of each call, and whether it is complete."""
        names = [event.name for event in self.events if isinstance(event, ToolCallStart)]
        texts = [
            "".join(d.arguments for d in self.deltas if d.index == i) for i in range(len(names))
        ]
        whole = [event.complete for event in self.events if isinstance(event, ToolCallEnd)]
        return list(zip(names, texts, whole, strict=True))

    @property
    def deltas(self) -> list[ToolCallDelta]:
        return [event for event in self.events if isinstance(event, ToolCallDelta)]

    @property
    def content(self) -> str:
        return "".join(event.text for event in self.events if isinstance(event, ContentDelta))

    @property
    def codes(self) -> list[str]:
        return [event.code.value for event in self.events if isinstance(event, Diagnostic)]


def read(
    *deltas: str,
    opened: Opened = Opened.MARKER,
    tools: frozenset[str] | None = None,
    calls_allowed: bool = True,
    repeated: OnRepeatedParameter = OnRepeatedParameter.FIRST,
    mapped: bool = True,
) -> Region:
    """Read one region from deltas, as the engine does."""
    region = Region()
    spans = region.spans if mapped else None
    content = TextSink(Target.CONTENT, Trim.KEEP, Join.NOTHING, spans)
    sink = CallSink(ToolCalls(layout=CallLayout.PYTHONIC), tools, content, spans)
    sink.out = region.events
    reader = PythonicCalls(sink, SCANNER, calls_allowed=calls_allowed, repeated=repeated)
    reader.begin_region(opened)
    held = ""
    for i, delta in enumerate([*deltas, ""]):
        if not held and delta and reader.flowing is not None and reader.flowing(delta) is None:
            region.events.append(sink.delta_maker()(delta))
            sink.flowed(delta)
            region.end += len(delta)
            continue
        buffer = Buffer(held + delta, region.end, final=i == len(deltas))
        pos, stop = reader.read(buffer, 0)
        region.end += pos
        held = buffer.text[pos:]
        if stop is not None:
            region.marker = stop.marker
            reader.end_region(region.end)
            sink.end_region(region.end)
            return region
        assert len(held) < MAX_OPENING
    assert not held
    reader.finish(region.end)
    sink.end_region(region.end)
    return region


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("[f()]", [("f", "{}")]),
        ('[f(a="x", n=1)]', [("f", '{"a": "x", "n": 1}')]),
        ("[f(b=[1, True], c={'k': None})]", [("f", '{"b": [1, true], "c": {"k": null}}')]),
        ("f(x=1)", [("f", '{"x": 1}')]),
        ("f(x=1); g()\nh()", [("f", '{"x": 1}'), ("g", "{}"), ("h", "{}")]),
        ("[f()], [g()]\n[h(),]", [("f", "{}"), ("g", "{}"), ("h", "{}")]),
        (" [\n f ( a = 'x' ,\n b = (1, 2) , ) , ] ", [("f", '{"a": "x", "b": [1, 2]}')]),
        ("[ns.get-it(a=1), größe(ß='ß')]", [("ns.get-it", '{"a": 1}'), ("größe", '{"ß": "ß"}')]),
        ("[a:b/c(), a/b(x=1)]", [("a:b/c", "{}"), ("a/b", '{"x": 1}')]),
        ("[f(a=r'\\d', b='x' 'y', c=('z'))]", [("f", '{"a": "\\\\d", "b": "xy", "c": "z"}')]),
        ("[f(from=1, class='x')]", [("f", '{"from": 1, "class": "x"}')]),
        ("[f(code='''a\n\"b\"''')]", [("f", '{"code": "a\\n\\"b\\""}')]),
        ("[f(a=')]', b=\"','\")]", [("f", '{"a": ")]", "b": "\',\'"}')]),
        ("[]", []),
        ("", []),
    ],
)  # fmt: skip
def test_calls(text: str, calls: list[tuple[str, str]]) -> None:
    region = read(text)
    assert region.calls == calls
    assert (region.content, region.codes) == ("", [])


def test_a_marker_ends_the_region_but_for_strings() -> None:
    region = read(f"[f(a='{END}')]{END} more")
    assert region.calls == [("f", f'{{"a": "{END}"}}')]
    assert (region.marker, region.end) == (END, len(f"[f(a='{END}')]"))


def test_the_name_comes_first_and_strings_stream() -> None:
    region = read("[f(", "a='o", "ne ", "two\\", "n", "<|e", "')]", mapped=False)
    events = [e for e in region.events if isinstance(e, ToolCallStart | ToolCallDelta)]
    assert isinstance(events[0], ToolCallStart)
    texts = [e.arguments for e in events if isinstance(e, ToolCallDelta)]
    assert texts == ['{"a": ', '"o', "ne ", "two", "\\n", "<|e", '"', "}"]


def test_a_long_string_comes_in_many_deltas() -> None:
    deltas = ["[f(text='", *["abcd"] * 2_500, "')]"]
    region = read(*deltas, mapped=False)
    assert region.calls == [("f", json.dumps({"text": "abcd" * 2_500}))]
    assert len(region.deltas) > 2_500


@pytest.mark.parametrize(
    ("repeated", "arguments", "codes"),
    [
        (OnRepeatedParameter.FIRST, '{"a": 1, "b": "x"}', ["duplicate-key"]),
        (OnRepeatedParameter.KEEP, '{"a": 1, "a": [2], "b": "x"}', []),
    ],
)
def test_repeated_parameters(
    repeated: OnRepeatedParameter, arguments: str, codes: list[str]
) -> None:
    region = read("[f(a=1, a=[2], b='x')]", repeated=repeated)
    assert region.calls == [("f", arguments)]
    assert region.codes == codes


@pytest.mark.parametrize(
    ("broken", "arguments"),
    [
        ("f('Paris')", ""),
        ("f(5, a=1)", ""),
        ("f(**{'a': 1})", ""),
        ("f(a=1, (2))", '{"a": 1'),
        ("f(a=[(1 2)], b=1)", '{"a": ['),
        ("f(a='it's')", '{"a": "it'),
        ("f(a=b'x')", '{"a": '),
    ],
)
def test_a_broken_call_does_not_take_the_next_one_with_it(broken: str, arguments: str) -> None:
    broken_one, next_one = ("f", arguments, False), ("g", '{"x": 1}', True)
    for opened in (Opened.MARKER, Opened.MARKER_ALONE, Opened.NOTHING):
        known = read(f"[{broken}, g(x=1)]", opened=opened, tools=frozenset("fg"))
        assert known.all_calls == [broken_one, next_one]
        assert (known.content, known.codes) == ("", ["malformed-call"])
        behind = read(f"[g(x=1), {broken}, g(x=1)]", opened=opened)
        assert behind.all_calls == [next_one, broken_one, next_one]


@pytest.mark.parametrize(
    ("text", "calls", "codes"),
    [
        ("[f(a='x", [("f", '{"a": "x', False)], ["truncated"]),
        ("[f(a=[1, 2", [("f", '{"a": [1', False)], ["truncated"]),
        ("[f(", [("f", "", False)], ["truncated"]),
        ("[f(a", [("f", "", False)], ["truncated"]),
        ("[f(a=('x", [("f", '{"a": ', False)], ["truncated"]),
        ("[f", [], ["truncated"]),
        ("[", [], ["truncated"]),
        ("f", [], ["truncated"]),
        ("[f(a=1)", [("f", '{"a": 1}', True)], ["truncated"]),
        ("[f(), g", [("f", "{}", True)], ["truncated"]),
        ("[f(), g(", [("f", "{}", True), ("g", "", False)], ["truncated"]),
    ],
)
@pytest.mark.parametrize("opened", [Opened.MARKER, Opened.TRIED, Opened.MARKER_ALONE])
def test_a_call_that_is_cut_off(
    text: str, calls: list[tuple[str, str, bool]], codes: list[str], opened: Opened
) -> None:
    for deltas in ([text], list(text)):
        region = read(*deltas, opened=opened)
        assert region.all_calls == calls
        assert (region.content, region.codes) == ("", codes)
    if text.startswith("[f()"):
        assert read(text, opened=Opened.NOTHING).all_calls == calls


def test_a_marker_inside_a_call_breaks_it_off() -> None:
    region = read(f"[f(a=1, b{END}")
    assert region.all_calls == [("f", '{"a": 1', False)]
    assert (region.marker, region.codes) == (END, ["malformed-call"])


@pytest.mark.parametrize(
    ("text", "given_back"),
    [
        ("no call, you see [f()]", None),
        ("f and g", None),
        ("[1, 2]", None),
        ("'x'", None),
        ("print(2 + 2)", None),
        ("print(x == 2)", None),
        ("[f('a'), g(x=1)]", None),
        ("f", None),
        ("f(", None),
        ("f(): ...", ": ..."),
    ],
)
def test_text_in_a_marked_region_is_left_over(text: str, given_back: str | None) -> None:
    for deltas in ([text + END], list(text + END)):
        region = read(*deltas)
        assert region.content == (given_back or text)
        assert (region.marker, region.codes) == (END, ["malformed-call"])


@pytest.mark.parametrize("text", ["[1, 2] and", "opens it", "print(2)", "[ f or"])
def test_text_behind_a_marker_that_is_only_tried_is_no_part_of_the_region(text: str) -> None:
    for deltas in ([text + END], list(text + END)):
        region = read(*deltas, opened=Opened.TRIED)
        assert region.marker is None
        assert region.content + text[region.end :] == text


def test_a_marker_that_was_tried_is_one_once_there_is_a_call() -> None:
    region = read(f"[f()] so{END}", opened=Opened.TRIED)
    assert (region.calls, region.content, region.marker) == ([("f", "{}")], "so", END)


@pytest.mark.parametrize(
    ("text", "calls", "rest"),
    [
        ("[f(x=1)]", [("f", '{"x": 1}')], ""),
        ("[f(x=1)] Done.", [("f", '{"x": 1}')], "Done."),
        ("[f()]\n[ g()] ; [h()] (1)", [("f", "{}"), ("g", "{}"), ("h", "{}")], "(1)"),
        ("[f()]g()", [("f", "{}")], "g()"),
    ],
)
@pytest.mark.parametrize("opened", [Opened.NOTHING, Opened.MARKER_ALONE])
def test_a_region_that_no_marker_closes_ends_with_its_lists(
    text: str, calls: list[tuple[str, str]], rest: str, opened: Opened
) -> None:
    region = read(text, opened=opened)
    assert region.calls == calls
    assert text[region.end :] == rest
    assert (region.content, region.codes) == ("", [])


@pytest.mark.parametrize("text", ["f(x=1)", "f(x=1); "])
def test_a_marker_alone_needs_no_list(text: str) -> None:
    assert read(text, opened=Opened.MARKER_ALONE).calls == [("f", '{"x": 1}')]


@pytest.mark.parametrize("text", ["[1, 2] and", "Hello world", " [] x", "(f())"])
def test_text_behind_a_marker_alone_ends_the_region(text: str) -> None:
    region = read(text, opened=Opened.MARKER_ALONE)
    assert region.content + text[region.end :] == text
    assert (region.content.strip(), region.codes) == ("", ["malformed-call"])


UNMARKED_TEXTS = [
    "[",
    "[]",
    "[1] x",
    "[see (1)",
    "[f]",
    "[f g()]",
    "[f{",
    "[[f()]]",
    "[f",
    "[-f()]",
    "[a/b()]",
]


@pytest.mark.parametrize("text", UNMARKED_TEXTS)
@pytest.mark.parametrize("tools", [None, frozenset("f")])
def test_text_that_only_begins_like_a_call_is_given_back(
    text: str, tools: frozenset[str] | None
) -> None:
    for deltas in ([text], list(text)):
        region = read(*deltas, opened=Opened.NOTHING, tools=tools)
        assert region.content + text[region.end :] == text
        assert (region.calls, region.codes) == ([], [])


@pytest.mark.parametrize("text", ["[sin(x), cos(y)]", "[f(", "[f('a')]", "[f(a)"])
def test_without_tools_a_keyword_tells_a_call_from_text(text: str) -> None:
    region = read(text, opened=Opened.NOTHING)
    assert region.content + text[region.end :] == text
    assert (region.calls, region.codes) == ([], [])


def test_no_more_than_a_name_is_waited_for() -> None:
    name = "n" * MAX_OPENING
    region = read(*f"[{name}(a=1)]", opened=Opened.NOTHING)
    assert (region.content, region.calls) == ("[", [])
    marked = read(*f"[{name}(a=1)]")
    assert (marked.content, marked.calls) == (f"[{name}(a=1)]", [])


def test_an_unmarked_call_of_no_tool_is_text() -> None:
    text, tools = "[g(x=1)]", frozenset("f")
    region = read(text, opened=Opened.NOTHING, tools=tools)
    assert region.content + text[region.end :] == text
    assert (region.calls, region.codes) == ([], [])


@pytest.mark.parametrize("opened", [Opened.MARKER, Opened.MARKER_ALONE, Opened.NOTHING])
def test_a_call_of_no_tool_beside_a_call_is_one(opened: Opened) -> None:
    tools = frozenset(["f", "a/b"])
    for text in ["[f(), g(x=1), a/b()]", "[f()] [g(x=1)]; [a/b()]"]:
        region = read(text, opened=opened, tools=tools)
        assert region.calls == [("f", "{}"), ("g", '{"x": 1}'), ("a/b", "{}")]
        assert (region.content, region.codes) == ("", ["unknown-tool"])


def test_an_unmarked_list_after_calls_is_text_if_it_holds_none() -> None:
    text = "[f()] [1] x"
    region = read(text, opened=Opened.NOTHING)
    assert region.calls == [("f", "{}")]
    assert region.content + text[region.end :] == "[1] x"


@pytest.mark.parametrize("text", ["[f(a='x')]", "I can't.", f"[f(a='{END}', b=[\"{END}\"])]"])
def test_without_calls_the_region_is_content(text: str) -> None:
    region = read(text + END, calls_allowed=False)
    assert (region.content, region.marker) == (text, END)
    assert region.codes == ["unexpected-call"]


def test_expects_marker() -> None:
    content = TextSink(Target.CONTENT, Trim.KEEP, Join.NOTHING)
    sink = CallSink(ToolCalls(layout=CallLayout.PYTHONIC), None, content)
    reader = PythonicCalls(sink, SCANNER, calls_allowed=True, repeated=OnRepeatedParameter.FIRST)
    for opened, text, used, expects in [
        (Opened.MARKER, "[", False, True),
        (Opened.MARKER, "[f(a=1", True, True),
        (Opened.MARKER, "[f(a='x", True, False),
        (Opened.MARKER, "[f g", True, False),
        (Opened.NOTHING, "[f", False, False),
        (Opened.NOTHING, "[f(a=1)]", True, True),
    ]:
        sink.call = None
        reader.begin_region(opened)
        reader.read(Buffer(text), 0)
        assert (reader.used, reader.expects_marker) == (used, expects)


@pytest.mark.heavy
@pytest.mark.parametrize(
    "text", ["[" * 200_000, "[f(a=" + "[" * 200_000, "[f(" * 50_000, "f" * 200_000]
)
def test_hostile_text_is_read_in_linear_time(text: str) -> None:
    for opened in Opened:
        read(text, opened=opened, mapped=False)


FRAGMENTS = [
    *"[](){},;='\"\\ \nfg1.-é<|", "f(", "g(a=", "a=1", "b='x'", ", ", "True", "'''", "[f(a='x')]",
    END, "<|eot|>", "<|e", "\n\n\n", "(1, 2)", "{'k': 1}",
]  # fmt: skip
texts = st.lists(st.sampled_from(FRAGMENTS), max_size=16).map("".join)
modes: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "opened": st.sampled_from(Opened),
        "tools": st.sampled_from([None, frozenset("f")]),
        "calls_allowed": st.sampled_from([True, True, True, False]),
        "repeated": st.sampled_from(OnRepeatedParameter),
    }
)


@settings(max_examples=120)
@given(text=texts, sizes=cut_sizes(), mode=modes, prefix=st.sampled_from(["", "[", "[f(a="]))
def test_same_text_same_result_for_every_cutting(
    text: str, sizes: list[int], mode: dict[str, Any], prefix: str
) -> None:
    text = prefix + text
    one = read(text, **mode)
    for deltas in (cut(text, sizes), list(text)):
        for mapped in (True, False):
            other = read(*deltas, **mode, mapped=mapped)
            assert join_events(other.events) == join_events(one.events)
            assert (other.end, other.marker) == (one.end, one.marker)


@settings(max_examples=100)
@given(text=texts, mode=modes)
def test_nothing_is_lost(text: str, mode: dict[str, Any]) -> None:
    region = read(text, **mode)
    spans = region.spans.spans(text[: region.end])
    assert "".join(span.text for span in spans) == text[: region.end]
    shown = "".join(span.text for span in spans if span.kind is SpanKind.CONTENT)
    assert shown == region.content


@given(
    st.dictionaries(
        st.from_regex("[a-z]{1,5}", fullmatch=True),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(),
            lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
            max_leaves=6,
        ),
        max_size=4,
    )
)
def test_arguments_round_trip(arguments: dict[str, Any]) -> None:
    written = ", ".join(f"{key}={value!r}" for key, value in arguments.items())
    region = read(f"[f({written})]")
    assert region.calls == [("f", json.dumps(arguments, ensure_ascii=False))]
    assert region.codes == []
