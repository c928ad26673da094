"""`tagsmith parse` and `tagsmith explain`: what they print, and wrong use in one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tagsmith.cli import main

OUTPUT = (
    "<|START_THINKING|>look<|END_THINKING|><|START_ACTION|>"
    '[{"tool_call_id": "0", "tool_name": "f", "parameters": {"a": "né"}}]<|END_ACTION|>'
)
CITED = "<|START_RESPONSE|>It is <co>warm</co: 0:[0]>.<|END_RESPONSE|>"
FAMILY = ("--family", "Cohere2ForCausalLM")


def tagsmith(*arguments: str, stdin: str | bytes = "") -> Result:
    return CliRunner().invoke(main, arguments, input=stdin)


@pytest.fixture
def output(tmp_path: Path) -> str:
    path = tmp_path / "output.txt"
    path.write_text(OUTPUT)
    return str(path)


def written(tmp_path: Path, name: str, value: Any) -> str:
    path = tmp_path / name
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return str(path)


def test_text(output: str) -> None:
    done = tagsmith("parse", *FAMILY, output)
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "reasoning",
        "  look",
        "tool calls",
        '  0  f  {"a": "né"}',
        "finish reason: tool_calls",
    ]


def test_formats_for_machines(output: str) -> None:
    as_json = json.loads(tagsmith("parse", *FAMILY, "--format", "json", output).stdout)
    assert as_json["tool_calls"][0]["arguments"] == '{"a": "né"}'
    openai = json.loads(tagsmith("parse", *FAMILY, "--format", "openai", output).stdout)
    assert openai["tool_calls"][0]["function"]["name"] == "f"
    assert openai["reasoning_content"] == "look"
    cohere = json.loads(tagsmith("parse", *FAMILY, "--format", "cohere", output).stdout)
    assert cohere["content"] == [{"type": "thinking", "thinking": "look"}]


def test_streaming_prints_events_as_lines(output: str) -> None:
    done = tagsmith("parse", *FAMILY, "--stream", "3", "--format", "json", output)
    *events, message = map(json.loads, done.stdout.splitlines())
    kinds = [event["type"] for event in events]
    assert kinds.count("tool-call-start") == 1
    assert kinds.count("tool-call-delta") > 1
    joined = "".join(e["arguments"] for e in events if e["type"] == "tool-call-delta")
    assert joined == message["tool_calls"][0]["arguments"]


def test_standard_input_and_sources(tmp_path: Path) -> None:
    documents = written(tmp_path, "documents.json", [{"id": "d", "data": {"text": "x"}}])
    done = tagsmith(
        "parse", *FAMILY, "--documents", documents, "--format", "json", "-", stdin=CITED
    )
    assert json.loads(done.stdout)["citations"][0]["sources"][0]["id"] == "d"


def test_prompt_as_text_and_as_file(tmp_path: Path) -> None:
    prompt = "<|CHATBOT_TOKEN|><|START_THINKING|>"
    for given in (prompt, written(tmp_path, "prompt.txt", prompt)):
        done = tagsmith("parse", *FAMILY, "--prompt", given, "--format", "json", "-", stdin="hm")
        assert json.loads(done.stdout)["reasoning"] == "hm"


def test_request_options(tmp_path: Path, output: str) -> None:
    tools = written(tmp_path, "tools.json", [{"name": "f", "parameters": {}}])
    for choice in ("auto", "required", "f"):
        done = tagsmith("parse", *FAMILY, "--tools", tools, "--tool-choice", choice, output)
        assert (done.exit_code, done.stderr) == (0, "")
    done = tagsmith("parse", *FAMILY, "--tool-choice", "none", "--format", "json", output)
    assert json.loads(done.stdout)["tool_calls"] == []
    done = tagsmith("parse", *FAMILY, "--finish-reason", "length", "--format", "json", output)
    assert json.loads(done.stdout)["finish_reason"] == "length"


def test_melody_engine_on_request(output: str) -> None:
    native = tagsmith("parse", *FAMILY, "--engine", "native", output)
    melody = tagsmith("parse", *FAMILY, "--engine", "melody", output)
    assert (melody.exit_code, melody.stderr) == (0, "")
    assert melody.stdout == native.stdout


def test_any_text_is_read(tmp_path: Path) -> None:
    for text in ("", "\x00", "<|START_ACTION|>{", "<co>" * 50):
        done = tagsmith("parse", *FAMILY, "-", stdin=text)
        assert (done.exit_code, done.stderr) == (0, "")


def test_text_is_printed_to_the_letter() -> None:
    written = "a\x1b[31mred\x1b[0m \x07"
    text = f"<|START_RESPONSE|>{written}<|END_RESPONSE|>"
    assert f"  {written}\n" in tagsmith("parse", *FAMILY, "-", stdin=text).stdout
    assert json.dumps(written) in tagsmith("explain", *FAMILY, "-", stdin=text).stdout


def test_an_empty_prompt_is_none() -> None:
    bare = tagsmith("parse", *FAMILY, "-", stdin="hm")
    assert bare.exit_code == 0
    assert tagsmith("parse", *FAMILY, "--prompt", "", "-", stdin="hm").stdout == bare.stdout


def test_explain_tiles_the_output(output: str) -> None:
    done = tagsmith("explain", *FAMILY, "--format", "json", output)
    assert "".join(span["text"] for span in json.loads(done.stdout)) == OUTPUT
    assert "arguments" in tagsmith("explain", *FAMILY, output).stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("parse", *FAMILY, "missing.txt"), "missing.txt"),
        (("parse", *FAMILY, "."), "directory"),
        (("parse", *FAMILY), "FILE"),
        (("parse", "-"), "--family"),
        (("parse", "--family", "Nope", "-"), "Nope"),
        (("parse", *FAMILY, "--format", "xml", "-"), "'text', 'json'"),
        (("parse", *FAMILY, "--engine", "other", "-"), "use native or melody"),
        (("parse", *FAMILY, "--stream", "0", "-"), "--stream"),
        (("parse", *FAMILY, "--stream", "x", "-"), "--stream"),
        (("parse", *FAMILY, "--finish-reason", "tired", "-"), "'stop', 'length'"),
        (("parse", *FAMILY, "--tool-choice", "banana", "-"), "banana"),
        (("parse", *FAMILY, "--tools", "missing.json", "-"), "--tools missing.json: no such"),
        (("parse", *FAMILY, "--documents", "missing.json", "-"), "--documents missing.json: no"),
        (("parse", *FAMILY, "--messages", ".", "-"), "--messages .: is a directory"),
        (("parse", *FAMILY, "--prompt", ".", "-"), "--prompt .: is a directory"),
        (("parse", *FAMILY, "--prompt", "missing.txt", "-"), "give the path of a file that holds"),
        (("parse", *FAMILY, "--prompt", "x" * 100_000, "-"), f"--prompt {'x' * 77}...: neither"),
        (("parse", *FAMILY, "--tool-choice", "x" * 1000, "-"), f"{'x' * 77}...: give auto"),
        (("parse", "--family", "x" * 100_000, "-"), f"'{'x' * 77}...'"),
        (("parse", "--family", "a\0\x1b[1m\x9b", "-"), r"'a\x00\x1b[1m\x9b'"),
        (("parse", *FAMILY, "--stop", "", "-"), "stop"),
        (("parse", *FAMILY, "--nonsense", "-"), "--nonsense"),
        (("explain", *FAMILY, "missing.txt"), "missing.txt"),
    ],
    ids=lambda value: " ".join(value)[:80] if isinstance(value, tuple) else "",
)
def test_wrong_use_is_one_line(arguments: tuple[str, ...], says: str) -> None:
    assert_wrong_use(tagsmith(*arguments), says)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("{}", "tools.json: holds an object, not a list"),
        ("null", "tools.json: holds null, not a list"),
        ('"[]"', "tools.json: holds a string, not a list"),
        ("1", "tools.json: holds a number, not a list"),
        ("{", "tools.json:1:2: not JSON"),
        ("[1]", "--tools: expected an object as tool 0"),
        ('[{"type": "function"}]', "--tools: tool 0 has no name"),
        (f'[{{"name": "f", "strict": "{"x" * 1000}"}}]', "xxx...; allowed: true, false"),
    ],
)
def test_a_tools_file_that_is_wrong(tmp_path: Path, content: str, says: str) -> None:
    tools = written(tmp_path, "tools.json", content)
    parse = tagsmith("parse", *FAMILY, "--tools", tools, "-")
    assert_wrong_use(parse, says)
    assert tagsmith("structural-tag", *FAMILY, "--tools", tools).stderr == parse.stderr


def test_binary_input() -> None:
    assert_wrong_use(tagsmith("parse", *FAMILY, "-", stdin=b"\xff\xfe\x00"), "UTF-8")


def assert_wrong_use(done: Result, says: str) -> None:
    assert done.exit_code == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert says in done.stderr
