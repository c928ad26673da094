"""The policies of a family for calls, each against the default."""

from __future__ import annotations

from typing import Any

import pytest

import tagsmith
from tagsmith.testing import all_cuttings, run

BASE = tagsmith.get_family("cohere-command-a")
CALL = '{"tool_call_id": "0", "tool_name": "g", "parameters": {"x": "y"}}'
LATE_ID = '{"tool_name": "g", "parameters": {"x": 1}, "tool_call_id": "0"}'
TOOLS = [{"name": "f"}]


def with_policy(**policies: str) -> tagsmith.Family:
    assert BASE.spec.tool_calls is not None
    calls = BASE.spec.tool_calls.model_dump() | policies
    spec = BASE.spec.model_dump() | {"tool_calls": calls}
    return tagsmith.Family(type(BASE.spec).model_validate(spec))


def region(*calls: str) -> str:
    return f"<|START_ACTION|>[{', '.join(calls)}]<|END_ACTION|>"


@pytest.mark.parametrize(
    ("policies", "text", "options", "content", "calls", "codes"),
    [
        (
            {"on_unknown_tool": "content"},
            region(CALL),
            {"tools": TOOLS},
            CALL,
            [],
            ["unknown-tool"],
        ),
        (
            {"on_unknown_tool": "content"},
            region(LATE_ID, CALL.replace('"g"', '"f"')),
            {"tools": TOOLS},
            LATE_ID,
            [("0", "f", True)],
            ["unknown-tool"],
        ),
        (
            {"on_unknown_tool": "content"},
            region(CALL)[:70],
            {"tools": TOOLS},
            CALL[:53],
            [],
            ["unknown-tool", "truncated"],
        ),
        (
            {"on_malformed": "drop"},
            region("{oops}", CALL),
            {},
            None,
            [("0", "g", True)],
            ["malformed-call"],
        ),
        (
            {"on_malformed": "drop"},
            "<|START_ACTION|>no call<|END_ACTION|>a",
            {},
            "a",
            [],
            ["malformed-call"],
        ),
        (
            {"on_truncated": "drop"},
            region(CALL, CALL)[:-30],
            {},
            None,
            [("0", "g", True)],
            ["duplicate-id", "truncated"],
        ),
        ({"on_truncated": "drop"}, region(CALL), {}, None, [("0", "g", True)], []),
    ],
)
def test_policy(
    policies: dict[str, str],
    text: str,
    options: dict[str, Any],
    content: str | None,
    calls: list[tuple[str, str, bool]],
    codes: list[str],
) -> None:
    family = with_policy(**policies)
    for label, deltas in all_cuttings(text):
        message = run(family, deltas, **options).message
        assert message.content == content, label
        assert [(c.id, c.name, c.complete) for c in message.tool_calls] == calls
        assert sorted({d.code.value for d in message.diagnostics}) == sorted(codes)
    assert "".join(span.text for span in family.explain(text, **options)) == text


def test_generated_ids_take_linear_work() -> None:
    n = 1500
    given = [f'{{"tool_call_id": {i + n}, "tool_name": "f"}}' for i in range(n)]
    message = BASE.parse(region(*given, *['{"tool_name": "f"}'] * n))
    assert len({call.id for call in message.tool_calls}) == 2 * n
    assert message.tool_calls[-1].id == str(3 * n - 1)
