"""Literal values of Python and of bare-key objects, turned into JSON text as they arrive."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import cut, cut_sizes
from tagsmith.engine.buffer import Buffer
from tagsmith.engine.dialects import PYTHON, Dialect, bare_keys
from tagsmith.engine.literals import NO_MARKERS, LiteralReader, State, to_json
from tagsmith.engine.scanner import Scanner, build_scanner

QUOTE = '<|"|>'
BARE = bare_keys(QUOTE)
DIALECTS = [PYTHON, BARE]
DEEP = 10_000
LONGEST_ESCAPE = len(r"\U0001F600")
both_dialects = pytest.mark.parametrize("dialect", DIALECTS, ids=["python", "bare-keys"])

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
finite = scalars.filter(lambda value: value not in (float("inf"), float("-inf")))


def values(keys: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.recursive(
        finite,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
        max_leaves=12,
    )


def write_bare(value: Any) -> str:
    """The value as Gemma 4 writes it."""
    if isinstance(value, str):
        return QUOTE + value + QUOTE
    if isinstance(value, list):
        return "[" + ",".join(map(write_bare, value)) + "]"
    if isinstance(value, dict):
        return "{" + ",".join(f"{key}:{write_bare(v)}" for key, v in value.items()) + "}"
    return json.dumps(value)


def read(
    dialect: Dialect, deltas: list[str], markers: Scanner = NO_MARKERS
) -> tuple[int, str, State]:
    """Read one value from deltas: where it ended in their text, its JSON text, and how it ended."""
    reader = LiteralReader(dialect, markers)
    held, passed, found = "", 0, ""
    for i, delta in enumerate([*deltas, ""]):
        buffer = Buffer(held + delta, final=i == len(deltas))
        end, more, state = reader.read(buffer, 0)
        passed += end
        found += more
        if state is not State.MORE:
            return passed, found, state
        held = buffer.text[end:]
        assert len(held) < max(LONGEST_ESCAPE, len(QUOTE), markers.longest)
    assert not held
    return passed, found, State.MORE


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("True", "true"),
        ("None", "null"),
        ("false", "false"),
        ("null", "null"),
        ("'a'", '"a"'),
        ('"it\'s"', '"it\'s"'),
        ("''", '""'),
        ("'''a 'b' \"\"\"c'''", '"a \'b\' \\"\\"\\"c"'),
        ('"""\n"""', '"\\n"'),
        ("'two\nlines\t'", '"two\\nlines\\t"'),
        (r"'\n\t\r\b\f\a\v\\\'\"'", r'"\n\t\r\b\f\u0007\u000b\\' + "'" + r'\""'),
        (r"'\x41\u00e9\U0001F600\101\60\0'", '"Aé😀A0\\u0000"'),
        (r"'\d \x4 \u12 \U00110000 \8 \N{DASH}'", r'"\\d \\x4 \\u12 \\U00110000 \\8 \\N{DASH}"'),
        ("'a\\\nb\\\r\nc'", '"abc"'),
        (r"'\ud83d\ude00'", r'"\ud83d\ude00"'),
        (r"""r'\d"\'\\'""", r'"\\d\"\\' + "'" + r'\\\\"'),
        (r"R'''\x41'''", r'"\\x41"'),
        ("u'x'", '"x"'),
        ("[U\"x\", r'', red, r]", '["x", "", "red", "r"]'),
        ("'a'\"b\" \n r'\\n'  '''c''' ", r'"ab\\nc"'),
        ("{'a' 'b': 'c' 'd', 'e': 1}", '{"ab": "cd", "e": 1}'),
        ("(1)", "1"),
        ("( 'a'\n'b' )", '"ab"'),
        ("((1), ((2,)), (('x')))", '[1, [2], "x"]'),
        ("[({'a': (1)}), (None)]", '[{"a": 1}, null]'),
        ("(1, 'a')", '[1, "a"]'),
        ("()", "[]"),
        ("[1, (2,), [ ], ]", "[1, [2], []]"),
        ("{'a': {}, 'b' : [None] ,}", '{"a": {}, "b": [null]}'),
        ("{1: 'a', None: 2, .5: True, word: 1}", '{"1": "a", "null": 2, "0.5": true, "word": 1}'),
        ("  1  ", "1"),
    ],
)
def test_python(text: str, found: str) -> None:
    assert to_json(text, PYTHON) == found
    json.loads(found)


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("12345678901234567890", "12345678901234567890"),
        ("1.10", "1.10"),
        ("-0", "-0"),
        ("1E+05", "1E+05"),
        ("1e999", "1e999"),
        (".5", "0.5"),
        ("-.5e3", "-0.5e3"),
        ("5.", "5.0"),
        ("5.e-1", "5.0e-1"),
        ("+5", "5"),
        ("1_000.2_5", "1000.25"),
        ("007.5", "7.5"),
        ("0x1F", "31"),
        ("-0b11", "-3"),
        ("007", '"007"'),
        ("1__0", '"1__0"'),
        ("nan", '"nan"'),
        ("-inf", '"-inf"'),
        (".", '"."'),
        ("0x", '"0x"'),
        ("Color.RED", '"Color.RED"'),
        ("1j", '"1j"'),
        ("0x" + "f" * 9_999, '"0x' + "f" * 9_999 + '"'),
    ],
)
def test_python_words_become_the_nearest_json(word: str, found: str) -> None:
    assert to_json(word, PYTHON) == found
    assert to_json(f"[{word}]", PYTHON) == f"[{found}]"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"{{city:{QUOTE}Paris{QUOTE},days:2}}", '{"city": "Paris", "days": 2}'),
        (f"{{a:[{QUOTE}x{QUOTE},true,null,-1.50]}}", '{"a": ["x", true, null, -1.50]}'),
        (f'{{a:{QUOTE}say "\\n"{QUOTE}}}', r'{"a": "say \"\\n\""}'),
        (f"{{{QUOTE}a key{QUOTE} : 1 , filter[name]:2}}", '{"a key": 1, "filter[name]": 2}'),
        ('{"a":"x\\"\\u00e9\\/","b":\'it\\\'s\'}', '{"a": "x\\"é/", "b": "it\'s"}'),
        ("{a: two words ,b:12:30}", '{"a": "two words", "b": "12:30"}'),
        ("[007,None,+1]", '["007", null, "+1"]'),
        ("{}", "{}"),
        (f"{QUOTE}{QUOTE}", '""'),
        (f"{{a:{QUOTE}<|{QUOTE}}}", '{"a": "<|"}'),
        (f"{{a:{QUOTE}a {QUOTE}b{QUOTE} c{QUOTE} ,d:1}}", r'{"a": "a \"b\" c", "d": 1}'),
        (f"[{QUOTE}a{QUOTE}{QUOTE}]", r'["a\""]'),
        (f"{{a:two words{QUOTE},b:Paris{QUOTE}}}", '{"a": "two words", "b": "Paris"}'),
        ("{a:,b: }", '{"a": "", "b": ""}'),
        (r'{a:"\1"}', r'{"a": "\\1"}'),
        ("word", '"word"'),
    ],
)  # fmt: skip
def test_bare_keys(text: str, found: str) -> None:
    assert to_json(text, BARE) == found
    json.loads(found)


@both_dialects
@pytest.mark.parametrize(
    "text",
    ["", " ", ",", "1, 2", "[1", "[1,,2]", "[,]", "[1}", "{1, 2}", "{'a'}", "{,}", "'a", "'a'b"],
)
def test_what_is_no_value(dialect: Dialect, text: str) -> None:
    assert to_json(text, dialect) is None


@pytest.mark.parametrize(
    ("dialect", "text", "at"),
    [
        (PYTHON, "[1 2]", 3),
        (PYTHON, "[1)", 2),
        (PYTHON, "{1, 2}", 2),
        (PYTHON, "{'a' 1}", 5),
        (PYTHON, "{'a': }", 6),
        (PYTHON, "'a' + 'b'", 4),
        (PYTHON, "(1]", 2),
        (BARE, "{a,b:1}", 2),
        (BARE, "{a:[1}}", 5),
    ],
)
def test_broken_values_say_where(dialect: Dialect, text: str, at: int) -> None:
    end, _, state = read(dialect, [text])
    assert (end, state) == (at, State.BROKEN)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("b'z'", ""),
        ("[1, f'{x}']", "[1"),
        ("int('1')", ""),
        ("2 + 2", ""),
        ("['a' + x]", '["a'),
        ("[1, (2, (3 + 4))]", "[1, [2"),
        ("(b'z')", ""),
    ],
)
def test_no_value_is_made_up(text: str, found: str) -> None:
    for deltas in ([text], list(text)):
        assert read(PYTHON, deltas)[1:] == (found, State.BROKEN)


def test_what_ends_a_value_is_left() -> None:
    for text, end in [("12)", 2), ("'a')", 3), ("[1]]", 3), ("True ,", 5), ("(1))", 3)]:
        assert read(PYTHON, [text])[::2] == (end, State.DONE)


@given(values(finite))
def test_python_values_are_dumped_as_json_dumps_does(value: Any) -> None:
    assert to_json(repr(value), PYTHON) == json.dumps(value, ensure_ascii=False)


@given(values(st.from_regex(r"[a-z][a-z_.-]*", fullmatch=True)))
def test_bare_key_values_are_dumped_as_json_dumps_does(value: Any) -> None:
    written = write_bare(value)
    if written.count(QUOTE) == written.count("<|"):
        assert to_json(written, BARE) == json.dumps(value, ensure_ascii=False)


FRAGMENTS = [
    *"[](){}:,'\"\\ \nax0_.-+éur<|",
    QUOTE, "<|", "'''", '"""', "True", "null", "1_0", r"\x4", r"\u00e9", r"\U0001F600", "\\12",
    "\\\r\n", "'k': ", "k:", "<|end|>", "\ud83d",
    "'b'", "r'", 'R"""', "('a')", "(1, ",
]  # fmt: skip
texts = st.lists(st.sampled_from(FRAGMENTS), max_size=14).map("".join)


