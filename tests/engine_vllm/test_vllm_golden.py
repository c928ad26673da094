"""Every golden case of every family through vLLM's parser: whole and streamed, by both APIs."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import pytest
from vllm_kit import BOTH, Request, Served, Told, tools_of

from tagsmith.registry import default_registry
from tagsmith.serving import CallIds
from tagsmith.sources import build_source_map
from tagsmith.testing import Case
from test_cases import CASES

TOKENS_A_STEP = {"chat": (1, 2, 3, 5, 16), "responses": (1, 4)}
_TYPES = {"content": "TEXT_CONTENT", "reasoning": "THINKING_CONTENT"}

served = lru_cache(maxsize=None)(Served)


def all_cases() -> list[Any]:
    return [pytest.param(case, id=f"{case.family}-{case.id}") for case in CASES]


def request_of(case: Case, api: str) -> Request:
    fields: dict[str, Any] = {"stop": list(case.stop or ())}
    if case.tool_choice is not None:
        fields["tool_choice"] = case.tool_choice
    key = served(case.family).family.serving.source_map_key
    if key is not None and (case.documents or case.messages):
        spec = served(case.family).family.spec
        sources = build_source_map(
            spec.citations.key_map, documents=case.documents, messages=case.messages
        )
        found, _ = sources.resolve(sources.entries)
        fields["chat_template_kwargs"] = {key: dict(zip(sources.entries, found, strict=True))}
    return BOTH[api](tools_of(case), **fields)


def check(case: Case, told: Told) -> None:
    assert (told.reasoning, told.content) == (case.reasoning, case.content)
    assert told.calls == [(call.name, call.arguments) for call in case.tool_calls]
    if served(case.family).family.serving.call_ids is CallIds.MODEL:
        assert told.ids == [call.id for call in case.tool_calls]
    else:
        assert len(set(filter(None, told.ids))) == len(told.calls)
    assert [(c.start, c.end, c.text, c.type) for c in told.citations] == [
        (c.start, c.end, c.text, _TYPES[c.target]) for c in case.citations
    ]
    for expected, citation in zip(case.citations, told.citations, strict=True):
        if expected.sources is not None:
            sources = [s.model_dump(exclude_none=True) for s in citation.sources]
            assert sources == [_without_none(source) for source in expected.sources]


def _without_none(source: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in source.items() if value is not None}


def tokens_of(case: Case) -> tuple[list[int], bool]:
    """The output's tokens, with the one at which vLLM stops; whether the text leaves that out."""
    family, tokenizer = served(case.family).family, served(case.family).tokenizer
    ids = tokenizer.encode(case.text)
    ends = [tokenizer.token_to_id(token) for token in family.serving.stop_tokens]
    end = next((token_id for token_id in ends if token_id is not None), None)
    if end is None or case.finish_reason != "stop" or set(ids) & set(ends):
        return ids, False
    return [*ids, end], True


@pytest.mark.parametrize("api", BOTH)
@pytest.mark.parametrize("case", all_cases())
def test_case(case: Case, api: str) -> None:
    server, request = served(case.family), request_of(case, api)
    ids, hidden_end = tokens_of(case)
    check(case, server.whole(case.text, request, case.prompt))
    check(case, server.whole(case.text, request, case.prompt, ids))
    for tokens_a_step in TOKENS_A_STEP[api]:
        told = server.streamed(
            ids, request, case.prompt, tokens_a_step=tokens_a_step, hidden_end=hidden_end
        )
        check(case, told)


def test_every_family_is_among_them() -> None:
    told = {served(case.family).family.id for case in CASES}
    assert len(CASES) >= 560
    assert told == set(default_registry().ids())
