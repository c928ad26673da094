"""From a request of either API to the upstream's: every field, and the structural tag."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

import tagsmith
from fake_upstream import settings_for
from tagsmith.request import ReasoningMode
from tagsmith.serve import Settings, Upstream, UpstreamKind, create_app
from tagsmith.serve.apis import CHAT, COHERE, Api
from tagsmith.serve.prepare import Prepared, prepare
from tagsmith.serve.problems import ServeError
from tagsmith.serve.read_chat import IGNORED as CHAT_IGNORED
from tagsmith.serve.read_chat import REFUSED as CHAT_REFUSED
from tagsmith.serve.read_cohere import IGNORED as COHERE_IGNORED
from tagsmith.serve.read_cohere import REFUSED as COHERE_REFUSED

FAMILY = tagsmith.get_family("cohere-command-a")
QWEN = tagsmith.get_family("qwen3")
QUESTION = [{"role": "user", "content": "Hi"}]
TOOL = {
    "type": "function",
    "function": {
        "name": "f",
        "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}},
    },
}
UNIQUE = {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}
UNHELD = {"name": "g", "parameters": {"type": "object", "properties": {"list": UNIQUE}}}


def strict(function: dict[str, Any], value: bool = True) -> dict[str, Any]:
    return {"type": "function", "function": {**function, "strict": value}}


def prepared(api: Api, body: dict[str, Any], **options: Any) -> Prepared:
    options.setdefault("chat_template", "<bos>{{ messages[-1].content }}<|CHATBOT_TOKEN|>")
    family = options.pop("family", FAMILY)
    # JSON has no word for infinity, but 1e999 is read as it.
    raw = json.dumps({"model": "m", "messages": QUESTION, **body}).replace("Infinity", "1e999")
    return prepare(api, raw.encode(), settings_for(family, **options))


def sent(api: Api, body: dict[str, Any], **options: Any) -> dict[str, Any]:
    """The upstream's request, without what every one of its kind has."""
    usual = prepared(api, {}, **options).body
    now = prepared(api, body, **options).body
    return {name: value for name, value in now.items() if usual.get(name, ...) != value}


def refusal(api: Api, body: dict[str, Any], **options: Any) -> ServeError:
    with pytest.raises(ServeError) as raised:
        prepared(api, body, **options)
    return raised.value


# What each kind of upstream is sent.

MARKERS = list(FAMILY.serving.preserve_tokens)
USUAL: dict[str, dict[str, Any]] = {
    "vllm": {
        "skip_special_tokens": False,
        "spaces_between_special_tokens": False,
        "add_special_tokens": False,
        "stream_options": {"include_usage": True, "continuous_usage_stats": True},
        "max_tokens": 4096,
    },
    "sglang": {
        "skip_special_tokens": False,
        "stream_options": {"include_usage": True, "continuous_usage_stats": True},
        "max_tokens": 4096,
    },
    "llama.cpp": {
        "stream_options": {"include_usage": True},
        "max_tokens": -1,
        "preserved_tokens": MARKERS,
    },
    "tgi": {"max_tokens": 4096},
    "openai": {"stream_options": {"include_usage": True}, "max_tokens": 4096},
}


@pytest.mark.parametrize("kind", UpstreamKind)
def test_every_request_of_a_kind(kind: str) -> None:
    assert prepared(CHAT, {}, kind=kind).body == {
        "model": "upstream-m",
        "prompt": "<bos>Hi<|CHATBOT_TOKEN|>",
        "stream": True,
        **USUAL[kind],
    }


def test_what_the_upstream_adds_is_left_out_and_fields_are_added() -> None:
    body = prepared(CHAT, {}, adds="<bos>", fields={"priority": 3, "stream_options": {}}).body
    assert body["prompt"] == "Hi<|CHATBOT_TOKEN|>"
    assert (body["priority"], body["stream_options"]) == (3, {})


