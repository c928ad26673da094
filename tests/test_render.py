"""Prompts of the Cohere families: from requests in both public shapes, by the vendor's renderer."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys
from typing import Any

import cohere
import openai.types.chat as openai_types
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tagsmith
from strategies import MELODY_FAMILIES
from tagsmith.render import read_body, read_conversation
from tagsmith.render.breaking import family_markers

A, NORTH, XML = "cohere-command-a", "cohere-north", "cohere-command-xml"
CMD4 = [NORTH, "cohere-command-a-plus"]
USER = {"role": "user", "content": "q"}
TURN, END = "<|START_OF_TURN_TOKEN|>", "<|END_OF_TURN_TOKEN|>"


def call(call_id: str, name: str = "f", arguments: Any = "{}") -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return {"id": call_id, "type": "function", "function": function}


def calling(*calls: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"role": "assistant", "tool_calls": list(calls), **fields}


def result(call_id: str, content: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def conversation(family: str, messages: list[Any], **options: Any) -> str:
    """The prompt from the first message on: what stands before is the vendor's own."""
    prompt = tagsmith.get_family(family).render(messages, **options)
    return prompt[prompt.index("<|USER_TOKEN|>") :]


def shared(message: dict[str, Any], **options: Any) -> set[str]:
    return {conversation(name, [USER, message], **options) for name in MELODY_FAMILIES}


# What the vendor's renderer makes of the same conversation, where it does no harm.

words = st.text(alphabet="abc XYZ.,:;'\"\\{}[]()<>&\n\té😀北", min_size=1, max_size=12)
values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**63), 2**63 - 1), words),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(words, inner, max_size=3)),
    max_leaves=6,
)
objects = st.dictionaries(words, values, min_size=1, max_size=3)


@pytest.mark.parametrize("name", [A, NORTH, XML])
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_harmless_words_are_rendered_as_the_vendor_renders_them(
    name: str, data: st.DataObject
) -> None:
    family = tagsmith.get_family(name)
    assert family.spec.melody is not None
    preset = family.spec.melody.preset
    text = words.filter(lambda text: not family_markers(family.spec).whole.search(text))
    system, first, second, thought, answer, description = (data.draw(text) for _ in range(6))
    arguments, brought, document, parameters = (data.draw(objects) for _ in range(4))
    renderer = getattr(importlib.import_module("cohere_melody"), f"render_{preset}")
    vendor = renderer(
        {
            "use_jinja": True,
            "messages": [
                {"role": "system", "content": [{"type": "text", "text": system}]},
                {"role": "user", "content": [_text(first), _text(second)]},
                {
                    "role": "chatbot",
                    "content": [{"type": "thinking", "thinking": thought}],
                    "tool_calls": [{"id": "a", "name": "f", "parameters": json.dumps(arguments)}],
                },
                {
                    "role": "tool",
                    "tool_call_id": "a",
                    "content": [_text(answer), {"type": "document", "document": brought}],
                },
                {"role": "chatbot", "content": [_text(answer)]},
            ],
            "documents": [document],
            "available_tools": [
                {"name": "f", "description": description, "parameters": parameters}
            ],
        }
    )
    prompt = family.render(
        [
            {"role": "system", "content": system},
            {"role": "user", "content": [_text(first), _text(second)]},
            calling(call("a", arguments=json.dumps(arguments)), tool_plan=thought),
            result(
                "a", [_text("\n" + answer), {"type": "document", "document": {"data": brought}}]
            ),
            {"role": "assistant", "content": answer},
        ],
        documents=[{"data": document}],
        tools=[{"name": "f", "description": description, "parameters": parameters}],
    )
    # A text that is a JSON object would be shown as one; a line end before it makes it none here.
    assert prompt.replace('{"content": "\\n', '{"content": "') == vendor