@both_dialects
@settings(max_examples=100)
@given(text=texts, sizes=cut_sizes(), with_markers=st.booleans())
def test_same_text_same_result_for_every_cutting(
    dialect: Dialect, text: str, sizes: list[int], with_markers: bool
) -> None:
    markers = build_scanner(["<|end|>", "[x", "\n\n"]) if with_markers else NO_MARKERS
    one = read(dialect, [text], markers)
    assert read(dialect, cut(text, sizes), markers) == one
    assert read(dialect, list(text), markers) == one


@both_dialects
@given(text=texts)
def test_whole_values_are_json(dialect: Dialect, text: str) -> None:
    found = to_json(text, dialect)
    if found is not None:
        json.loads(found)


@both_dialects
@pytest.mark.parametrize("brackets", ["[]", "{}"])
def test_deep_nesting(dialect: Dialect, brackets: str) -> None:
    opener, closer = ("[", "]") if brackets == "[]" else ("{'a': ", "}")
    text = opener * DEEP + "1" + closer * DEEP
    assert to_json(text, dialect) == text.replace("'", '"')
    assert read(dialect, list(text))[1] == text.replace("'", '"')


@both_dialects
def test_long_words_are_held_by_the_reader(dialect: Dialect) -> None:
    digits = "1" * 100_000
    end, found, state = read(dialect, [*digits, ","])
    assert (end, state) == (len(digits), State.DONE)
    assert found == digits


