"""Our structural tags beside the ones that xgrammar ships for the same formats.

Texts are golden outputs, texts written by hand, and samples of both grammars. Where one grammar
takes a text and the other does not, the place where the other stops must be a difference that
`cases/xgrammar_builtins.yaml` lists with its reason, and each one listed there must occur.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

import tagsmith
from tagsmith.events import DiagnosticCode
from tagsmith.grammar.check import compile_structural_tag
from tagsmith.testing import Case, load_cases, sample_texts, sampling

xgrammar = pytest.importorskip(
    "xgrammar", reason="needs xgrammar: pip install 'tagsmith[xgrammar]'"
)

pytestmark = pytest.mark.heavy

HERE = Path(__file__).parent
FILE = yaml.safe_load((HERE / "cases" / "xgrammar_builtins.yaml").read_text("utf-8"))
BUILTINS: dict[str, str] = FILE["builtins"]
"""The tags that xgrammar ships, and the family that has the same format."""
KINDS: list[dict[str, Any]] = FILE["kinds"]
"""How they differ: see the file for what each entry says."""

CLOSES_REASONING = {"minimax"}
"""The tags that begin without reasoning with the text that closes it, as our prompts do."""
BY_HAND = {
    "plain tool", "auto", "tool_choice none", "tool_choice required", "nested object", "lengths",
    "what a string may hold", "no parameters: absent", "pattern that is not anchored",
    "reasoning opened by the prompt", "reasoning or none",
}  # fmt: skip
"""Which of the cases of `cases/structural_tags` are compared; the others would say the same."""
NO_GRAMMAR = {DiagnosticCode.DUPLICATE_ID, DiagnosticCode.DUPLICATE_KEY}
"""What no grammar can keep from a text."""
SAMPLES = 3
"""How many samples of each grammar, for each request."""
LONGEST_SAMPLE = 400
"""Tokens of a sample: some of the tags let blanks go on for ever."""
MOST_MENDED = 6
"""How often blanks are made what the stricter grammar wants, to see what differs behind them."""
BLANKS = " \t\n\r"


def _tool(name: str, properties: dict[str, Any], required: list[str], **more: Any) -> Any:
    parameters = {"type": "object", "properties": properties, "required": required}
    return {"type": "function", "function": {"name": name, "parameters": parameters, **more}}


def _named(name: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name}}


SIMPLE = [
    _tool(
        "get_weather",
        {
            "city": {"type": "string"},
            "days": {"type": "integer"},
            "unit": {"enum": ["celsius", "fahrenheit"]},
            "place": {
                "type": "object",
                "properties": {"lat": {"type": "number"}, "note": {"type": "string"}},
                "required": ["lat"],
            },
            "tags": {"type": "array", "items": {"type": "string"}},
        },
        ["city", "days"],
    ),
    _tool("now", {}, []),
]
HOSTILE = [
    _tool(
        "a.b-c/d e", {"two words": {"type": "string"}, "x:y": {"type": "boolean"}}, ["two words"]
    ),
    _tool("查天气", {"n": {"type": ["string", "null"]}}, ["n"]),
    _tool("loose", {"n": {"type": "integer"}}, ["n"], strict=False),
]


@dataclass(frozen=True)
class Asked:
    """A request that both can be built from."""

    tools: list[dict[str, Any]]
    choice: Any = "auto"
    parallel: bool = True
    reasoning: str = "disabled"

    @property
    def mode(self) -> str:
        return self.choice if isinstance(self.choice, str) else "named"


REQUESTS = {
    "auto": Asked(SIMPLE),
    "required": Asked(SIMPLE, "required"),
    "named": Asked(SIMPLE, _named("get_weather")),
    "one call": Asked(SIMPLE, parallel=False),
    "hostile names": Asked(HOSTILE, "required"),
    "reasoning or none": Asked(SIMPLE, reasoning="auto"),
}


@dataclass(frozen=True)
class Language:
    """The texts that a structural tag accepts."""

    tag: dict[str, Any]
    compiled: Any

    @classmethod
    def compile(cls, tag: dict[str, Any]) -> Language:
        # Strings are accepted whatever the tokens are, and with few of them it compiles faster.
        return cls(tag, compile_structural_tag(tag, [b"a"]))

    def stop(self, text: str) -> int | None:
        """The first character that is refused, the end where more is wanted; None: accepted."""
        matcher = xgrammar.GrammarMatcher(self.compiled)
        for offset, char in enumerate(text):
            if not matcher.accept_string(char):
                return offset
        return None if matcher.is_completed() else len(text)


@dataclass(frozen=True)
class Difference:
    """A text that one of the two grammars accepts."""

    builtin: str
    asked: Asked
    only: str
    """Whose: `ours` or `theirs`."""
    text: str
    stop: int
    is_blank: bool
    """Whether other blanks at this place, that are read the same, are good for both so far."""
    reading: str
    """What our parser makes of it: `right`, or what is wrong with it."""

    @property
    def place(self) -> str:
        return f"{self.text[: self.stop]}‸{self.text[self.stop :]}"

    def is_of(self, kind: dict[str, Any]) -> bool:
        return (
            self.only == kind["only"]
            and self.is_blank == kind.get("blanks", self.is_blank)
            and self.builtin in kind.get("builtins", BUILTINS)
            and self.asked.mode in kind.get("choices", [self.asked.mode])
            and self.asked.reasoning == kind.get("reasoning", self.asked.reasoning)
            and re.fullmatch(kind.get("reading", "right"), self.reading) is not None
            and re.search(kind.get("at", ""), self.place, re.DOTALL) is not None
        )


@pytest.mark.parametrize("builtin", BUILTINS)
def test_every_difference_is_listed(builtin: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "MOST_TOKENS", LONGEST_SAMPLE)
    family = tagsmith.get_family(BUILTINS[builtin])
    unlisted = []
    for label, asked, texts in _all_texts(builtin, family):
        ours = Language.compile(_ours(family, asked))
        theirs = Language.compile(_theirs(builtin, asked))
        texts = texts or [*_samples(label, ours, family), *_samples(label, theirs, family)]
        for difference in _differences(builtin, family, asked, ours, theirs, texts):
            if _kind_of(difference) is None:
                shown = difference.place[max(difference.stop - 90, 0) : difference.stop + 60]
                unlisted.append(f"{label}: only {difference.only}, {difference.reading}: {shown!r}")
    assert not unlisted, "\n".join(sorted(set(unlisted), key=len))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind["id"])
def test_every_kind_occurs(kind: dict[str, Any]) -> None:
    assert kind["why"]
    assert "at" in kind or "blanks" in kind
    builtin = kind["of"].split(", ")[0]
    family = tagsmith.get_family(BUILTINS[builtin])
    asked = next(a for label, a, _ in _all_texts(builtin, family) if label == kind["of"])
    ours, theirs = Language.compile(_ours(family, asked)), Language.compile(_theirs(builtin, asked))
    found = _differences(builtin, family, asked, ours, theirs, [kind["text"]])
    assert kind["id"] in map(_kind_of, found)


def _kind_of(difference: Difference) -> str | None:
    """The first kind that fits."""
    return next((kind["id"] for kind in KINDS if difference.is_of(kind)), None)


def _ours(family: tagsmith.Family, asked: Asked) -> dict[str, Any]:
    has_reasoning = family.spec.tag_style.reasoning is not None
    return family.structural_tag(
        tools=asked.tools,
        tool_choice=asked.choice,
        parallel_tool_calls=asked.parallel,
        reasoning=asked.reasoning if has_reasoning else "gated",
        unenforceable="report",
    )


def _theirs(builtin: str, asked: Asked) -> dict[str, Any]:
    tag: dict[str, Any] = xgrammar.get_model_structural_tag(
        builtin,
        tools=asked.tools,
        tool_choice=asked.choice,
        parallel_tool_calls=asked.parallel,
        reasoning=asked.reasoning,
        max_whitespace_cnt=64,
    ).model_dump(exclude_none=True)
    if builtin in CLOSES_REASONING and asked.reasoning == "disabled":
        tag["format"] = tag["format"]["elements"][-1]
    return tag


def _all_texts(
    builtin: str, family: tagsmith.Family
) -> Iterator[tuple[str, Asked, list[str] | None]]:
    """Requests with their texts; None where these are to be sampled."""
    requests = [(name, asked, None) for name, asked in REQUESTS.items()]
    for label, asked, texts in [*requests, *_golden(family), *_by_hand(family)]:
        yield f"{builtin}, {label}", asked, texts


def _samples(label: str, language: Language, family: tagsmith.Family) -> list[str]:
    samples = sample_texts(language.tag, SAMPLES, seed=label, markers=family.markers)
    return [sample.text for sample in samples if sample.finished]


def _golden(family: tagsmith.Family) -> Iterator[tuple[str, Asked, list[str]]]:
    """The family's golden outputs that hold calls, without what ends the turn."""
    for case in _golden_cases():
        if case.family == family.id and case.tool_calls:
            text = case.text
            for end in family.spec.tokens.turn_end:
                text = text.removesuffix(end)
            asked = Asked(_tools_of(case), reasoning=_reasoning_of(family, text))
            yield f"golden case {case.id}", asked, [text]