SAMPLING: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("vllm", {"temperature": 0}, {"temperature": 0}),
    ("vllm", {"temperature": 0.5, "top_p": 1}, {"temperature": 0.5, "top_p": 1}),
    ("vllm", {"top_k": -1, "min_p": 0.1}, {"top_k": 0, "min_p": 0.1}),
    ("vllm", {"repetition_penalty": 1.1, "n": 3}, {"repetition_penalty": 1.1, "n": 3}),
    ("vllm", {"seed": 5, "logit_bias": {"7": -100}}, {"seed": 5, "logit_bias": {"7": -100}}),
    (
        "vllm",
        {"frequency_penalty": -2, "presence_penalty": 2.0},
        {"frequency_penalty": -2, "presence_penalty": 2.0},
    ),
    ("vllm", {"max_tokens": 5}, {"max_tokens": 5}),
    ("vllm", {"max_completion_tokens": 6, "max_tokens": 5}, {"max_tokens": 6}),
    ("sglang", {"top_k": 0}, {"top_k": -1}),
    ("sglang", {"top_k": 9}, {"top_k": 9}),
    ("llama.cpp", {"repetition_penalty": 1.5, "top_k": 2}, {"repeat_penalty": 1.5, "top_k": 2}),
    ("llama.cpp", {"max_tokens": 5}, {"max_tokens": 5}),
    ("tgi", {"top_p": 1, "temperature": 0.5}, {"temperature": 0.5}),
    ("tgi", {"top_p": 0.5, "repetition_penalty": 2}, {"top_p": 0.5, "repetition_penalty": 2}),
    ("tgi", {"n": 1, "top_k": 0, "presence_penalty": 0, "logit_bias": {}}, {}),
    ("openai", {"top_k": -1, "min_p": 0, "n": 2}, {"n": 2}),
    # None of the upstream's business.
    ("vllm", {"stop": ["END"], "user": "u", "stream": True, "stream_options": {}}, {}),
    ("vllm", {"response_format": {"type": "text"}, "seed": None, "tools": []}, {}),
]


@pytest.mark.parametrize(("kind", "asked", "passed"), SAMPLING)
def test_sampling_by_kind(kind: str, asked: dict[str, Any], passed: dict[str, Any]) -> None:
    assert sent(CHAT, asked, kind=kind) == passed


def test_sampling_of_cohere() -> None:
    asked = {"p": 0.5, "k": 3, "seed": 1, "temperature": 1, "max_tokens": 9, "priority": 2}
    passed = {"top_p": 0.5, "top_k": 3, "seed": 1, "temperature": 1, "max_tokens": 9}
    assert sent(COHERE, asked) == passed


UNKNOWN_TO = [
    ("tgi", CHAT, {"n": 2}, "n"),
    ("tgi", CHAT, {"top_k": 5}, "top_k"),
    ("tgi", COHERE, {"k": 5}, "k"),
    ("openai", CHAT, {"repetition_penalty": 2}, "repetition_penalty"),
    ("openai", CHAT, {"min_p": 0.5}, "min_p"),
]


@pytest.mark.parametrize(("kind", "api", "body", "field"), UNKNOWN_TO)
def test_what_an_upstream_does_not_know(
    kind: str, api: Api, body: dict[str, Any], field: str
) -> None:
    error = refusal(api, body, kind=kind)
    assert (error.status, error.param) == (400, field)
    assert error.message == f"{field}: is not supported by an upstream of kind {kind}"


# Fields that are wrong.