def _text(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


# Conversations, in every shape that says the same.


@pytest.mark.parametrize("content", ["ab", ["ab"], [_text("ab")], [{"text": "ab"}], ("ab",)])
def test_texts_of_a_user(content: Any) -> None:
    assert read_conversation([{"role": "user", "content": content}]) == read_conversation(
        [{"role": "user", "content": "ab"}]
    )


@pytest.mark.parametrize(
    "message",
    [
        {"reasoning_content": "r", "content": "a"},
        {"reasoning": "r", "content": [_text("a")]},
        {"reasoning": "r", "reasoning_content": "r", "content": "a", "tool_calls": None},
        {"tool_plan": "r", "content": "a", "tool_calls": []},
        {"content": [{"type": "thinking", "thinking": "r"}, _text("a")]},
        {"content": [_text("a"), {"type": "thinking", "thinking": "r"}]},
        {"reasoning": "r", "content": [{"type": "refusal", "refusal": "a"}]},
        {"reasoning": "r", "content": None, "refusal": "a"},
        cohere.AssistantChatMessageV2(tool_plan="r", content="a"),
        tagsmith.Message(reasoning="r", content="a"),
    ],
)
def test_texts_of_an_assistant(message: Any) -> None:
    given = {"role": "assistant", **message} if isinstance(message, dict) else message
    (turn,) = read_conversation([given])
    assert (turn.reasoning, turn.content) == ("r", "a")  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "messages",
    [
        [USER, calling(call("a", arguments='{"k": 1}')), result("a", "x")],
        json.dumps([USER, calling(call("a", arguments={"k": 1})), result("a", ["x"])]),
        [
            cohere.UserChatMessageV2(content="q"),
            cohere.AssistantChatMessageV2(
                tool_calls=[
                    cohere.ToolCallV2(
                        id="a",
                        function=cohere.ToolCallV2Function(name="f", arguments='{"k": 1}'),
                    )
                ]
            ),
            cohere.ToolChatMessageV2(
                tool_call_id="a", content=[cohere.TextToolContent(type="text", text="x")]
            ),
        ],
        [
            USER,
            openai_types.ChatCompletionMessage.model_validate(
                {"role": "assistant", **calling(call("a", arguments='{"k": 1}'))}
            ),
            result("a", "x"),
        ],
        [
            USER,
            tagsmith.Message(
                tool_calls=(tagsmith.ToolCall(0, "a", "f", '{"k": 1}', complete=True),)
            ),
            result("a", [_text("x")]),
        ],
    ],
)
def test_calls_and_results(messages: Any) -> None:
    prompt = conversation(A, messages)
    assert '{"tool_call_id": "0", "tool_name": "f", "parameters": {"k": 1}}' in prompt
    assert '"tool_call_id": "0",\n        "results": {\n            "0": {"content": "x"}' in prompt


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        ("plain", ['{"content": "plain"}']),
        ("", ['{"content": ""}']),
        (None, []),
        ([], []),
        ('{"a": 1, "b": 1.50}', ['{"a": 1, "b": 1.5}']),
        ('[1, "a"]', ['{"content": "[1, \\"a\\"]"}']),
        ('{"a": NaN}', ['{"content": "{\\"a\\": NaN}"}']),
        ('{"a": "\\ud800"}', ['{"content": "{\\"a\\": \\"\\\\ud800\\"}"}']),
        ("[" * 50_000, ['{"content": "' + "[" * 50_000 + '"}']),
        ({"a": "b"}, ['{"a": "b"}']),
        ([{"type": "document", "document": {"id": "r", "data": {"a": "b"}}}], ['{"a": "b"}']),
        ([{"type": "document", "document": {"data": "text"}}], ['{"text": "text"}']),
        ([_text("x"), _text('{"y": 2}')], ['{"content": "x"}', '{"y": 2}']),
    ],
)
def test_results_of_tools(content: Any, shown: list[str]) -> None:
    prompt = conversation(A, [USER, calling(call("a")), result("a", content)])
    lines = re.findall(r'^            "[0-9]+": (.*?),?$', prompt, re.MULTILINE)
    assert lines == shown


def test_documents() -> None:
    documents = [{"id": "d", "data": {"t": 1}}, {"data": "x"}, "y", {"t": 2, "id": "e"}]
    prompt = conversation(A, [USER], documents=documents)
    assert re.findall(r'^            "[0-9]+": (.*?),?$', prompt, re.MULTILINE) == [
        '{"t": 1, "id": "d"}',
        '{"text": "x"}',
        '{"text": "y"}',
        '{"t": 2, "id": "e"}',
    ]


