"""The public test kit: tokenizer, cutters, case files, and what a failing case looks like."""

import json
from pathlib import Path

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
    CaseFileError,
    MockTokenizer,
    all_cuttings,
    by_n_tokens,
    case_file_schema_text,
    check_case,
    load_cases,
    run,
    run_tokens,
)

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
        ({"content": "no"}, "  content: expected 'no'\n              found 'Hi'"),
        (
            {"content": "Hi", "reasoning": "hm"},
            "  reasoning: expected 'hm'\n                found None",
        ),
        (
            {"content": "Hi", "tool_calls": [{"id": "0", "name": "f", "arguments": "{}"}]},
            "  tool_calls[0]: expected ('0', 'f', '{}', True)\n                    found nothing",
        ),
        ({"content": "Hi", "diagnostics": ["truncated"]}, "diagnostics: expected ['truncated']"),
    ],
)
def test_a_failing_case_shows_the_difference(expected: dict[str, object], said: str) -> None:
    case = Case.model_validate({"id": "c", "family": "f", "text": "Hi", **expected})
    with pytest.raises(AssertionError) as failure:
        check_case(case, tagsmith.get_family("cohere-command-a"))
    heading, *differences = str(failure.value).splitlines()
    assert heading == "case c, family cohere-command-a, parse():"
    assert said in "\n".join(differences)


def test_a_failing_cutting_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    feed = Parser.feed

    def lossy(self: Parser, text: str, token_ids: list[int] | None = None) -> list[Event]:
        return [] if text == "H" else feed(self, text, token_ids)

    monkeypatch.setattr(Parser, "feed", lossy)
    case = Case(id="c", family="f", text="Hi", content="Hi")
    with pytest.raises(AssertionError) as failure:
        check_case(case, tagsmith.get_family("cohere-command-a"))
    assert str(failure.value).splitlines() == [
        "case c, family cohere-command-a, parser() fed by character:",
        "  content: expected 'Hi'",
        "              found 'i'",
        "  joined events[0]: expected ContentDelta(text='Hi')",
        "                       found ContentDelta(text='i')",
    ]


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


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- {id: a, family: f, text: x, contnt: y}", "case a: contnt: Extra inputs"),
        ("- {id: a, family: f}", "case a: text: Field required"),
        ("- {id: a, family: f, text: x}\n- {id: a, family: f, text: y}", "come twice: a"),
        (
            "- {id: a, family: f, text: x, tool_calls: [{id: 0, name: n, arguments: '{}'}]}",
            "case a: tool_calls.0.id: Input should be a valid string",
        ),
        ("- {id: a, family: f, text: x, diagnostics: [truncatd]}", "case a: diagnostics.0"),
        ("- just text", "0: Input should be"),
        ("id: a", "valid tuple"),
        ("", "valid tuple"),
        ("[]", "at least 1 item"),
        ("- {id: a", "not YAML"),
        ("- !!python/name:os.system", "not YAML"),
    ],
)
def test_a_wrong_case_file_is_told_in_one_line(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "wrong.cases.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(CaseFileError) as failure:
        load_cases(file)
    assert str(failure.value).startswith(f"{file}: ")
    assert said in str(failure.value)
    assert "\n" not in str(failure.value)


def test_a_missing_case_file_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load_cases(tmp_path / "none.yaml")


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