@cache
def _golden_cases() -> list[Case]:
    files = sorted((HERE.parent / "families").glob("*/*.cases.yaml"))
    return [case for file in files for case in load_cases(file)]


def _tools_of(case: Case) -> list[dict[str, Any]]:
    """The case's tools; where it has none, tools that its calls keep to."""
    if case.tools is not None:
        return [tool if "function" in tool else _function(tool) for tool in case.tools]
    tools: dict[str, Any] = {}
    for call in case.tool_calls:
        try:
            arguments = json.loads(call.arguments)
        except ValueError:
            arguments = {}
        tool = tools.setdefault(call.name, _tool(call.name, {}, []))
        for key, value in arguments.items() if isinstance(arguments, dict) else ():
            tool["function"]["parameters"]["properties"][key] = _schema_of(value)
    return list(tools.values())


def _function(tool: dict[str, Any]) -> dict[str, Any]:
    function = {key: value for key, value in tool.items() if key != "type"}
    return {"type": "function", "function": function}


def _schema_of(value: Any) -> dict[str, Any]:
    names = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array"}
    if isinstance(value, dict):
        return {"type": "object", "additionalProperties": True}
    return {"type": names.get(type(value), "null")}


def _reasoning_of(family: tagsmith.Family, text: str) -> str:
    markers = family.spec.tag_style.reasoning
    if markers is None or markers.end is None or markers.end not in text:
        return "disabled"
    return "auto" if text.lstrip().startswith(markers.start) else "enabled"


