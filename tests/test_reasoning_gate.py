"""Whether the model has finished thinking, told from token ids: what gates constrained decoding."""

import json
from pathlib import Path
from typing import Any

import pytest

import tagsmith
from tagsmith.family import Family
from tagsmith.testing import MockTokenizer

START, END, CHATBOT = "<|START_THINKING|>", "<|END_THINKING|>", "<|CHATBOT_TOKEN|>"
FAMILIES = {"cmd3": "cohere-command-a", "cmd4": "Cohere2MoeForCausalLM"}
CASES_FILE = Path(__file__).parent / "cases" / "cohere_v2.jsonl"
CASES = [json.loads(line) for line in CASES_FILE.read_text(encoding="utf-8").splitlines()]


def cases_of(kind: str) -> list[Any]:
    return [pytest.param(case, id=case["id"]) for case in CASES if case["kind"] == kind]


def family_and_tokenizer(case: dict[str, Any]) -> tuple[Family, MockTokenizer]:
    """The tokenizer knows the case's three markers only, by the ids that the case gives them."""
    tokenizer = MockTokenizer([START, END, CHATBOT])
    names = dict(zip(case["input"]["token_ids"], case["input"]["tokens"], strict=True))
    for token, name in names.items():
        assert name == token or tokenizer.token_to_id(name) == token
    return tagsmith.get_family(FAMILIES[case["preset"]]), tokenizer


@pytest.mark.parametrize("case", cases_of("reasoning_end"))
def test_reasoning_end(case: dict[str, Any]) -> None:
    family, tokenizer = family_and_tokenizer(case)
    found = family.is_reasoning_end(case["input"]["token_ids"], tokenizer)
    assert found is case["expected"]["reasoning_end"]


@pytest.mark.parametrize("case", cases_of("count_reasoning_tokens"))
def test_count_reasoning_tokens(case: dict[str, Any]) -> None:
    family, tokenizer = family_and_tokenizer(case)
    found = family.count_reasoning_tokens(case["input"]["token_ids"], tokenizer)
    assert found == case["expected"]["reasoning_tokens"]


@pytest.mark.parametrize("name", FAMILIES.values())
@pytest.mark.parametrize(
    ("text", "ended"),
    [
        (CHATBOT, False),
        (f"{CHATBOT}{START}", False),
        (f"{CHATBOT}{START}{END}", True),
        (f"{CHATBOT}{START}a{END}{START}b", False),
        (f"{CHATBOT}<|START_ACTION|>", True),
        (f"{CHATBOT}<|START_RESPONSE|>", True),
        (f"{CHATBOT}{START}never closed<|START_ACTION|>", True),
        (f"{CHATBOT}{START}old{END}<|END_OF_TURN_TOKEN|>{CHATBOT}", False),
        (f"{CHATBOT}<|START_ACTION|>[]<|END_ACTION|>{CHATBOT}{START}new", False),
    ],
)
def test_only_the_last_turn_counts_and_content_or_action_ends_reasoning(
    name: str, text: str, ended: bool
) -> None:
    family = tagsmith.get_family(name)
    tokenizer = MockTokenizer.for_family(family)
    assert family.is_reasoning_end(tokenizer.encode(text), tokenizer) is ended


def test_the_moe_family_ends_reasoning_at_its_own_content_wrapper() -> None:
    family = tagsmith.get_family(FAMILIES["cmd4"])
    tokenizer = MockTokenizer.for_family(family)
    token_ids = tokenizer.encode(f"{CHATBOT}<|START_TEXT|>Hi")
    assert family.is_reasoning_end(token_ids, tokenizer) is True


@pytest.mark.parametrize("name", FAMILIES.values())
def test_markers_spelled_with_ordinary_tokens_end_nothing(name: str) -> None:
    family = tagsmith.get_family(name)
    tokenizer = MockTokenizer.for_family(family)
    spelled = tokenizer.encode(f"{CHATBOT}{START}a") + tokenizer.encode_ordinary(f"{END}b")
    assert family.is_reasoning_end(spelled, tokenizer) is False
