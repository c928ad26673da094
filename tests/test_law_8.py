"""Law 8: the grammar writes what the parser reads.

A sampler walks the compiled structural tag of a request, over generated tools with hostile names
and schemas, and every text it writes must parse into calls and content that keep to the request.
"""

from __future__ import annotations

import itertools
import json
import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any

import jsonschema
import pytest

import tagsmith
from strategies import FAMILIES
from tagsmith.engine.spans import SpanKind
from tagsmith.engine.templates import split_template
from tagsmith.events import DiagnosticCode
from tagsmith.grammar import check_structural_tag
from tagsmith.spec.policies import CallLayout, InitialRegion, Join
from tagsmith.testing import sample_texts
from tool_sets import make_answer, make_tools

pytest.importorskip("xgrammar", reason="needs xgrammar: pip install 'tagsmith[xgrammar]'")

CHOICES = ["auto", "none", "required", "named", "allowed, auto", "allowed, required"]
ONE_AT_LEAST = {"required", "named", "allowed, required"}
FORMATS = ["no format", "json_object", "json_schema"]
SAMPLES = int(os.environ.get("NIGHTLY_SAMPLES", "200"))
"""How many samples of each combination the nightly run takes."""
SAMPLES_OF_A_TAG = 20
COMBINATIONS = list(itertools.product(CHOICES, [True, False], FORMATS))
REASONING = ["enabled", "gated", "auto", "disabled"]

NO_REASONING = {
    name: "reasoning: family .* has no reasoning region"
    for name in FAMILIES
    if tagsmith.get_family(name).spec.tag_style.reasoning is None
}
"""All that is refused whatever the tools are: reasoning that is enabled, where there is none."""

HOLES = {
    DiagnosticCode.DUPLICATE_ID: "no grammar keeps two ids apart",
    DiagnosticCode.DUPLICATE_KEY: "no grammar keeps two free keys apart",
}
"""The diagnostics that a sample may have, for what no grammar can say."""

NOT_STRICT = {
    DiagnosticCode.UNKNOWN_PARAMETER: "any object may be given",
    DiagnosticCode.MISTYPED_ARGUMENT: "any object may be given",
}
"""Those that it may have beside where it calls a tool with `strict: false`."""

_REDRAWN = re.compile("^tools: tool |^response_format: properties|cannot write the name")
"""What the error says where another tool, or another schema, may do."""

MOST_REDRAWN = 0.3
"""How large a share of the drawn requests may ask what no grammar holds."""
MOST_REDRAWN_NAMES = 0.85
"""The same where a family can write some names only."""
MOST_GIVEN_UP = 0.02
"""How large a share of the samples may come to no end."""
MOST_GIVEN_UP_OF_ONE = 0.6
"""The same of one kind of request: where a schema stands in itself, walks may go on and on."""


@dataclass(frozen=True)
class Asked:
    """A request, and what the output must keep to."""

    tools: list[dict[str, Any]]
    choice: str
    tool_choice: Any
    callable: frozenset[str]
    parallel: bool
    response_format: dict[str, Any] | None
    reasoning: str

    @property
    def functions(self) -> list[dict[str, Any]]:
        return [tool["function"] for tool in self.tools]

    def tag(self, family: tagsmith.Family) -> dict[str, Any]:
        return family.structural_tag(
            tools=self.tools,
            tool_choice=self.tool_choice,
            response_format=self.response_format,
            parallel_tool_calls=self.parallel,
            reasoning=self.reasoning,
        )


@dataclass
class Tally:
    """What a test has seen: it must not become empty without anyone noticing."""

    drawn: int = 0
    redrawn: int = 0
    samples: int = 0
    given_up: int = 0
    calls: int = 0
    holes: Counter[str] = field(default_factory=Counter)

    def check(self, most_redrawn: float, most_given_up: float) -> None:
        assert self.redrawn <= most_redrawn * self.drawn + 3, self
        assert self.given_up <= most_given_up * self.samples + 1, self


@pytest.mark.parametrize("name", FAMILIES)
def test_samples_parse_as_the_request_asks(name: str) -> None:
    # Each family takes its share of the combinations; all together take every one.
    start = FAMILIES.index(name)
    tally = Tally()
    for combination in COMBINATIONS[start % 12 :: 12]:
        _check_combination(name, combination, tally, tool_sets=1, samples=5)
    tally.check(_most_redrawn(name), MOST_GIVEN_UP)