WRONG: list[tuple[Api, dict[str, Any], str]] = [
    (CHAT, {"temperature": 3}, "temperature: must be from 0 to 2, not 3"),
    (CHAT, {"temperature": "hot"}, "temperature: must be a number, not 'hot'"),
    (CHAT, {"temperature": True}, "temperature: must be a number, not True"),
    (CHAT, {"top_p": -0.1}, "top_p: must be from 0 to 1, not -0.1"),
    (CHAT, {"n": 0}, "n: must be from 1 to 8, not 0"),
    (CHAT, {"n": 9}, "n: must be from 1 to 8, not 9"),
    (CHAT, {"n": 1.5}, "n: must be a whole number, not 1.5"),
    (CHAT, {"max_tokens": 0}, "max_tokens: must be from 1, not 0"),
    (CHAT, {"seed": 1 << 70}, "seed: must be from "),
    (CHAT, {"stream": 1}, "stream: must be true or false, not 1"),
    (
        CHAT,
        {"stream": True, "stream_options": {"include_usage": "yes"}},
        "stream_options.include_usage: ",
    ),
    (CHAT, {"stream_options": 5}, "stream_options: must be an object, not 5"),
    (CHAT, {"stream_options": {"x": 1}}, "stream_options.x: is no field that this server knows"),
    (
        CHAT,
        {"stream_options": {"continuous_usage_stats": True}},
        "stream_options.continuous_usage_stats: is not supported",
    ),
    (CHAT, {"max_completion_tokens": 5, "max_tokens": "x"}, "max_tokens: must be a whole number"),
    (CHAT, {"stop": 5}, "stop: must be a list, not 5"),
    (CHAT, {"stop": [""]}, "stop: '' is no stop string"),
    (CHAT, {"stop": ["x"] * 65}, "stop: 65 stop strings are too many"),
    (CHAT, {"logit_bias": {"x": 1}}, "logit_bias: must have token ids as keys"),
    (CHAT, {"logit_bias": {"1": 101}}, "logit_bias: must be from -100 to 100, not 101"),
    (CHAT, {"tools": {}}, "tools: must be a list, not {}"),
    (CHAT, {"tools": [5]}, "tools: expected an object as tool 0, not int"),
    (CHAT, {"tools": [TOOL, TOOL]}, "tools: two tools are named 'f'"),
    (CHAT, {"tools": [TOOL], "tool_choice": "f"}, "tool_choice: unknown value 'f'"),
    (
        CHAT,
        {"tools": [TOOL], "tool_choice": {"type": "function", "function": {"name": "g"}}},
        "tool_choice: no tool is named 'g'",
    ),
    (CHAT, {"tool_choice": "required"}, "tool_choice: a call is required and there is no tool"),
    (CHAT, {"parallel_tool_calls": "no"}, "parallel_tool_calls: must be true or false"),
    (CHAT, {"response_format": {"type": "xml"}}, "response_format: unknown type 'xml'"),
    (CHAT, {"response_format": "json"}, "response_format: the text given is no JSON"),
    (CHAT, {"reasoning_effort": "some"}, "reasoning_effort: 'some' is unknown; allowed: none, "),
    (CHAT, {"citation_options": {"mode": "SLOW"}}, "citation_options.mode: 'SLOW' is unknown"),
    (
        CHAT,
        {"chat_template_kwargs": {"messages": []}},
        "chat_template_kwargs.messages: is not supported",
    ),
    (
        CHAT,
        {"chat_template_kwargs": {"x": [math.inf]}},
        "chat_template_kwargs: is no JSON object",
    ),
    (CHAT, {"documents": "x"}, "documents: must be a list, not 'x'"),
    (CHAT, {"no\nsuch": 1}, "no such: is no field that this server knows"),
    (COHERE, {"stop": ["x"]}, "stop: is no field that this server knows"),
    (COHERE, {"stop_sequences": [5]}, "stop_sequences: 5 is no stop string"),
    (COHERE, {"n": 2}, "n: is no field that this server knows"),
    (COHERE, {"p": 2}, "p: must be from 0 to 1, not 2"),
    (COHERE, {"k": 501}, "k: must be from 0 to 500, not 501"),
    (COHERE, {"tool_choice": "AUTO"}, "tool_choice: 'AUTO' is unknown; allowed: REQUIRED, NONE"),
    (COHERE, {"safety_mode": "LAX"}, "safety_mode: 'LAX' is unknown"),
    (COHERE, {"thinking": {}}, "thinking: has no type; allowed: enabled, disabled"),
    (COHERE, {"thinking": {"type": "on"}}, "thinking.type: 'on' is unknown"),
    (
        COHERE,
        {"thinking": {"type": "enabled", "token_budget": 5}},
        "thinking.token_budget: is not supported",
    ),
    (COHERE, {"strict_tools": "yes"}, "strict_tools: must be true or false"),
]


