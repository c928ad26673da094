"""The programs of docs/embedding.md: the page shows them as they are, and they do what it says."""

from __future__ import annotations

import ast
import asyncio
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import tagsmith

ROOT = Path(__file__).parent.parent
PROGRAMS = ROOT / "examples" / "embedding"
PAGE = ROOT / "docs" / "embedding.md"
SHOWN = re.compile(r"<!-- file: (\S+) -->\n\n```py\n(.*?)^```$\n\n<!-- end -->", re.M | re.S)
MOST_LINES = 30
"""Of code: besides imports, constants, what explains, and empty lines."""

sys.path.insert(0, str(PROGRAMS))
import recorded_logs  # noqa: E402
from asyncio_server import answer  # noqa: E402
from begin import begin  # noqa: E402

COMMAND_A = tagsmith.get_family("Cohere2ForCausalLM")
NOW = {"type": "function", "function": {"name": "now", "parameters": {"type": "object"}}}
ASKED: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
DOCUMENTS = [{"id": "report", "data": {"text": "24 degrees"}}]
CALLS = (
    "<|START_THINKING|>look<|END_THINKING|><|START_ACTION|>"
    '[{"tool_call_id": "0", "tool_name": "now", "parameters": {}}]<|END_ACTION|>'
)
CITED = "<|START_RESPONSE|>It is <co>warm</co: 0:[0]>.<|END_RESPONSE|>"
TEMPLATE = "{% for m in messages %}{{ m.content }}{% endfor %}<|im_start|>assistant\n"


def test_the_page_shows_every_program_as_it_is() -> None:
    shown = dict(SHOWN.findall(PAGE.read_text("utf-8")))
    programs = {path.name: path.read_text("utf-8") for path in PROGRAMS.glob("*.py")}
    assert shown == programs


@pytest.mark.parametrize("path", sorted(PROGRAMS.glob("*.py")), ids=lambda path: path.name)
def test_every_program_is_short(path: Path) -> None:
    source = path.read_text("utf-8")
    tree = ast.parse(source)
    beside = [n for n in tree.body if isinstance(n, ast.Import | ast.ImportFrom | ast.Assign)]
    words = [
        n for n in ast.walk(tree) if isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant)
    ]
    left_out = {
        line for n in (*beside, *words) for line in range(n.lineno, (n.end_lineno or n.lineno) + 1)
    }
    lines = enumerate(source.splitlines(), 1)
    code = [line for number, line in lines if line.strip() and number not in left_out]
    assert len(code) <= MOST_LINES


