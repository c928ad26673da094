"""`tagsmith render`, as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import tagsmith
from tagsmith.cli import main

FAMILY = ("--family", "cohere-command-a")
MESSAGES = [{"role": "user", "content": "Hi <co>\u001b[1m"}]
BODY = {"model": "m", "messages": MESSAGES, "stream": True, "thinking": {"type": "enabled"}}
COHERE = tagsmith.get_family("cohere-command-a")


def render(*arguments: str, stdin: Any = BODY) -> Result:
    text = stdin if isinstance(stdin, str) else json.dumps(stdin)
    return CliRunner().invoke(main, ["render", "-", *arguments], input=text)


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        ((), {"reasoning": "enabled"}),
        (("--reasoning", "disabled"), {"reasoning": "disabled"}),
        (("--markers", "keep"), {"reasoning": "enabled", "markers": "keep"}),
        (("--units", "utf-16"), {"reasoning": "enabled", "units": "utf-16"}),
    ],
)
def test_the_prompt_is_printed_to_the_letter(
    arguments: tuple[str, ...], options: dict[str, Any]
) -> None:
    done = render(*FAMILY, *arguments)
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout == COHERE.render(MESSAGES, **options)


def test_a_list_of_messages_will_do_and_json_is_for_machines(tmp_path: Path) -> None:
    path = tmp_path / "messages.json"
    path.write_text(json.dumps(MESSAGES))
    arguments = ["render", str(path), *FAMILY, "--format", "json"]
    shown = json.loads(CliRunner().invoke(main, arguments).stdout)
    assert shown == {"family": "cohere-command-a", "prompt": COHERE.render(MESSAGES)}


def test_a_chat_template_from_a_file(tmp_path: Path) -> None:
    template = tmp_path / "chat_template.jinja"
    template.write_text("{{ messages[0].content }}{{ eos_token }}{{ enable_thinking }}")
    done = render(
        "--family", "qwen3", "--chat-template", str(template), "--special-token", "eos_token=</s>"
    )
    assert done.stdout == "Hi <co>\u001b[1m</s>True"


@pytest.mark.parametrize(
    ("arguments", "stdin", "words"),
    [
        (("--family", "qwen3"), BODY, "give the text of the model's chat template"),
        (FAMILY, "[", "standard input:1:2: not JSON"),
        (FAMILY, "5", "request: expected an object"),
        (FAMILY, {}, "messages: is missing"),
        (FAMILY, [{"role": "bot"}], "messages[0].role: unknown value 'bot'"),
        ((*FAMILY, "--chat-template", "no-such-file"), BODY, "no such file"),
        ((*FAMILY, "--special-token", "x"), BODY, "--special-token x: give a name and a token"),
    ],
)
def test_wrong_use_is_told_in_one_line(arguments: tuple[str, ...], stdin: Any, words: str) -> None:
    done = render(*arguments, stdin=stdin)
    assert (done.exit_code, done.stdout) == (2, "")
    assert words in done.stderr
    assert done.stderr.count("\n") == 1
