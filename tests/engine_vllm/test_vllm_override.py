"""vLLM's own names, taken over on request, so that an existing command line keeps working."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from vllm.parser.cohere_command import CohereCommandParser
from vllm.reasoning import ReasoningParserManager
from vllm.tool_parsers import ToolParserManager
from vllm_kit import chat, fresh, parser_class

import tagsmith
from tagsmith.integrations.vllm import OVERRIDE
from tagsmith.integrations.vllm.offering import offer_reasoning, offer_tools
from tagsmith.testing import MockTokenizer

NAMES = ["cohere_command3", "cohere_command4"]
CALL = '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "now", "parameters": {}}]<|END_ACTION|>'


@pytest.fixture
def take_over(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Offer the parsers as a process does in which the variable has this value."""
    for manager in (ReasoningParserManager, ToolParserManager):
        monkeypatch.setattr(manager, "lazy_parsers", dict(manager.lazy_parsers))
    loaded = ReasoningParserManager.reasoning_parsers
    monkeypatch.setattr(ReasoningParserManager, "reasoning_parsers", dict(loaded))
    monkeypatch.setattr(ToolParserManager, "tool_parsers", dict(ToolParserManager.tool_parsers))

    def _take_over(value: str) -> None:
        monkeypatch.setenv(OVERRIDE, value)
        offer_reasoning()
        offer_tools()

    return _take_over


def family(name: str, tokenizer_of: str, *architectures: str, **parsers: Any) -> str:
    tokenizer = MockTokenizer.for_family(tagsmith.get_family(tokenizer_of))
    config = SimpleNamespace(
        hf_config=SimpleNamespace(architectures=list(architectures)), model="m"
    )
    made = parser_class(name, **parsers)(tokenizer, None, model_config=config)
    return made.family.id


def test_vllms_own_stays_without_it() -> None:
    for name in NAMES:
        assert issubclass(parser_class(name), CohereCommandParser)


def test_both_names_are_taken_over(take_over: Any) -> None:
    take_over(",".join(NAMES))
    for name in NAMES:
        assert not issubclass(parser_class(name), CohereCommandParser)
    architecture = "Cohere2VisionForConditionalGeneration"
    plus, command = "cohere-command-a-plus", "cohere-command-a"
    assert family("cohere_command4", plus, architecture) == plus
    assert family("cohere_command3", command, "Cohere2ForCausalLM") == command
    # Where the config does not tell, the preset of the old name does.
    assert family("cohere_command4", plus, "SomebodysForCausalLM") == plus
    assert family("cohere_command3", command, "SomebodysForCausalLM") == command
    # A parser that vLLM has loaded already is taken over as well.
    take_over("qwen3")
    assert family("qwen3", "qwen3.5", "Qwen3_5ForCausalLM", tool_parser_name=None) == "qwen3.5"


def test_one_of_them(take_over: Any) -> None:
    take_over(" cohere_command4 ,")
    assert issubclass(parser_class("cohere_command3"), CohereCommandParser)
    assert not issubclass(parser_class("cohere_command4"), CohereCommandParser)


@pytest.mark.parametrize("missing", ["tool_parser_name", "reasoning_parser_name"])
def test_one_kind_of_parser(take_over: Any, missing: str) -> None:
    take_over(NAMES[0])
    made = parser_class(NAMES[0], **{missing: None})
    tokenizer = MockTokenizer.for_family(tagsmith.get_family("cohere-command-a"))
    config = SimpleNamespace(hf_config=None, model="m")
    reasoning, _, calls = made(tokenizer, None, model_config=config).parse(
        f"<|START_THINKING|>Hm.<|END_THINKING|>{CALL}", chat([{"name": "now"}])
    )
    assert reasoning == "Hm."
    assert bool(calls) == (missing == "reasoning_parser_name")


def test_names_of_two_kinds_are_one_pair_where_both_are_taken_over(take_over: Any) -> None:
    """For some models, vLLM's reasoning parser has another name than its tool parser."""
    take_over("deepseek_r1,hermes")
    names = {"reasoning_parser_name": "deepseek_r1", "tool_parser_name": "hermes"}
    assert family("", "qwen3.5", "Qwen3_5ForCausalLM", **names) == "qwen3.5"
    with pytest.raises(TypeError, match="name the same one of Tagsmith's for both"):
        parser_class("", reasoning_parser_name="deepseek_r1", tool_parser_name="qwen3_coder")


IN_A_PROCESS = """
import json
import vllm.plugins
vllm.plugins.load_general_plugins()
from vllm.parser import ParserManager
made = ParserManager.get_parser("cohere_command3", "cohere_command3", True, "m")
print(json.dumps([base.__module__ for base in made.__mro__]))
"""


def test_in_a_process_of_its_own_and_a_name_that_vllm_does_not_know() -> None:
    modules, logged = fresh(
        IN_A_PROCESS,
        TAGSMITH_VLLM_OVERRIDE="cohere_command3,hermes,nobody",
        VLLM_LOGGING_LEVEL="ERROR",
    )
    assert "tagsmith.integrations.vllm.parser" in modules
    assert len(logged) == 1
    assert logged[0].endswith("TAGSMITH_VLLM_OVERRIDE names what is no parser of vLLM's: nobody")
