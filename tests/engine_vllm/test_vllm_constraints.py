"""Constraints on the answer, whichever field gives them: held with the family's own markup, left to
the letter where they are the user's own, and refused where no grammar holds them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from vllm.exceptions import VLLMValidationError
from vllm_held import CALL, HERMES, OSLO, OWN_TAG, PROMPT, QWEN, SCHEMA, STRICT, UNHELD, accepts
from vllm_kit import BOTH, NOW, Make, Served, chat, responses

COMMAND = Served("cohere-command-a")

both = pytest.mark.parametrize("make", BOTH.values(), ids=BOTH)


def constraints(api: str) -> dict[str, dict[str, Any]]:
    """The same constraint in each of the fields that an API has for it."""
    schema = {"name": "answer", "schema": SCHEMA}
    if api == "chat":
        own = {
            "response_format": {"response_format": {"type": "json_schema", "json_schema": schema}},
            "strict": {
                "response_format": {"type": "json_schema", "json_schema": schema | {"strict": True}}
            },
        }
    else:
        own = {
            "text.format": {"text": {"format": {"type": "json_schema"} | schema}},
            "strict": {"text": {"format": {"type": "json_schema", "strict": True} | schema}},
        }
    return own | {
        "structured_outputs": {"structured_outputs": {"json": SCHEMA}},
        "as text": {"structured_outputs": {"json": json.dumps(SCHEMA)}},
    }


SCHEMAS = [(api, name) for api in BOTH for name in constraints(api)]


@pytest.mark.parametrize(("api", "field"), SCHEMAS)
def test_a_schema_of_the_answer(api: str, field: str) -> None:
    given = constraints(api)[field]
    good, bad = '{"ok": true}', '{"ok": 1}'
    request = HERMES.adjusted(BOTH[api](**given), PROMPT)
    assert accepts(request, good, bad, "Hi") == [True, False, False]
    # Beside tools, the answer is either.
    request = HERMES.adjusted(BOTH[api]([STRICT], **given), PROMPT)
    assert accepts(request, good, bad, "Hi", OSLO) == [True, False, False, True]


@both
def test_a_schema_behind_reasoning(make: Make) -> None:
    request = make(structured_outputs={"json": SCHEMA})
    good, bad = '{"ok": true}', "Hi"
    thought = "<think>\nWell.\n</think>\n\n"
    open_ = QWEN.adjusted(make(structured_outputs={"json": SCHEMA}), PROMPT)
    assert accepts(open_, thought + good, thought + bad, server=QWEN) == [True, False]
    closed = QWEN.adjusted(request, f"{PROMPT}<think>\n\n</think>\n\n")
    assert accepts(closed, good, thought + good, server=QWEN) == [True, False]
    begun = QWEN.adjusted(make(structured_outputs={"json": SCHEMA}), f"{PROMPT}<think>\n")
    assert accepts(begun, "Well.\n</think>\n\n" + good, good, server=QWEN) == [True, False]


@both
def test_any_object(make: Make) -> None:
    fields: dict[str, Any] = {"structured_outputs": {"json_object": True}}
    formats = {chat: {"response_format": {"type": "json_object"}}}
    formats[responses] = {"text": {"format": {"type": "json_object"}}}
    for given in (fields, formats[make]):
        request = HERMES.adjusted(make(**given), PROMPT)
        assert accepts(request, '{"a": [1]}', "[1]", "Hi") == [True, False, False]


FREE: dict[str, dict[str, Any]] = {
    "regex": {"regex": "yes|no"},
    "choice": {"choice": ["yes", "no"]},
    "grammar": {"grammar": 'root ::= "yes" | "no"'},
}


@both
@pytest.mark.parametrize("kind", FREE)
def test_a_constraint_of_the_users_own_stands(make: Make, kind: str) -> None:
    for tools in (None, [STRICT]):
        request = HERMES.adjusted(make(tools, structured_outputs=FREE[kind]), PROMPT)
        params = request.to_sampling_params(100, {}).structured_outputs
        assert getattr(params, kind) == FREE[kind][kind]
        assert params.structural_tag is None
        assert not request._grammar_from_parser


@both
@pytest.mark.parametrize("kind", ["choice", "json"])
def test_a_call_that_is_forced_comes_before_it(make: Make, kind: str) -> None:
    given = {"json": SCHEMA} if kind == "json" else FREE[kind]
    request = make([STRICT], structured_outputs=given, tool_choice="required")
    request = HERMES.adjusted(request, PROMPT)
    assert accepts(request, OSLO, "yes", '{"ok": true}') == [True, False, False]


LEGACY_TAG = {
    "type": "structural_tag",
    "structures": [{"begin": "<a>", "schema": {"type": "object"}, "end": "</a>"}],
    "triggers": ["<a"],
}


@both
@pytest.mark.parametrize("tag", [OWN_TAG, LEGACY_TAG], ids=["format", "legacy"])
@pytest.mark.parametrize("choice", ["auto", "required", "none"])
def test_a_structural_tag_of_the_users_own_is_left_to_the_letter(
    make: Make, tag: dict[str, Any], choice: str
) -> None:
    text = json.dumps(tag, indent=1) + "\n"
    request = make([STRICT], structured_outputs={"structural_tag": text}, tool_choice=choice)
    request = HERMES.adjusted(request, PROMPT)
    assert request.structured_outputs.structural_tag == text
    assert request.to_sampling_params(100, {}).structured_outputs.structural_tag == text
    assert not request._grammar_from_parser


def test_nor_one_in_the_response_format() -> None:
    before = chat([STRICT], response_format=OWN_TAG)
    expected = before.to_sampling_params(100, {}).structured_outputs
    after = HERMES.adjusted(chat([STRICT], response_format=OWN_TAG), PROMPT)
    assert after.to_sampling_params(100, {}).structured_outputs == expected
    assert after.response_format == before.response_format


def test_the_responses_api_echoes_the_format_that_was_asked_for() -> None:
    given = constraints("responses")["text.format"]
    request = HERMES.adjusted(responses(**given), PROMPT)
    assert request.text.format.name == "answer"
    assert request.structured_outputs is None


@both
@pytest.mark.parametrize(
    ("tools", "fields", "parameter"),
    [
        ([{"name": "f", "parameters": UNHELD, "strict": True}], {}, "tools"),
        ([{"name": "f", "parameters": {"type": 5}}], {}, "tools"),
        ([NOW, NOW], {}, "tools"),
        (None, {"structured_outputs": {"json": UNHELD}}, "structured_outputs"),
        (None, {"structured_outputs": {"json": "{"}}, "structured_outputs"),
        (None, {"structured_outputs": {"json": "5"}}, "structured_outputs"),
        (None, {"stop": ["x" * 300]}, "stop"),
        (None, {"stop": [""]}, "stop"),
    ],
)
def test_what_cannot_be_enforced_is_refused(
    make: Make, tools: Any, fields: dict[str, Any], parameter: str
) -> None:
    with pytest.raises(VLLMValidationError) as caught:
        HERMES.adjusted(make(tools, **fields), PROMPT)
    assert caught.value.parameter == parameter


def test_the_parameter_is_named_as_the_api_names_it() -> None:
    schema = {"name": "answer", "schema": UNHELD, "strict": True}
    with pytest.raises(VLLMValidationError) as caught:
        HERMES.adjusted(chat(response_format={"type": "json_schema", "json_schema": schema}), "")
    assert caught.value.parameter == "response_format"
    with pytest.raises(VLLMValidationError) as caught:
        HERMES.adjusted(responses(text={"format": {"type": "json_schema"} | schema}), "")
    assert caught.value.parameter == "text.format"
    assert str(caught.value).startswith("text.format: ")
    fields = {"chat_template_kwargs": {COMMAND.family.serving.source_map_key: {"x": 5}}}
    with pytest.raises(VLLMValidationError) as caught:
        COMMAND.adjusted(chat(**fields), "")
    assert caught.value.parameter == "chat_template_kwargs"


@both
def test_a_tool_that_need_not_be_held_is_not_refused(make: Make) -> None:
    request = HERMES.adjusted(make([{"name": "f", "parameters": UNHELD}]), PROMPT)
    assert accepts(request, CALL.format("f", '{"a": "x"}'))
