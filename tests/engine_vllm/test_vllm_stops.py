"""Where an output ends: stop strings of the user's in the engine and in the parser, and the token
at which vLLM stops."""

from __future__ import annotations

import pytest
from vllm_kit import BOTH, NOW, Make, Served

HERMES = Served("hermes")
QWEN = Served("qwen3")
COMMAND = Served("cohere-command-a")
PROMPT = "<|im_start|>assistant\n"
CLOSED = f"{PROMPT}<think>\n\n</think>\n\n"

both = pytest.mark.parametrize("make", BOTH.values(), ids=BOTH)

WHERE = [
    # Family, prompt, tools, stop strings, and whether the engine keeps them.
    (HERMES, PROMPT, None, ["END"], True),
    (HERMES, PROMPT, [NOW], ["END"], False),
    (HERMES, PROMPT, None, ["im_end"], False),
    (HERMES, PROMPT, None, ["x<|"], False),
    (QWEN, PROMPT, None, ["END"], False),
    (QWEN, CLOSED, None, ["END"], True),
    (QWEN, f"{PROMPT}<think>\n", None, ["END"], False),
    (QWEN, None, None, ["END"], False),
    (COMMAND, "<|CHATBOT_TOKEN|>", None, ["END"], False),
]


@both
@pytest.mark.parametrize(("server", "prompt", "tools", "stop", "kept"), WHERE)
def test_who_looks_for_stop_strings(make: Make, server, prompt, tools, stop, kept) -> None:
    request = server.adjusted(make(tools, stop=stop), prompt)
    assert request.to_sampling_params(100, {}).stop == (stop if kept else [])


@both
@pytest.mark.parametrize("stop", ["END", ["END"], ["x", "END"]])
def test_stop_strings_count_in_content_alone(make: Make, stop) -> None:
    request = QWEN.adjusted(make(stop=stop), PROMPT)
    text = "<think>No END here.</think>\n\nYes,END here. <think>"
    ids = QWEN.tokenizer.encode(text)
    for told in (
        QWEN.whole(text, request, PROMPT),
        QWEN.whole(text, request, PROMPT, ids),
        QWEN.streamed(ids, request, PROMPT),
        QWEN.streamed(ids, request, PROMPT, tokens_a_step=7),
    ):
        assert (told.reasoning, told.content) == ("No END here.", "Yes,")


@both
@pytest.mark.parametrize("tokens_a_step", [1, 2, 100])
@pytest.mark.parametrize("include", [False, True])
def test_a_stop_string_of_the_engines(make: Make, tokens_a_step: int, include: bool) -> None:
    """vLLM cuts the text there, and tells every token of the stop string."""
    request = make(stop=["END"], include_stop_str_in_output=include)
    request = HERMES.adjusted(request, PROMPT)
    assert request.stop
    ids = HERMES.tokenizer.encode("Yes,END")
    text = "Yes,END" if include else "Yes,"
    assert HERMES.whole(text, request, PROMPT, ids).content == text
    assert HERMES.whole(text, request, PROMPT).content == text
    parser = HERMES.parser(request, PROMPT)
    content = ""
    for start in range(0, len(ids), tokens_a_step):
        step = ids[start : start + tokens_a_step]
        finished = start + tokens_a_step >= len(ids)
        shown = HERMES.tokenizer.decode(step)
        if finished and not include:
            shown = ""
        delta = parser.parse_delta(shown, step, request, finished=finished)
        content += (delta.content or "") if delta else ""
    assert content == text


@both
@pytest.mark.parametrize("include", [False, True])
def test_a_stop_string_of_the_parsers(make: Make, include: bool) -> None:
    request = QWEN.adjusted(make(stop=["END"], include_stop_str_in_output=include), PROMPT)
    text = "<think>a</think>\n\nYes,END here."
    expected = "Yes,END" if include else "Yes,"
    assert QWEN.whole(text, request, PROMPT).content == expected
    ids = QWEN.tokenizer.encode(text)
    for tokens_a_step in (1, 3, 100):
        told = QWEN.streamed(ids, request, PROMPT, tokens_a_step=tokens_a_step)
        assert told.content == expected


@both
def test_no_client_can_hand_over_what_the_request_keeps(make: Make) -> None:
    request = HERMES.adjusted(make(stop=["END"], tagsmith_stop=5), PROMPT)
    assert HERMES.whole("Yes,END here", request, PROMPT).content == "Yes,"
    request = QWEN.adjusted(make(tagsmith_stop=["Yes"]), PROMPT)
    assert QWEN.whole("Yes", request, PROMPT).content == "Yes"
    assert request.to_sampling_params(100, {}).stop == []


ENDINGS = {
    # What vLLM hands over at the end: text, and what its tokens decode to.
    "stopped at the family's token": ("Hi é", "Hi é<|im_end|>", "Hi é"),
    "its token is in the text, too": ("Hi é<|im_end|>", "Hi é<|im_end|>", "Hi é"),
    "stopped at another token": ("Hi", "Hi!", "Hi"),
    "cut off behind a character of two tokens": ("Hi é", "Hi é", "Hi é"),
    "cut off behind a word": ("Hi you", "Hi you", "Hi you"),
    "nothing": ("", "<|im_end|>", None),
}

HELD = "ENDING"
"""As long as it is, vLLM holds that much text back, and tells it with the last token."""


@both
@pytest.mark.parametrize("tokens", ["<|im_end|>", "!", ""])
def test_text_that_the_engine_held_back_is_told_once(make: Make, tokens: str) -> None:
    """At the family's token, at another, and where generation ends without one."""
    request = HERMES.adjusted(make(stop=[HELD]), PROMPT)
    assert request.stop
    encode, parser = HERMES.tokenizer.encode, HERMES.parser(request, PROMPT)
    first = parser.parse_delta("Hello", encode("Hello world"), request, finished=False)
    last = parser.parse_delta(" world", encode(tokens), request, finished=True)
    content = "".join(delta.content or "" for delta in (first, last) if delta is not None)
    assert content == "Hello world"


@both
@pytest.mark.parametrize("ending", ENDINGS)
def test_the_last_token(make: Make, ending: str) -> None:
    text, told_by_tokens, expected = ENDINGS[ending]
    request = HERMES.adjusted(make(), PROMPT)
    ids = HERMES.tokenizer.encode(told_by_tokens)
    assert HERMES.whole(text, request, PROMPT, ids).content == expected
    *before, last = ids
    parser = HERMES.parser(request, PROMPT)
    shown = HERMES.tokenizer.decode(before).rstrip("\ufffd")
    first = parser.parse_delta(shown, before, request, finished=False)
    rest = text.removeprefix(shown)
    second = parser.parse_delta(rest, [last], request, finished=True)
    content = "".join(delta.content or "" for delta in (first, second) if delta is not None)
    assert (content or None) == expected


@both
def test_an_output_cut_off_inside_a_character(make: Make) -> None:
    request = HERMES.adjusted(make(), PROMPT)
    ids = HERMES.tokenizer.encode("Hi é")[:-1]
    assert HERMES.whole("Hi ", request, PROMPT, ids).content == "Hi"
