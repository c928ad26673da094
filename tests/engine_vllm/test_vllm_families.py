"""Which family a parser reads: by name, and by what vLLM tells of the model."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from vllm.reasoning import ReasoningParserManager
from vllm_kit import chat, parser_class

import tagsmith
from tagsmith.testing import MockTokenizer

SHARED = "Cohere2VisionForConditionalGeneration"
"""An architecture that two families serve."""


def model_config(*architectures: str, model: str = "m") -> Any:
    """What a parser sees of vLLM's model config."""
    config = SimpleNamespace(architectures=list(architectures), model_type="x")
    return SimpleNamespace(hf_config=config, architecture=architectures[0], model=model)


def tokenizer_of(name: str, path: str | None = None) -> MockTokenizer:
    tokenizer = MockTokenizer.for_family(tagsmith.get_family(name))
    if path is not None:
        tokenizer.name_or_path = path
    return tokenizer


def family(tokenizer: Any, config: Any = None) -> str:
    return parser_class("tagsmith")(tokenizer, None, model_config=config).family.id


def test_the_architecture_decides() -> None:
    assert family(tokenizer_of("qwen3.5"), model_config("Qwen3_5ForCausalLM")) == "qwen3.5"
    config = model_config("UnknownForCausalLM", "Cohere2ForCausalLM")
    assert family(tokenizer_of("cohere-command-a"), config) == "cohere-command-a"


@pytest.mark.parametrize("name", ["cohere-command-a-vision", "cohere-command-a-plus"])
@pytest.mark.parametrize("directory", ["", "/models/", "models/"])
def test_the_models_name_decides_between_two(name: str, directory: str) -> None:
    path = f"{directory}CohereLabs/{name.removeprefix('cohere-')}-07-2025"
    # The tokenizer alone would say that it is the other one.
    tokenizer = tokenizer_of("cohere-command-a-plus")
    assert family(tokenizer, model_config(SHARED, model=path)) == name


def test_the_tokenizer_decides_between_two() -> None:
    config = model_config(SHARED, model="/models/mine")
    assert family(tokenizer_of("cohere-command-a-plus"), config) == "cohere-command-a-plus"
    tokenizer = MockTokenizer(["<|START_RESPONSE|>", "<|END_RESPONSE|>"])
    assert family(tokenizer, config) == "cohere-command-a-vision"


def test_two_that_nothing_tells_apart_are_named() -> None:
    with pytest.raises(tagsmith.FamilyLookupError) as caught:
        family(tokenizer_of("qwen3"), model_config("Qwen3ForCausalLM", model="/models/mine"))
    assert "may mean any of these families: qwen3, qwen3-thinking" in str(caught.value)
    assert "to choose one, say tagsmith-<id>" in str(caught.value)


def test_without_a_config_it_is_where_the_tokenizer_is(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"architectures": ["Qwen3_5ForCausalLM"]}))
    tokenizer = tokenizer_of("qwen3.5", str(tmp_path))
    assert family(tokenizer) == "qwen3.5"
    # So vLLM's engine makes the reasoning parser, in another process than the server's.
    reasoning = ReasoningParserManager.get_reasoning_parser("tagsmith")
    made = reasoning(tokenizer=tokenizer, chat_template_kwargs={"enable_thinking": True})
    assert made.family.id == "qwen3.5"
    # And so it validates a pair at start.
    assert parser_class("tagsmith", tokenizer) is not None


def test_without_a_config_the_name_of_a_model_may_do() -> None:
    assert family(tokenizer_of("qwen3", "Qwen/Qwen3-0.6B")) == "qwen3"


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"architectures": 5}', '{"architectures": [5]}', "\xff"]
)
def test_a_config_that_cannot_be_read_tells_nothing(text: str, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(text, encoding="latin-1")
    with pytest.raises(tagsmith.FamilyLookupError, match="to choose one, say tagsmith-<id>"):
        family(tokenizer_of("qwen3.5", str(tmp_path)))


def test_what_no_family_serves_is_told_at_start(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"architectures": ["NobodysForCausalLM"]}))
    with pytest.raises(TypeError) as caught:
        parser_class("tagsmith", tokenizer_of("qwen3.5", str(tmp_path)))
    told = str(caught.value)
    assert "--tool-call-parser tagsmith and --reasoning-parser tagsmith" in told
    assert "no family answers to 'NobodysForCausalLM'" in told
    assert "say tagsmith-<id>" in told


def test_nothing_known_is_told() -> None:
    with pytest.raises(tagsmith.FamilyLookupError, match="neither the architecture nor the name"):
        family(tokenizer_of("qwen3.5"))


def test_a_named_family_asks_for_nothing() -> None:
    made = parser_class("tagsmith-qwen3", MockTokenizer([]))
    config = model_config("Cohere2ForCausalLM")
    assert made(MockTokenizer([]), None, model_config=config).family.id == "qwen3"


def test_a_broken_family_is_told_at_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAGSMITH_FAMILIES", str(tmp_path))
    (tmp_path / "a.yaml").write_text("tagsmith: 1\nid: qwen3\nextends: hermes\nengin: native\n")
    with pytest.raises(TypeError, match=r"a\.yaml:4:1"):
        parser_class("tagsmith-qwen3", tokenizer_of("hermes"))


def test_reasoning_alone_and_calls_alone() -> None:
    tokenizer = tokenizer_of("qwen3.5")
    text = '<think>Hm.</think>\n<tool_call>\n{"name": "now", "arguments": {}}\n</tool_call>'
    request = chat([{"name": "now"}])
    alone = parser_class("tagsmith-qwen3", tokenizer, tool_parser_name=None)(tokenizer)
    reasoning, content, calls = alone.parse(text, request)
    assert (reasoning, calls) == ("Hm.", None)
    assert '"now"' in (content or "")
    alone = parser_class("tagsmith-qwen3", tokenizer, reasoning_parser_name=None)(tokenizer)
    assert [call.name for call in alone.parse(text, request)[2]] == ["now"]
    # Without --enable-auto-tool-choice, vLLM has no tool parser.
    off = parser_class("tagsmith-qwen3", tokenizer, enable_auto_tools=False)
    assert off.tool_parser_cls is None
