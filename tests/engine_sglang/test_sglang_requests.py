"""What a request becomes: the tag for the engine's grammar, tokens, stop strings, refusals."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sglang.srt.constrained.reasoner_grammar_backend import ReasonerGrammarBackend
from sglang.srt.constrained.xgrammar_backend import XGrammarGrammarBackend
from sglang.srt.environ import envs
from sglang.srt.parser.reasoning_parser import ReasoningParser
from sglang.srt.sampling.sampling_params import get_request_reasoning_in_grammar
from sglang_doubles import Engine, answers, chat_request, engine, refused, serving
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

import tagsmith

NAME = "tagsmith-qwen3"
QWEN = tagsmith.get_family("qwen3")
OPEN = "<|im_start|>assistant\n<think>\n"
SCHEMA = {
    "type": "object",
    "properties": {"zone": {"type": "string"}},
    "required": ["zone"],
    "additionalProperties": False,
}
NOW = {"type": "function", "function": {"name": "now", "parameters": SCHEMA}}
ADD = {"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}
ANSWER = {"type": "json_schema", "json_schema": {"name": "answer", "schema": SCHEMA}}


def call(name: str, arguments: str) -> str:
    return f'<tool_call>\n{{"name": "{name}", "arguments": {arguments}}}\n</tool_call>'


def params(request: Any, prompt: str = "<|im_start|>assistant\n", **args: Any) -> dict[str, Any]:
    """What SGLang's engine is told."""
    return sent(request, prompt, **args).sampling_params


def sent(request: Any, prompt: str = "<|im_start|>assistant\n", **args: Any) -> Any:
    double = served(prompt)
    with serving(double, reasoning=NAME, calls=NAME, **args) as handler:
        answers(handler, request)
    return double.asked[-1]


def served(prompt: str = "<|im_start|>assistant\n") -> Engine:
    double = engine(QWEN, outputs=["Hi"])
    double.tokenizer.prompt = prompt
    return double


def model_tokenizer() -> PreTrainedTokenizerFast:
    """A tokenizer of the transformers' own: one token for each byte, and one for each marker."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    made = Tokenizer(models.BPE({letter: n for n, letter in enumerate(alphabet)}, []))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    ends = {"eos_token": "<|im_end|>", "pad_token": "<|endoftext|>"}
    markers = [marker for marker in QWEN.markers if marker != "<|im_start|>assistant"]
    return PreTrainedTokenizerFast(tokenizer_object=made, additional_special_tokens=markers, **ends)


TOKENIZER = model_tokenizer()


@pytest.fixture(scope="module")
def backend() -> ReasonerGrammarBackend:
    """SGLang's grammar backend, as it makes it for a server with a reasoning parser."""
    plain = XGrammarGrammarBackend(
        TOKENIZER, vocab_size=len(TOKENIZER), model_eos_token_ids=[TOKENIZER.eos_token_id]
    )
    parser = ReasoningParser(NAME, stream_reasoning=False, tokenizer=TOKENIZER)
    return ReasonerGrammarBackend(plain, parser, TOKENIZER)


def takes(backend: ReasonerGrammarBackend, asked: Any, output: str) -> bool:
    """Whether the engine's grammar lets the model write this output, and end there."""
    told = asked.sampling_params
    grammar = backend._init_value_dispatch(
        ("structural_tag", told["structural_tag"]), asked.require_reasoning
    )
    assert not hasattr(grammar, "error_message"), grammar.error_message
    if get_request_reasoning_in_grammar(told["custom_params"]):
        grammar.set_reasoning_in_grammar()
    for token in [*TOKENIZER.encode(output), TOKENIZER.eos_token_id]:
        try:
            grammar.accept_token(token)
        except ValueError:
            return False
    return bool(grammar.is_terminated())


NOW_CALL = call("now", '{"zone": "UTC"}')
TAGS: dict[str, tuple[dict[str, Any], str, list[str], list[str]]] = {
    "required": (
        {"tools": [NOW, ADD], "tool_choice": "required"},
        "<|im_start|>assistant\n",
        [NOW_CALL, f"<think>\nhm\n</think>\n\n{NOW_CALL}\n{call('add', '{}')}"],
        ["Hi", call("now", "{}"), call("sub", "{}"), "<think>\nhm\n</think>\n\nHi"],
    ),
    "required, reasoning open": (
        {"tools": [NOW], "tool_choice": "required"},
        OPEN,
        [f"hm\n</think>\n\n{NOW_CALL}"],
        ["hm\n</think>\n\nHi"],
    ),
    "one call at most": (
        {"tools": [NOW], "parallel_tool_calls": False},
        "<|im_start|>assistant\n",
        ["Hi", NOW_CALL],
        [f"{NOW_CALL}\n{NOW_CALL}"],
    ),
    "a named tool": (
        {"tools": [NOW, ADD], "tool_choice": {"type": "function", "function": {"name": "add"}}},
        "<|im_start|>assistant\n",
        [call("add", "{}")],
        [NOW_CALL, "Hi"],
    ),
    "strict tools": (
        {"tools": [{"type": "function", "function": {**NOW["function"], "strict": True}}]},
        "<|im_start|>assistant\n",
        ["Hi", NOW_CALL],
        [call("now", '{"zone": 1}')],
    ),
    "a schema": (
        {"response_format": ANSWER},
        "<|im_start|>assistant\n",
        ['{"zone": "UTC"}', '<think>\nhm\n</think>\n\n{"zone": "UTC"}'],
        ["Hi", "{}"],
    ),
    "a schema, reasoning open": (
        {"response_format": ANSWER},
        OPEN,
        ['hm\n</think>\n\n{"zone": "UTC"}'],
        ["hm\n</think>\n\nHi"],
    ),
    "a schema, or calls": (
        {"response_format": ANSWER, "tools": [NOW]},
        "<|im_start|>assistant\n",
        ['{"zone": "UTC"}', NOW_CALL],
        ["Hi", call("now", "{}")],
    ),
    "any object": (
        {"response_format": {"type": "json_object"}},
        "<|im_start|>assistant\n",
        ['{"a": 1}'],
        ["Hi", "[]"],
    ),
}