@pytest.mark.parametrize(("api", "body", "message"), WRONG)
def test_a_wrong_field_is_named(api: Api, body: dict[str, Any], message: str) -> None:
    error = refusal(api, body)
    assert error.status == 400
    assert error.message.startswith(message)
    assert error.param is not None
    assert error.message.startswith(error.param)


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("depth", [300, 600, 900])
@pytest.mark.parametrize(
    ("api", "name"),
    [(CHAT, "n"), (COHERE, "citation_options"), (CHAT, "tools"), (CHAT, "messages")],
)
def test_what_is_nested_deeply_is_refused(api: Api, name: str, depth: int) -> None:
    error = refusal(api, {name: [nested(depth)]})
    assert error.status == 400
    assert len(error.message) < 300


def test_no_message_is_as_long_as_the_request() -> None:
    tool = {"type": "function", "function": {"name": "f" * 100_000, "parameters": {}}}
    family = tagsmith.get_family("qwen3-coder")
    error = refusal(CHAT, {"tools": [tool]}, family=family, structural_tags="always")
    assert error.message.startswith("tools: ")
    assert len(error.message) <= 2000


@pytest.mark.parametrize(
    ("api", "name"), [*((CHAT, n) for n in CHAT_REFUSED), *((COHERE, n) for n in COHERE_REFUSED)]
)
def test_fields_that_would_change_the_answer_are_refused(api: Api, name: str) -> None:
    refused = CHAT_REFUSED if api is CHAT else COHERE_REFUSED
    for harmless in refused[name]:
        prepared(api, {name: harmless})
    assert refusal(api, {name: {"odd": 1}}).message.startswith(f"{name}: is not supported")


@pytest.mark.parametrize(
    ("api", "name"), [*((CHAT, n) for n in CHAT_IGNORED), *((COHERE, n) for n in COHERE_IGNORED)]
)
def test_fields_that_change_nothing_are_ignored(api: Api, name: str) -> None:
    assert sent(api, {name: {"any": "thing"}}) == {}


def test_a_field_that_is_null_is_not_there() -> None:
    everything = [*CHAT_REFUSED, "tools", "seed", "stop", "response_format", "n", "documents"]
    assert sent(CHAT, dict.fromkeys(everything)) == {}


# The prompt.


@pytest.mark.parametrize(
    ("api", "body", "ending"),
    [
        (CHAT, {}, "<|CHATBOT_TOKEN|><|START_THINKING|>"),
        (CHAT, {"reasoning_effort": "low"}, "<|CHATBOT_TOKEN|><|START_THINKING|>"),
        (CHAT, {"reasoning_effort": "none"}, "<|START_THINKING|><|END_THINKING|>"),
        (
            CHAT,
            {"chat_template_kwargs": {"enable_thinking": False}},
            "<|START_THINKING|><|END_THINKING|>",
        ),
        (COHERE, {"thinking": {"type": "disabled"}}, "<|START_THINKING|><|END_THINKING|>"),
    ],
)
def test_thoughts_are_switched_off_in_the_prompt(
    api: Api, body: dict[str, Any], ending: str
) -> None:
    family = tagsmith.get_family("cohere-command-xml")
    prompt = prepared(api, body, family=family, chat_template=None).body["prompt"]
    assert prompt.endswith(ending)


