"""The golden texts against the grammar: what the cases of a family call, its structural tag lets
through, but for what is listed here.

Where a case names the request's tools, they are asked for as they stand; where it names none, they
are made from its calls. What is let through is tried again with tools that take any object.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import jsonschema
import pytest

import tagsmith
from tagsmith import Family
from tagsmith.grammar import CheckResult, check_structural_tag
from tagsmith.testing import Case
from test_cases import CASES

pytest.importorskip("xgrammar", reason="needs xgrammar: pip install 'tagsmith[xgrammar]'")

REFUSED = {
    "reasoning is closed before a call": [
        "*/call-inside-*",
        "cohere-command-a/thinking-never-closed-then-action",
    ],
    "the first spelling of a marker is written": [
        "cohere-command-r/action-on-a-line-of-its-own",
        "cohere-command-r/several-calls",
        "deepseek-r1/opener-misspelled-and-left-out",
        "deepseek-v4/opener-of-the-block-misspelt",
        "granite-3/marker-that-is-no-token*",
        "kimi-k2/section-in-the-singular",
        "llama-4/python-tag-before-calls",
        "phi-4-mini/*functools*",
    ],
    "every marker is written, and once": [
        "*/closer-left-out*",
        "*/opener-and-closer-left-out",
        "*/opener-of-the-first-call-left-out",
        "*/no-arguments-and-no-closer",
        "*/output-ends-inside-the-closing-fence",
        "cohere-command-a/answer-inside-an-open-region",
        "cohere-command-a/opener-echoed",
        "deepseek-v3.1/call-without-the-outer-markers",
        "deepseek-v3.2/invoke-without-the-outer-marker",
        "kimi-k2/call-without-a-section",
    ],
    "a region has the family's own container": [
        "cohere-command-a/calls-in-a-code-fence",
        "cohere-command-a/calls-in-a-row-without-a-list",
        "cohere-command-a/single-object-instead-of-array",
        "llama-*/calls-in-a-list",
        "phi-4-mini/one-object-for-each-call",
    ],
    "a region holds one call, and the next call has a region of its own": [
        "hermes/several-calls-in-one-region",
        "llama-4-json/several-calls",
        "qwen3-coder/two-functions-between-one-pair",
    ],
    "nothing follows calls that no marker closes": [
        "*/bracket-after-a-call",
        "*/code-after-a-call",
        "*/object-after-a-call-is-text",
        "*/text-after-a-call",
        "*/text-after-bare-calls",
        "*/text-after-the-calls",
        "granite-3/text-around-a-call",
        "llama-3/text-around-a-call",
        "cohere-command-r/several-steps",
        "llama-3/semicolon-at-the-end",
        "llama-3/several-tags",
        "mistral/a-marker-for-each-call",
    ],
    "the first spelling of a key is written": [
        "*/arguments-in-place-of-parameters",
        "*/arguments-under-another-key",
        "*/tool-named-by-function",
        "cohere-command-r/keys-of-other-models",
        "phi-4-mini/several-calls-in-a-list",
    ],
    "the id, the name and the arguments come in this order": [
        "*/arguments-before-the-name",
        "cohere-command-a/id-after-arguments",
        "cohere-command-a/parameters-before-name",
        "granite-3/several-calls",
    ],
    "a call holds these keys and no other": [
        "*/type-before-the-name*",
        "cohere-command-a/other-keys-are-passed-over",
        "llama-3/python-tag-before-a-call",
        "mistral/ids-after-the-arguments",
    ],
    "a call has an id, a string, where the family writes one": [
        "cohere-command-a/generated-id-stays-clear-of-given-ones",
        "cohere-command-a/integer-id",
        "cohere-command-a/no-id",
        "cohere-command-a/null-id",
    ],
    "arguments are an object, and are there": [
        "*/arguments-as-a-string",
        "*/arguments-spelled-as-a-string",
        "*/call-without-an-arguments-key",
        "*/empty-null-and-absent-parameters",
        "*/no-arguments-at-all",
    ],
    "names and keys are spelled without escapes": [
        "cohere-command-a/escaped-name-and-key",
        "llama-3/nested-json-and-unicode",
    ],
    "a list has no comma at its end": ["cohere-command-a/trailing-comma"],
    "hidden markers stand in no call": ["cohere-command-a/turn-token-inside-a-call"],
    "the first form of a call is written": [
        "cohere-command-xml/attributes-in-the-other-order",
        "deepseek-v4/call-that-closes-itself",
        "gemma-4/colon-before-the-call",
        "gemma-4/the-word-call-left-out",
        "gpt-oss/built-in-search",
        "gpt-oss/call-in-the-analysis-channel-without-a-type",
        "gpt-oss/channel-again-after-the-recipient",
        "gpt-oss/preamble-before-a-call",
        "gpt-oss/recipient-in-the-role*",
        "gpt-oss/type-right-after-the-channel",
        "kimi-k2/id-without-its-prefix",
        "mistral-v11/call-with-an-id",
        "mistral-v11/separator-lost-in-decoding",
    ],
    "the first form of a parameter, or an item, is written, with its type": [
        "cohere-command-xml/item-without-a-type",
        "cohere-command-xml/type-that-is-not-known",
        "deepseek-v4/parameter-that-does-not-say-its-type",
        "glm-4.5/tags-of-a-key-written-twice",
        "glm-4.7/opener-of-a-value-left-out",
    ],
    "blanks stand where the template has a line end, and nowhere else": [
        "glm-4.7/line-ends-as-in-glm-4.5",
        "kimi-k2/blanks-around-everything",
    ],
    "a list is written item by item, never as JSON": ["cohere-command-xml/nested-values"],
    "a value holds nothing that may end it": [
        "*/closer-inside-a-string",
        "*/closers-in-a-text-are-data",
        "*/markers-quoted-in-a-value",
        "*/tags-quoted-in-a-value",
        "*/whole-call-quoted-in-a-value",
        "gemma-4/everything-inside-a-string-is-data",
        "gemma-4/quotes-inside-a-string",
        "glm-4.7/text-to-the-letter",
        "qwen3.5/objects-and-arrays",
    ],
    "every value is there, and a string stands in the family's quotes": [
        "gemma-4/opening-quote-left-out",
        "gemma-4/strings-in-the-quotes-of-json",
        "gemma-4/value-left-out",
    ],
    "a key has no quotes": ["gemma-4/keys-in-quotes-and-brackets-in-strings"],
    "Python values are written in the plainest way": [
        "llama-4/blanks-and-lines",
        "llama-4/raw-string",
        "llama-4/strings-beside-each-other",
        "llama-4/strings-of-both-quotes-with-escapes",
        "llama-4/value-in-parentheses",
        "llama-4/words-of-json",
    ],
    "a tool that means no call is not called": ["cohere-command-r/pseudo-tool-beside-a-call"],
    "a grammar sees nothing of the prompt, which has begun the call": [
        "*/list-that-the-prompt-begins",
        "*/prompt-began-the-call",
        "*/recipient-right-after-the-prompt",
    ],
}
"""Texts that are read and never written: patterns of `family/case`, by the reason."""

TYPES = {bool: "boolean", int: "integer", float: "number", str: "string", type(None): "null"}


@dataclass(frozen=True)
class Golden:
    """A case whose calls are whole and whose text has nothing amiss."""

    case: Case
    family: Family
    reasoning: str
    """Where the grammar is switched on."""

    @property
    def name(self) -> str:
        return f"{self.case.family}/{self.case.id}"

    @property
    def texts(self) -> list[str]:
        """The text, with and without the stop token that ends it: servers differ."""
        ends = [end for end in self.family.spec.tokens.turn_end if self.case.text.endswith(end)]
        return [self.case.text, *(self.case.text.removesuffix(end) for end in ends)]

    def check(self, *, strict: bool) -> CheckResult:
        """Compile the tag of the case's request and try its text."""
        tag = self.family.structural_tag(
            tools=tools_of(self.case, strict=strict),
            tool_choice=self.case.tool_choice,
            reasoning=self.reasoning,
            unenforceable="report",
        )
        results = check_structural_tag(tag, self.texts, markers=self.family.markers)
        return max(results, key=lambda result: (result.accepted, result.stopped_at or 0))