@pytest.mark.parametrize("case", TAGS)
def test_the_grammar_holds_what_is_asked(backend: ReasonerGrammarBackend, case: str) -> None:
    fields, prompt, taken, refused_texts = TAGS[case]
    asked = sent(chat_request(**fields), prompt)
    assert "json_schema" not in asked.sampling_params
    assert [takes(backend, asked, text) for text in taken] == [True] * len(taken)
    assert [takes(backend, asked, text) for text in refused_texts] == [False] * len(refused_texts)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"tools": [NOW]},
        {"tools": [NOW], "tool_choice": "none"},
        {"response_format": {"type": "text"}},
    ],
)
def test_what_needs_no_grammar_gets_none(fields: dict[str, Any]) -> None:
    told = params(chat_request(**fields))
    assert not any(told.get(name) for name in ("structural_tag", "json_schema", "ebnf", "regex"))


@pytest.mark.parametrize(("level", "held"), [(1, False), (2, True)])
def test_the_operators_strictness(backend: ReasonerGrammarBackend, level: int, held: bool) -> None:
    loose = {"type": "function", "function": {**NOW["function"], "strict": False}}
    with envs.SGLANG_TOOL_STRICT_LEVEL.override(level):
        asked = sent(chat_request(tools=[loose]))
    assert takes(backend, asked, "Hi")
    assert takes(backend, asked, call("now", "{}")) is not held


def test_a_grammar_of_the_users_own_stands() -> None:
    assert params(chat_request(regex="a+", tools=[NOW], parallel_tool_calls=False))["regex"] == "a+"
    tag = {"type": "structural_tag", "format": {"type": "const_string", "value": "a"}}
    told = params(chat_request(response_format=tag, tools=[NOW]))
    assert json.loads(told["structural_tag"])["format"] == tag["format"]


UNENFORCEABLE = {
    "type": "object",
    "properties": {"a": {"type": "string", "not": {"const": "x"}}},
}
REFUSALS: dict[str, tuple[dict[str, Any], str]] = {
    "a forced call beside a grammar": (
        {"tools": [NOW], "tool_choice": "required", "regex": "a"},
        "tool_choice: a forced call cannot be combined with regex",
    ),
    "strict beyond grammars": (
        {
            "tools": [
                {
                    "type": "function",
                    "function": {"name": "f", "strict": True, "parameters": UNENFORCEABLE},
                }
            ]
        },
        "tools: ",
    ),
    "a strict answer beyond grammars": (
        {
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "a", "strict": True, "schema": UNENFORCEABLE},
            }
        },
        "response_format: ",
    ),
    "an empty stop string": ({"stop": [""]}, "stop: '' is no stop string"),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_refusals_are_errors_of_sglangs(case: str) -> None:
    fields, told = REFUSALS[case]
    with serving(served(), reasoning=NAME, calls=NAME) as handler:
        assert refused(handler, chat_request(**fields)).startswith(told)
        assert refused(handler, chat_request(**fields, stream=True)).startswith(told)


def test_a_backend_that_takes_no_tags() -> None:
    args = {"reasoning": NAME, "calls": NAME, "grammar_backend": "outlines"}
    with serving(served(), **args) as handler:
        told = refused(handler, chat_request(tools=[NOW], tool_choice="required"))
    assert "the grammar backend outlines takes no structural tag" in told


def test_special_tokens_are_kept_and_end_the_turn() -> None:
    told = params(chat_request(skip_special_tokens=True, stop_token_ids=[7]))
    assert told["skip_special_tokens"] is told["spaces_between_special_tokens"] is False
    end = served().tokenizer.convert_tokens_to_ids("<|im_end|>")
    assert told["stop_token_ids"] == [7, end]
    assert params(chat_request(ignore_eos=True))["stop_token_ids"] is None


STOPS: dict[str, tuple[dict[str, Any], str, list[str]]] = {
    "nothing but content may come": ({}, "<|im_start|>assistant\n<think>\n\n</think>\n\n", ["END"]),
    "reasoning may come": ({}, "<|im_start|>assistant\n", []),
    "calls may come": ({"tools": [NOW]}, "<|im_start|>assistant\n<think>\n\n</think>\n\n", []),
}


@pytest.mark.parametrize("case", STOPS)
def test_the_engine_looks_for_stop_strings_where_it_cannot_go_wrong(case: str) -> None:
    fields, prompt, stops = STOPS[case]
    assert params(chat_request(stop="END", **fields), prompt)["stop"] == stops


def test_prompts_are_read_from_where_the_turn_starts() -> None:
    """However long they are: reasoning that an earlier turn opened is not open now."""
    history = "<think>" + "x" * 3000 + "<|im_end|>"
    asked = sent(chat_request(response_format=ANSWER), history + OPEN)
    assert asked.require_reasoning
    asked = sent(chat_request(response_format=ANSWER), f"{history}<|im_start|>assistant\n")
    assert not asked.require_reasoning
