"""Feeding with token ids: what is a marker, and characters cut over tokens."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import pytest

import tagsmith
from tagsmith.testing import MockTokenizer, run_tokens

FAMILY = tagsmith.get_family("cohere-command-a")
TOKENIZER = MockTokenizer.for_family(FAMILY)


def spelled(text: str) -> list[int]:
    return TOKENIZER.encode_ordinary(text)


def meant(text: str) -> list[int]:
    return TOKENIZER.encode(text)


@pytest.mark.parametrize("step", [1, 2, 7, 1000])
@pytest.mark.parametrize("marker", FAMILY.markers)
def test_a_marker_spelled_with_ordinary_tokens_is_text(marker: str, step: int) -> None:
    text = f"say {marker} twice"
    ids = meant("<|START_RESPONSE|>") + spelled(text) + meant("<|END_RESPONSE|>")
    groups = [ids[start : start + step] for start in range(0, len(ids), step)]
    message = run_tokens(FAMILY, groups, TOKENIZER).message
    assert (message.content, message.reasoning, message.tool_calls) == (text, None, ())
    assert message.diagnostics == ()


def test_a_spelled_marker_in_a_tool_call_region_is_no_marker() -> None:
    ids = meant("<|START_ACTION|>") + spelled("call <|END_ACTION|> it") + meant("<|END_ACTION|>ok")
    message = run_tokens(FAMILY, [ids], TOKENIZER).message
    assert message.content == "call <|END_ACTION|> itok"


def test_a_marker_token_inside_a_json_string_is_data() -> None:
    text = (
        '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "f",'
        ' "parameters": {"q": "<|END_ACTION|>"}}]<|END_ACTION|>'
    )
    message = run_tokens(FAMILY, [[i] for i in meant(text)], TOKENIZER).message
    assert [call.arguments for call in message.tool_calls] == ['{"q": "<|END_ACTION|>"}']


def test_citation_markup_is_found_in_ordinary_tokens() -> None:
    ids = meant("<|START_RESPONSE|>") + spelled("a <co>b</co: 0:[1]> c")
    message = run_tokens(FAMILY, [[i] for i in ids], TOKENIZER).message
    assert message.content == "a b c"
    assert [citation.positions for citation in message.citations] == [((0, 1),)]


@pytest.mark.parametrize("step", [1, 2, 3, 5])
def test_a_character_cut_over_tokens_is_whole(step: int) -> None:
    text = "né 😀 天气 ok"
    ids = meant(f"<|START_RESPONSE|>{text}<|END_RESPONSE|>")
    events = run_tokens(
        FAMILY, [ids[i : i + step] for i in range(0, len(ids), step)], TOKENIZER
    ).events
    texts = [event.text for event in events if isinstance(event, tagsmith.ContentDelta)]
    assert "".join(texts) == text
    assert not any("\ufffd" in piece for piece in texts)


def test_bytes_that_are_no_character_show_as_such_and_cost_nothing_else() -> None:
    call = '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "f"}]<|END_ACTION|>'
    ids = [*meant("<|START_THINKING|>"), 0xE6, 0x80, *spelled("="), *meant("<|END_THINKING|>")]
    ids += meant(call)
    message = run_tokens(FAMILY, [[i] for i in ids], TOKENIZER).message
    assert message.reasoning == "\ufffd="
    assert [call.name for call in message.tool_calls] == ["f"]


def test_an_output_cut_inside_a_character_drops_it_and_says_so() -> None:
    ids = [*meant("<|START_RESPONSE|>ok "), 0xF0, 0x9F]
    message = run_tokens(FAMILY, [[i] for i in ids], TOKENIZER, finish_reason="length").message
    assert message.content == "ok"
    assert [d.code.value for d in message.diagnostics] == ["incomplete-character"]


def test_garbage_bytes_take_linear_work() -> None:
    class Counting(MockTokenizer):
        decoded = 0

        def decode(self, token_ids: list[int], skip_special_tokens: bool = False) -> str:  # type: ignore[override]
            self.decoded += len(token_ids)
            return super().decode(token_ids, skip_special_tokens)

    tokenizer = Counting(FAMILY.markers)
    ids = [0xFF] * 4000
    parser = FAMILY.parser(tokenizer=tokenizer)
    for token_id in ids:
        parser.feed("", token_ids=[token_id])
    assert len(parser.message.content or "") >= 3997
    assert tokenizer.decoded < 120 * len(ids)


def test_a_tokenizer_that_lacks_the_markers_leaves_them_to_the_text() -> None:
    tokenizer = MockTokenizer([])
    ids = tokenizer.encode("<|START_THINKING|>hm<|END_THINKING|>Hi")
    message = run_tokens(FAMILY, [[i] for i in ids], tokenizer).message
    assert (message.reasoning, message.content) == ("hm", "Hi")


def test_token_ids_need_a_tokenizer() -> None:
    with pytest.raises(tagsmith.RequestError, match="tokenizer"):
        FAMILY.parser().feed("x", token_ids=[120])


def test_nothing_can_be_fed_after_finish() -> None:
    parser = FAMILY.parser()
    parser.finish("stop")
    assert parser.finish("stop") == []
    with pytest.raises(tagsmith.RequestError, match="finished"):
        parser.feed("x")


class Arrays(list[int]):
    """Stands for an array or a tensor: its elements are no plain numbers, tolist() gives those."""

    def tolist(self) -> list[int]:
        return list(self)

    def __bool__(self) -> bool:
        raise ValueError("the truth value of an array is ambiguous")


@pytest.mark.parametrize("kind", [tuple, deque, Arrays], ids=lambda kind: kind.__name__)
def test_any_sequence_of_ids(kind: Callable[[list[int]], Any]) -> None:
    ids = meant("<|START_THINKING|>hm<|END_THINKING|>Hi")
    parser = FAMILY.parser(tokenizer=TOKENIZER)
    parser.feed("", token_ids=kind(ids))
    assert (parser.message.reasoning, parser.message.content) == ("hm", "Hi")
    assert FAMILY.is_reasoning_end(kind(ids), TOKENIZER)
    assert FAMILY.count_reasoning_tokens(kind(ids), TOKENIZER) == 2


class Pieces:
    """As tokenizers of words do, it drops the blank before the first piece that it decodes."""

    words = ("<|START_RESPONSE|>", "<|END_RESPONSE|>", " Hi", " there")

    def get_vocab(self) -> dict[str, int]:
        return {word: i for i, word in enumerate(self.words)}

    def decode(self, token_ids: Sequence[int], skip_special_tokens: bool = False) -> str:
        return "".join(self.words[i] for i in token_ids).removeprefix(" ")


def test_a_tokenizer_that_drops_leading_blanks() -> None:
    parser = FAMILY.parser(tokenizer=Pieces())
    for token_id in (0, 2, 3, 1, 0, 3, 3):
        parser.feed("", token_ids=[token_id])
    parser.finish()
    assert parser.message.content == " Hi there there there"


class Panic(BaseException):
    """As a panic in a library's Rust arrives: no Exception."""


