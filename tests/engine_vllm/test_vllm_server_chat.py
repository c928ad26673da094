"""Chat Completions from end to end: vLLM's serving class, renderer, grammars and decoding."""

from __future__ import annotations

from typing import Any

import pytest
from vllm.config.reasoning import ReasoningConfig
from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
from vllm.exceptions import VLLMValidationError
from vllm_client import both_ways, joined, message, streamed, whole, without_ids
from vllm_held import SCHEMA, STRICT
from vllm_kit import NOW, chat
from vllm_server import MODEL, Server

FORMAT = {"type": "json_schema", "json_schema": {"name": "answer", "schema": SCHEMA}}
THOUGHT = "<think>\nHm, é.\n</think>\n\n"
CALL = (
    "<tool_call>\n<function=get_weather>\n<parameter=city>\nTromsø\n</parameter>\n"
    "<parameter=days>\n3\n</parameter>\n</function>\n</tool_call>"
)
TIME = "<tool_call>\n<function=now>\n</function>\n</tool_call>"
END = "<|im_end|>"
ARGUMENTS = '{"city": "Tromsø", "days": 3}'


def test_reasoning_and_content(qwen: Server) -> None:
    told = both_ways(qwen, lambda: chat(model=MODEL), f"{THOUGHT}It is 21 °C.{END}")
    assert (told["reasoning"], told["content"]) == ("Hm, é.", "It is 21 °C.")
    assert told["finish_reason"] == "stop"


@pytest.mark.parametrize("choice", ["auto", "required", "named"])
@pytest.mark.parametrize("thought", [THOUGHT, ""])
def test_a_call_under_the_grammar(qwen: Server, choice: str, thought: str) -> None:
    named = {"type": "function", "function": {"name": "get_weather"}}

    def make() -> ChatCompletionRequest:
        value = named if choice == "named" else choice
        return chat([STRICT, NOW], model=MODEL, tool_choice=value)

    told = both_ways(qwen, make, f"{thought}{CALL}{END}")
    assert [call["arguments"] for call in told["calls"]] == [ARGUMENTS]
    assert told["calls"][0]["id"].startswith("chatcmpl-tool-")
    assert told["finish_reason"] == ("stop" if choice == "named" else "tool_calls")
    params = qwen.engine.requests[-1].params.structured_outputs
    assert params.structural_tag
    assert qwen.engine.requests[-1].reasoning_ended is True


@pytest.mark.parametrize("choice", ["none", None])
def test_no_calls(qwen: Server, choice: str | None) -> None:
    make = lambda: chat([STRICT], model=MODEL, tool_choice=choice)  # noqa: E731
    told = both_ways(qwen, make, f"{THOUGHT}No.{END}")
    assert (told["content"], told["calls"]) == ("No.", [])
    assert qwen.engine.requests[-1].params.structured_outputs is None


def test_calls_that_are_not_parallel(qwen: Server) -> None:
    make = lambda: chat([STRICT, NOW], model=MODEL, parallel_tool_calls=False)  # noqa: E731
    told = both_ways(qwen, make, f"{THOUGHT}{TIME}{END}")
    assert [call["name"] for call in told["calls"]] == ["now"]
    with pytest.raises(AssertionError, match="refused"):
        whole(qwen, make(), f"{THOUGHT}{TIME}\n{CALL}{END}")


def test_what_the_grammar_refuses_is_not_written(qwen: Server) -> None:
    wrong = CALL.replace("get_weather", "get_whether")
    with pytest.raises(AssertionError, match="refused"):
        whole(qwen, chat([STRICT], model=MODEL), f"{THOUGHT}{wrong}{END}")
    with pytest.raises(AssertionError, match="refused"):
        whole(qwen, chat([STRICT], model=MODEL, tool_choice="required"), f"{THOUGHT}No.{END}")
    with pytest.raises(AssertionError, match="refused"):
        whole(qwen, chat(model=MODEL, response_format=FORMAT), f"{THOUGHT}No.{END}")


@pytest.mark.parametrize("tools", [None, [STRICT]])
def test_a_schema_of_the_answer(qwen: Server, tools: Any) -> None:
    make = lambda: chat(tools, model=MODEL, response_format=FORMAT)  # noqa: E731
    told = both_ways(qwen, make, f'{THOUGHT}{{"ok": true}}{END}')
    assert told["content"] == '{"ok": true}'


