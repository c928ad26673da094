"""What SGLang is offered, what is told of bad families, and which family serves a model."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
from sglang.srt.environ import envs
from sglang.srt.function_call.function_call_parser import FunctionCallParser
from sglang.srt.parser.reasoning_parser import ReasoningParser
from sglang.srt.plugins.hook_registry import HookRegistry
from sglang.srt.runtime_context import get_context
from sglang.srt.server_args import prepare_server_args
from sglang_doubles import Engine, ServedTokenizer, answers, chat_request, engine, serving

import tagsmith
from tagsmith.integrations import naming
from tagsmith.integrations.sglang import offering, register
from tagsmith.registry import default_registry

ACME = """\
tagsmith: 1
id: acme-x
title: Acme X
extends: qwen3
match:
  architectures: [AcmeForCausalLM]
"""


def test_the_entry_point_is_where_sglang_looks() -> None:
    found = {point.value for point in entry_points(group="sglang.srt.plugins")}
    assert "tagsmith.integrations.sglang:register" in found


def test_every_family_has_a_detector_of_each_kind_by_name() -> None:
    names = {"tagsmith", *(f"tagsmith-{family_id}" for family_id in default_registry().ids())}
    assert names <= FunctionCallParser.ToolCallParserEnum.keys()
    assert names <= ReasoningParser.DetectorMap.keys()


def test_the_names_are_choices_of_the_command_line(tmp_path: Path) -> None:
    model = small_model(tmp_path, "Cohere2ForCausalLM")
    command = ["--model-path", str(model), "--device", "cpu"]
    args = prepare_server_args(
        [*command, "--reasoning-parser", "tagsmith", "--tool-call-parser", "tagsmith-qwen3"]
    )
    assert (args.reasoning_parser, args.tool_call_parser) == ("tagsmith", "tagsmith-qwen3")
    with pytest.raises(SystemExit):
        prepare_server_args([*command, "--tool-call-parser", "tagsmith-none"])


def test_the_plug_in_imports_nothing_until_it_is_called() -> None:
    code = (
        "import sys, tagsmith.integrations.sglang; "
        "sys.exit(any(name.partition('.')[0] in ('sglang', 'torch') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_bad_family_is_told_once_and_the_others_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "acme.yaml").write_text(ACME)
    bad = tmp_path / "bad.yaml"
    bad.write_text("tagsmith: 1\nid: acme-bad\nextends: qwen3\nreasonin: {}\n")
    monkeypatch.setenv("TAGSMITH_FAMILIES", str(tmp_path))
    monkeypatch.setattr(naming, "_told", set())
    with caplog.at_level(logging.WARNING):
        register()
        register()
    [told] = [record.message for record in caplog.records if record.name == "tagsmith"]
    assert f"{bad}:4:1" in told
    known = FunctionCallParser.ToolCallParserEnum
    assert "tagsmith-acme-x" in known
    assert "tagsmith-acme-bad" not in known
    with serving(acme(), reasoning="tagsmith", calls="tagsmith") as handler:
        [answer] = answers(handler, chat_request())
    assert (answer.reasoning, answer.content) == ("hm", "Hi")


def acme() -> Engine:
    return engine(
        tagsmith.get_family("acme-x"),
        architectures=["AcmeForCausalLM"],
        outputs=["<think>hm</think>Hi"],
    )


def test_without_a_place_for_a_hook_nothing_is_offered(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    hook = (ReasoningParser, "gone", print, None)
    monkeypatch.setattr(offering, "_HOOKS", (*offering._HOOKS, hook))
    assert "AttributeError" in told_instead_of_offering(monkeypatch, caplog)


def test_a_server_that_reads_in_rust_is_offered_nothing(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with envs.SGLANG_RUST_SERVER.override(True):
        assert "SGLANG_RUST_SERVER" in told_instead_of_offering(monkeypatch, caplog)


def told_instead_of_offering(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> str:
    monkeypatch.setattr(FunctionCallParser, "ToolCallParserEnum", {})
    monkeypatch.setattr(naming, "_told", set())
    with caplog.at_level(logging.WARNING):
        register()
    assert FunctionCallParser.ToolCallParserEnum == {}
    assert "no parser is offered to SGLang" in caplog.text
    return caplog.text


def test_hooks_are_applied_once() -> None:
    register()
    HookRegistry.apply_hooks()
    for owner, name, hook, _ in offering._HOOKS:
        inner = getattr(owner, name).__wrapped__
        assert getattr(inner, "__wrapped__", inner) is inner, (name, hook)


SERVED = {
    "by its architecture": ({"architectures": ["Cohere2ForCausalLM"]}, "cohere-command-a"),
    "by its name": (
        {
            "architectures": ["Cohere2VisionForConditionalGeneration"],
            "model_path": "/models/CohereLabs/command-a-vision-07-2025",
        },
        "cohere-command-a-vision",
    ),
}


@pytest.mark.parametrize("case", SERVED)
def test_the_family_of_the_served_model(case: str) -> None:
    fields, family_id = SERVED[case]
    double = engine(tagsmith.get_family(family_id), **fields)
    with serving(double, reasoning="tagsmith", calls="tagsmith") as handler:
        assert handler._encoding_output().family.id == family_id


def test_a_model_without_a_family_does_not_start() -> None:
    double = Engine(ServedTokenizer([]), architectures=["NoSuchForCausalLM"])
    with (
        pytest.raises(ValueError, match=r"no family answers to 'NoSuchForCausalLM'.*tagsmith-<id>"),
        serving(double, reasoning=None, calls="tagsmith"),
    ):
        pass


def test_a_pair_that_is_none_does_not_start() -> None:
    double = engine(tagsmith.get_family("qwen3"))
    told = "--tool-call-parser tagsmith-qwen3 and --reasoning-parser qwen3 cannot be combined"
    with (
        pytest.raises(ValueError, match=told),
        serving(double, reasoning="qwen3", calls="tagsmith-qwen3"),
    ):
        pass


def test_parsers_of_sglangs_own_are_as_they_were() -> None:
    output = (
        '<think>\nhm\n</think>\n\nHi<tool_call>\n{"name": "now", "arguments": {}}\n</tool_call>'
    )
    double = engine(tagsmith.get_family("qwen3"), outputs=[output])
    tools = [{"type": "function", "function": {"name": "now"}}]
    with serving(double, reasoning="qwen3", calls="qwen") as handler:
        assert handler._encoding_output() is None
        [answer] = answers(handler, chat_request(tools=tools))
    assert [call["name"] for call in answer.calls] == ["now"]


def test_the_scheduler_finds_the_family_by_the_models_config(tmp_path: Path) -> None:
    """There a detector is made with the tokenizer alone."""
    model = small_model(tmp_path, "Cohere2ForCausalLM")
    tokenizer = ServedTokenizer.for_family(tagsmith.get_family("cohere-command-a"))
    with get_context().override_server_args(model_path=str(model)):
        parser = ReasoningParser("tagsmith", stream_reasoning=False, tokenizer=tokenizer)
    assert parser.detector.family.id == "cohere-command-a"
    [end] = parser.detector.get_think_end_token_ids(tokenizer)
    assert tokenizer.decode(end) == "<|END_THINKING|>"
    [start] = parser.detector.get_self_opened_think_start_token_ids(tokenizer)
    assert tokenizer.decode(start) == "<|START_THINKING|>"


def small_model(directory: Path, architecture: str) -> Path:
    config: dict[str, Any] = {
        "architectures": [architecture],
        "model_type": "cohere2",
        "hidden_size": 8,
        "num_attention_heads": 1,
        "num_hidden_layers": 1,
        "vocab_size": 300,
    }
    (directory / "config.json").write_text(json.dumps(config))
    return directory