def test_a_document_may_have_a_field_of_the_name_data() -> None:
    # The vendor's template shows nothing else of such a document.
    prompt = conversation(A, [USER], documents=[{"data": {"data": "x", "title": "T"}}])
    assert '{"data": "x", "title": "T"}' in prompt


def test_all_blocks_of_an_answer_are_shown() -> None:
    turn = {"role": "assistant", "content": [_text("one, "), _text("two")]}
    assert all("one, two" in prompt for prompt in shared(turn))


def test_numbers_keep_their_value() -> None:
    arguments = '{"big": 12345678901234567890123, "list": [0.1, 1e-7]}'
    for name in MELODY_FAMILIES:
        prompt = conversation(name, [USER, calling(call("a", arguments=arguments))])
        assert "12345678901234567890123" in prompt
        assert "0.1" in prompt


def test_images_stand_for_themselves_where_a_family_sees_them() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    content = [_text("see"), picture, _text("this")]
    message = {"role": "user", "content": content}
    assert "see<|IMG_PATCH|>this" in conversation("cohere-command-a-vision", [message])
    with pytest.raises(tagsmith.RequestError, match=r"^messages\[0\]\.content\[1\]: .*no pictures"):
        conversation(A, [message])


# What the request asks of the answer.


@pytest.mark.parametrize(
    ("name", "options", "more", "less"),
    [
        (A, {"reasoning": "enabled"}, "## Reasoning", None),
        (A, {"safety_mode": "STRICT"}, "strict safety mode", "contextual safety mode"),
        (A, {"safety_mode": "OFF"}, "# System Preamble", "safety mode"),
        (A, {"citations": "disabled", "documents": ["x"]}, "## Available Tools", "## Grounding"),
        (A, {"citations": "enabled", "documents": ["x"]}, "## Grounding", None),
        (NORTH, {"citations": "disabled", "documents": ["x"]}, "# Available", "Note that both"),
        (XML, {"citations": "enabled", "documents": ["x"]}, "Note that both", None),
        (A, {"response_format": {"type": "json_object"}}, "generating JSON", "json schema"),
        (NORTH, {"response_format": {"type": "text"}}, "Tools", "generating JSON"),
        (
            XML,
            {
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {"schema": {"type": "array"}},
                }
            },
            'json schema:\n{"type": "array"}',
            None,
        ),
        (A, {"template_fields": {"dev_instruction": "7770000000000000000"}}, "7770000000", None),
        (A, {"template_fields": {"skip_preamble": True}}, "q", "# System Preamble"),
        (A, {"template_fields": {"dev_instruction": "Be <co>"}}, "Be < co>", None),
        (NORTH, {"template_fields": {"platform_instruction": "P"}}, "<|START_TEXT|>P\n", None),
        (NORTH, {"template_fields": {"template_id": "cmd4-v2"}}, "<|START_THINKING|>", None),
    ],
)
def test_options(name: str, options: dict[str, Any], more: str, less: str | None) -> None:
    prompt = tagsmith.get_family(name).render([USER], **options)
    assert more in prompt
    assert less is None or less not in prompt


def test_tools_are_shown_in_every_spelling() -> None:
    parameters = {"type": "object", "properties": {"a": {"type": "integer"}}}
    function = {"name": "f", "description": 'Say "é"', "parameters": parameters}
    spellings: list[Any] = [
        [{"type": "function", "function": function}],
        [function],
        json.dumps([function]),
        [{"name": "f", "description": 'Say "é"', "input_schema": parameters}],
        [cohere.ToolV2(type="function", function=cohere.ToolV2Function(**function))],
    ]
    prompts = {tagsmith.get_family(NORTH).render([USER], tools=tools) for tools in spellings}
    (prompt,) = prompts
    assert '{"name": "f", "description": "Say \\"é\\"", "parameters": {"type": "object"' in prompt


# Where the output begins.