@pytest.mark.parametrize("fault", [IndexError("no token 99"), Panic("index out of bounds"), None])
def test_a_tokenizer_that_fails_costs_its_step_alone(fault: BaseException | None) -> None:
    class Faulty(Pieces):
        def decode(self, token_ids: Sequence[int], skip_special_tokens: bool = False) -> str:
            if 99 not in token_ids:
                return super().decode(token_ids)
            if fault is not None:
                raise fault
            return None  # type: ignore[return-value]

    parser = FAMILY.parser(tokenizer=Faulty())
    parser.feed("", token_ids=[0, 2])
    parser.feed(" what<|END_RESPONSE|><|START_RESPONSE|>", token_ids=[3, 99, 1, 0])
    parser.feed("", token_ids=[3])
    parser.finish()
    assert parser.message.content == " Hi whatthere"
    assert [d.code.value for d in parser.message.diagnostics] == ["tokenizer-fault"]


class Forgetful(MockTokenizer):
    """Answers 0 for what it does not know, and does not say so."""

    def token_to_id(self, token: str) -> int | None:
        return super().token_to_id(token) or 0


def test_an_id_for_every_unknown_word_is_no_marker() -> None:
    tokenizer = Forgetful(["<|START_THINKING|>"])
    parser = FAMILY.parser(tokenizer=tokenizer)
    parser.feed("", token_ids=[97, 0, 98])
    parser.finish()
    assert parser.message.content == "a\x00b"
    assert parser.message.diagnostics == ()
