"""Typing of values that are written without a type: as JSON where they read as an admitted type."""

from __future__ import annotations

import json
from collections.abc import Callable
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagsmith.engine.value_types import (
    ANYTHING,
    LONGEST_NUMBER,
    TEXT,
    JsonType,
    Typed,
    Types,
    Undecided,
    typed_json,
)

DEEP = 10_000


def of(*names: str) -> Types:
    return frozenset(map(JsonType, names))


@pytest.mark.parametrize(
    ("text", "types", "found"),
    [
        # Text is text, whatever it looks like.
        ("5", "string", '"5"'),
        ("null", "string", '"null"'),
        (' "quoted" \n', "string", '" \\"quoted\\" \\n"'),
        ('"quoted"', "string null", '"\\"quoted\\""'),
        ("", "string integer", '""'),
        ("  ", "string integer", '"  "'),
        ("\0é\ud800", "string", '"\\u0000é\ud800"'),
        # Another type that is admitted goes before text.
        ("5", "string integer", "5"),
        (" null\n", "string null", "null"),
        ("None", "string null", '"None"'),
        ("True", "string boolean", '"True"'),
        ("true", "string boolean", "true"),
        ("5 km", "string integer", '"5 km"'),
        ("5.5", "string integer", '"5.5"'),
        ('{"a": 1}', "string object", '{"a": 1}'),
        ("{'a': 1}", "string object", "\"{'a': 1}\""),
        ('{"a": 1}', "string array", '"{\\"a\\": 1}"'),
        # Spelling is kept, blanks around it are not.
        ("\n9223372036854775807123\n", "integer", "9223372036854775807123"),
        ("1.10", "number", "1.10"),
        ("1e5", "number", "1e5"),
        ("-0", "integer", "-0"),
        ("5.0", "integer", "5.0"),
        ("1e5", "integer", "1e5"),
        ("1.5E+1", "integer", "1.5E+1"),
        ("1e" + "9" * 50, "integer", "1e" + "9" * 50),
        ("5", "number", "5"),
        ('\n{"a" :\t1.10}\n', "object", '{"a" :\t1.10}'),
        ('["]", 1e2, {}]', "array", '["]", 1e2, {}]'),
        # The words of other languages, where there is no doubt.
        ("True", "boolean", "true"),
        ("FALSE", "boolean", "false"),
        ("None", "integer null", "null"),
        ("NULL", "null", "null"),
    ],
)
def test_what_fits(text: str, types: str, found: str) -> None:
    assert typed_json(text, of(*types.split())) == Typed(found, fits=True)


@pytest.mark.parametrize(
    ("text", "types"),
    [
        ("", "integer"),
        ("soon", "integer"),
        ("5.5", "integer"),
        ("5e-1", "integer"),
        ("1.55e1", "integer"),
        ("05", "integer"),
        ("+5", "number"),
        (".5", "number"),
        ("5.", "number"),
        ("NaN", "number"),
        ("-Infinity", "number"),
        ("٣", "integer"),
        ("1_000", "integer"),
        ('"5"', "integer"),
        ("null", "integer"),
        ("yes", "boolean"),
        ("1", "boolean"),
        ("", "object"),
        ("[1]", "object"),
        ("{}", "array"),
        ('{"a": 1} x', "object"),
        ('{"a": NaN}', "object"),
        ('{"a": "\n"}', "object"),
        ("{'a': 1}", "object"),
        ("[1, 2", "array"),
        ('"', "object"),
        ("x", ""),
    ],
)
def test_what_does_not_fit_stays_text(text: str, types: str) -> None:
    for around in ("", "\n"):
        written = around + text + around
        as_text = json.dumps(written, ensure_ascii=False)
        assert typed_json(written, of(*types.split())) == Typed(as_text, fits=False)


def test_a_guess_takes_every_type() -> None:
    guesses = {"5": "5", "true": "true", "[1]": "[1]", "{": '"{"', "Hi": '"Hi"', "None": '"None"'}
    assert {text: typed_json(text, ANYTHING).json for text in guesses} == guesses


def test_numbers_have_no_end() -> None:
    digits = "9" * 100_000
    for types in (of("integer"), of("number", "null")):
        assert typed_json(digits, types) == Typed(digits, fits=True)
    assert typed_json(f"[{digits}]", of("array")) == Typed(f"[{digits}]", fits=True)


def test_nesting_has_no_end() -> None:
    deep = '{"a":[' * DEEP + '"]"' + "]}" * DEEP
    assert typed_json(deep, of("object")) == Typed(deep, fits=True)
    lists = "[" * DEEP + "]" * DEEP
    assert typed_json(lists, of("array")) == Typed(lists, fits=True)


@pytest.mark.parametrize("broken", ["", "]", "}", '"', '"]', "]" * (DEEP + 1), "]" * DEEP + "x"])
def test_deep_brackets_have_to_answer_each_other(broken: str) -> None:
    assert not typed_json("[" * DEEP + broken, of("array")).fits