def golden_cases() -> dict[str, Golden]:
    cases = [case for case in CASES if case.tool_calls]
    return {each.name: each for case in cases if (each := golden(case)) is not None}


def golden(case: Case) -> Golden | None:
    family = tagsmith.get_family(case.family)
    message = family.parse(
        case.text,
        tools=case.tools,
        tool_choice=case.tool_choice,
        prompt=case.prompt,
        finish_reason=case.finish_reason,
    )
    if message.diagnostics or not all(call.complete for call in message.tool_calls):
        return None
    return Golden(case, family, reasoning_of(family, case.text, message.reasoning))


def reasoning_of(family: Family, text: str, reasoning: str | None) -> str:
    """Before reasoning that the text opens, inside what the prompt has opened, or behind it all."""
    markers = family.spec.tag_style.reasoning
    if markers is None:
        return "gated"
    if text.lstrip().startswith(markers.start):
        return "auto"
    is_closed = markers.end is not None and text.lstrip().startswith(markers.end)
    return "enabled" if is_closed or reasoning is not None else "gated"


def tools_of(case: Case, *, strict: bool) -> list[dict[str, Any]]:
    """The request's tools, or tools made from the calls. A case may call a tool with what its
    schema does not admit: then that tool is never strict."""
    given: dict[str, list[Any]] = {}
    for call in case.tool_calls:
        given.setdefault(call.name, []).append(json.loads(call.arguments))
    if not case.tools:
        made = {name: any_of([schema_of(one) for one in calls]) for name, calls in given.items()}
        return [{"name": name, "parameters": made[name], "strict": strict} for name in made]
    functions = [tool.get("function", tool) for tool in case.tools]
    return [
        function if strict and keeps_to(function, given) else {**function, "strict": False}
        for function in functions
    ]