@pytest.mark.parametrize(
    ("dialect", "opening"),
    [(PYTHON, "['"), (PYTHON, "['''"), (BARE, f"{{a:{QUOTE}"), (BARE, '{a:"')],
)
@given(text=st.text())
def test_text_that_flows_is_its_own_json(dialect: Dialect, opening: str, text: str) -> None:
    reader = LiteralReader(dialect)
    assert reader.flowing is None
    reader.read(Buffer(opening + "x"), 0)
    assert reader.in_string
    assert reader.flowing is not None
    if reader.flowing(text) is None:
        assert reader.read(Buffer(text), 0) == (len(text), text, State.MORE)
        assert reader.flowing is not None


def test_what_stands_in_round_brackets_waits_for_a_comma_or_the_end() -> None:
    reader = LiteralReader(PYTHON)
    assert reader.read(Buffer("[0, ('a"), 0)[1] == "[0"
    assert reader.in_string
    assert reader.flowing is None
    assert reader.read(Buffer("b',"), 0)[1] == ', ["ab"'
    assert reader.read(Buffer("('c'"), 0)[1] == ""
    assert reader.read(Buffer("))"), 0)[1] == ', "c"]'


def test_a_quote_in_a_string_waits_for_what_follows() -> None:
    reader = LiteralReader(BARE, build_scanner(["<|end|>"]))
    for rest, found in [("", ""), (" ", ""), (" <|en", ""), (" <|en}", '\\" <|en}')]:
        text = f"{QUOTE}a{QUOTE}{rest}"
        reader.begin()
        assert reader.read(Buffer(text), 0)[1] == '"a' + found


def test_nothing_flows_while_text_is_held() -> None:
    for dialect, text, held in [(PYTHON, "'a\\", "\\"), (BARE, f"{QUOTE}a<|", "<|")]:
        reader = LiteralReader(dialect)
        end, _, _ = reader.read(Buffer(text), 0)
        assert text[end:] == held
        assert reader.flowing is None


def test_markers_stop_a_value_outside_of_its_strings() -> None:
    markers = build_scanner(["<|end|>"])
    assert read(PYTHON, ["['<|end|>', 1<|end|>"], markers) == (13, '["<|end|>"', State.MARKER)
    assert read(BARE, [f"{{a:{QUOTE}<|end|>{QUOTE}<|end|>"], markers)[1] == '{"a": "<|end|>"'
    assert read(PYTHON, ["a<b"], markers) == (3, "", State.MORE)


def test_reading_goes_on_after_a_marker_that_changes_nothing() -> None:
    reader = LiteralReader(PYTHON, build_scanner(["<|x|>"]))
    text = "[Tr<|x|>ue, <|x|>1]"
    end, found, state = reader.read(Buffer(text), 0)
    while state is State.MARKER:
        end, more, state = reader.read(Buffer(text), end + len("<|x|>"))
        found += more
    assert (found, state) == ("[true, 1]", State.DONE)
