"""`tagsmith serve` as a command: what it refuses, what it prints, and a whole process."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest
from click.testing import CliRunner

from fake_upstream import FOREVER, FakeUpstream, Reply, fake_upstream, piece, saying, until
from tagsmith.cli import main
from tagsmith.serve import Limits, TagPolicy, read_chat, read_cohere
from workspace import ROOT

NEEDED = ["--family", "cohere-command-a", "--upstream", "http://127.0.0.1:9"]
KEY = "the-key-of-this-server"
SECRET = "the-key-of-the-upstream"


def test_every_limit_is_an_option_with_its_default() -> None:
    shown = " ".join(CliRunner().invoke(main, ["serve", "--help"]).output.split())
    for name, limit in Limits.__dataclass_fields__.items():
        described = shown.partition(f"--{name.replace('_', '-')} ")[2].partition(" --")[0]
        assert f"[default: {limit.default}; x" in described


WRONG: list[tuple[list[str], str]] = [
    (["--family", "cohere-command-a"], "Missing option '--upstream'"),
    (["--upstream", "http://x"], "Missing option '--family'"),
    ([*NEEDED, "--family", "nope"], "nope"),
    ([*NEEDED, "--upstream", "x:8000"], "--upstream: is no address; give one such as http://"),
    ([*NEEDED, "--upstream", "http://u:p@x"], "--upstream: holds a name or a password"),
    ([*NEEDED, "--upstream-kind", "ollama"], "--upstream-kind"),
    ([*NEEDED, "--upstream-field", "seed"], "--upstream-field seed: no JSON behind ="),
    ([*NEEDED, "--special-token", "</s>"], "--special-token </s>: give a name and a token"),
    ([*NEEDED, "--special-token", "eos_token=</s>"], "are read by a chat template, and there is"),
    ([*NEEDED, "--chat-template", "none.jinja"], "--chat-template none.jinja: no such file"),
    ([*NEEDED, "--family", "qwen3"], "chat_template: "),
    ([*NEEDED, "--api-key-file", "empty.txt"], "--api-key-file empty.txt: holds no key"),
    ([*NEEDED, "--upstream-key-file", "empty.txt"], "--upstream-key-file empty.txt: holds no key"),
    ([*NEEDED, "--host", "0.0.0.0"], "--host 0.0.0.0: other machines could use this server"),
    ([*NEEDED, "--host", "192.0.2.1", "--no-auth"], "port: 192.0.2.1:8100 cannot be had"),
    ([*NEEDED, "--max-choices", "0"], "--max-choices"),
    ([*NEEDED, "--stall-timeout", "0"], "--stall-timeout"),
    ([*NEEDED, "--port", "70000"], "--port"),
]


@pytest.mark.parametrize(("arguments", "said"), WRONG)
def test_wrong_use_is_told_in_one_line(
    arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("empty.txt").write_text(" \n\n")
    done = CliRunner().invoke(main, ["serve", *arguments])
    assert done.exit_code == 2
    assert said in done.output
    assert done.output.count("\n") == 1


def test_a_port_that_is_taken() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = CliRunner().invoke(main, ["serve", *NEEDED, "--port", str(port)])
    assert done.exit_code == 2
    assert f"--port: 127.0.0.1:{port} cannot be had" in done.output


@contextmanager
def process(
    upstream: FakeUpstream, *arguments: str, **environ: str
) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """A server of its own process, and its address."""
    command = ["serve", *NEEDED, "--upstream", upstream.url, "--port", "0", *arguments]
    server = subprocess.Popen(
        [sys.executable, "-m", "tagsmith", *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environ},
    )
    try:
        assert server.stdout is not None
        yield server.stdout.readline().split()[-1], server
    finally:
        server.kill()
        server.communicate()


@pytest.mark.heavy
def test_a_process_from_its_start_to_its_end(tmp_path: Path) -> None:
    keys, template = tmp_path / "keys.txt", tmp_path / "chat.jinja"
    keys.write_text(f"another\n{KEY}\n")
    template.write_text("{{ bos_token }}{{ messages[0].content }}<|CHATBOT_TOKEN|>")
    options = ["--api-key-file", str(keys), "--chat-template", str(template)]
    options += ["--special-token", "bos_token=<s=1>"]
    with (
        fake_upstream() as upstream,
        process(upstream, *options, "--model-name", "cmd", TAGSMITH_UPSTREAM_KEY=SECRET) as (
            url,
            server,
        ),
    ):
        body = {"model": "cmd", "messages": [{"role": "user", "content": "the treasure"}]}
        headers = {"authorization": f"Bearer {KEY}"}
        upstream.reply = lambda _: saying("<|START_RESPONSE|>under the oak<|END_RESPONSE|>")
        assert httpx2.post(f"{url}/v2/chat?key={KEY}", json=body).status_code == 401
        answer = httpx2.post(f"{url}/v2/chat", json=body, headers=headers).json()
        assert answer["message"]["content"][0]["text"] == "under the oak"
        assert upstream.headers[-1]["authorization"] == f"Bearer {SECRET}"
        assert upstream.requests[-1]["model"] == "cmd"
        assert upstream.requests[-1]["prompt"] == "<s=1>the treasure<|CHATBOT_TOKEN|>"

        upstream.reply = lambda _: Reply([piece("<|START_RESPONSE|>under"), FOREVER])
        stream = {**body, "stream": True}
        with httpx2.stream("POST", f"{url}/v2/chat", json=stream, headers=headers) as response:
            assert "under" in next(part for part in response.iter_text() if "under" in part)
        until(lambda: upstream.left)
        server.send_signal(signal.SIGINT)
        out, errors = server.communicate(timeout=5)
    assert server.returncode == 130
    assert out == ""
    assert "/v2/chat 401 authentication_error" in errors
    assert "/v2/chat 200 done 11+" in errors
    assert "/v2/chat 200 the client has left" in errors
    assert "Traceback" not in errors
    for word in (KEY, SECRET, "treasure", "oak", "another"):
        assert word not in errors


BLOCK = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {blocked!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Absent())
from tagsmith.cli import main
main({arguments!r})
"""


@pytest.mark.heavy
@pytest.mark.parametrize("blocked", ["starlette", "uvicorn", "httpx2"])
def test_without_the_extra_it_says_what_to_install(blocked: str) -> None:
    code = BLOCK.format(blocked={blocked}, arguments=["serve", *NEEDED])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == (
        f"tagsmith: serving needs {blocked}, which is not installed: "
        "pip install 'tagsmith[serve]'\n"
    )


def test_help_and_settings_import_no_server() -> None:
    code = """
import json, sys
import tagsmith.serve, tagsmith.cli.serve
print(json.dumps(sorted({"starlette", "uvicorn", "httpx2", "jinja2", "anyio"} & set(sys.modules))))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []


def test_the_page_on_serving_names_every_field_and_option() -> None:
    page = (ROOT / "docs" / "serve.md").read_text(encoding="utf-8")
    fields = page.partition("## Fields")[2].partition("## Stop strings")[0]
    chat, _, cohere = fields.partition("### Cohere v2")
    for name in (*read_chat.TAKEN, *read_chat.IGNORED, *read_chat.REFUSED):
        assert f"`{name}`" in chat
    for name in (*read_cohere.TAKEN, *read_cohere.IGNORED, *read_cohere.REFUSED):
        assert f"`{name}`" in cohere
    for name, limit in Limits.__dataclass_fields__.items():
        default = str(limit.default).removesuffix(".0")
        assert f"| `--{name.replace('_', '-')}` | {default} |" in page
    for policy in TagPolicy:
        assert f"| `{policy}`" in page