@pytest.mark.parametrize("reasoning", ["auto", "enabled", "disabled"])
@pytest.mark.parametrize(
    ("name", "fields"),
    [*((name, {}) for name in MELODY_FAMILIES), (NORTH, {"template_id": "cmd4-v2"})],
)
def test_what_follows_a_prompt_is_read_right(
    name: str, fields: dict[str, Any], reasoning: str
) -> None:
    family = tagsmith.get_family(name)
    prompt = family.render([USER], reasoning=reasoning, template_fields=fields)
    # Only the newer templates begin the thoughts, or end them before they begin.
    opened = prompt.endswith("<|START_THINKING|>")
    closed = prompt.endswith("<|START_THINKING|><|END_THINKING|>")
    newer = name == XML or bool(fields) or (reasoning == "disabled" and name in CMD4)
    assert (opened or closed) == newer
    assert not closed or reasoning == "disabled"
    thought = "" if closed else ("hm" if opened else "<|START_THINKING|>hm") + "<|END_THINKING|>"
    wrapper = family.spec.tag_style.content[-1]
    output = f"{thought}{wrapper.start}Paris.{wrapper.end}{END}"
    message = family.parse(output, prompt=prompt)
    assert (message.reasoning, message.content) == (None if closed else "hm", "Paris.")
    assert message.diagnostics == ()


# What is wrong is told by its field.


def deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return {"k": value}


