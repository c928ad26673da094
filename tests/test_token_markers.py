"""Structural tags whose markers are tokens: the marker's token is one, the same text is not."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, Self

import pytest

import tagsmith
from strategies import FAMILIES
from tagsmith.grammar.check import byte_vocabulary, compile_structural_tag
from tagsmith.grammar.formats import any_text, const, free_text, json_schema, regex, sequence, tag
from tagsmith.grammar.token_markers import bind_markers, token
from tagsmith.spec.policies import Unmarked
from tagsmith.testing import MockTokenizer, sample_texts

COMMAND_A = tagsmith.get_family("cohere-command-a")
QWEN = tagsmith.get_family("qwen3")
WEATHER = {
    "name": "get_weather",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
    },
}
MARKERS = ["<a>", "</a>", "<b>", "</b>"]
ANY = {"type": "object"}
BODY = tag("", const("x"), "")


def words(*excludes: str) -> dict[str, Any]:
    return {"type": "any_tokens", "exclude_tokens": list(excludes)}


def star(content: dict[str, Any]) -> dict[str, Any]:
    return {"type": "star", "content": content}


def bound_tag(begin: Any, content: dict[str, Any], end: Any) -> dict[str, Any]:
    return {"type": "tag", "begin": begin, "content": content, "end": end}


OPEN, CLOSE = token("<a>"), token("</a>")
BOUND: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("markers alone", tag("<a>", const("x"), "</a>"), bound_tag(OPEN, const("x"), CLOSE)),
    (
        "markers and text",
        tag("<a>x", const("y"), "z</a>"),
        bound_tag(OPEN, sequence(const("x"), const("y"), const("z")), CLOSE),
    ),
    (
        "text outside the markers",
        tag("x<a>", const("y"), "</a>z"),
        bound_tag("", sequence(const("x"), OPEN, const("y"), CLOSE, const("z")), ""),
    ),
    (
        "several markers",
        tag("<a>x<b>", const("y"), "</a>"),
        bound_tag(OPEN, sequence(const("x"), token("<b>"), const("y")), CLOSE),
    ),
    ("no marker", tag("<c>", const("x"), "</c>"), bound_tag("<c>", const("x"), "</c>")),
    (
        "one of several ends",
        tag("<a>", const("x"), ["</a>", "z</b>"]),
        bound_tag(
            OPEN,
            sequence(
                const("x"),
                {"type": "or", "elements": [CLOSE, sequence(const("z"), token("</b>"))]},
            ),
            "",
        ),
    ),
    ("markers next to each other", const("<a></a>"), sequence(OPEN, CLOSE)),
    ("nothing", const(""), const("")),
    ("a pattern", regex("<a>"), regex("<a>")),
    ("JSON", json_schema(ANY, ["<a>"]), json_schema(ANY, ["<a>"])),
    ("text", any_text(["<a>", "x<b>"]), words("<a>", "<b>")),
    ("text without bounds", any_text([]), words()),
    ("text with bounds of both kinds", any_text(["<a>", "x"]), any_text(["<a>", "x"])),
    ("counted text", any_text(["<a>"], at_most=3), any_text(["<a>"], at_most=3)),
    (
        "text before a closer",
        tag("<a>", any_text(["<b>"]), "</a>"),
        bound_tag(OPEN, words("<b>", "</a>"), CLOSE),
    ),
    (
        "counted text before a closer",
        tag("<a>", any_text(["<b>"], at_most=3), "</a>"),
        bound_tag(OPEN, any_text(["<b>", "</a>"], at_most=3), CLOSE),
    ),
    (
        "text before a closer that is none",
        tag("<a>", any_text(["<b>"]), "end"),
        bound_tag(OPEN, any_text(["<b>", "end"]), "end"),
    ),
    (
        "inside others",
        {"type": "plus", "content": {"type": "optional", "content": const("<a>")}},
        {"type": "plus", "content": {"type": "optional", "content": OPEN}},
    ),
    (
        "free text",
        free_text([tag("<a>", const("x"), "</a>")], ["<a>"], ["</a>"]),
        sequence(
            words("<a>", "</a>"),
            star(sequence(bound_tag(OPEN, const("x"), CLOSE), words("<a>", "</a>"))),
        ),
    ),
    (
        "one tag",
        {
            **free_text([tag("<a>", const("x"), "</a>")], ["<a>"], []),
            "at_least_one": True,
            "stop_after_first": True,
        },
        bound_tag(OPEN, const("x"), CLOSE),
    ),
    (
        "a separator of text",
        {"type": "tags_with_separator", "tags": [BODY], "separator": ","},
        {"type": "tags_with_separator", "tags": [BODY], "separator": ","},
    ),
    (
        "a separator with a marker",
        {"type": "tags_with_separator", "tags": [BODY], "separator": "<b>", "at_least_one": True},
        sequence(BODY, star(sequence(token("<b>"), BODY))),
    ),
]


@pytest.mark.parametrize(("asked", "bound"), [row[1:] for row in BOUND], ids=[r[0] for r in BOUND])
def test_each_format_is_bound(asked: dict[str, Any], bound: dict[str, Any]) -> None:
    before = json.dumps(asked)
    assert bind_markers(asked, tokens=MARKERS) == bound
    assert json.dumps(asked) == before


def test_without_tokens_the_markers_stay_text() -> None:
    assert bind_markers(tag("<a>", const("x"), "</a>"), tokens=[]) == tag("<a>", const("x"), "</a>")


def test_a_longer_marker_is_not_taken_for_the_shorter_one_in_it() -> None:
    assert bind_markers(const("<a><b>"), tokens=["<a>", "<a><b>"]) == token("<a><b>")


def test_wrappers_that_begin_as_what_is_excluded_stay_open() -> None:
    bound = bind_markers(any_text(["<a>x"]), tokens=MARKERS, wrappers=["<a>y", "<b>", "<a>"])
    wrapper = sequence(OPEN, const("y"))
    assert bound == sequence(words("<a>"), star(sequence(wrapper, words("<a>"))))


@pytest.mark.parametrize(
    "format_", [tag("<c>", any_text([]), ""), tag("", any_text([]), "x<c>"), const("<a><c>")]
)
def test_a_marker_that_must_be_a_token_and_is_none_is_an_error(format_: dict[str, Any]) -> None:
    with pytest.raises(tagsmith.RequestError, match="'<c>' is no token of it") as caught:
        bind_markers(format_, tokens=MARKERS, needed=["<a>", "<c>"])
    assert caught.value.field == "tokenizer"


class Engine:
    """A tag compiled over bytes and markers, as a serving engine holds it."""

    def __init__(self, tag: dict[str, Any], markers: Sequence[str]) -> None:
        xgrammar = pytest.importorskip(
            "xgrammar", reason="needs xgrammar: pip install 'tagsmith[xgrammar]'"
        )
        self.tag = tag
        self.markers = markers
        self.tokenizer = MockTokenizer(markers)
        self._compiled = compile_structural_tag(tag, byte_vocabulary(markers))
        self._matcher = xgrammar.GrammarMatcher

    @classmethod
    def of(cls, family: tagsmith.Family, **asked: Any) -> Self:
        tokenizer = MockTokenizer.for_family(family)
        tag = family.structural_tag(**asked, markers="tokens", tokenizer=tokenizer)
        return cls(tag, [m for m in family.markers if tokenizer.token_to_id(m) is not None])

    def ids(self, *parts: str) -> list[int]:
        """Each part as tokens; one that begins with `spelled:` with ordinary ones alone."""
        encoded = []
        for part in parts:
            plain = part.removeprefix("spelled:")
            encode = self.tokenizer.encode if plain == part else self.tokenizer.encode_ordinary
            encoded += encode(plain)
        return encoded

    def accepts(self, *parts: str) -> bool:
        matcher = self._matcher(self._compiled)
        return all(matcher.accept_token(one) for one in self.ids(*parts)) and matcher.is_completed()


CHANNELS = bind_markers(
    free_text(
        [tag("<|channel|>to=f<|message|>", json_schema(ANY), "<|call|>")],
        ["<|channel|>to="],
        ["<|channel|>analysis<|message|>", "<|call|>"],
    ),
    tokens=["<|channel|>", "<|message|>", "<|call|>", "<|end|>"],
    wrappers=["<|channel|>final<|message|>", "<|end|>"],
)


@pytest.mark.parametrize(
    ("parts", "accepted"),
    [
        (["Hi<|channel|>to=f<|message|>{}<|call|>bye"], True),
        (["<|channel|>final<|message|>Hi<|end|><|channel|>to=f<|message|>{}<|call|>"], True),
        (["spelled:<|channel|>to=g<|message|>"], True),
        (["<|channel|>to=f", "spelled:<|message|>", "{}<|call|>"], False),
        (["<|channel|>to=f<|message|>{}", "spelled:<|call|>"], False),
        (["<|channel|>analysis<|message|>Hi"], False),
        (["<|channel|>final"], False),
        (["Hi<|call|>"], False),
    ],
)
def test_markers_made_of_tokens_and_text(parts: list[str], accepted: bool) -> None:
    tag = {"type": "structural_tag", "format": CHANNELS}
    engine = Engine(tag, ["<|channel|>", "<|message|>", "<|call|>", "<|end|>"])
    assert engine.accepts(*parts) is accepted


CALL = '[{"tool_call_id": "0", "tool_name": "get_weather", "parameters": {"city": "Paris"}}]'
MARKED = CALL.replace("Paris", "<|END_ACTION|>")


@pytest.mark.parametrize(
    ("parts", "accepted"),
    [
        (["<|START_ACTION|>", CALL, "<|END_ACTION|>"], True),
        (["spelled:<|START_ACTION|>", CALL, "<|END_ACTION|>"], False),
        (["<|START_ACTION|>", CALL, "spelled:<|END_ACTION|>"], False),
        (["<|START_ACTION|>", f"spelled:{MARKED}", "<|END_ACTION|>"], True),
        ([CALL], False),
    ],
)
def test_a_required_call_stands_between_tokens(parts: list[str], accepted: bool) -> None:
    engine = Engine.of(COMMAND_A, tools=[WEATHER], tool_choice="required")
    assert engine.accepts(*parts) is accepted


QWEN_CALL = '{"name": "get_weather", "arguments": {"city": "Paris"}}'


@pytest.mark.parametrize(
    ("parts", "accepted"),
    [
        (["Write ", "spelled:<tool_call>", " to call."], True),
        (["Hi", "<tool_call>", QWEN_CALL, "</tool_call>", "and", "spelled:</tool_call>"], True),
        (["Hi", "<tool_call>", "to call"], False),
        (["Hi", "</tool_call>"], False),
        (["Hi", "<think>"], False),
    ],
)
def test_in_text_a_spelled_marker_is_text(parts: list[str], accepted: bool) -> None:
    engine = Engine.of(QWEN, tools=[WEATHER])
    assert engine.accepts(*parts) is accepted
    if accepted:
        parser = QWEN.parser(tools=[WEATHER], tokenizer=engine.tokenizer)
        ids = engine.ids(*parts)
        parser.feed(engine.tokenizer.decode(ids), token_ids=ids)
        parser.finish("stop")
        assert parser.message.diagnostics == ()


def test_beside_markup_that_is_text_every_marker_is_kept_out_as_text() -> None:
    engine = Engine.of(COMMAND_A, tools=[WEATHER])
    assert engine.accepts("Hi <co>you</co: 0:[0]> <|START_ACTION|>", CALL, "<|END_ACTION|>")
    assert not engine.accepts("Hi", "spelled:<|START_ACTION|>")
    assert not engine.accepts("Hi <|END_ACTION|>")


def test_reasoning_ends_with_its_token() -> None:
    engine = Engine.of(QWEN, reasoning="enabled")
    assert engine.accepts("a ", "spelled:</think>", " b</think>done")
    assert not engine.accepts("a", "spelled:</think>")


def literals(value: Any, known: str = "") -> Iterator[str]:
    """What a tag spells as text: markers have to be tokens there."""
    if isinstance(value, str) and known in {"begin", "end", "value", "separator", "triggers"}:
        yield value
    if isinstance(value, str) and known in {"pattern", "grammar"}:
        yield value.replace("\\", "")
    if isinstance(value, list):
        for item in value:
            yield from literals(item, known)
    if isinstance(value, dict):
        for key, item in value.items():
            if key not in {"json_schema", "excludes"}:
                yield from literals(item, key)


NO_TOKENS = {"gemma-4"}
"""Families with values that the grammar engine can only write as text."""


@pytest.mark.parametrize("choice", ["auto", "required"])
@pytest.mark.parametrize("name", [name for name in FAMILIES if name not in NO_TOKENS])
def test_no_family_leaves_a_marker_as_text(name: str, choice: str) -> None:
    family = tagsmith.get_family(name)
    reasoning = "auto" if family.spec.tag_style.reasoning else "gated"
    engine = Engine.of(family, tools=[WEATHER], tool_choice=choice, reasoning=reasoning)
    for literal in literals(engine.tag["format"]):
        assert not any(marker in literal for marker in engine.markers), literal


@pytest.mark.parametrize("name", [name for name in FAMILIES if name not in NO_TOKENS])
def test_calls_are_the_same_with_tokens_in_the_markers_place(name: str) -> None:
    family = tagsmith.get_family(name)
    asked: dict[str, Any] = {"tools": [WEATHER, {"name": "now"}], "tool_choice": "required"}
    engine = Engine.of(family, **asked)
    text = family.structural_tag(**asked)
    for sample in sample_texts(text, 5, seed=name, markers=engine.markers):
        assert not sample.finished or engine.accepts(sample.text), sample.text
        if family.spec.tool_calls and family.spec.tool_calls.unmarked is not Unmarked.AT_START:
            assert not engine.accepts(f"spelled:{sample.text}"), sample.text


@pytest.mark.parametrize("name", sorted(NO_TOKENS))
def test_values_that_have_no_tokens_are_refused(name: str) -> None:
    with pytest.raises(tagsmith.RequestError, match="no tokens in values of the style") as caught:
        Engine.of(tagsmith.get_family(name), tools=[WEATHER])
    assert caught.value.field == "markers"


@pytest.mark.parametrize(
    ("asked", "field", "says"),
    [
        ({"markers": "ids"}, "markers", "unknown value 'ids'; allowed: text, tokens"),
        ({"markers": "tokens"}, "tokenizer", "asks for the model's tokenizer"),
        ({"markers": "tokens", "tokenizer": 5}, "tokenizer", "cannot be asked for a token"),
        (
            {"markers": "tokens", "tokenizer": {"<|START_ACTION|>": 1}, "tools": [WEATHER]},
            "tokenizer",
            "'<|END_ACTION|>' is no token of it",
        ),
        (
            {
                "markers": "tokens",
                "tokenizer": MockTokenizer.for_family(COMMAND_A),
                "tools": [WEATHER, {"name": "f<|END_ACTION|>"}],
            },
            "tools",
            "its name or its schema holds <|END_ACTION|>, a token of the model",
        ),
        (
            {
                "markers": "tokens",
                "tokenizer": MockTokenizer.for_family(COMMAND_A),
                "tools": [{**WEATHER, "parameters": {"properties": {"<|END_ACTION|>": {}}}}],
            },
            "tools",
            "tool 'get_weather': its name or its schema holds <|END_ACTION|>",
        ),
    ],
)
def test_what_is_wrong_is_said_by_field(asked: dict[str, Any], field: str, says: str) -> None:
    with pytest.raises(tagsmith.RequestError) as caught:
        COMMAND_A.structural_tag(**asked)
    assert caught.value.field == field
    assert says in str(caught.value)
