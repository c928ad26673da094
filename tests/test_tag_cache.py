"""Built structural tags: one for equal requests, and nobody can change it."""

import copy
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError
from typing import Any

import pytest

import tagsmith
from tagsmith.grammar import (
    StructuralTag,
    build_structural_tag,
    shared_structural_tag,
    validate_structural_tag,
)
from tagsmith.grammar.shared import KEPT_TAGS
from tagsmith.request import read_request
from tagsmith.testing import MockTokenizer

FAMILY = tagsmith.get_family("cohere-command-a")
TOOLS = [{"name": "f", "parameters": {"type": "object", "properties": {"é": {"const": "ü"}}}}]
ANSWER = {"type": "json_schema", "schema": {"type": "array", "uniqueItems": True}}


def shared(**asked: Any) -> StructuralTag:
    return FAMILY.shared_structural_tag(read_request(**asked))


def test_equal_requests_share_one_tag() -> None:
    assert shared(tools=TOOLS) is shared(tools=json.dumps(TOOLS))
    assert shared(tools=TOOLS) is shared(tools=copy.deepcopy(TOOLS), tool_choice="auto")
    assert shared(tools=TOOLS) is shared(tools=[TOOLS[0] | {"strict": False}], strict="all")


@pytest.mark.parametrize(
    "asked",
    [
        {"tool_choice": "required"},
        {"parallel_tool_calls": False},
        {"reasoning": "auto"},
        {"unenforceable": "report"},
        {"tools": [{"name": "f", "parameters": {"type": "object"}}]},
        {"tools": [TOOLS[0] | {"strict": False}]},
        {"response_format": {"type": "json_object"}},
    ],
    ids=str,
)
def test_other_requests_have_their_own(asked: dict[str, Any]) -> None:
    assert shared(tools=TOOLS) is not shared(**{"tools": TOOLS, **asked})


def test_values_that_only_python_takes_for_equal_are_two() -> None:
    one, true = ({"type": "json_schema", "schema": {"const": value}} for value in (1, True))
    assert shared(response_format=one).text != shared(response_format=true).text


def test_other_families_and_other_tokens_have_their_own() -> None:
    request = read_request(tools=TOOLS)
    tokenizer = MockTokenizer.for_family(FAMILY)
    vision = tagsmith.get_family("cohere-command-a-vision")
    text = FAMILY.shared_structural_tag(request)
    tokens = FAMILY.shared_structural_tag(request, markers="tokens", tokenizer=tokenizer)
    fewer = {"<|START_ACTION|>": 1, "<|END_ACTION|>": 2}
    only_needed = FAMILY.shared_structural_tag(request, markers="tokens", tokenizer=fewer)
    assert len({id(tag) for tag in (text, tokens, only_needed)}) == 3
    assert vision.shared_structural_tag(request) is not text
    vocabulary = tokenizer.get_vocab()
    same = FAMILY.shared_structural_tag(request, markers="tokens", tokenizer=vocabulary)
    assert same is tokens


def test_a_shared_tag_cannot_be_changed() -> None:
    tag = shared(tools=TOOLS)
    with pytest.raises(FrozenInstanceError):
        tag.packed = b""  # type: ignore[misc]
    tag.to_dict()["format"].clear()
    FAMILY.structural_tag(tools=TOOLS)["format"].clear()
    assert tag.to_dict() == build_structural_tag(FAMILY.spec, read_request(tools=TOOLS))


def test_its_text_is_the_tag_as_short_json() -> None:
    tag = shared(tools=TOOLS)
    assert json.loads(tag.text) == tag.to_dict() == FAMILY.structural_tag(tools=TOOLS)
    assert "é" in tag.text
    assert len(tag.text) < len(json.dumps(tag.to_dict(), ensure_ascii=False))
    assert tag.text is tag.text


def test_it_says_what_it_does_not_hold() -> None:
    tag = shared(response_format=ANSWER, unenforceable="report")
    assert tag.limitations == ("response_format: uniqueItems: the grammar cannot compare items",)
    assert shared(tools=TOOLS).limitations == ()


def test_no_more_tags_are_kept_than_stated() -> None:
    first = shared(tools=[{"name": "tool_0"}])
    for number in range(KEPT_TAGS + 1):
        shared(tools=[{"name": f"tool_{number}"}])
    assert shared_structural_tag.cache_info().currsize == KEPT_TAGS
    again = shared(tools=[{"name": "tool_0"}])
    assert again == first
    assert again is not first


def test_threads_get_equal_tags() -> None:
    def ask(number: int) -> str:
        return shared(tools=[{"name": f"thread_{number % 3}"}]).text

    with ThreadPoolExecutor(8) as pool:
        texts = list(pool.map(ask, range(60)))
    assert len(set(texts)) == 3


class TestValidation:
    def test_a_tag_is_compiled_on_request(self) -> None:
        pytest.importorskip("xgrammar", reason="needs xgrammar: pip install 'tagsmith[xgrammar]'")
        tokenizer = MockTokenizer.for_family(FAMILY)
        tag = FAMILY.structural_tag(tools=TOOLS, validate=True)
        assert tag == FAMILY.structural_tag(tools=TOOLS)
        FAMILY.structural_tag(tools=TOOLS, markers="tokens", tokenizer=tokenizer, validate=True)

    def test_what_does_not_compile_is_a_request_error(self) -> None:
        pytest.importorskip("xgrammar", reason="needs xgrammar: pip install 'tagsmith[xgrammar]'")
        pattern = {"type": "regex", "pattern": "("}
        broken = StructuralTag.freeze({"type": "structural_tag", "format": pattern})
        with pytest.raises(tagsmith.RequestError, match="xgrammar cannot compile it"):
            validate_structural_tag(broken, ())

    def test_without_xgrammar_the_error_says_how_to_get_it(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "xgrammar", None)
        tools = [{"name": "not_compiled_before"}]
        FAMILY.structural_tag(tools=tools)
        with pytest.raises(tagsmith.MissingDependencyError, match=r"tagsmith\[xgrammar\]"):
            FAMILY.structural_tag(tools=tools, validate=True)