class Engine:
    """An engine that writes a text by a few characters, and then waits, or says why it ends."""

    def __init__(self, text: str, reason: str | None = "stop") -> None:
        self.text, self.reason = text, reason
        self.asked: list[tuple[str, Any, Any]] = []
        self.closed = asyncio.Event()

    async def __call__(self, *asked: Any) -> AsyncIterator[tuple[str, str | None]]:
        self.asked.append(asked)
        try:
            for start in range(0, len(self.text), 3):
                yield self.text[start : start + 3], None
            if self.reason is None:
                await asyncio.Event().wait()
            yield "", self.reason
        finally:
            self.closed.set()


Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def sent(port: int, asked: Any) -> Streams:
    """A connection over which a request has gone."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    body = json.dumps(asked).encode()
    head = b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n"
    writer.write(head % len(body) + body)
    return reader, writer


def served(
    engine: Callable[[], Engine],
    client: Callable[[int, Engine], Awaitable[Any]],
    family: Any = COMMAND_A,
    **template: Any,
) -> Any:
    """What a client comes back with from the asyncio server in front of this engine."""

    async def run() -> Any:
        writing = engine()
        starting = partial(answer, partial(begin, family, **template), writing)
        server = await asyncio.start_server(starting, "127.0.0.1", 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            return await asyncio.wait_for(client(port, writing), 10)

    return asyncio.run(run())


def told_of(text: str, reason: str = "stop", **asked: Any) -> tuple[str, dict[str, Any]]:
    """The status line, and what the chunks of an answer add up to."""

    async def client(port: int, engine: Engine) -> str:
        reader, writer = await sent(port, {**ASKED, **asked})
        told = (await reader.read()).decode()
        writer.close()
        return told

    head, _, body = served(lambda: Engine(text, reason), client).partition("\r\n\r\n")
    return head.split("\r\n")[0], added_up(body)


def added_up(body: str) -> dict[str, Any]:
    if not body.startswith("data: "):
        return dict(json.loads(body))
    *frames, done = body.removesuffix("\n\n").split("\n\n")
    assert done == "data: [DONE]"
    choices = [json.loads(frame.removeprefix("data: "))["choices"][0] for frame in frames]
    deltas = [choice["delta"] for choice in choices]
    calls = [call for delta in deltas for call in delta.get("tool_calls", ())]
    return {
        "reasoning": "".join(delta.get("reasoning_content", "") for delta in deltas),
        "content": "".join(delta.get("content", "") for delta in deltas),
        "names": [call["function"]["name"] for call in calls if "id" in call],
        "arguments": "".join(call["function"]["arguments"] for call in calls),
        "citations": [cited for delta in deltas for cited in delta.get("citations", ())],
        "finish_reason": [c["finish_reason"] for c in choices if c["finish_reason"]],
    }


NOTHING = {"reasoning": "", "content": "", "names": [], "arguments": "", "citations": []}


@pytest.mark.parametrize(
    ("text", "reason", "asked", "expected"),
    [
        (
            CALLS,
            "stop",
            {"tools": [NOW]},
            {"reasoning": "look", "names": ["now"], "arguments": "{}"}
            | {"finish_reason": ["tool_calls"]},
        ),
        (CALLS[:-20], "length", {"tools": [NOW]}, {"finish_reason": ["length"]}),
        ("<|START_RESPONSE|>Hi", "length", {}, {"content": "Hi", "finish_reason": ["length"]}),
        (
            "<|START_RESPONSE|>Hi, END of it",
            "length",
            {"stop": ["END"]},
            {"content": "Hi,", "finish_reason": ["stop"]},
        ),
    ],
)
def test_the_asyncio_server_streams(
    text: str, reason: str, asked: dict[str, Any], expected: dict[str, Any]
) -> None:
    status, told = told_of(text, reason, **asked)
    assert status == "HTTP/1.1 200 OK"
    shown = {key: told[key] for key in expected}
    assert shown == expected


def test_the_asyncio_server_tells_citations() -> None:
    _, told = told_of(CITED, documents=DOCUMENTS)
    (cited,) = told["citations"]
    assert told["content"] == "It is warm."
    assert (cited["start"], cited["end"], cited["sources"][0]["id"]) == (6, 10, "report")


@pytest.mark.parametrize(
    ("asked", "what"),
    [
        ({"tools": 5}, "tools: "),
        ({"n": 2}, "n: one choice at a time"),
        ({"messages": None}, "messages: "),
        ({"tools": [NOW], "tool_choice": {"type": "function", "function": {"name": "x"}}}, "x"),
    ],
)
def test_the_asyncio_server_says_what_is_wrong(asked: dict[str, Any], what: str) -> None:
    status, told = told_of("", **asked)
    assert status == "HTTP/1.1 400 Bad Request"
    assert what in told["error"]["message"]


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        (b"POST / HTTP/1.1\r\n\r\n", b"body: must be JSON, with a Content-Length"),
        (b"POST / HTTP/1.1\r\nContent-Length: 1\r\n\r\n{", b"body: must be JSON"),
        (b"POST / HTTP/1.1\r\nContent-Length: 1\r\n\r\n\xff", b"body: must be JSON"),
        (b"POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n[]", b"body: must be an object"),
        (b"POST / HTTP/1.1\r\nX: " + b"x" * 100_000 + b"\r\n\r\n", b""),
        (b"POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\n{", b""),
    ],
)
def test_the_asyncio_server_outlives_what_is_no_request(raw: bytes, told: bytes) -> None:
    unhandled: list[Any] = []

    async def client(port: int, _: Engine) -> bytes:
        asyncio.get_running_loop().set_exception_handler(lambda _, what: unhandled.append(what))
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(raw)
        if not told:
            writer.close()
            await asyncio.sleep(0.05)
            return b""
        answered = await reader.read()
        writer.close()
        return answered

    answered = served(lambda: Engine(""), client)
    assert told in answered
    assert answered.startswith(b"HTTP/1.1 400") or not told
    assert not unhandled


def test_the_engine_gets_the_prompt_the_grammar_and_what_is_its_own() -> None:
    async def client(port: int, engine: Engine) -> Any:
        reader, writer = await sent(
            port, {**ASKED, "max_tokens": 9, "tools": [NOW], "tool_choice": "required"}
        )
        await reader.read()
        writer.close()
        return engine.asked[0]

    qwen, opened = tagsmith.get_family("qwen3"), TEMPLATE + "<think>\n"
    prompt, tag, more = served(lambda: Engine("Hm.</think>Hi"), client, qwen, chat_template=opened)
    assert prompt == "Hi<|im_start|>assistant\n<think>"
    assert more == {"model": "m", "max_tokens": 9}
    # The prompt has opened reasoning, so that the output begins inside of it.
    held = {"tools": [NOW], "tool_choice": "required", "reasoning": "enabled"}
    assert tag == qwen.structural_tag(**held)


def test_a_client_that_leaves_ends_the_generation() -> None:
    async def client(port: int, engine: Engine) -> bytes:
        reader, writer = await sent(port, ASKED)
        told = await reader.readuntil(b"Hi")
        assert not engine.closed.is_set()
        writer.close()
        await engine.closed.wait()
        return told

    assert served(lambda: Engine("<|START_RESPONSE|>Hi", None), client)


def test_a_stop_string_ends_the_generation() -> None:
    async def client(port: int, engine: Engine) -> bytes:
        reader, writer = await sent(port, {**ASKED, "stop": "END"})
        told = await reader.read()
        writer.close()
        assert engine.closed.is_set()
        return told

    assert served(lambda: Engine("<|START_RESPONSE|>Hi END", None), client).endswith(b"[DONE]\n\n")


LINES = [
    json.dumps({"model": "cohere-command-a", "output": CALLS, "finish_reason": "stop"}),
    json.dumps({"model": "Qwen/Qwen3-8B", "output": 'Hi<tool_call>{"name": "n', "tools": [NOW]}),
    json.dumps({"model": "cohere-command-a", "output": CITED, "documents": DOCUMENTS}),
    "{",
    json.dumps({"model": "no-such-model", "output": ""}),
    json.dumps({"model": "qwen3", "output": 5}),
    json.dumps([]),
]


def test_recorded_outputs_become_messages() -> None:
    counts: Counter[str] = Counter()
    calls, cut, cited, *wrong = recorded_logs.read(LINES, counts)
    assert calls["message"]["tool_calls"][0]["function"]["name"] == "now"
    assert (calls["finish_reason"], calls["diagnostics"]) == ("tool_calls", [])
    assert [found["code"] for found in cut["diagnostics"]] == ["truncated"]
    assert cited["message"]["citations"][0]["sources"][0]["id"] == "report"
    assert [sorted(line) for line in wrong] == [["error", "line"]] * 4
    assert counts == {"truncated": 1, "no record": 4}


def test_recorded_outputs_become_messages_in_a_command() -> None:
    done = subprocess.run(
        [sys.executable, PROGRAMS / "recorded_logs.py"],
        input="\n".join(LINES),
        text=True,
        capture_output=True,
        check=True,
    )
    assert [json.loads(line)["line"] for line in done.stdout.splitlines()] == [1, 2, 3, 4, 5, 6, 7]
    assert json.loads(done.stderr) == {"truncated": 1, "no record": 4}
