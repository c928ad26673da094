"""The small words of the wire: finish reasons, errors that a client may see, frames."""

from __future__ import annotations

import json
import time

import pytest

from tagsmith.wire.finish import CallCount, cohere_finish_reason, read_finish_reason
from tagsmith.wire.safe_text import MAX_ERROR, safe_error
from tagsmith.wire.sse import DONE, sse_frame


@pytest.mark.parametrize(
    ("said", "word", "cohere"),
    [
        (None, "stop", "COMPLETE"),
        ("", "stop", "COMPLETE"),
        ("stop", "stop", "COMPLETE"),
        ("eos_token", "stop", "COMPLETE"),
        ("stop_sequence", "stop", "STOP_SEQUENCE"),
        ("length", "length", "MAX_TOKENS"),
        ("tool_calls", "tool_calls", "TOOL_CALL"),
        ("content_filter", "content_filter", "COMPLETE"),
        ("error", "error", "ERROR"),
        ("abort", "error", "ERROR"),
        ("unheard_of", "stop", "COMPLETE"),
    ],
)
def test_finish_reasons(said: str | None, word: str, cohere: str) -> None:
    assert read_finish_reason(said) == word
    assert cohere_finish_reason(said) == cohere


@pytest.mark.parametrize(
    "told", ["COMPLETE", "STOP_SEQUENCE", "MAX_TOKENS", "TOOL_CALL", "ERROR", "TIMEOUT"]
)
def test_what_cohere_says_is_read_and_said_again(told: str) -> None:
    calls = CallCount(1, 1) if told == "TOOL_CALL" else CallCount()
    assert cohere_finish_reason(told, calls) == told


@pytest.mark.parametrize(
    ("reason", "stop", "calls", "told"),
    [
        ("stop", "END", CallCount(), "STOP_SEQUENCE"),
        ("stop", 128001, CallCount(), "COMPLETE"),
        ("length", "END", CallCount(), "MAX_TOKENS"),
        ("stop", "END", CallCount(1, 1), "TOOL_CALL"),
        ("tool_calls", None, CallCount(2, 1), "MAX_TOKENS"),
        ("error", None, CallCount(1, 1), "ERROR"),
    ],
)
def test_stop_strings_and_calls(
    reason: str, stop: str | int | None, calls: CallCount, told: str
) -> None:
    assert cohere_finish_reason(reason, calls, stop=stop) == told


@pytest.mark.parametrize(
    ("error", "told"),
    [
        ("boom <Foo at 0x7fabc0deface> in /Users/dev/vllm/x.py", "boom <Foo> in <path>"),
        ("pointer 0x7fabc0deface, code 0x1f", "pointer <address>, code 0x1f"),
        ("no '/Users/Jo Doe/my file.txt'", "no '<path>'"),
        ("no /Users/Jo Doe/models/x now", "no <path> now"),
        ("(/opt/app/run.py:12) x=/var/log/x.log", "(<path>:12) x=<path>"),
        ("/models/command-a is no directory", "<path> is no directory"),
        ("~/x/y or ~jo/z", "<path> or <path>"),
        (r"C:\Users\Jo Doe\x.py is missing, D:/a/b", "<path> is missing, <path>"),
        (r"open \\server\share\x.txt", "open <path>"),
        (r"{'file': 'C:\\Users\\jo\\x.py'}, D:\\a\\b", "{'file': '<path>'}, <path>"),
        (r"%APPDATA%\jo\x or $HOME/jo/x or ${HOME}/jo", "<path> or <path> or <path>"),
        ("open:/home/jo/x, </srv/jo/x>, //srv/jo/x", "open:<path>, <<path>>, <path>"),
        ("./jo/x, ../../jo", "<path>, <path>"),
        ("file:///etc/passwd", "<path>"),
        ("see vllm/entrypoints/x.py", "see <path>"),
        (
            'Traceback (most recent call last):\n  File "/x.py", line 1, in f\n    g()\nE: no',
            "E: no",
        ),
        ("Authorization: Bearer abc.def-ghi1234", "Authorization: Bearer <secret>"),
        ("api_key='abcdef123' or password=hunter22", "api_key='<secret>' or password=<secret>"),
        ("Incorrect API key provided: sk-abcdefghijkl", "Incorrect API key provided: <secret>"),
        ("http://jo:secret@host:80/v1", "http://<secret>@host:80/v1"),
        ("", "internal error"),
    ],
)
def test_an_error_says_nothing_of_the_server(error: str, told: str) -> None:
    assert safe_error(error) == told


@pytest.mark.parametrize(
    "error",
    [
        "POST /v1/chat/completions: 404",
        "model CohereLabs/c4ai-command-r7b-12-2024 not found",
        "meta-llama/Llama-3.1-8B takes text/html and/or JSON, 24/7",
        "max_tokens: 500000 is too many; unexpected token: '}'",
        "see https://host:80/v1/a/b.html#c and ws://h/p/q, $5/month, %s/%s",
        "stop token: <|END_OF_TURN_TOKEN|> </think> <co>a</co: 0:[1]>",
    ],
)
def test_an_error_keeps_what_a_client_needs(error: str) -> None:
    assert safe_error(error) == error


@pytest.mark.parametrize(
    "piece", ["/a", "\\", "'/a/", "\n \t", "a b/", "~/ ", "C:\\", "token=", 'File "']
)
def test_an_error_of_any_length_is_short_and_soon_told(piece: str) -> None:
    start = time.perf_counter()
    assert len(safe_error(piece * 100_000)) <= MAX_ERROR
    assert time.perf_counter() - start < 1


def test_a_frame_is_one_line_of_ascii_that_holds_the_value() -> None:
    value = {"text": "é\n\u2028\x85\ud83d 😀"}
    frame = sse_frame(value)
    assert frame.isascii()
    assert (frame[:6], frame[-2:], frame.splitlines()[1:]) == ("data: ", "\n\n", [""])
    assert json.loads(frame[6:]) == value
    assert DONE == "data: [DONE]\n\n"