def test_another_notation_of_objects_and_arrays() -> None:
    asked: list[str] = []

    def transcode(text: str) -> str | None:
        asked.append(text)
        return {"{'a': 1}": '{"a": 1}', "(1,)": "[1]"}.get(text)

    def typed(text: str, *types: str) -> Typed:
        return typed_json(text, of(*types), transcode)

    assert typed(" {'a': 1} ", "object") == Typed('{"a": 1}', fits=True)
    assert typed("(1,)", "array") == Typed("[1]", fits=True)
    assert not typed("(1,)", "object").fits
    assert not typed("{1}", "object").fits
    assert typed("[1]", "array") == Typed("[1]", fits=True)
    assert asked == ["{'a': 1}", "(1,)", "(1,)", "{1}"]
    for text, types in (("{'a': 1}", ("string", "object")), ("{'a': 1}", ("integer",))):
        assert json.loads(typed(text, *types).json) == text
    assert len(asked) == 4


def after(types: Types, *pieces: str) -> list[bool]:
    value = Undecided(types)
    return [value.after(piece) for piece in pieces]


@pytest.mark.parametrize(
    ("types", "pieces", "undecided"),
    [
        ("string", ["", "5"], [False, False]),
        ("integer", ["", "x"], [True, True]),
        ("string integer", ["", " \n", "-", "4", " ", "\n", "2"], [True] * 6 + [False]),
        ("string integer", ["4", "2", " k"], [True, True, False]),
        ("string integer", ["x", "5"], [False, False]),
        ("string integer", ["4x"], [False]),
        ("string integer", ["0", "5"], [True, False]),
        ("string number", ["1", ".", "5", "e", "-", "3", "."], [True] * 6 + [False]),
        ("string null", ["n", "u", "ll", " ", "x"], [True] * 4 + [False]),
        ("string null", ["nu", "x"], [True, False]),
        ("string null", ["t"], [False]),
        ("string null", ["nul "], [False]),
        ("string boolean", ["t", "rue", "\n"], [True] * 3),
        ("string boolean", ["T"], [False]),
        ("string boolean", ["5"], [False]),
        ("string object", ["{", "anything"], [True, True]),
        ("string object", ["["], [False]),
        ("string array", [" [", "x"], [True, True]),
        ("string object array", ['"'], [False]),
    ],
)
def test_a_value_waits_while_it_may_be_something_else(
    types: str, pieces: list[str], undecided: list[bool]
) -> None:
    assert after(of(*types.split()), *pieces) == undecided


VALUES = [
    "5",
    "-5.50",
    "1e9",
    "null",
    "true",
    "True",
    "{}",
    '{"a": [1]}',
    "[1,",
    "x",
    '"',
    ".",
    "é",
]
texts = st.lists(st.sampled_from([*VALUES, " ", "\n", "n", "0"]), max_size=5).map("".join)
admitted = st.frozensets(st.sampled_from(list(JsonType)), min_size=1)


@given(texts, admitted, st.lists(st.integers(0, 8), max_size=6))
def test_whatever_arrives_a_decision_holds(text: str, types: Types, sizes: list[int]) -> None:
    value = Undecided(types)
    pieces, rest = [], text
    for size in sizes:
        pieces.append(rest[:size])
        rest = rest[size:]
    decided = [not value.after(piece) for piece in [*pieces, rest]]
    typed = typed_json(text, types)
    assert decided == sorted(decided), "once decided, always decided"
    if decided[-1]:
        assert typed == Typed(json.dumps(text, ensure_ascii=False), fits=True)
    assert json.loads(typed.json) == text or typed.fits
    if text and typed.fits and typed_json(text, types - TEXT).fits and "e" not in text.lower():
        assert typed.json == text.strip(), "another type goes before text"


def test_digits_stop_waiting_where_text_is_admitted() -> None:
    types = of("string", "integer")
    digits = "1" * LONGEST_NUMBER
    assert after(types, *digits, "1") == [True] * LONGEST_NUMBER + [False]
    assert typed_json(digits, types).json == digits
    assert typed_json(digits + "1", types).json == f'"{digits}1"'


@pytest.mark.heavy
@pytest.mark.parametrize(
    "piece",
    [" ", "1", "[", '"', '\\"', "x", "[1,", "e1", "[" + '\\"' * 4],
)
@pytest.mark.parametrize(
    "types", [ANYTHING, of("object", "array", "number"), of("string", "array")]
)
def test_time_is_linear(piece: str, types: Types) -> None:
    def seconds(work: Callable[[], object]) -> float:
        start = process_time()
        work()
        return process_time() - start

    def run(count: int) -> float:
        def work() -> None:
            value = Undecided(types)
            for _ in range(count):
                value.after(piece)
            typed_json("[" + piece * count, types)
            typed_json(piece * count, types)

        return min(seconds(work) for _ in range(3))

    assert run(40_000) < 12 * run(10_000) + 0.05