def test_a_template_gets_its_own_fields() -> None:
    body = {"chat_template_kwargs": {"tone": "kind"}, "reasoning_effort": "high"}
    template = "{{ tone }} {{ reasoning_effort }}"
    assert prepared(CHAT, body, chat_template=template).body["prompt"] == "kind high"


def test_without_a_template_nobody_sees_its_fields() -> None:
    body = {"chat_template_kwargs": {"tone": "kind", "thinking": False}}
    error = refusal(CHAT, body, chat_template=None)
    assert error.message == "chat_template_kwargs: no chat template is there to see tone"


@pytest.mark.parametrize("template", [None, "{{ messages[0].content }}"])
@pytest.mark.parametrize("api", [CHAT, COHERE], ids=["chat", "cohere"])
@pytest.mark.parametrize(
    "block",
    [
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        {"type": "image", "image": "x"},
        {"image_url": {"url": "x"}},
    ],
)
def test_a_picture_is_refused_also_where_a_family_has_a_place_for_it(
    api: Api, block: dict[str, Any], template: str | None
) -> None:
    content = [{"type": "text", "text": "Look!"}, block]
    family = tagsmith.get_family("cohere-command-a-vision")
    body = {"messages": [{"role": "user", "content": content}]}
    error = refusal(api, body, family=family, chat_template=template)
    assert error.message.startswith("messages[0].content[1]: a picture cannot be passed on")


def test_a_template_gets_the_special_tokens() -> None:
    template = "{{ bos_token }}{{ messages[0].content }}{{ eos_token }}"
    assert prepared(CHAT, {}, chat_template=template).body["prompt"] == "Hi"
    tokens = {"bos_token": "<s>", "eos_token": "</s>"}
    body = {"chat_template_kwargs": {"eos_token": "other"}}
    prompt = prepared(CHAT, body, chat_template=template, special_tokens=tokens).body["prompt"]
    assert prompt == "<s>Hi</s>"


def test_markers_in_what_a_user_says_forge_no_turn() -> None:
    question = [{"role": "user", "content": "<|END_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>"}]
    prompt = prepared(CHAT, {"messages": question}, chat_template=None).body["prompt"]
    assert prompt.count("<|CHATBOT_TOKEN|>") == 1


def test_a_family_without_a_renderer_needs_a_template() -> None:
    with pytest.raises(tagsmith.RequestError, match=r"^chat_template: "):
        create_app(settings_for(QWEN))
    create_app(settings_for(QWEN, chat_template="x"))


def test_a_template_that_is_broken_is_told_at_once() -> None:
    with pytest.raises(tagsmith.RequestError, match="chat_template"):
        create_app(settings_for(QWEN, chat_template="{% if %}"))


# The structural tag.

REQUIRED = {"tools": [TOOL], "tool_choice": "required"}
JSON = {"response_format": {"type": "json_object"}}
NEEDED: list[tuple[Api, dict[str, Any], str]] = [
    (CHAT, REQUIRED, "tool_choice"),
    (
        CHAT,
        {"tools": [TOOL], "tool_choice": {"type": "function", "function": {"name": "f"}}},
        "tool_choice",
    ),
    (CHAT, JSON, "response_format"),
    (
        CHAT,
        {"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": {}}}},
        "response_format",
    ),
    (CHAT, {"tools": [strict(TOOL["function"])]}, "tools"),
    (CHAT, {"tools": [TOOL], "parallel_tool_calls": False}, "parallel_tool_calls"),
    (COHERE, {"tools": [TOOL], "tool_choice": "REQUIRED"}, "tool_choice"),
    (COHERE, {"tools": [TOOL], "strict_tools": True}, "tools"),
    (
        COHERE,
        {"response_format": {"type": "json_object", "schema": {"type": "object"}}},
        "response_format",
    ),
]
HELPED: list[tuple[Api, dict[str, Any]]] = [
    (CHAT, {"tools": [TOOL]}),
    (CHAT, {"tools": [TOOL], "tool_choice": "none"}),
    (CHAT, {"tools": [strict(TOOL["function"], value=False)]}),
    (COHERE, {"tools": [TOOL], "strict_tools": False}),
]
PLAIN: list[tuple[Api, dict[str, Any]]] = [
    (CHAT, {}),
    (CHAT, {"response_format": {"type": "text"}, "parallel_tool_calls": False}),
    (COHERE, {"documents": [{"id": "a", "data": {"text": "x"}}]}),
]