def _by_hand(family: tagsmith.Family) -> Iterator[tuple[str, Asked, list[str]]]:
    """The texts that were written by hand for the family's tag, where both know the request."""
    file = HERE / "cases" / "structural_tags" / f"{family.id}.json"
    for case in json.loads(file.read_text("utf-8")) if file.exists() else ():
        choice, reasoning = case.get("tool_choice", "auto"), case.get("reasoning", "gated")
        if case["case"] not in BY_HAND:
            continue
        asked = Asked(
            case["tools"],
            choice,
            case.get("parallel_tool_calls", True),
            "disabled" if reasoning == "gated" else reasoning,
        )
        yield case["case"], asked, [*case["accept"].values(), *case["reject"].values()]


def _differences(
    builtin: str,
    family: tagsmith.Family,
    asked: Asked,
    ours: Language,
    theirs: Language,
    texts: list[str],
) -> Iterator[Difference]:
    for text in texts:
        is_ours, is_theirs = ours.stop(text) is None, theirs.stop(text) is None
        if is_ours == is_theirs:
            continue
        only, holds, refuses = ("ours", ours, theirs) if is_ours else ("theirs", theirs, ours)
        for _ in range(MOST_MENDED):
            stop = refuses.stop(text)
            if stop is None:
                break
            message = _read(family, asked, text)
            mended = _mend(family, asked, text, stop, holds, refuses)
            reading = _reading(message, asked)
            yield Difference(builtin, asked, only, text, stop, mended is not None, reading)
            if mended is None:
                break
            text = mended


def _mend(
    family: tagsmith.Family,
    asked: Asked,
    text: str,
    stop: int,
    holds: Language,
    refuses: Language,
) -> str | None:
    """The text with other blanks where it is refused, if both then go further, and it is read as
    it was; None where blanks are not what differs."""
    after = text[stop:].lstrip(BLANKS)
    tries = [
        (text[:cut].rstrip(BLANKS) if strips else text[:cut]) + usual + text[cut:].lstrip(BLANKS)
        for cut in (stop, max(stop - 1, 0))
        for strips in (False, True)
        for usual in _USUAL
    ]
    meaning = _meaning(_read(family, asked, text))
    for mended in tries:
        if mended != text and holds.stop(mended) is None:
            further = refuses.stop(mended)
            is_further = further is None or len(mended) - further < len(after)
            if is_further and _meaning(_read(family, asked, mended)) == meaning:
                return mended
    return None


_USUAL = ("", "\n", " ", "\n\n")


def _read(family: tagsmith.Family, asked: Asked, text: str) -> tagsmith.Message:
    """Parse as a server would, after a prompt that goes with the request."""
    prompt = (family.spec.tokens.turn_start or ("",))[0]
    markers = family.spec.tag_style.reasoning
    if markers is not None and asked.reasoning == "enabled":
        prompt += markers.start
    elif markers is not None and asked.reasoning == "disabled" and not family.spec.tokens.header:
        prompt += markers.start + (markers.end or "")
    return family.parse(text, tools=asked.tools, tool_choice=asked.choice, prompt=prompt)


def _meaning(message: tagsmith.Message) -> Any:
    calls = [(c.name, _value(c.arguments), c.complete) for c in message.tool_calls]
    codes = [diagnostic.code for diagnostic in message.diagnostics]
    return message.reasoning, message.content, calls, codes


def _value(arguments: str) -> Any:
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments


def _reading(message: tagsmith.Message, asked: Asked) -> str:
    """`right`, or the first thing that is wrong with what was read."""
    codes = [found.code.value for found in message.diagnostics if found.code not in NO_GRAMMAR]
    if codes:
        return codes[0]
    functions = {tool["function"]["name"]: tool["function"] for tool in asked.tools}
    for call in message.tool_calls:
        function = functions.get(call.name)
        if function is None or not call.complete:
            return "no such call"
        schema = function.get("parameters") or {"maxProperties": 0}
        validator = jsonschema.Draft202012Validator(schema)
        if function.get("strict") is not False and not validator.is_valid(
            json.loads(call.arguments)
        ):
            return "other arguments"
    names = {call.name for call in message.tool_calls}
    if asked.mode == "named" and names != {asked.choice["function"]["name"]}:
        return "other call"
    if asked.mode == "required" and not names:
        return "no call"
    if asked.mode == "none" and names:
        return "call"
    if asked.mode in ("named", "required") and message.content is not None:
        return "text beside calls"
    if not asked.parallel and len(message.tool_calls) > 1:
        return "several calls"
    return "right"
