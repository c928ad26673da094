"""Rows of raw outputs that the tests of `tagsmith batch` and of Ray share."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FAMILY = "cohere-command-a"
TOOLS = [{"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}}}]


def answer(text: str) -> str:
    return f"<|START_THINKING|>hm<|END_THINKING|><|START_RESPONSE|>{text}<|END_RESPONSE|>"


def mixed_rows(count: int) -> list[dict[str, Any]]:
    """Rows of two families, with calls, citations, diagnostics and some that are bad."""
    kinds: list[dict[str, Any]] = [
        {"family": FAMILY, "output": answer("Paris.")},
        {
            "family": FAMILY,
            "output": answer("It is <co>warm</co: 0:[0]>."),
            "documents": json.dumps([{"id": "d", "data": {"text": "warm"}}]),
        },
        {
            "family": "qwen3-coder",
            "output": "<tool_call>\n<function=f>\n<parameter=a>\n5\n</parameter>\n</function>\n"
            "</tool_call>",
            "tools": json.dumps(TOOLS),
        },
        {"family": FAMILY, "output": '<|START_ACTION|>[{"tool_name": "f"', "tools": None},
        {"family": "no-such-family", "output": "Hi"},
        {"family": FAMILY, "output": None},
    ]
    return [{"id": number, **kinds[number % len(kinds)]} for number in range(count)]


READ = {"family": "family", "tools": "tools", "documents": "documents"}
READ_OPTIONS = [word for field in READ for word in ("--read", field)]


def write_jsonl(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def read_jsonl(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