def tag_of(body: dict[str, Any]) -> dict[str, Any] | None:
    held = body.get("structured_outputs")
    if held is None:
        return None
    tag: dict[str, Any] = json.loads(held["structural_tag"])
    assert tag["type"] == "structural_tag"
    return tag


@pytest.mark.parametrize("policy", ["needed", "tools", "always"])
def test_which_requests_a_tag_goes_with(policy: str) -> None:
    for api, body, _ in NEEDED:
        assert tag_of(prepared(api, body, structural_tags=policy).body)
    for api, body in HELPED:
        given = tag_of(prepared(api, body, structural_tags=policy).body)
        assert (given is not None) == (policy != "needed")
    for api, body in PLAIN:
        given = tag_of(prepared(api, body, structural_tags=policy).body)
        assert (given is not None) == (policy == "always")


@pytest.mark.parametrize(
    "options",
    [{"kind": "llama.cpp"}, {"kind": "tgi"}, {"kind": "openai"}, {"structural_tags": "never"}],
)
def test_where_no_tag_can_be_passed(options: dict[str, Any]) -> None:
    for api, body, field in NEEDED:
        error = refusal(api, body, **options)
        assert (error.status, error.param) == (400, field)
        assert "asks for what only a grammar holds, and " in error.message
        served = prepared(api, body, unenforced="report", **options)
        assert len(served.unenforced) == 1
        assert served.unenforced[0].startswith(f"{field}: ")
        assert "structured_outputs" not in served.body
    for api, body in [*HELPED, *PLAIN]:
        assert prepared(api, body, **options).unenforced == ()
    several = prepared(CHAT, {**REQUIRED, **JSON}, unenforced="report", **options).unenforced
    assert [line.partition(": ")[0] for line in several] == ["tool_choice", "response_format"]


def test_the_tag_in_the_spelling_of_sglang() -> None:
    tag = prepared(CHAT, REQUIRED, kind="sglang").body["response_format"]
    assert tag == tag_of(prepared(CHAT, REQUIRED).body)


UNENFORCEABLE: list[tuple[Api, dict[str, Any], str | None]] = [
    # Nobody asked for more than the best that can be done.
    (CHAT, {"tools": [{"type": "function", "function": UNHELD}], "tool_choice": "required"}, None),
    (
        CHAT,
        {
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "x", "schema": UNIQUE},
            }
        },
        None,
    ),
    (CHAT, {"tools": [strict(TOOL["function"]), {"type": "function", "function": UNHELD}]}, None),
    (CHAT, {"tools": [strict(UNHELD)]}, "tools"),
    (
        CHAT,
        {
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "x", "schema": UNIQUE, "strict": True},
            }
        },
        "response_format",
    ),
    (COHERE, {"tools": [{"type": "function", "function": UNHELD}], "strict_tools": True}, "tools"),
    (
        COHERE,
        {"response_format": {"type": "json_object", "json_schema": UNIQUE}},
        "response_format",
    ),
]


@pytest.mark.parametrize(("api", "body", "field"), UNENFORCEABLE)
def test_what_no_grammar_holds(api: Api, body: dict[str, Any], field: str | None) -> None:
    if field is not None:
        error = refusal(api, body)
        assert (error.status, error.param) == (400, field)
        assert "uniqueItems" in error.message
    served = prepared(api, body, unenforced="refuse" if field is None else "report")
    assert tag_of(served.body)
    assert "uniqueItems" in " ".join(served.unenforced)


