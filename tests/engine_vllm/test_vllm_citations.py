"""Citations: where their sources come from, how a stream tells them, and vLLM's own parser beside
ours."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
from vllm.entrypoints.cohere.cohere_chat_message import CitationSource, CohereDeltaMessage
from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionResponseStreamChoice
from vllm.renderers.cohere import POSITION_TO_SOURCE_KEY
from vllm_kit import BOTH, Make, Request, Served, chat, parser_class

NAMES = ["cohere-command-a", "cohere-command-a-vision", "cohere-command-a-plus", "cohere-north"]
DOCUMENTS = [{"id": "a", "text": "It is 21 degrees."}, {"title": "b", "text": "It rains."}]
MAP = {
    (0, 0): CitationSource(type="document", id="a", document={"id": "a", "text": "21"}),
    (0, 1): CitationSource(type="document", id="doc_1", document={"text": "rain"}),
    (1, 0): CitationSource(type="tool", id="t0", tool_output={"n": 1}),
}
THOUGHT = "<|START_THINKING|>It <co>may rain</co: 0:[1]>.<|END_THINKING|>"
CITED = "It is <co>21 degrees</co: 0:[0]>, <co>wet</co: 0:[1],1:[0]>."
ANSWERS = {
    "response": f"<|START_RESPONSE|>{CITED}<|END_RESPONSE|>",
    "text": f"<|START_TEXT|>{CITED}<|END_TEXT|>",
}
PARTS = {
    "cohere-command-a": "response",
    "cohere-command-a-vision": "response",
    "cohere-command-a-plus": "text",
    "cohere-north": "text",
}
SERVED = {name: Served(name) for name in NAMES}
both = pytest.mark.parametrize("make", BOTH.values(), ids=BOTH)


def text_of(name: str) -> str:
    return THOUGHT + ANSWERS[PARTS[name]]


def with_map(make: Make, sources: Any = MAP, **fields: Any) -> Request:
    return make(chat_template_kwargs={POSITION_TO_SOURCE_KEY: sources}, **fields)


def spans(citations: list[Any]) -> list[tuple[int, int, str, str]]:
    return [(c.start, c.end, c.text, c.type) for c in citations]


def ids_of(citations: list[Any]) -> list[list[str | None]]:
    return [[source.id for source in citation.sources] for citation in citations]


SPANS = [
    (3, 11, "may rain", "THINKING_CONTENT"),
    (6, 16, "21 degrees", "TEXT_CONTENT"),
    (18, 21, "wet", "TEXT_CONTENT"),
]


@pytest.mark.parametrize("name", NAMES)
def test_the_key_is_the_one_of_vllms_cohere_api(name: str) -> None:
    assert SERVED[name].family.serving.source_map_key == POSITION_TO_SOURCE_KEY


@both
@pytest.mark.parametrize("name", NAMES)
def test_a_ready_map(make: Make, name: str) -> None:
    server, request = SERVED[name], with_map(make)
    whole = server.whole(text_of(name), request)
    streamed = server.streamed(server.tokenizer.encode(text_of(name)), request)
    for told in (whole, streamed):
        assert told.content == "It is 21 degrees, wet."
        assert told.reasoning == "It may rain."
        assert spans(told.citations) == SPANS
        expected = [[MAP[0, 1]], [MAP[0, 0]], [MAP[0, 1], MAP[1, 0]]]
        assert [citation.sources for citation in told.citations] == expected


@both
def test_a_ready_map_that_came_as_json(make: Make) -> None:
    server = SERVED["cohere-command-a"]
    sources = {f"{b}:{i}": source.model_dump(mode="json") for (b, i), source in MAP.items()}
    told = server.whole(
        text_of("cohere-command-a"), with_map(make, json.loads(json.dumps(sources)))
    )
    assert ids_of(told.citations) == [["doc_1"], ["a"], ["doc_1", "t0"]]


def test_documents_and_tool_results_of_the_request() -> None:
    server = SERVED["cohere-command-a"]
    call = {"id": "c0", "type": "function", "function": {"name": "now", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c0", "content": '{"n": 1}'},
    ]
    request = chat(messages=messages, documents=DOCUMENTS)
    told = server.whole(text_of("cohere-command-a"), server.adjusted(request))
    sources = [[s.model_dump(exclude_none=True) for s in c.sources] for c in told.citations]
    first = {"type": "document", "id": "a", "document": DOCUMENTS[0]}
    second = {"type": "document", "id": "doc_1", "document": DOCUMENTS[1]}
    assert sources == [[second], [first], [second, {"type": "tool", "tool_output": {"n": 1}}]]


@both
def test_documents_of_the_chat_template(make: Make) -> None:
    """vLLM's own field takes texts alone; these are of any shape."""
    documents = [{"id": "a", "data": {"degrees": 21}}, {"id": "b", "data": {"rain": True}}]
    server = SERVED["cohere-command-a"]
    request = make(chat_template_kwargs={"documents": documents})
    told = server.whole(text_of("cohere-command-a"), request)
    assert ids_of(told.citations) == [["b"], ["a"], ["b"]]