def keeps_to(function: dict[str, Any], given: dict[str, list[Any]]) -> bool:
    schema = function.get("parameters") or {"maxProperties": 0}
    validator = jsonschema.Draft202012Validator(schema)
    return all(map(validator.is_valid, given.get(function["name"], [])))


def schema_of(value: Any) -> dict[str, Any]:
    """A schema as near to a value as that of a tool would be."""
    if isinstance(value, dict):
        properties = {key: schema_of(item) for key, item in value.items()}
        return {"type": "object", "properties": properties, "required": list(value)}
    if isinstance(value, list):
        return {"type": "array", "items": any_of([schema_of(item) for item in value])}
    return {"type": TYPES[type(value)]}


def any_of(schemas: list[dict[str, Any]]) -> dict[str, Any]:
    """A schema of any of these, of which some may be the same."""
    different = [schema for at, schema in enumerate(schemas) if schema not in schemas[:at]]
    if not different:
        return {}
    return different[0] if len(different) == 1 else {"anyOf": different}


GOLDEN = golden_cases()


def listed(table: dict[str, list[str]]) -> dict[str, str]:
    """The reason of each case that a pattern of the table is of."""
    pairs = [(pattern, reason) for reason, patterns in table.items() for pattern in patterns]
    return {name: why for pattern, why in pairs for name in GOLDEN if fnmatchcase(name, pattern)}


REASONS = listed(REFUSED)
WRITTEN = [name for name in GOLDEN if name not in REASONS]


SHARED_OUT = [
    pytest.param(name, marks=[pytest.mark.heavy] if number % 3 else [])
    for number, name in enumerate(GOLDEN)
]


@pytest.mark.parametrize("name", SHARED_OUT)
def test_golden_call(name: str) -> None:
    compare(GOLDEN[name], REASONS.get(name), strict=True)


@pytest.mark.heavy
@pytest.mark.parametrize("name", WRITTEN)
def test_golden_call_of_a_tool_that_is_not_strict(name: str) -> None:
    compare(GOLDEN[name], None, strict=False)


def compare(golden: Golden, reason: str | None, *, strict: bool) -> None:
    text, result = golden.case.text, golden.check(strict=strict)
    if reason is None:
        stop = result.stopped_at
        assert result.accepted, f"refused at {stop}: {text[:stop]!r} -> {text[stop:]!r}"
    else:
        assert not result.accepted, f"accepted, though {reason}: {text!r}"


def test_every_pattern_is_of_a_case_and_no_case_is_listed_twice() -> None:
    patterns = [pattern for some in REFUSED.values() for pattern in some]
    names = {pattern: [n for n in GOLDEN if fnmatchcase(n, pattern)] for pattern in patterns}
    assert not [pattern for pattern in patterns if not names[pattern]]
    counts = Counter(name for pattern in patterns for name in names[pattern])
    assert not [name for name, count in counts.items() if count > 1]


def test_every_family_with_calls_has_some_that_are_accepted() -> None:
    families = {tagsmith.get_family(case.family).id for case in CASES if case.tool_calls}
    assert {GOLDEN[name].family.id for name in WRITTEN} == families
