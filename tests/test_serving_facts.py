"""What any server must know about a family: derived from its file, and true of what it writes."""

import json
from typing import Any

import pytest
from click.testing import CliRunner

import tagsmith
from tagsmith import CallIds
from tagsmith.cli import main
from tagsmith.registry import default_registry
from tagsmith.testing.writing import write_call

FAMILIES = default_registry().ids()
CALLING = [name for name in FAMILIES if tagsmith.get_family(name).spec.tool_calls is not None]
TOOLS = [
    {
        "name": "look_up",
        "parameters": {"type": "object", "properties": {"q": {"type": "string"}}},
    }
]


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        (
            "cohere-command-a",
            {
                "turn_start": ("<|CHATBOT_TOKEN|>",),
                "stop_tokens": ("<|END_OF_TURN_TOKEN|>",),
                "stop_strings_apply_to": "content",
                "reasoning_start": ("<|START_THINKING|>",),
                "reasoning_end": ("<|END_THINKING|>",),
                "calls_end": ("<|END_ACTION|>",),
                "call_ids": CallIds.MODEL,
                "finish_after_calls": "tool_calls",
                "finish_in_call": "length",
                "source_map_key": "_position_to_source",
            },
        ),
        ("qwen3", {"calls_end": ("</tool_call>",), "call_ids": CallIds.PARSER}),
        ("kimi-k2", {"call_ids": CallIds.MODEL}),
        ("cohere-command-xml", {"call_ids": CallIds.MODEL}),
        ("mistral-v11", {"call_ids": CallIds.PARSER}),  # Some of its models write ids, others none.
        ("gpt-oss", {"stop_tokens": ("<|return|>", "<|call|>"), "source_map_key": None}),
        ("llama-3", {"calls_end": (), "reasoning_start": (), "reasoning_end": ()}),
        ("mistral-v11", {"reasoning_start": ("[THINK]", "<think>")}),
    ],
)
def test_facts(name: str, facts: dict[str, Any]) -> None:
    serving = tagsmith.get_family(name).serving
    assert {field: getattr(serving, field) for field in facts} == facts


@pytest.mark.parametrize("name", FAMILIES)
def test_every_marker_that_a_fact_names_is_preserved(name: str) -> None:
    serving = tagsmith.get_family(name).serving
    named = serving.stop_tokens + serving.turn_start
    named += serving.reasoning_start + serving.reasoning_end
    assert set(named) <= set(serving.preserve_tokens)


@pytest.mark.parametrize("name", CALLING)
def test_calls_end_as_the_facts_say(name: str) -> None:
    family = tagsmith.get_family(name)
    written = write_call(family.spec, "look_up", {"q": "x"})
    ends = family.serving.calls_end
    assert not ends or written.rstrip().endswith(ends)
    message = family.parse(written, tools=TOOLS)
    assert message.finish_reason == family.serving.finish_after_calls
    [call] = message.tool_calls
    if family.serving.call_ids is CallIds.PARSER:
        assert call.id == "0"
    else:
        assert call.id in written.replace(call.arguments, "")


@pytest.mark.parametrize("name", CALLING)
def test_a_turn_that_is_cut_off_in_a_call_ends_as_the_facts_say(name: str) -> None:
    family = tagsmith.get_family(name)
    written = write_call(family.spec, "look_up", {"q": "x"})
    cut = written[: written.index("look_up") + len("look_up") + 4]
    message = family.parse(cut, tools=TOOLS)
    if message.tool_calls:
        assert message.finish_reason == family.serving.finish_in_call


# The command.


def test_the_command_shows_every_fact() -> None:
    result = CliRunner().invoke(main, ["families", "show", "Cohere2ForCausalLM"])
    assert result.exit_code == 0
    lines = dict(line.split(None, 1) for line in result.stdout.splitlines() if line[0] != " ")
    assert lines["family"] == "cohere-command-a"
    assert lines["stop_tokens"] == "<|END_OF_TURN_TOKEN|>"
    assert lines.keys() == {"family", *tagsmith.Serving.__dataclass_fields__}


def test_the_command_in_json() -> None:
    result = CliRunner().invoke(main, ["families", "show", "qwen3", "--format", "json"])
    facts = json.loads(result.stdout)
    assert (facts["call_ids"], facts["source_map_key"]) == ("parser", None)
    assert facts["stop_tokens"] == ["<|im_end|>"]


def test_a_model_decides_between_families_of_one_architecture() -> None:
    asked = ["families", "show", "Cohere2VisionForConditionalGeneration"]
    told = CliRunner().invoke(main, [*asked, "--model", "CohereLabs/command-a-vision-07-2025"])
    assert told.stdout.split()[1] == "cohere-command-a-vision"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["show"], "Missing argument 'FAMILY'"),
        (["show", "nobody"], "no family answers to 'nobody'"),
        (["nobody"], "No such command 'nobody'"),
        (["--families", "examples", "show", "qwen3"], "give --families after show"),
        (["show", "Cohere2VisionForConditionalGeneration"], "may mean any of these families"),
    ],
)
def test_wrong_use(arguments: list[str], told: str) -> None:
    result = CliRunner().invoke(main, ["families", *arguments])
    assert result.exit_code == 2
    assert told in result.stderr
    assert result.stderr.count("\n") == 1