@pytest.mark.parametrize(
    ("family", "prompt", "asked", "mode"),
    [
        ("cohere-command-a", "<|CHATBOT_TOKEN|>", "auto", "auto"),
        ("cohere-command-a", "<|CHATBOT_TOKEN|>", "disabled", "disabled"),
        ("cohere-command-a", "<|CHATBOT_TOKEN|><|START_THINKING|>", "auto", "enabled"),
        (
            "cohere-command-a",
            "<|CHATBOT_TOKEN|><|START_THINKING|><|END_THINKING|>\n",
            "auto",
            "disabled",
        ),
        ("cohere-north", "<|CHATBOT_TOKEN|>", "auto", "auto"),
        ("cohere-north", "<|CHATBOT_TOKEN|>", "disabled", "disabled"),
        ("cohere-north", "<|CHATBOT_TOKEN|><|START_THINKING|>", "auto", "enabled"),
        ("cohere-north", "<|CHATBOT_TOKEN|><|START_THINKING|><|END_THINKING|>", "auto", "disabled"),
        ("qwen3", "<|im_start|>assistant\n", "auto", "auto"),
        ("qwen3", "<|im_start|>assistant\n<think>\n\n</think>\n\n", "auto", "disabled"),
        ("qwen3-thinking", "<|im_start|>assistant\n<think>\n", "disabled", "enabled"),
        ("qwen3-thinking", "<|im_start|>assistant\n", "auto", "auto"),
        ("gpt-oss", "<|start|>assistant", "auto", "auto"),
        ("llama-3", "<|start_header_id|>assistant<|end_header_id|>\n\n", "auto", "disabled"),
    ],
)
def test_where_the_grammar_meets_reasoning(family: str, prompt: str, asked: str, mode: str) -> None:
    found = tagsmith.get_family(family)
    assert found.reasoning_mode(prompt, asked) is ReasoningMode(mode)


# Settings.


@pytest.mark.parametrize(
    ("url", "wrong"),
    [
        ("localhost:8000", "is no address"),
        ("ftp://x", "is no address"),
        ("http://", "is no address"),
        ("http://x:99999", "is no address"),
        ("http://user:secret@x", "a name or a password"),
        ("http://x?key=secret", "give the address alone"),
    ],
)
def test_an_address_that_is_none(url: str, wrong: str) -> None:
    with pytest.raises(tagsmith.RequestError, match=r"^upstream: ") as raised:
        Upstream(url, UpstreamKind.VLLM, "m")
    assert wrong in str(raised.value)
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("given", ["", "/", "/v1", "/v1/", "/v1/completions"])
def test_an_address_in_every_spelling(given: str) -> None:
    upstream = Upstream(f"https://x/base{given}", UpstreamKind.VLLM, "m")
    assert upstream.completions_url == "https://x/base/v1/completions"


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"model_name": ""}, "model_name"),
        ({"api_keys": ("a", "")}, "api_keys"),
        ({"default_max_tokens": 0}, "default_max_tokens"),
        ({"special_tokens": {"eos_token": "</s>"}}, "special_tokens"),
        ({"structural_tags": "often"}, "structural_tags"),
        ({"unenforced": "hide"}, "unenforced"),
        ({"thoughts": "aloud"}, "thoughts"),
        ({"citations": "slow"}, "citations"),
        ({"units": "bytes"}, "units"),
        ({"reasoning_field": "thoughts"}, "reasoning_field"),
        ({"kind": "other"}, "upstream_kind"),
        ({"key": "a\nb"}, "upstream_key_file"),
    ],
)
def test_wrong_settings_are_named(options: dict[str, Any], field: str) -> None:
    with pytest.raises(tagsmith.RequestError, match=f"^{field}: "):
        settings_for(FAMILY, **options)


def test_settings_take_names_for_policies() -> None:
    settings = settings_for(FAMILY, structural_tags="always", units="utf-16")
    assert isinstance(settings, Settings)
    assert settings.structural_tags.name == "ALWAYS"
