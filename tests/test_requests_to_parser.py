"""Wrong requests raise a clear error before the first token; never from deep inside."""

from __future__ import annotations

from typing import Any

import pytest

import tagsmith
from tagsmith.testing import MockTokenizer

FAMILY = tagsmith.get_family("cohere-command-a")


@pytest.mark.parametrize(
    ("option", "value", "field"),
    [
        ("prompt", 1, "prompt"),
        ("prompt", [], "prompt"),
        ("engine", "nope", "engine"),
        ("engine", "", "engine"),
        ("engine", [], "engine"),
        ("tools", 5, "tools"),
        ("tools", [5], "tools"),
        ("tool_choice", "banana", "tool_choice"),
        ("tool_choice", 5, "tool_choice"),
        ("source_map", [], "source_map"),
        ("tokenizer", object(), "tokenizer"),
        ("tokenizer", {}, "tokenizer"),
    ],
)
def test_an_option_of_parser(option: str, value: Any, field: str) -> None:
    with pytest.raises(tagsmith.RequestError) as raised:
        FAMILY.parser(**{option: value})
    assert raised.value.field.startswith(field)


@pytest.mark.parametrize("text", [None, b"x", 5, ["a"]])
def test_text_that_is_no_text(text: Any) -> None:
    with pytest.raises(tagsmith.RequestError, match=r"^text: must be text"):
        FAMILY.parse(text)


@pytest.mark.parametrize("name", [None, 3, [], b"x"])
def test_a_name_that_is_no_text(name: Any) -> None:
    with pytest.raises(tagsmith.RequestError, match=r"^name: must be text"):
        tagsmith.get_family(name)
    with pytest.raises(tagsmith.RequestError, match=r"^model: must be text"):
        tagsmith.get_family("Cohere2ForCausalLM", model=name if name is not None else 3)


@pytest.mark.parametrize("tokenizer", ["CohereLabs/command-a-plus-2026", 1, object()])
def test_a_tokenizer_that_cannot_be_asked(tokenizer: Any) -> None:
    with pytest.raises(tagsmith.RequestError, match=r"^tokenizer: "):
        tagsmith.get_family("Cohere2VisionForConditionalGeneration", tokenizer=tokenizer)
    with pytest.raises(tagsmith.RequestError, match=r"^tokenizer: "):
        FAMILY.is_reasoning_end([1], tokenizer)
    with pytest.raises(tagsmith.RequestError, match=r"^tokenizer: "):
        FAMILY.count_reasoning_tokens([1], tokenizer)


@pytest.mark.parametrize("token_ids", [5, [None], ["x"], [1.5], "12", {1: 2}])
def test_ids_that_are_none(token_ids: Any) -> None:
    parser = FAMILY.parser(tokenizer=MockTokenizer.for_family(FAMILY))
    with pytest.raises(tagsmith.RequestError, match=r"^token_ids: "):
        parser.feed("", token_ids=token_ids)


def test_explain_names_the_options_it_takes() -> None:
    with pytest.raises(tagsmith.RequestError, match=r"explain takes only tools, tool_choice"):
        FAMILY.explain("x", engine="melody")
