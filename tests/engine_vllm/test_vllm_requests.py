"""How a request is changed before the engine gets it, and when the engine begins to hold it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from vllm_held import HERMES, OSLO, OWN_TAG, PROMPT, QWEN, SCHEMA, STRICT, accepts
from vllm_kit import BOTH, Make, Served, chat, responses

REGEX = {"regex": "yes|no"}
COMMAND = Served("cohere-command-a")

both = pytest.mark.parametrize("make", BOTH.values(), ids=BOTH)


@both
def test_special_tokens_are_kept_and_the_turn_ends_where_the_family_says(make: Make) -> None:
    request = HERMES.adjusted(make(stop_token_ids=[7]), PROMPT)
    params = request.to_sampling_params(100, {})
    assert params.skip_special_tokens is False
    assert params.spaces_between_special_tokens is False
    assert params.stop_token_ids == [7, HERMES.tokenizer.token_to_id("<|im_end|>")]
    assert params.structured_outputs is None


@both
def test_a_request_that_goes_on_past_the_end_is_not_stopped(make: Make) -> None:
    request = HERMES.adjusted(make(ignore_eos=True), PROMPT)
    assert request.to_sampling_params(100, {}).stop_token_ids == []


@both
@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"tools": [STRICT], "stop": ["END"]},
        {"tools": [STRICT], "tool_choice": "required"},
        {"structured_outputs": {"json": SCHEMA}},
        {"structured_outputs": {"structural_tag": json.dumps(OWN_TAG)}, "stop": "END"},
    ],
)
def test_twice_is_once(make: Make, fields: dict[str, Any]) -> None:
    once = COMMAND.adjusted(make(**fields), "<|CHATBOT_TOKEN|>")
    first = once.to_sampling_params(100, {}), once._grammar_from_parser
    twice = COMMAND.adjusted(once, "<|CHATBOT_TOKEN|>")
    second = twice.to_sampling_params(100, {}), twice._grammar_from_parser
    assert repr(first) == repr(second)


PROMPTS = {
    # By how the prompt ends: is reasoning over where the engine holds nothing, and a user's regular
    # expression?
    PROMPT: False,
    f"{PROMPT}<think>\n": False,
    f"{PROMPT}<think>\n\n</think>\n\n": True,
}


@pytest.mark.parametrize("prompt", PROMPTS)
def test_when_the_engine_begins_to_hold(prompt: str) -> None:
    ids = QWEN.tokenizer.encode(prompt)

    def ended(request: Any) -> bool | None:
        parser = QWEN.parser(request, prompt)
        return parser.adjust_request(request).resolve_reasoning_ended(parser, ids)

    assert ended(chat()) is PROMPTS[prompt]
    assert ended(chat(structured_outputs=REGEX)) is PROMPTS[prompt]
    # Our own grammar tells reasoning as well, and holds from the first token.
    assert ended(chat([STRICT])) is True
    assert ended(chat(structured_outputs={"json": SCHEMA})) is True
    assert QWEN.adjusted(responses([STRICT]), prompt)._grammar_from_parser
    regex = responses(structured_outputs=REGEX)
    assert not QWEN.adjusted(regex, prompt)._grammar_from_parser


@both
def test_without_a_prompt_the_engine_finds_the_end_of_reasoning(make: Make) -> None:
    request = QWEN.adjusted(make([STRICT], tool_choice="required"))
    assert not request._grammar_from_parser
    # The grammar begins behind reasoning.
    assert accepts(request, OSLO, f"<think>\nHm.\n</think>\n\n{OSLO}", server=QWEN) == [True, False]
