"""What a request's grammar lets through, with the requests and texts that tests try it on."""

from __future__ import annotations

import json
from typing import Any

from vllm.v1.structured_output.backend_xgrammar import validate_xgrammar_grammar
from vllm_kit import WEATHER, Request, Served

from tagsmith.grammar import check_structural_tag

PROMPT = "<|im_start|>assistant\n"
HERMES = Served("hermes")
QWEN = Served("qwen3")

CALL = '<tool_call>\n{{"name": "{}", "arguments": {}}}\n</tool_call>'
OSLO = CALL.format("get_weather", '{"city": "Oslo"}')
TIME = CALL.format("now", "{}")
STRICT = WEATHER | {"strict": True}
SCHEMA = {
    "type": "object",
    "properties": {"ok": {"type": "boolean"}},
    "required": ["ok"],
    "additionalProperties": False,
}
UNHELD = {"type": "object", "properties": {"a": {"not": {"type": "string"}}}, "required": ["a"]}
"""A schema that no grammar holds."""
OWN_TAG = {
    "type": "structural_tag",
    "format": {
        "type": "triggered_tags",
        "triggers": ["<a"],
        "tags": [{"begin": "<a>", "content": {"type": "any_text"}, "end": "</a>"}],
    },
}
"""A structural tag of the user's own."""


def tag_of(request: Request) -> dict[str, Any] | None:
    """The structural tag that the engine gets, which vLLM itself has found valid."""
    params = request.to_sampling_params(100, {}).structured_outputs
    if params is None:
        return None
    validate_xgrammar_grammar(request.to_sampling_params(100, {}))
    assert params.structural_tag is not None
    return json.loads(params.structural_tag)


def accepts(request: Request, *texts: str, server: Served = HERMES) -> list[bool]:
    tag = tag_of(request)
    assert tag is not None
    results = check_structural_tag(tag, texts, markers=server.family.markers)
    return [result.accepted for result in results]
