"""The public test kit: tokenizer, cutters, case files, and what a failing case looks like."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

import tagsmith
from tagsmith.events import Event
from tagsmith.parser import Parser
from tagsmith.testing import (
    Case,
    MockTokenizer,
    all_cuttings,
    by_n_tokens,
    case_file_schema_text,
    check_case,
    find_broken,
    find_failure,
    run,
    run_tokens,
)
from tagsmith.testing.cutting import MOST_CUTS_IN_TWO
from tagsmith.testing.holding import GRAMMAR
from tagsmith.testing.laws import LAWS
from tagsmith.testing.showing import excerpt

MARKERS = ["<|A|>", "<|A|>b", "<c>"]


@given(st.lists(st.sampled_from([*MARKERS, "<|", "b", "é😀", "\n"])).map("".join))
def test_tokenizer_gives_back_what_it_took(text: str) -> None:
    tokenizer = MockTokenizer(MARKERS)
    assert tokenizer.decode(tokenizer.encode(text)) == text
    assert tokenizer.decode(tokenizer.encode_ordinary(text)) == text


@pytest.mark.parametrize(
    ("text", "token_ids"),
    [
        ("", []),
        ("<|A|>", [256]),
        ("<|A|>b", [257]),
        ("<|A|>x<c>", [256, ord("x"), 258]),
        ("<|A", [ord("<"), ord("|"), ord("A")]),
    ],
)
def test_a_marker_is_one_token_and_the_longest_wins(text: str, token_ids: list[int]) -> None:
    assert MockTokenizer(MARKERS).encode(text) == token_ids


def test_tokenizer_without_markers_spells_everything() -> None:
    assert MockTokenizer([]).encode("<c>") == [ord("<"), ord("c"), ord(">")]


def test_vocabulary_holds_bytes_and_markers() -> None:
    tokenizer = MockTokenizer([*MARKERS, MARKERS[0]])
    assert len(tokenizer.get_vocab()) == 256 + len(MARKERS)
    assert tokenizer.all_special_ids == [256, 257, 258]
    assert tokenizer.token_to_id("<c>") == tokenizer.convert_tokens_to_ids("<c>") == 258
    assert tokenizer.token_to_id("<d>") is None


def test_the_tokenizer_of_a_family_holds_its_markers_and_no_citation_markup() -> None:
    family = tagsmith.get_family("cohere-command-a")
    tokenizer = MockTokenizer.for_family(family)
    assert tokenizer.all_special_ids == list(range(256, 256 + len(family.markers)))
    assert tokenizer.decode(tokenizer.all_special_ids) == "".join(family.markers)
    assert {"<|START_THINKING|>", "<|CHATBOT_TOKEN|>", "<|END_ACTION|>"} <= set(family.markers)
    assert tokenizer.token_to_id("<co>") is None


@given(st.text(max_size=40))
def test_every_cutting_joins_to_the_text(text: str) -> None:
    cuttings = list(all_cuttings(text))
    assert all("".join(deltas) == text for _, deltas in cuttings)
    assert len({label for label, _ in cuttings}) == len(cuttings)


@given(st.lists(st.integers(0, 300)), st.integers(1, 5))
def test_token_groups_join_to_the_ids(token_ids: list[int], n: int) -> None:
    groups = by_n_tokens(token_ids, n)
    assert [token for group in groups for token in group] == token_ids
    assert all(len(group) == n for group in groups[:-1])


def test_run_and_run_tokens_give_the_same_message() -> None:
    family = tagsmith.get_family("cohere-command-a")
    tokenizer = MockTokenizer.for_family(family)
    text = "<|START_THINKING|>naïve<|END_THINKING|><|START_RESPONSE|>😀<|END_RESPONSE|>"
    by_text = run(family, [text])
    by_ids = run_tokens(family, by_n_tokens(tokenizer.encode(text), 1), tokenizer)
    assert by_ids.message == by_text.message
    assert by_text.message.content == "😀"


@pytest.mark.parametrize(
    ("expected", "said"),
    [
        (
            {"content": "no"},
            [
                "  content",
                "    expected  'no'",
                "    found     'Hi'",
                "               ^ character 0",
                "  fed by character, they part at delta 1 of 2, character 0 of the output:",
                "    'Hi'",
                "     ^",
            ],
        ),
        (
            {"content": "Hi", "reasoning": "hm"},
            [
                "  reasoning",
                "    expected  'hm'",
                "    found     nothing",
                "  fed by character, they part where the output ends",
            ],
        ),
        (
            {"content": "Hi", "tool_calls": [{"id": "0", "name": "f", "arguments": "{}"}]},
            [
                "  tool_calls[0]",
                '    expected  {"id": "0", "name": "f", "arguments": "{}", "complete": true}',
                "    found     nothing",
                "  fed by character, they part where the output ends",
            ],
        ),
        (
            {"content": "Hi", "diagnostics": ["truncated"]},
            [
                "  diagnostics",
                '    expected  ["truncated"]',
                "    found     []",
                "  fed by character, they part where the output ends",
            ],
        ),
    ],
)
def test_a_failing_case_shows_the_difference(expected: dict[str, object], said: list[str]) -> None:
    case = Case.model_validate({"id": "c", "family": "f", "text": "Hi", **expected})
    with pytest.raises(AssertionError) as failure:
        check_case(case, tagsmith.get_family("cohere-command-a"))
    heading, *told = str(failure.value).splitlines()
    assert heading == "case c, family cohere-command-a, parse():"
    assert told == said


@pytest.mark.parametrize(
    ("given", "field", "parted"),
    [
        ({"arguments": '{"a": 2}'}, "tool_calls[0].arguments", '{"a": 1}'),
        ({"name": "g"}, "tool_calls[0].name", '"f", "parameters'),
        ({"id": "1"}, "tool_calls[0].id", '"f", "parameters'),
    ],
)
def test_a_wrong_call_is_told_by_the_key_that_differs(
    given: dict[str, str], field: str, parted: str
) -> None:
    text = '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "f", "parameters": {"a": 1}}]'
    call = {"id": "0", "name": "f", "arguments": '{"a": 1}'} | given
    case = Case.model_validate(
        {"id": "c", "family": "f", "text": text + "<|END_ACTION|>", "tool_calls": [call]}
    )
    failure = find_failure(case, tagsmith.get_family("cohere-command-a"))
    assert failure is not None
    assert [difference.field for difference in failure.differences] == [field]
    assert failure.parting.start >= text.index(parted)
    assert failure.to_dict()["by_cutting"] is False


def test_a_failing_cutting_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    feed = Parser.feed

    def lossy(self: Parser, text: str, token_ids: list[int] | None = None) -> list[Event]:
        return [] if text == "i" else feed(self, text, token_ids)

    monkeypatch.setattr(Parser, "feed", lossy)
    case = Case(id="c", family="f", text="Hi all", content="Hi all")
    with pytest.raises(AssertionError) as failure:
        check_case(case, tagsmith.get_family("cohere-command-a"))
    assert str(failure.value).splitlines() == [
        "case c, family cohere-command-a, parser() fed by character:",
        "  content",
        "    expected  'Hi all'",
        "    found     'H·all'",
        "                ^ character 1",
        "  events[0]",
        """    expected  {"type": "content", "text": "Hi all"}""",
        """    found     {"type": "content", "text": "H all"}""",
        "  they part at delta 4 of 6, character 3 of the output:",
        "    'Hi all'",
        "        ^",
    ]


@pytest.mark.parametrize(
    ("text", "place", "shown"),
    [
        ("one two", 1, ["'one two'", "  ^"]),
        ("one  two", 4, ["'one··two'", "     ^"]),
        (" a\t\n", 1, ["'·a⇥↵'", "  ^"]),
        ("a\x1bb", 1, ["'a\\x1bb'", "  ^^^^"]),
        ("北京!", 2, ["'北京!'", "     ^"]),
        ("ab", 2, ["'ab'", "   ^"]),
        ("x" * 99, 50, ["...'" + "x" * 81 + "'...", " " * 44 + "^"]),
    ],
)
def test_whitespace_shows_and_the_place_is_marked(text: str, place: int, shown: list[str]) -> None:
    assert list(excerpt(text, place, place + 1)) == shown


def test_an_empty_diagnostics_list_means_none_may_appear() -> None:
    case = Case.model_validate(
        {
            "id": "c",
            "family": "f",
            "text": "<|START_ACTION|>no call<|END_ACTION|>",
            "content": "no call",
            "diagnostics": [],
        }
    )
    with pytest.raises(AssertionError, match="malformed-call"):
        check_case(case, tagsmith.get_family("cohere-command-a"))


def test_the_schema_of_case_files_is_current_and_takes_the_projects_own() -> None:
    root = Path(__file__).parent.parent
    text = (root / "schemas" / "cases.schema.json").read_text(encoding="utf-8")
    assert text == case_file_schema_text()
    validator = Draft202012Validator(json.loads(text))
    for file in (
        root / "tests" / "cases" / "cohere.yaml",
        root / "examples" / "plugin" / "src" / "tagsmith_acme" / "acme_chat.cases.yaml",
    ):
        validator.validate(yaml.safe_load(file.read_text(encoding="utf-8")))
    assert not validator.is_valid([{"id": "a", "family": "f", "text": "x", "contnt": "y"}])


def test_long_texts_are_not_cut_at_every_character() -> None:
    cuttings = list(all_cuttings("x" * 5000))
    assert sum(label.startswith("in two") for label, _ in cuttings) <= MOST_CUTS_IN_TWO


def test_families_keep_the_laws() -> None:
    family = tagsmith.get_family("cohere-command-a")
    assert [find_broken(family, law, samples=5, seed=1) for law in LAWS] == [None] * len(LAWS)


def lossy_feed(self: Parser, text: str, token_ids: list[int] | None = None) -> list[Event]:
    return [] if text == "a" else FEED(self, text, token_ids)


def failing_feed(self: Parser, text: str, token_ids: list[int] | None = None) -> list[Event]:
    if "word" in text:
        raise ZeroDivisionError("too many words")
    return FEED(self, text, token_ids)


FEED = Parser.feed


@pytest.mark.parametrize(
    ("law", "feed", "text", "how"),
    [
        ("same-text", lossy_feed, ".a|a.", "give ContentDelta"),
        ("nothing-raises", failing_feed, "word", "raises ZeroDivisionError: too many words"),
    ],
)
def test_a_broken_law_is_shown_by_the_shortest_text(
    law: str, feed: Any, text: str, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Parser, "feed", feed)
    family = tagsmith.get_family("cohere-command-a")
    failure = find_broken(family, law, samples=200, seed=1)
    assert failure is not None
    assert re.fullmatch(text, failure.generation.text)
    assert how in failure.how
    told = str(failure)
    assert told.startswith(f"law {law}, family cohere-command-a, seed 1: ")
    assert f"  text     {failure.generation.text!r}" in told
    assert failure.to_dict()["text"] == failure.generation.text


@pytest.mark.heavy
def test_texts_of_the_structural_tags_are_read_as_asked() -> None:
    pytest.importorskip("xgrammar", reason="needs xgrammar")
    family = tagsmith.get_family("cohere-command-a")
    assert find_broken(family, GRAMMAR, samples=3, seed=1) is None