@pytest.mark.parametrize("thinking", [True, False])
def test_a_constraint_of_the_users_own_begins_behind_reasoning(
    qwen: Server, thinking: bool
) -> None:
    def make() -> ChatCompletionRequest:
        return chat(
            model=MODEL,
            structured_outputs={"choice": ["yes", "no"]},
            chat_template_kwargs={"enable_thinking": thinking},
        )

    thought = "<think>\nHm.\n</think>" * thinking
    told = both_ways(qwen, make, f"{thought}yes{END}")
    assert (told["reasoning"], told["content"]) == ("Hm." * thinking, "yes")
    assert qwen.engine.requests[-1].reasoning_ended is (not thinking)
    with pytest.raises(AssertionError, match="refused"):
        whole(qwen, make(), f"{thought}maybe{END}")


def test_two_choices(qwen: Server) -> None:
    texts = [f"{THOUGHT}{CALL}{END}", f"<think>\nWell.\n</think>\n\nNo.{END}"]
    answer = whole(qwen, chat([STRICT], model=MODEL, n=2), *texts)
    chunks = streamed(qwen, chat([STRICT], model=MODEL, n=2), *texts)
    for index, (reasoning, calls, content) in enumerate([("Hm, é.", 1, ""), ("Well.", 0, "No.")]):
        told = message(answer, index)
        assert (told["reasoning"], len(told["calls"]), told["content"]) == (
            reasoning,
            calls,
            content,
        )
        assert without_ids(joined(chunks, index)) == without_ids(told)


def test_tokens_of_reasoning(qwen: Server) -> None:
    text = f"{THOUGHT}Hi{END}"
    expected = len("\nHm, é.\n".encode())
    answer = whole(qwen, chat(model=MODEL), text)
    assert answer["usage"]["completion_tokens_details"]["reasoning_tokens"] == expected
    options = {"include_usage": True, "continuous_usage_stats": True}
    chunks = streamed(qwen, chat(model=MODEL, stream=True, stream_options=options), text)
    told = [c["usage"]["completion_tokens_details"]["reasoning_tokens"] for c in chunks]
    assert (told[0], told[-1]) == (0, expected)
    assert told == sorted(told)


def test_the_markers_of_a_thinking_budget(qwen: Server) -> None:
    budget = ReasoningConfig(reasoning_parser="tagsmith")
    budget.initialize_token_ids(qwen.engine.model_config)
    vocabulary = qwen.engine.renderer.tokenizer.get_vocab()
    assert budget.enabled
    assert budget.reasoning_start_token_ids == [vocabulary["<think>"]]
    assert budget.natural_reasoning_end_token_ids == [vocabulary["</think>"]]


def test_reasoning_that_is_not_wanted(qwen: Server) -> None:
    make = lambda: chat([STRICT], model=MODEL, include_reasoning=False)  # noqa: E731
    told = both_ways(qwen, make, f"{THOUGHT}{CALL}{END}")
    assert (told["reasoning"], len(told["calls"])) == ("", 1)


@pytest.mark.parametrize("thinking", [True, False])
@pytest.mark.parametrize("include", [True, False])
def test_stop_strings(qwen: Server, thinking: bool, include: bool) -> None:
    """In the parser where the model thinks, and in the engine where it does not."""

    def make() -> ChatCompletionRequest:
        return chat(
            model=MODEL,
            stop=["STOP"],
            include_stop_str_in_output=include,
            chat_template_kwargs={"enable_thinking": thinking},
        )

    thought = "<think>\nNo STOP here.\n</think>\n\n" * thinking
    told = both_ways(qwen, make, f"{thought}Yes.STOP and more{END}")
    assert told["reasoning"] == "No STOP here." * thinking
    assert told["content"] == ("Yes.STOP" if include else "Yes.")
    assert qwen.engine.requests[-1].params.stop == ([] if thinking else ["STOP"])


@pytest.mark.parametrize("length", [9, 30, 60])
def test_an_output_that_is_cut_off(qwen: Server, length: int) -> None:
    make = lambda: chat([STRICT], model=MODEL, max_completion_tokens=length)  # noqa: E731
    told = both_ways(qwen, make, f"{THOUGHT}{CALL}{END}")
    assert told["finish_reason"] == "length"
    assert all(ARGUMENTS.startswith(call["arguments"]) for call in told["calls"])


def test_what_cannot_be_enforced_is_refused_before_the_engine(qwen: Server) -> None:
    held = {"type": "object", "properties": {"a": {"not": {"type": "string"}}}}
    tool = {"name": "f", "parameters": held, "strict": True}
    before = len(qwen.engine.requests)
    with pytest.raises(VLLMValidationError) as caught:
        whole(qwen, chat([tool], model=MODEL), "")
    assert caught.value.parameter == "tools"
    assert len(qwen.engine.requests) == before
