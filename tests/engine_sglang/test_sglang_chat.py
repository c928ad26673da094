"""Chat Completions, and the Anthropic API over it: one parser for each choice."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from sglang.srt.entrypoints.anthropic.protocol import AnthropicMessagesRequest
from sglang.srt.entrypoints.anthropic.serving import AnthropicServing
from sglang_doubles import Answer, Engine, answers, chat_request, engine, serving

import tagsmith

NAME = "tagsmith-cohere-command-a"
COMMAND = tagsmith.get_family("cohere-command-a")
PLAN = "<|START_THINKING|>plan<|END_THINKING|>"
TEXT = f"{PLAN}<|START_RESPONSE|>Hi there<|END_RESPONSE|>"
TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}
    for name in ("now", "add")
]
WAYS = [(False, 1), (True, 1), (True, 4), (True, 1 << 20)]


def calls(*named: tuple[str, str, str]) -> str:
    listed = ",".join(
        f'{{"tool_call_id": "{given}", "tool_name": "{name}", "parameters": {arguments}}}'
        for given, name, arguments in named
    )
    return f"<|START_ACTION|>[{listed}]<|END_ACTION|>"


TWO = calls(("0", "now", "{}"), ("1", "add", '{"a": 1}'))
TOLD = [
    {"id": "0", "name": "now", "arguments": "{}"},
    {"id": "1", "name": "add", "arguments": '{"a": 1}'},
]


def double(*outputs: str, **options: Any) -> Engine:
    made = engine(COMMAND, outputs=outputs, **options)
    made.tokenizer.prompt = "<|CHATBOT_TOKEN|>"
    return made


def answer(
    output: str, way: tuple[bool, int], name: str = NAME, args: Any = None, **fields: Any
) -> Answer:
    given = {"reasoning": name, "calls": name, **(args or {})}
    stream, step = way
    finish = {key: fields.pop(key) for key in ("finish", "matched") if key in fields}
    with serving(double(output, step=step, **finish), **given) as handler:
        [told] = answers(handler, chat_request(stream=stream, **fields))
    return told


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("choice", ["auto", "required"])
def test_calls(choice: str, way: tuple[bool, int]) -> None:
    told = answer(PLAN + TWO, way, tools=TOOLS, tool_choice=choice)
    assert (told.reasoning, told.content, told.calls) == ("plan", "", TOLD)
    assert (told.finish_reason, told.matched_stop) == ("tool_calls", None)


@pytest.mark.parametrize("way", WAYS)
def test_a_named_tool(way: tuple[bool, int]) -> None:
    named = {"type": "function", "function": {"name": "add"}}
    told = answer(calls(("0", "add", "{}")), way, tools=TOOLS, tool_choice=named)
    assert [call["name"] for call in told.calls] == ["add"]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("fields", [{"tools": TOOLS, "tool_choice": "none"}, {}])
def test_where_nothing_may_be_called_calls_are_text(
    fields: dict[str, Any], way: tuple[bool, int]
) -> None:
    told = answer(calls(("0", "now", "{}")), way, **fields)
    assert told.calls == []
    assert json.loads(told.content)[0]["tool_name"] == "now"
    assert told.finish_reason == "stop"


@pytest.mark.parametrize("way", WAYS)
def test_without_a_call_parser_calls_are_text(way: tuple[bool, int]) -> None:
    told = answer(PLAN + calls(("0", "now", "{}")), way, args={"calls": None}, tools=TOOLS)
    assert (told.reasoning, told.calls) == ("plan", [])
    assert json.loads(told.content)[0]["tool_name"] == "now"


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("fields", [{"args": {"reasoning": None}}, {"separate_reasoning": False}])
def test_reasoning_that_is_not_to_stand_apart_is_content(
    fields: dict[str, Any], way: tuple[bool, int]
) -> None:
    told = answer(PLAN + TWO, way, tools=TOOLS, **fields)
    assert (told.reasoning, told.content, told.calls) == ("", "plan", TOLD)


@pytest.mark.parametrize("way", WAYS)
def test_a_call_that_is_cut_off(way: tuple[bool, int]) -> None:
    told = answer(PLAN + TWO[: TWO.index("1}")], way, tools=TOOLS)
    assert [call["arguments"] for call in told.calls] == ["{}", '{"a": ']
    assert told.finish_reason == "length"


@pytest.mark.parametrize("way", WAYS)
def test_stop_strings_count_in_content_alone(way: tuple[bool, int]) -> None:
    told = answer(f"{PLAN}<|START_RESPONSE|>Hi plan B<|END_RESPONSE|>", way, stop=["plan"])
    assert (told.reasoning, told.content) == ("plan", "Hi")
    assert (told.finish_reason, told.matched_stop) == ("stop", "plan")


@pytest.mark.parametrize("way", WAYS)
def test_the_token_that_ends_the_turn(way: tuple[bool, int]) -> None:
    end = double().tokenizer.convert_tokens_to_ids("<|END_OF_TURN_TOKEN|>")
    told = answer(TEXT + "<|END_OF_TURN_TOKEN|>", way, matched=end)
    assert (told.content, told.finish_reason, told.matched_stop) == ("Hi there", "stop", end)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("reason", ["length", "abort"])
def test_other_ends(reason: str, way: tuple[bool, int]) -> None:
    assert answer(TEXT, way, finish=reason).finish_reason == reason


def test_reasoning_that_is_not_to_be_streamed() -> None:
    with serving(double(TEXT), reasoning=NAME, calls=NAME) as handler:
        request = chat_request(stream=True, stream_reasoning=False)
        chunks = streamed(handler, request)
    told = [chunk["delta"].get("reasoning_content") for chunk in chunks]
    assert [text for text in told if text] == ["plan"]


@pytest.mark.parametrize("way", WAYS)
def test_content_that_must_not_be_empty(way: tuple[bool, int]) -> None:
    fields = {"chat_template_kwargs": {"force_nonempty_content": True}}
    assert answer(PLAN, way, **fields).content == "plan"
    assert answer(TEXT, way, **fields).content == "Hi there"
    assert answer(PLAN + TWO, way, tools=TOOLS, **fields).content == ""


@pytest.mark.parametrize("step", [1, 3])
def test_several_choices_each_have_their_parser(step: int) -> None:
    outputs = [TEXT, PLAN + TWO, "<|START_RESPONSE|>é<|END_RESPONSE|>"]
    for stream in (False, True):
        with serving(double(*outputs, step=step), reasoning=NAME, calls=NAME) as handler:
            told = answers(handler, chat_request(n=3, tools=TOOLS, stream=stream))
        assert [one.content for one in told] == ["Hi there", "", "é"]
        assert [one.finish_reason for one in told] == ["stop", "tool_calls", "stop"]
        assert [len(one.calls) for one in told] == [0, 2, 0]


def test_steps_that_hold_what_is_new_alone() -> None:
    args = {"incremental_streaming_output": True}
    for step in (1, 4):
        told = answer(PLAN + TWO, (True, step), tools=TOOLS, args=args)
        assert (told.reasoning, told.calls) == ("plan", TOLD)


CITED = "<|START_RESPONSE|>It is <co>9 degrees</co: 0:[0]>.<|END_RESPONSE|>"


@pytest.mark.parametrize("step", [1, 5, 1 << 20])
def test_citations_stand_in_the_deltas_of_a_stream(step: int) -> None:
    fields = {"documents": [{"id": "doc-1", "data": {"text": "9 degrees"}}]}
    told = answer(CITED, (True, step), chat_template_kwargs=fields)
    [cited] = told.citations
    assert (told.content, cited["text"], cited["start"]) == ("It is 9 degrees.", "9 degrees", 6)
    assert cited["sources"][0]["id"] == "doc-1"
    ready = {COMMAND.serving.source_map_key: {"0": [{"type": "document", "id": "own"}]}}
    told = answer(CITED, (True, step), chat_template_kwargs=ready)
    assert told.citations[0]["sources"][0]["id"] == "own"


def test_a_whole_answer_has_no_place_for_citations() -> None:
    assert answer(CITED, (False, 1)).content == "It is 9 degrees."


def test_log_probabilities_go_with_the_first_chunk_of_a_step() -> None:
    with serving(double(TEXT, step=1 << 20), reasoning=NAME, calls=NAME) as handler:
        output = handler._encoding_output()
        content = {
            "output_ids": double().tokenizer.encode(TEXT),
            "text": TEXT,
            "meta_info": {
                "id": "1",
                "completion_tokens": 99,
                "finish_reason": {"type": "stop"},
            },
        }
        step: dict[str, Any] = {
            "content": content,
            "index": 0,
            "request": chat_request(),
            "created": 0,
            "parser_dict": {},
            "has_tool_calls": {},
            "choice_logprobs": {"content": []},
            "finish_reason_type": "stop",
            "usage": {"total_tokens": 1},
        }
        chunks = [json.loads(frame[6:]) for frame in output.stream_chat_chunks(**step)]
        again = [json.loads(frame[6:]) for frame in output.stream_chat_chunks(**step)]
    told = [chunk["choices"][0]["logprobs"] for chunk in chunks]
    assert told == [{"content": []}, None]
    assert all(chunk["usage"] == {"total_tokens": 1} for chunk in chunks)
    # A step that shows nothing has a chunk for them alone.
    assert [chunk["choices"][0]["logprobs"] for chunk in again] == [{"content": []}]


IDS = {
    "tagsmith-cohere-command-a": (TWO, ["0", "1"]),
    "tagsmith-qwen3": ('<tool_call>{"name": "now", "arguments": {}}</tool_call>', ["call_"]),
}


@pytest.mark.parametrize("name", IDS)
@pytest.mark.parametrize("stream", [False, True])
def test_ids_are_the_models_or_sglangs(name: str, stream: bool) -> None:
    output, starts = IDS[name]
    made = engine(tagsmith.get_family(name.removeprefix("tagsmith-")), outputs=[output])
    with serving(made, reasoning=name, calls=name) as handler:
        [told] = answers(handler, chat_request(tools=TOOLS, stream=stream))
    assert [
        call["id"][: len(start)] for call, start in zip(told.calls, starts, strict=True)
    ] == starts


def streamed(handler: Any, request: Any) -> list[dict[str, Any]]:
    async def read() -> list[str]:
        response = await handler.handle_request(request, None)
        return [frame async for frame in response.body_iterator]

    frames = asyncio.run(read())[:-1]
    return [choice for frame in frames for choice in json.loads(frame[6:])["choices"]]


@pytest.mark.parametrize("step", [1, 4])
def test_the_anthropic_api(step: int) -> None:
    tools = [{"name": "now", "input_schema": {"type": "object"}}]
    request = {
        "model": "served",
        "max_tokens": 99,
        "messages": [{"role": "user", "content": "Hi"}],
        "tools": tools,
    }
    output = PLAN + calls(("0", "now", '{"a": 1}'))
    with serving(double(output, step=step), reasoning=NAME, calls=NAME) as handler:
        whole, frames = asyncio.run(_anthropic(AnthropicServing(handler), request))
    blocks = whole["content"]
    assert [block["type"] for block in blocks] == ["thinking", "tool_use"]
    assert (blocks[0]["thinking"], blocks[1]["name"]) == ("plan", "now")
    assert (blocks[1]["input"], whole["stop_reason"]) == ({"a": 1}, "tool_use")
    deltas = [frame["delta"] for frame in frames if frame["type"] == "content_block_delta"]
    assert "".join(delta.get("thinking", "") for delta in deltas) == "plan"
    assert "".join(delta.get("partial_json", "") for delta in deltas) == '{"a": 1}'


async def _anthropic(server: Any, request: dict[str, Any]) -> tuple[Any, list[Any]]:
    whole = await server.handle_messages(AnthropicMessagesRequest(**request), None)
    streaming = AnthropicMessagesRequest(**request, stream=True)
    stream = await server.handle_messages(streaming, None)
    lines = "".join([frame async for frame in stream.body_iterator]).splitlines()
    data = [json.loads(line[6:]) for line in lines if line.startswith("data: ")]
    return json.loads(whole.body), data