@pytest.mark.parametrize(
    ("messages", "field"),
    [
        (None, "messages"),
        ("[", "messages"),
        ({}, "messages"),
        (5, "messages"),
        ([None], "messages[0]"),
        (["hi"], "messages[0]"),
        ([{}], "messages[0].role"),
        ([{"role": "bot"}], "messages[0].role"),
        ([{"role": ["user"]}], "messages[0].role"),
        ([{"role": "function", "content": "x"}], "messages[0].role"),
        ([{"role": "user"}], "messages[0].content"),
        ([{"role": "user", "content": 5}], "messages[0].content"),
        ([{"role": "user", "content": {"type": "text"}}], "messages[0].content"),
        ([{"role": "user", "content": [5]}], "messages[0].content[0]"),
        ([{"role": "user", "content": ["a", {"type": "audio"}]}], "messages[0].content[1].type"),
        ([{"role": "user", "content": [{"type": ["x"]}]}], "messages[0].content[0].type"),
        ([{"role": "user", "content": [{}]}], "messages[0].content[0].type"),
        ([{"role": "user", "content": [{"type": "text"}]}], "messages[0].content[0].text"),
        (
            [{"role": "user", "content": [{"type": "text", "text": 5}]}],
            "messages[0].content[0].text",
        ),
        ([{"role": "user", "content": "\ud800"}], "messages[0].content"),
        ([{"role": "system", "content": [{"type": "image"}]}], "messages[0].content[0].type"),
        ([USER, {"role": "assistant", "content": 5}], "messages[1].content"),
        ([USER, {"role": "assistant", "reasoning": {}}], "messages[1].reasoning"),
        ([USER, {"role": "assistant", "tool_calls": {}}], "messages[1].tool_calls"),
        ([USER, {"role": "assistant", "function_call": {}}], "messages[1].function_call"),
        ([USER, calling({})], "messages[1].tool_calls[0].id"),
        ([USER, calling({"id": ""})], "messages[1].tool_calls[0].id"),
        ([USER, calling({"id": "a"})], "messages[1].tool_calls[0].function"),
        ([USER, calling({"id": "a", "type": "custom"})], "messages[1].tool_calls[0].type"),
        ([USER, calling(call("a", name=""))], "messages[1].tool_calls[0].function.name"),
        (
            [USER, calling(call("a", arguments='{"a": '))],
            "messages[1].tool_calls[0].function.arguments",
        ),
        (
            [USER, calling(call("a", arguments="[1]"))],
            "messages[1].tool_calls[0].function.arguments",
        ),
        (
            [USER, calling(call("a", arguments='{"a": 1e999}'))],
            "messages[1].tool_calls[0].function.arguments",
        ),
        (
            [USER, calling(call("a", arguments={"a": object()}))],
            "messages[1].tool_calls[0].function.arguments",
        ),
        (
            [USER, calling(call("a", arguments=deep(100_000)))],
            "messages[1].tool_calls[0].function.arguments",
        ),
        ([USER, calling(call("a"), call("a"))], "messages[1].tool_calls[1].id"),
        ([USER, calling(call("a")), calling(call("a"))], "messages[2].tool_calls[0].id"),
        ([USER, {"role": "tool", "content": "x"}], "messages[1].tool_call_id"),
        ([USER, result("a", 5)], "messages[1].content"),
        ([USER, result("a", [{"type": "image"}])], "messages[1].content[0].type"),
        ([USER, result("a", [{"type": "document"}])], "messages[1].content[0].document"),
        (
            [USER, calling(call("a")), result("a", "x"), USER, result("a", "y")],
            "messages[4].tool_call_id",
        ),
        ([USER, {"role": "assistant", "citations": {}}], "messages[1].citations"),
        ([USER, {"role": "assistant", "citations": [5]}], "messages[1].citations[0]"),
        (
            [USER, {"role": "assistant", "citations": [{"start": "0"}]}],
            "messages[1].citations[0].start",
        ),
        (
            [USER, {"role": "assistant", "citations": [{"sources": [5]}]}],
            "messages[1].citations[0].sources[0]",
        ),
    ],
)
def test_wrong_messages_are_told_by_their_field(messages: Any, field: str) -> None:
    with pytest.raises(tagsmith.RequestError) as caught:
        tagsmith.get_family(A).render(messages)
    assert caught.value.field == field
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"documents": {}}, "documents"),
        ({"documents": [5]}, "documents[0]"),
        ({"documents": [{"data": {"a": float("nan")}}]}, "documents[0]"),
        ({"tools": {}}, "tools"),
        ({"tools": [{"name": "f", "description": 5}]}, "tools[0].description"),
        ({"tools": [{"name": "f", "parameters": 5}]}, "tools[0].parameters"),
        ({"response_format": {"type": "xml"}}, "response_format"),
        ({"reasoning": "maybe"}, "reasoning"),
        ({"citations": True}, "citations"),
        ({"safety_mode": "LAX"}, "safety_mode"),
        ({"safety_mode": 5}, "safety_mode"),
        ({"markers": "drop"}, "markers"),
        ({"units": "bytes"}, "units"),
        ({"template_fields": [1]}, "template_fields"),
        ({"template_fields": {"template_id": "none"}}, "template_fields.template_id"),
        ({"template_fields": {"skip_preamble": 1}}, "template_fields.skip_preamble"),
        ({"template_fields": {"dev_instruction": 5}}, "template_fields.dev_instruction"),
        ({"template_fields": {"a": 10**30}}, "template_fields"),
        ({"template_fields": deep(400)}, "template_fields"),
        ({"template_fields": {"messages": []}}, "template_fields.messages"),
        ({"template_fields": {"documents": []}}, "template_fields.documents"),
        ({"chat_template": 5}, "chat_template"),
    ],
)
def test_wrong_options_are_told_by_their_field(options: dict[str, Any], field: str) -> None:
    with pytest.raises(tagsmith.RequestError) as caught:
        tagsmith.get_family(A).render([USER], **options)
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("name", "messages", "options", "words"),
    [
        ("qwen3", [USER], {}, "give the text of the model's chat template"),
        (NORTH, [USER], {"safety_mode": "STRICT"}, "have no safety mode"),
        (A, [{"role": "system", "content": "s"}], {"documents": ["d"]}, "message of the user"),
        (XML, [USER, calling(call("a", arguments=deep(80)))], {}, "nested deeper than 64 levels"),
    ],
)
def test_what_cannot_be_rendered_is_told(
    name: str, messages: list[Any], options: dict[str, Any], words: str
) -> None:
    with pytest.raises(tagsmith.RequestError, match=words):
        tagsmith.get_family(name).render(messages, **options)


class Panic(BaseException):
    """As a panic in the vendor's Rust arrives: no Exception."""


