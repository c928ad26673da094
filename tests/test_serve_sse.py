"""Server-sent events are the same however their bytes are cut."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagsmith.serve.sse_reader import FrameTooLongError, ServerEvent, SseReader

STREAMS: list[tuple[str, list[tuple[str, str]]]] = [
    ("data: a\n\ndata: b\n\n", [("", "a"), ("", "b")]),
    ("data: a\r\n\r\ndata: b\r\r", [("", "a"), ("", "b")]),
    ("\ufeffdata: a\n\n", [("", "a")]),
    ("\ufeff\ufeffdata: a\n\n", []),
    (": ping\n\ndata:a\n:\n\n", [("", "a")]),
    ("data: {\ndata: }\n\n", [("", "{\n}")]),
    ("data\n\n", [("", "")]),
    ("data:  two\n\n", [("", " two")]),
    ("event: error\ndata: x\nid: 5\nretry: 9\n\ndata: y\n\n", [("error", "x"), ("", "y")]),
    ("event: ping\n\ndata: y\n\n", [("", "y")]),
    ('error: {"a": 1}\n\n', [("error", '{"a": 1}')]),
    ("data: é😀\u2028\x0b\x1c\n\n", [("", "é😀\u2028\x0b\x1c")]),
    ("data: not done\n", []),
    ("nonsense\n\n", []),
]


def read(raw: bytes, cuts: list[int]) -> list[ServerEvent]:
    reader = SseReader(limit=1000)
    places = [0, *sorted(cut % (len(raw) + 1) for cut in cuts), len(raw)]
    return [event for start, end in pairwise(places) for event in reader.feed(raw[start:end])]


@pytest.mark.parametrize(("text", "expected"), STREAMS)
def test_events_at_every_cut(text: str, expected: list[tuple[str, str]]) -> None:
    raw = text.encode()
    events = [ServerEvent(*pair) for pair in expected]
    assert read(raw, []) == events
    assert read(raw, list(range(len(raw)))) == events
    for cut in range(len(raw)):
        assert read(raw, [cut]) == events


@given(
    st.lists(st.sampled_from([text for text, _ in STREAMS]), max_size=5),
    st.lists(st.integers(0, 500), max_size=30),
)
def test_streams_behind_each_other_at_any_cuts(texts: list[str], cuts: list[int]) -> None:
    raw = "".join(texts).encode()
    assert read(raw, cuts) == read(raw, [])


def test_bytes_that_are_no_text_are_replaced() -> None:
    [event] = SseReader(limit=100).feed(b"data: a\xff\xc3\n\n")
    assert event.data == "a\ufffd\ufffd"


@pytest.mark.parametrize("raw", [b"data: " + b"x" * 95, b"data: xx\n" * 13, b"x" * 101])
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_the_longest_event(raw: bytes, size: int) -> None:
    reader = SseReader(limit=100)
    pieces = [raw[start : start + size] for start in range(0, len(raw), size)]
    with pytest.raises(FrameTooLongError, match="100 bytes"):
        list(map(reader.feed, pieces))


def test_the_limit_is_that_of_one_event() -> None:
    reader = SseReader(limit=100)
    assert len(reader.feed(b"data: 0123456789\n\n" * 50)) == 50