@pytest.mark.nightly
@pytest.mark.parametrize("combination", COMBINATIONS, ids=str)
@pytest.mark.parametrize("name", FAMILIES)
def test_many_samples_parse_as_the_request_asks(name: str, combination: Any) -> None:
    tally = Tally()
    sets = max(1, SAMPLES // SAMPLES_OF_A_TAG)
    _check_combination(name, combination, tally, tool_sets=sets, samples=SAMPLES_OF_A_TAG)
    tally.check(_most_redrawn(name), MOST_GIVEN_UP_OF_ONE)


@pytest.mark.parametrize("name", NO_REASONING)
def test_what_a_family_cannot_do_is_refused(name: str) -> None:
    with pytest.raises(tagsmith.RequestError, match=NO_REASONING[name]):
        tagsmith.get_family(name).structural_tag(reasoning="enabled")


def test_every_sample_is_a_text_that_the_tag_accepts() -> None:
    family = tagsmith.get_family("cohere-command-a")
    tag = family.structural_tag(tools=make_tools(Random(1)), reasoning="auto")
    samples = sample_texts(tag, 100, seed=1, markers=family.markers)
    assert all(sample.finished for sample in samples)
    texts = {sample.text for sample in samples}
    assert all(found.accepted for found in check_structural_tag(tag, texts))
    assert len(texts) > 80
    for marker in family.markers:
        assert any(marker in text for text in texts), marker


def test_one_seed_gives_the_same_samples() -> None:
    tag = {"type": "structural_tag", "format": {"type": "any_text"}}
    one, again, other = (sample_texts(tag, 5, seed=seed) for seed in (1, 1, 2))
    assert one == again != other


def test_a_sample_that_comes_to_no_end_says_so() -> None:
    endless = {"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]}
    tag = {"type": "structural_tag", "format": {"type": "json_schema", "json_schema": endless}}
    [sample] = sample_texts(tag, 1, seed=1)
    assert not sample.finished


def _check_combination(
    name: str, combination: tuple[str, bool, str], tally: Tally, *, tool_sets: int, samples: int
) -> None:
    family = tagsmith.get_family(name)
    for number in range(tool_sets):
        seed = f"{name} {combination} {number}"
        random = Random(seed)
        asked, tag = _draw(family, combination, random, tally)
        for sample in sample_texts(tag, samples, seed=seed, markers=_words(family)):
            tally.samples += 1
            tally.given_up += not sample.finished
            if sample.finished:
                try:
                    _check(family, asked, sample.text, tally)
                except AssertionError as error:
                    shown = f"{family.id}: {sample.text!r}\n{asked}"
                    raise AssertionError(f"{error}\n{shown}") from error


def _words(family: tagsmith.Family) -> list[str]:
    """What the sampler tries out more often than chance would have it."""
    words = [*family.markers]
    calls = family.spec.tool_calls
    if calls is not None:
        forms = [*(calls.call or ())[:1], *(calls.arguments.parameter or ())[:1]]
        words += [step for form in forms for step in split_template(form) if isinstance(step, str)]
    return [word.strip() for word in words if len(word.strip()) > 1]


def _draw(
    family: tagsmith.Family, combination: tuple[str, bool, str], random: Random, tally: Tally
) -> tuple[Asked, dict[str, Any]]:
    """A request that the family can enforce, with its tag."""
    for _ in range(50):
        tally.drawn += 1
        asked = _ask(family, combination, random)
        try:
            return asked, asked.tag(family)
        except tagsmith.RequestError as error:
            if not _REDRAWN.search(str(error)):
                raise
            tally.redrawn += 1
    raise AssertionError(f"{family.id}: no tool set that it takes was found")


def _ask(family: tagsmith.Family, combination: tuple[str, bool, str], random: Random) -> Asked:
    choice, parallel, format_ = combination
    tools = make_tools(random)
    names = [tool["function"]["name"] for tool in tools]
    some = random.sample(names, random.randint(1, len(names)))
    tool_choice, named = _tool_choice(choice, names, some)
    return Asked(
        tools=tools,
        choice=choice,
        tool_choice=tool_choice,
        callable=frozenset(named),
        parallel=parallel,
        response_format={
            "no format": None,
            "json_object": {"type": "json_object"},
            "json_schema": make_answer(random),
        }[format_],
        reasoning=random.choice(REASONING[family.id in NO_REASONING :]),
    )


def _tool_choice(choice: str, names: list[str], some: list[str]) -> tuple[Any, list[str]]:
    """The request's `tool_choice`, and the tools that may then be called."""
    if choice == "named":
        return _function(some[0]), some[:1]
    if choice.startswith("allowed"):
        body = {"mode": choice.split()[1], "tools": [_function(name) for name in some]}
        return {"type": "allowed_tools", "allowed_tools": body}, some
    return choice, [] if choice == "none" else names


def _function(name: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name}}


def _most_redrawn(name: str) -> float:
    calls = tagsmith.get_family(name).spec.tool_calls
    json_names = calls is not None and calls.layout is CallLayout.JSON
    return MOST_REDRAWN if json_names else MOST_REDRAWN_NAMES


def _prompt(family: tagsmith.Family, reasoning: str, text: str) -> str:
    """The end of a prompt that goes with a reasoning mode, and with what the output does of it."""
    prompt = (family.spec.tokens.turn_start or ("",))[0]
    markers = family.spec.tag_style.reasoning
    if markers is None or (reasoning == "auto" and text.lstrip().startswith(markers.start)):
        return prompt
    if reasoning == "auto" and family.spec.initial_region is InitialRegion.CONTENT:
        return prompt
    if reasoning == "disabled" and family.spec.tokens.header is not None:
        return prompt
    return prompt + markers.start + ("" if reasoning == "enabled" else markers.end or "")


def _check(family: tagsmith.Family, asked: Asked, text: str, tally: Tally) -> None:
    options: dict[str, Any] = {
        "tools": asked.tools,
        "tool_choice": asked.tool_choice,
        "prompt": _prompt(family, asked.reasoning, text),
    }
    message = family.parse(text, **options)
    _check_diagnostics(message, asked, tally)
    _check_calls(message, asked, tally)
    _check_answer(message, asked, tally)
    returns_to_reasoning = family.spec.tokens.header is not None
    if asked.reasoning == "disabled" or (asked.reasoning == "gated" and not returns_to_reasoning):
        assert message.reasoning is None
    _check_spans(family, message, text, options)


def _check_diagnostics(message: tagsmith.Message, asked: Asked, tally: Tally) -> None:
    free = {tool["name"] for tool in asked.functions if tool.get("strict") is False}
    known = HOLES | (NOT_STRICT if any(c.name in free for c in message.tool_calls) else {})
    for diagnostic in message.diagnostics:
        assert diagnostic.code in known, diagnostic
        tally.holes[diagnostic.code.value] += 1


def _check_calls(message: tagsmith.Message, asked: Asked, tally: Tally) -> None:
    tally.calls += len(message.tool_calls)
    known = {tool["name"]: tool for tool in asked.functions}
    for call in message.tool_calls:
        assert call.complete
        assert call.name in asked.callable
        tool = known[call.name]
        schema = tool.get("parameters") or {"maxProperties": 0}
        if tool.get("strict") is False:
            schema = {}
        arguments = _document(call.arguments, schema, tally)
        assert isinstance(arguments, dict)
    if asked.choice in ONE_AT_LEAST:
        assert message.tool_calls
    if not asked.parallel:
        assert len(message.tool_calls) <= 1


def _check_answer(message: tagsmith.Message, asked: Asked, tally: Tally) -> None:
    wanted = asked.response_format
    if asked.choice in ONE_AT_LEAST or (wanted is not None and message.tool_calls):
        assert message.content is None
    elif wanted is not None:
        assert message.content is not None
        schema = wanted.get("json_schema", {}).get("schema", {"type": "object"})
        _document(message.content, schema, tally)


def _document(text: str, schema: dict[str, Any], tally: Tally) -> Any:
    """The JSON value, held to the schema; not where a key of it comes twice."""
    repeated = []

    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(found)
        if len(value) < len(found):
            repeated.append(found)
        return value

    value = json.loads(text, object_pairs_hook=pairs)
    if repeated:
        tally.holes["a key comes twice"] += 1
        return value
    for error in jsonschema.Draft202012Validator(schema).iter_errors(value):
        raise AssertionError(f"{text!r}: {error.message[:300]}")
    return value


def _check_spans(
    family: tagsmith.Family, message: tagsmith.Message, text: str, options: dict[str, Any]
) -> None:
    """Joining what was parsed gives back what was sampled."""
    spans = family.explain(text, **options)
    assert "".join(span.text for span in spans) == text
    assert [span.start for span in spans] == [0, *(span.end for span in spans)][: len(spans)]
    pieces: dict[SpanKind, list[str]] = {kind: [] for kind in SpanKind}
    for span in spans:
        pieces[span.kind].append(span.text)
    repeated = any(d.code is DiagnosticCode.DUPLICATE_KEY for d in message.diagnostics)
    calls = family.spec.tool_calls
    pseudo = calls is not None and any(name in text for name in calls.pseudo_tools)
    assert repeated or pseudo or not pieces[SpanKind.DROPPED]
    assert not pieces[SpanKind.TRUNCATED]
    join = family.spec.whitespace.join
    assert _is_joined(message.content or "", pieces[SpanKind.CONTENT], join)
    assert _is_joined(message.reasoning or "", pieces[SpanKind.REASONING], join)
    arguments = "".join(pieces[SpanKind.ARGUMENTS])
    if calls is None:
        return
    if calls.layout is CallLayout.JSON or (
        calls.layout is CallLayout.TEMPLATE and calls.arguments.encoding == "json"
    ):
        assert pseudo or arguments == "".join(c.arguments for c in message.tool_calls)
    elif "\\" not in arguments:
        for value in _strings(message):
            written = json.dumps(value, ensure_ascii=False)[1:-1]
            assert value in arguments or written in arguments


def _strings(message: tagsmith.Message) -> Iterator[str]:
    """The strings among the arguments."""
    for call in message.tool_calls:
        yield from (v for v in json.loads(call.arguments).values() if isinstance(v, str))


def _is_joined(whole: str, pieces: list[str], join: Join) -> bool:
    """Whether these pieces make the whole, with the family's join where a stretch ended."""
    between = {Join.NOTHING: "", Join.NEWLINE: "\n", Join.BLANK_LINE: "\n\n"}[join]
    places = {0}
    for piece in pieces:
        places = {
            place + len(start) + len(piece)
            for place in places
            for start in ("", between)
            if whole.startswith(start + piece, place)
        }
    return len(whole) in places or (not pieces and not whole)