class Failing:
    """A vendor's library whose renderer fails."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def render_cmd3(self, config: Any) -> str:
        raise self.error


@pytest.mark.parametrize("error", [ValueError("odd\nconfig"), Panic("odd\nconfig")])
def test_a_fault_of_the_vendors_library_is_a_request_error(
    monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    monkeypatch.setattr("tagsmith.render.melody.load_melody", lambda: Failing(error))
    with pytest.raises(tagsmith.RequestError, match=r"cannot render them \(odd config\)$"):
        tagsmith.get_family(A).render([USER])


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit()])
def test_an_interruption_is_none(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    monkeypatch.setattr("tagsmith.render.melody.load_melody", lambda: Failing(error))
    with pytest.raises(type(error)):
        tagsmith.get_family(A).render([USER])


@pytest.mark.parametrize("turn", [USER, result("a", "x"), {"role": "system", "content": "s"}])
def test_only_an_assistant_has_a_turn_to_write(turn: Any) -> None:
    with pytest.raises(tagsmith.RequestError, match="message of the assistant"):
        tagsmith.get_family(A).render_turn(turn)


KEYS = ["role", "content", "type", "text", "tool_calls", "id", "function", "name", "arguments"]
KEYS += ["tool_call_id", "citations", "start", "end", "sources", "content_index", "thinking"]
KEYS += ["document", "data"]
JUNK = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=4)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(KEYS),
            st.one_of(
                inner,
                st.sampled_from(["user", "assistant", "tool", "text", "document", "thinking"]),
            ),
            max_size=5,
        ),
    ),
    max_leaves=20,
)


@settings(max_examples=40, deadline=None)
@given(st.lists(JUNK, max_size=3), st.one_of(st.none(), JUNK))
def test_odd_shapes_give_a_prompt_or_a_request_error(messages: Any, documents: Any) -> None:
    try:
        prompt = tagsmith.get_family(A).render(messages, documents=documents)
    except tagsmith.RequestError:
        return
    assert prompt.endswith(f"{TURN}<|CHATBOT_TOKEN|>")


# A request's body.


@pytest.mark.parametrize(
    ("body", "options"),
    [
        ({"model": "m", "temperature": 0}, {}),
        (
            {"tools": [], "documents": None, "safety_mode": "STRICT"},
            {"tools": [], "safety_mode": "STRICT"},
        ),
        ({"thinking": {"type": "enabled", "token_budget": 5}}, {"reasoning": "enabled"}),
        (
            {"reasoning_effort": "none"},
            {"reasoning": "disabled", "template_fields": {"reasoning_effort": "none"}},
        ),
        ({"reasoning_effort": "low"}, {"template_fields": {"reasoning_effort": "low"}}),
        ({"citation_options": {"mode": "FAST"}}, {"citations": "enabled"}),
        ({"citation_options": {"mode": "off"}}, {"citations": "disabled"}),
        ({"citation_options": {}}, {}),
        (
            {"thinking": {"type": "enabled"}, "chat_template_kwargs": {"thinking": False}},
            {"reasoning": "enabled", "template_fields": {"thinking": False}},
        ),
        ({"chat_template": "{{ x }}"}, {}),
        (
            {"chat_template_kwargs": {"enable_thinking": False}},
            {"reasoning": "disabled", "template_fields": {"enable_thinking": False}},
        ),
    ],
)
def test_a_body_says_how_to_render(body: dict[str, Any], options: dict[str, Any]) -> None:
    assert read_body({"messages": [USER], **body}) == {"messages": [USER], **options}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (None, "request"),
        ([], "request"),
        ({}, "messages"),
        ({"messages": [], "thinking": "on"}, "thinking"),
        ({"messages": [], "thinking": {"type": "on"}}, "thinking.type"),
        ({"messages": [], "citation_options": 5}, "citation_options"),
        ({"messages": [], "citation_options": {"mode": "never"}}, "citation_options.mode"),
        ({"messages": [], "chat_template_kwargs": 5}, "chat_template_kwargs"),
    ],
)
def test_wrong_bodies_are_told_by_their_field(body: Any, field: str) -> None:
    with pytest.raises(tagsmith.RequestError) as caught:
        read_body(body)
    assert caught.value.field == field


def test_rendering_by_the_vendor_needs_no_jinja() -> None:
    code = (
        "import sys, tagsmith\n"
        "assert 'tagsmith.render' not in sys.modules\n"
        "tagsmith.get_family('cohere-north').render([{'role': 'user', 'content': 'q'}])\n"
        "assert 'jinja2' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
