"""Where reasoning ends, and how many tokens it has: what the engine and the usage ask."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from vllm.reasoning import ReasoningParserManager
from vllm.v1.utils import ConstantList
from vllm_kit import Served, chat

from tagsmith.registry import default_registry

QWEN = Served("qwen3")
PROMPT = "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
HISTORY = "<|im_start|>assistant\n<think>\nOld.\n</think>\n\nHello.<|im_end|>\n"

ENDS = {
    PROMPT: False,
    f"{PROMPT}<think>": False,
    f"{PROMPT}<think>\nHm.": False,
    f"{PROMPT}<think>\nHm.\n</think>": True,
    f"{PROMPT}<think>\n\n</think>\n\n": True,
    f"{PROMPT}<think>\nHm.<tool_call>": True,
    f"{HISTORY}{PROMPT}": False,
    f"{HISTORY}{PROMPT}<think>a</think>b": True,
    "": False,
}


def engine_parser(server: Served):
    """The reasoning parser that the engine makes in its own process."""
    made = ReasoningParserManager.get_reasoning_parser(f"tagsmith-{server.family.id}")
    return made(tokenizer=server.tokenizer, chat_template_kwargs={})


@pytest.mark.parametrize("text", ENDS)
def test_the_end_of_reasoning(text: str) -> None:
    ids = QWEN.tokenizer.encode(text)
    parser = engine_parser(QWEN)
    for kind in (list, tuple, ConstantList):
        assert parser.is_reasoning_end(kind(ids)) is ENDS[text]
    assert QWEN.parser(chat()).is_reasoning_end(ids) is ENDS[text]


@pytest.mark.parametrize("text", ["<think>\nHm.\n</think>\n\nHi", "<think>Hm.<tool_call>{", "Hi"])
def test_the_end_is_found_at_one_step(text: str) -> None:
    """As the engine asks: after each step, all tokens so far and those of the step."""
    parser = engine_parser(QWEN)
    prompt, output = QWEN.tokenizer.encode(PROMPT), QWEN.tokenizer.encode(text)
    assert not parser.is_reasoning_end(prompt)
    ends = [QWEN.tokenizer.token_to_id(token) for token in ("</think>", "<tool_call>")]
    expected = next((n for n, token in enumerate(output) if token in ends), None)
    for size in (1, 2, 5):
        found = None
        for start in range(0, len(output), size):
            step = output[start : start + size]
            if parser.is_reasoning_end_streaming(
                ConstantList(prompt + output[: start + size]), iter(step)
            ):
                found = start // size
                break
        assert found == (None if expected is None else expected // size)


def count(ids: Sequence[int], depth: int = 0) -> int:
    start, end = (QWEN.tokenizer.token_to_id(token) for token in ("<think>", "</think>"))
    found = 0
    for token in ids:
        depth += (token == start) - (token == end)
        found += depth > 0 and token != start
    return found


@pytest.mark.parametrize("opened", [False, True])
def test_tokens_of_reasoning(opened: bool) -> None:
    prompt = f"{HISTORY}{PROMPT}" + "<think>\n" * opened
    output = QWEN.tokenizer.encode("<think>" * (not opened) + "Hm, well.</think>Hi<|im_end|>")
    expected = count(output, depth=int(opened))
    assert expected == len("Hm, well.")
    parser = QWEN.parser(chat(), prompt)
    assert parser.count_reasoning_tokens(tuple(output)) == expected
    # Again, and for lists that grow, as a stream with usage in each chunk asks.
    assert parser.count_reasoning_tokens(output) == expected
    grown = QWEN.parser(chat(), prompt)
    for size in range(len(output) + 1):
        told = grown.count_reasoning_tokens(tuple(output[:size]))
        assert told == count(output[:size], depth=int(opened))
    # And for another choice, or what is asked anew.
    assert grown.count_reasoning_tokens(output[:3]) == count(output[:3], depth=int(opened))
    assert grown.count_reasoning_tokens(()) == 0


def test_each_choice_counts_its_own() -> None:
    texts = ["<think>a</think>b", "<think>abc</think>", "b"]
    parsers = [QWEN.parser(chat(n=3), PROMPT) for _ in texts]
    outputs = [QWEN.tokenizer.encode(text) for text in texts]
    for size in range(20):
        for parser, output in zip(parsers, outputs, strict=True):
            parser.count_reasoning_tokens(output[:size])
    assert [p.count_reasoning_tokens(o) for p, o in zip(parsers, outputs, strict=True)] == [1, 3, 0]


@pytest.mark.parametrize("name", default_registry().ids())
def test_the_markers_of_a_thinking_budget(name: str) -> None:
    server = Served(name)
    parser, reasoning = engine_parser(server), server.family.spec.tag_style.reasoning
    if reasoning is None:
        assert (parser.reasoning_start_str, parser.reasoning_end_str) == (None, None)
        # Without reasoning, a constraint holds from the first token.
        assert parser.is_reasoning_end([])
        return
    assert parser.reasoning_start_str == reasoning.start
    assert parser.reasoning_end_str == reasoning.end


def test_only_one_parser_reads_the_output() -> None:
    parser = engine_parser(QWEN)
    with pytest.raises(NotImplementedError, match="ParserManager"):
        parser.extract_reasoning("Hi", chat())
    with pytest.raises(NotImplementedError, match="ParserManager"):
        parser.extract_content_ids([])


@pytest.mark.parametrize("stream", [False, True])
def test_reasoning_that_is_not_wanted(stream: bool) -> None:
    text = "<think>Hm.</think>\n\nHi"
    request = chat(include_reasoning=False)
    if stream:
        ids = QWEN.tokenizer.encode(text)
        deltas = list(QWEN.deltas(ids, request, PROMPT))
        assert all(delta.reasoning is None for delta in deltas)
        assert "".join(delta.content for delta in deltas) == "Hi"
    else:
        told = QWEN.whole(text, request, PROMPT)
        assert (told.reasoning, told.content) == (None, "Hi")
