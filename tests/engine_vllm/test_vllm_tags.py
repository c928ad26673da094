"""What the families write passes through vLLM: the tag of a request with the tools of a golden call
is one that vLLM takes, and it lets the call's text through."""

from __future__ import annotations

import json
from functools import lru_cache

import pytest
from vllm.exceptions import VLLMValidationError
from vllm.v1.structured_output.backend_xgrammar import validate_xgrammar_grammar
from vllm_kit import BOTH, NOW, WEATHER, Make, Served, chat

from tagsmith.grammar import check_structural_tag
from tagsmith.registry import default_registry
from test_golden_calls import GOLDEN, WRITTEN, Golden, tools_of

UNKNOWN = {"gemma-4"}
"""Families whose calls the xgrammar of this vLLM has no style for."""

served = lru_cache(maxsize=None)(Served)


def prompt_of(golden: Golden) -> str:
    """The prompt of the case, or one that ends as the text begins."""
    if golden.case.prompt is not None:
        return golden.case.prompt
    facts = golden.family.serving
    start = next(iter(facts.turn_start), "")
    return start + facts.reasoning_start[0] if golden.reasoning == "enabled" else start


@pytest.mark.parametrize(
    "name", [name for name in WRITTEN if GOLDEN[name].family.id not in UNKNOWN]
)
def test_a_golden_call_is_let_through(name: str) -> None:
    golden = GOLDEN[name]
    server, tools = served(golden.family.id), tools_of(golden.case, strict=True)
    params = []
    for make in BOTH.values():
        request = server.adjusted(make(tools), prompt_of(golden))
        params.append(request.to_sampling_params(100, {}))
        validate_xgrammar_grammar(params[-1])
        assert request._grammar_from_parser
    tags = {one.structured_outputs.structural_tag for one in params}
    assert len(tags) == 1
    tag = json.loads(tags.pop())
    results = check_structural_tag(tag, golden.texts, markers=golden.family.markers)
    assert any(result.accepted for result in results)


WITHOUT_CASES = sorted(set(default_registry().ids()) - {GOLDEN[name].family.id for name in WRITTEN})


@pytest.mark.parametrize("name", WITHOUT_CASES)
def test_a_call_of_a_family_without_cases_of_its_own(name: str) -> None:
    call = {"name": "get_weather", "arguments": '{"city": "Oslo"}'}
    turn = {"role": "assistant", "tool_calls": [{"id": "0", "type": "function", "function": call}]}
    server = served(name)
    text = server.family.render_turn(turn)
    request = server.adjusted(chat([WEATHER], tool_choice="required"), "<|CHATBOT_TOKEN|>")
    tag = json.loads(request.structured_outputs.structural_tag)
    (result,) = check_structural_tag(tag, [text], markers=server.family.markers)
    assert result.accepted


@pytest.mark.parametrize("name", sorted(UNKNOWN))
@pytest.mark.parametrize("make", BOTH.values(), ids=BOTH)
def test_a_family_that_this_xgrammar_does_not_know_is_served_without(make: Make, name: str) -> None:
    server = served(name)
    request = server.adjusted(make([NOW]), "")
    assert request.to_sampling_params(100, {}).structured_outputs is None
    for field in ({"tool_choice": "required"}, {"parallel_tool_calls": False}):
        with pytest.raises(VLLMValidationError) as caught:
            server.adjusted(make([NOW], **field), "")
        assert caught.value.parameter in field
    # An answer without calls is held all the same.
    request = server.adjusted(make(structured_outputs={"json": {"type": "integer"}}), "")
    validate_xgrammar_grammar(request.to_sampling_params(100, {}))
    assert request.extract_structured_outputs().structural_tag is not None


def test_a_schema_nested_deeper_than_vllm_takes() -> None:
    schema: dict[str, object] = {"type": "string"}
    for _ in range(31):
        schema = {"type": "object", "properties": {"a": schema}}
    server = served("cohere-command-xml")
    request = server.adjusted(chat([{"name": "f", "parameters": schema}]), "")
    validate_xgrammar_grammar(request.to_sampling_params(100, {}))
