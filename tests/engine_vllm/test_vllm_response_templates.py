"""Response templates in vLLM's own reader: they are taken, and read what docs/convert.md says."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import tokenizers
import transformers
from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
from vllm.parser.response_template import (
    ResponseTemplateParser,
    validate_response_template_for_serving,
)

from tagsmith.convert import to_response_template
from tagsmith.registry import default_registry
from tagsmith.testing import Case

sys.path.insert(0, str(Path(__file__).parent.parent.parent / "examples"))
import response_templates as page

CASES = page.golden_texts()
TOLD = page.told_of_serving(page.PAGE.read_text("utf-8"))
ANY_TOOL = {"type": "function", "function": {"name": "any"}}


def byte_tokenizer() -> transformers.PreTrainedTokenizerFast:
    """A token for each byte."""
    alphabet = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {char: place for place, char in enumerate(alphabet)}
    made = tokenizers.Tokenizer(tokenizers.models.BPE(vocabulary, []))
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    return transformers.PreTrainedTokenizerFast(tokenizer_object=made)


TOKENIZER = byte_tokenizer()


def parser_of(case: Case, template: dict[str, Any]) -> tuple[ResponseTemplateParser, Any]:
    """A parser and its request. vLLM reads calls only where the request has tools."""
    tools = page.chat_tools(case) or [ANY_TOOL]
    choice = "none" if case.tool_choice == "none" else "auto"
    messages = [{"role": "user", "content": "Hi"}]
    request = ChatCompletionRequest(messages=messages, tools=tools, tool_choice=choice)
    parser = ResponseTemplateParser(
        TOKENIZER, request.tools, response_template=template, enable_auto_tools=True
    )
    parser.set_prompt_token_ids(TOKENIZER.encode(case.prompt or "", add_special_tokens=False))
    return parser, request


def read(case: Case, template: dict[str, Any]) -> page.Read:
    """The whole text at once."""
    parser, request = parser_of(case, template)
    reasoning, content, calls = parser.parse(case.text, request, enable_auto_tools=True)
    return reasoning, content, [(c.name, page.value_of(c.arguments)) for c in calls or ()]


def streamed(case: Case, template: dict[str, Any], size: int) -> page.Read:
    """The text by so many characters a step."""
    parser, request = parser_of(case, template)
    steps = [case.text[i : i + size] for i in range(0, len(case.text), size)] or [""]
    reasoning, content, calls = "", "", []
    for place, step in enumerate(steps, 1):
        delta = parser.parse_delta(step, [], request, finished=place == len(steps))
        if delta is not None:
            reasoning += delta.reasoning or ""
            content += delta.content or ""
            calls += [
                (call.function.name, page.value_of(call.function.arguments))
                for call in delta.tool_calls
            ]
    return reasoning or None, content or None, calls


@pytest.mark.parametrize("name", CASES)
def test_vllm_takes_the_template_and_reads_as_the_page_says(name: str) -> None:
    family = default_registry().get(name)
    validate_response_template_for_serving(
        to_response_template(family.spec, reader="serving").template
    )
    assert page.served(name, read) == TOLD[name][0]


@pytest.mark.parametrize("size", [1, 7])
@pytest.mark.parametrize("name", CASES)
def test_a_stream_gives_what_the_whole_text_gives(name: str, size: int) -> None:
    written = to_response_template(default_registry().get(name).spec, reader="serving")
    if "tag_style" in {loss.key for loss in written.losses}:
        pytest.skip("a stream takes a marker inside a longer one for itself")
    for case in CASES[name]:
        template = written.template
        assert streamed(case, template, size) == read(case, template), case.id


def test_vllm_refuses_a_template_for_transformers() -> None:
    template = to_response_template(default_registry().get("qwen3").spec).template
    with pytest.raises(ValueError, match="reasoning_content"):
        validate_response_template_for_serving(template)