@both
def test_without_sources_the_spans_are_told(make: Make) -> None:
    told = SERVED["cohere-command-a"].whole(text_of("cohere-command-a"), make())
    assert spans(told.citations) == SPANS
    assert ids_of(told.citations) == [[], [], []]


def test_a_family_that_does_not_cite() -> None:
    server = Served("hermes")
    told = server.whole("It is <co>x</co: 0:[0]>.", with_map(chat))
    assert (told.content, told.citations) == ("It is <co>x</co: 0:[0]>.", [])


@both
def test_a_parser_tells_those_of_its_last_message(make: Make) -> None:
    server = SERVED["cohere-command-a"]
    parser = server.parser(with_map(make))
    assert parser.last_unary_citations is None
    parser.parse(text_of("cohere-command-a"), with_map(make))
    assert len(parser.last_unary_citations) == 3
    parser.parse("Hi", with_map(make))
    assert parser.last_unary_citations is None


def test_a_stream_says_them_in_its_chunks() -> None:
    server = SERVED["cohere-command-a"]
    ids = server.tokenizer.encode(text_of("cohere-command-a"))
    told = []
    for delta in server.deltas(ids, with_map(chat)):
        choice = ChatCompletionResponseStreamChoice(index=0, delta=delta)
        shown = json.loads(choice.model_dump_json(exclude_unset=True))["delta"]
        assert ("citations" in shown) == isinstance(delta, CohereDeltaMessage)
        told += shown.get("citations", [])
    assert [(c["start"], c["end"], c["text"]) for c in told] == [span[:3] for span in SPANS]
    assert told[1]["sources"][0]["document"] == {"id": "a", "text": "21"}


@both
@pytest.mark.parametrize("stream", [False, True])
def test_reasoning_that_is_not_wanted_is_not_cited(make: Make, stream: bool) -> None:
    server = SERVED["cohere-command-a"]
    text, request = text_of("cohere-command-a"), with_map(make, include_reasoning=False)
    if stream:
        told = server.streamed(server.tokenizer.encode(text), request)
    else:
        told = server.whole(text, request)
    assert told.reasoning is None
    assert spans(told.citations) == SPANS[1:]


PRESETS = {
    "cohere_command3": ("cohere-command-a", "Cohere2ForCausalLM"),
    "cohere_command4": ("cohere-command-a-plus", "Cohere2VisionForConditionalGeneration"),
}
COMPARED = [
    "Hi.",
    "It is <co>21 degrees</co: 0:[0]>.",
    "A <co>b</co: 0:[0,1]> c <co>d</co: 1:[0]>.",
    "Unknown <co>x</co: 5:[7]>.",
    "é <co>ü</co: 0:[0]> 😀 <co>z</co: 0:[1]>",
]


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("body", COMPARED)
@pytest.mark.parametrize("thought", ["", THOUGHT])
def test_vllms_own_parser_tells_the_same(preset: str, body: str, thought: str) -> None:
    name, architecture = PRESETS[preset]
    server = SERVED[name]
    opener, closer = {
        "response": ("<|START_RESPONSE|>", "<|END_RESPONSE|>"),
        "text": ("<|START_TEXT|>", "<|END_TEXT|>"),
    }[PARTS[name]]
    text = f"{thought}{opener}{body}{closer}"
    request = with_map(chat)
    config = SimpleNamespace(architecture=architecture, hf_config=None)
    theirs = parser_class(preset)(
        server.tokenizer,
        None,
        chat_template_kwargs=request.chat_template_kwargs,
        model_config=config,
    )
    reasoning, content, calls = theirs.parse(text, request)
    ours = server.whole(text, request)
    assert (ours.reasoning, ours.content) == (reasoning, content)
    assert not calls
    assert spans(ours.citations) == spans(theirs.last_unary_citations or [])
    assert ids_of(ours.citations) == ids_of(theirs.last_unary_citations or [])
