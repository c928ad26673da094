"""Chat Completions messages and answers that are not streamed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tagsmith.cli import main
from tagsmith.errors import RequestError
from tagsmith.events import Citation, Target
from tagsmith.message import Message, ToolCall
from tagsmith.wire.chat import chat_completion, chat_message
from tagsmith.wire.options import Usage
from wire_doubles import assert_own_parts

SOURCE = {"type": "tool", "id": None, "tool_output": {"content": "x"}}
CALL = ToolCall(0, "0", "f", '{"a": 1}', complete=True)
CUT = ToolCall(1, "1", "f", '{"a": ', complete=False)
CITED = (
    Citation(2, 4, "né", Target.CONTENT, ((0, 0),), (SOURCE,)),
    Citation(0, 1, "😀", Target.REASONING, ((9, 9),)),
)
FULL = Message("😀", "😀 né", (CALL,), CITED, finish_reason="tool_calls")


def test_content_is_null_where_there_is_none_and_other_fields_are_absent() -> None:
    assert chat_message(Message()) == {"role": "assistant", "content": None}


def test_everything_at_once() -> None:
    assert chat_message(FULL, reasoning_field="reasoning") == {
        "role": "assistant",
        "content": "😀 né",
        "reasoning": "😀",
        "tool_calls": [
            {"id": "0", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
        ],
        "citations": [
            {
                "start": 2,
                "end": 4,
                "text": "né",
                "sources": [{"type": "tool", "tool_output": {"content": "x"}}],
                "type": "TEXT_CONTENT",
            },
            {"start": 0, "end": 1, "text": "😀", "sources": [], "type": "THINKING_CONTENT"},
        ],
    }


@pytest.mark.parametrize(
    ("units", "places"),
    [("code-points", [2, 4, 0, 1]), ("utf-16", [3, 5, 0, 2]), ("utf-8", [5, 8, 0, 4])],
)
def test_offsets_count_what_the_client_counts(units: str, places: list[int]) -> None:
    citations = FULL.to_openai(units=units)["citations"]
    assert [found[key] for found in citations for key in ("start", "end")] == places


def test_the_same_words_twice_are_told_apart() -> None:
    again = [Citation(at, at + 2, "no", Target.CONTENT, (), (SOURCE,)) for at in (0, 3)]
    body = chat_message(Message(content="no no", citations=tuple(again)))
    assert [found["start"] for found in body["citations"]] == [0, 3]


@pytest.mark.parametrize(
    ("message", "told"),
    [
        (Message(), "stop"),
        (Message(finish_reason="length"), "length"),
        (Message(finish_reason="eos_token"), "stop"),
        (Message(finish_reason="eos_token", tool_calls=(CALL,)), "tool_calls"),
        (Message(finish_reason="tool_calls", tool_calls=(CALL, CUT)), "length"),
    ],
)
def test_a_completion_has_one_choice_for_each_message(message: Message, told: str) -> None:
    usage = Usage(5, 2)
    body = chat_completion([FULL, message], id="c", model="m", created=7, usage=usage)
    assert body == {
        "id": "c",
        "object": "chat.completion",
        "created": 7,
        "model": "m",
        "choices": [
            {
                "index": 0,
                "message": {**chat_message(FULL), "refusal": None},
                "logprobs": None,
                "finish_reason": "tool_calls",
            },
            {
                "index": 1,
                "message": {**chat_message(message), "refusal": None},
                "logprobs": None,
                "finish_reason": told,
            },
        ],
        "usage": {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7},
    }
    assert "usage" not in chat_completion([FULL], id="c", model="m", created=7)


def test_nothing_is_shared_with_the_request_nor_between_two_answers() -> None:
    body = chat_completion([FULL, FULL], id="c", model="m", created=7)
    assert_own_parts([body, SOURCE])


def test_an_unknown_option_says_what_is_allowed() -> None:
    with pytest.raises(
        RequestError, match="reasoning_field: unknown value 'x'; allowed: reasoning_"
    ):
        Message().to_openai(reasoning_field="x")


@pytest.mark.parametrize(("arguments", "start"), [((), 3), (("--units", "utf-16"), 4)])
@pytest.mark.parametrize("shape", ["openai", "cohere"])
def test_units_on_the_command_line(
    tmp_path: Path, shape: str, arguments: tuple[str, ...], start: int
) -> None:
    documents = tmp_path / "documents.json"
    documents.write_text('["x"]')
    output = "<|START_RESPONSE|>😀, <co>a</co: 0:[0]><|END_RESPONSE|>"
    options = ["--family", "cohere-command-a", "--documents", str(documents), "--format", shape]
    done = CliRunner().invoke(main, ["parse", *options, *arguments, "-"], input=output)
    [citation] = json.loads(done.stdout)["citations"]
    assert (citation["start"], citation["text"]) == (start, "a")


def test_units_of_a_format_that_has_none_are_wrong_use() -> None:
    options = ["parse", "--family", "cohere-command-a", "--units", "utf-8", "-"]
    done = CliRunner().invoke(main, options, input="a")
    assert done.exit_code == 2
    assert "--units: the format counts code points" in done.stderr
