"""The laws that any text is held to (docs/laws.md), as checks of one generation of one family.

Each check yields what breaks the law, in words. What a check raises breaks it as well: nothing that
a model writes may raise.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

from tagsmith.engine.spans import SpanKind
from tagsmith.engine.templates import call_openers, holds_token
from tagsmith.engine.text import WHITESPACE
from tagsmith.events import (
    Citation,
    ContentDelta,
    Diagnostic,
    DiagnosticCode,
    Event,
    ReasoningDelta,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    join_events,
)
from tagsmith.family import Family
from tagsmith.spec.models import FamilySpec
from tagsmith.spec.policies import CallLayout, OnOpener, Unmarked
from tagsmith.testing.cutting import by_n_tokens, by_sizes
from tagsmith.testing.driver import run, run_tokens
from tagsmith.testing.texts import TOOLS, Request, literals_of
from tagsmith.testing.tokenizer import MockTokenizer
from tagsmith.testing.writing import WritingError, write_call

MOST_DELTAS_WAITED_FOR = 12
"""After how many deltas, at most, it is looked at what still waits."""
FEW, MANY = 3, 12
"""How often a text is repeated to see that four times the text is about four times the work."""
MOST_WORK = 5.5


@dataclass(frozen=True, slots=True)
class Generation:
    """One output of a family, the request it answers, and how it comes."""

    family: Family
    text: str
    request: Request = field(default_factory=dict)
    """Options of `Family.parser`."""
    sizes: Sequence[int] = (1,)
    """The lengths of its deltas, over and over."""
    step: int = 1
    """How many tokens come at once where it is fed by tokens."""

    @property
    def deltas(self) -> list[str]:
        """The text as it comes."""
        return by_sizes(self.text, self.sizes)


Check = Callable[[Generation], Iterator[str]]


def same_text(generation: Generation) -> Iterator[str]:
    """For every cutting, and for token ids, the joined events are those of the text in one piece.

    >>> import tagsmith
    >>> family = tagsmith.get_family("cohere-command-a")
    >>> list(same_text(Generation(family, "<|START_RESPONSE|>Hi", sizes=[4], step=2)))
    []
    """
    family, request = generation.family, generation.request
    one = run(family, [generation.text], **request)
    cut_up = run(family, generation.deltas, **request)
    yield from _unequal("the deltas give", join_events(cut_up.events), join_events(one.events))
    if cut_up.message != one.message:
        yield "the message of the deltas is not that of the whole text"
    # Only real text: U+FFFD stands for bytes that are no text, and surrogates have no bytes.
    text = generation.text.replace("\ufffd", "?").encode("utf-8", "replace").decode()
    tokenizer = MockTokenizer.for_family(family)
    groups = by_n_tokens(tokenizer.encode(text), generation.step)
    by_ids = run_tokens(family, groups, tokenizer, **request)
    one = run(family, [text], **request)
    yield from _unequal("the tokens give", join_events(by_ids.events), join_events(one.events))


def nothing_taken_back(generation: Generation) -> Iterator[str]:
    """Calls come one after the other, each as a start, arguments and an end; texts only grow."""
    events = run(generation.family, generation.deltas, **generation.request).events
    started = ended = 0
    shown = {"content": "", "reasoning": ""}
    for event in events:
        is_open = started == ended + 1
        if isinstance(event, ToolCallStart):
            if is_open or event.index != started:
                yield f"call {event.index} starts where call {started} may"
            started += 1
        elif isinstance(event, ToolCallDelta | ToolCallEnd):
            if not is_open or event.index != ended:
                yield f"{event.type} of call {event.index}, which is not open"
            ended += isinstance(event, ToolCallEnd)
        elif isinstance(event, ContentDelta | ReasoningDelta):
            if not event.text:
                yield f"an event of {event.type} is empty"
            shown[event.type] += event.text
        elif (
            isinstance(event, Citation)
            and event.text != (shown[event.target.value][event.start : event.end])
        ):
            yield f"the citation of {event.text!r} is not where it says"
    if started != ended:
        yield f"{started} calls start and {ended} end"


def nothing_waits(generation: Generation) -> Iterator[str]:
    """Less text is held back than the longest marker has characters."""
    family = generation.family
    request = {key: value for key, value in generation.request.items() if key != "stop"}
    longest = max(map(len, family.markers), default=1)
    deltas = generation.deltas
    for count in range(1, min(len(deltas), MOST_DELTAS_WAITED_FOR) + 1):
        parser = family.parser(**request)
        for delta in deltas[:count]:
            parser.feed(delta)
        held = _held(family.spec, parser.finish("length"))
        if len(held) >= longest:
            yield f"after {count} deltas, {held!r} still waits"


def _held(spec: FamilySpec, last: Sequence[Event]) -> str:
    """The text that came at the end and might have come before."""
    malformed = DiagnosticCode.MALFORMED_CALL
    if any(isinstance(event, Diagnostic) and event.code is malformed for event in last):
        return ""  # What might have been a call had to wait until it was known to be none.
    late = [event.text for event in last if isinstance(event, ContentDelta | ReasoningDelta)]
    held = "".join(late).lstrip(" \t\n\r")
    bare_calls = spec.tool_calls is not None and spec.tool_calls.unmarked is Unmarked.AT_START
    # So did what may be a call without a marker.
    return "" if bare_calls and held[:1] in ("{", "[") else held


def nothing_leaks(generation: Generation) -> Iterator[str]:
    """No marker shows in what a user is shown, but inside a string."""
    family = generation.family
    # Without quotes there is no string, so no marker of the text can be data there.
    text = generation.text.replace('"', "").replace("'", "")
    shown = _shown_kinds(family.spec)
    markers = _markers_that_count(family)
    for span in family.explain(text, **generation.request):
        leaked = [m for m in markers if m in span.text] if span.kind in shown else []
        if leaked:
            yield f"{leaked[0]!r} shows as {span.kind.value}, of {text!r}"


def _shown_kinds(spec: FamilySpec) -> set[SpanKind]:
    """What a user is shown; in a template, calls hold markers and raw values may."""
    kinds = {SpanKind.CONTENT, SpanKind.REASONING, SpanKind.WHITESPACE}
    layout = spec.tool_calls.layout if spec.tool_calls else CallLayout.JSON
    return kinds if layout is CallLayout.TEMPLATE else kinds | {SpanKind.CALL, SpanKind.ARGUMENTS}


def _markers_that_count(family: Family) -> Sequence[str]:
    """The markers that are structure everywhere.

    The openers of calls that are plain text may be that where no call begins, and in some families
    reasoning may quote openers.
    """
    spec = family.spec
    openers = frozenset[str]() if spec.tool_calls is None else call_openers(spec.tool_calls)
    markers = [m for m in family.markers if m not in openers or holds_token(spec, m)]
    reasoning = spec.tag_style.reasoning
    if reasoning is None or reasoning.on_opener is OnOpener.END:
        return markers
    return spec.tokens.hidden


def quoted_is_data(generation: Generation) -> Iterator[str]:
    """A marker inside an argument is kept to the letter. The generation's text is the argument."""
    family, value = generation.family, generation.text
    try:
        call = write_call(family.spec, "f", {"q": value, "n": [1]})
    except WritingError:  # No calls, or an encoding of a plug-in.
        return
    message = family.parse(call, tools=list(TOOLS))
    found = [(made.name, made.complete) for made in message.tool_calls]
    if found != [("f", True)] or (message.content, message.reasoning) != (None, None):
        yield f"{call!r} is not read as one call"
    elif json.loads(message.tool_calls[0].arguments).get("q") != value:
        yield f"the argument {value!r} of {call!r} comes as {message.tool_calls[0].arguments}"


def quotable(spec: FamilySpec, texts: Sequence[str]) -> list[str]:
    """Those that an argument can hold: not what no format could tell from the argument's end."""
    calls = spec.tool_calls
    if calls is None or calls.layout is not CallLayout.TEMPLATE:
        return list(texts)
    closers: set[str | None] = {calls.arguments.quote}
    if calls.arguments.encoding == "tagged":
        closers = set(literals_of(calls))
    return [text for text in texts if text not in closers]


def nothing_lost(generation: Generation) -> Iterator[str]:
    """The spans tile the text."""
    spans = generation.family.explain(generation.text, **generation.request)
    if "".join(span.text for span in spans) != generation.text:
        yield "the spans do not add up to the text"
    if [span.start for span in spans] != [0, *(span.end for span in spans)][: len(spans)]:
        yield "a span does not start where the one before it ends"


def nothing_raises(generation: Generation) -> Iterator[str]:
    """Any text gives a message, and the reason it ended for."""
    reason = "length"
    done = run(
        generation.family, generation.deltas, finish_reason=reason, **generation.request
    ).message
    if done.finish_reason != reason:
        yield f"the message ended for {done.finish_reason!r}, not {reason!r}"


def linear(generation: Generation) -> Iterator[str]:
    """Four times the text is about four times the work. The generation's text is what repeats."""
    few, many = (_work(generation, times) for times in (FEW, MANY))
    if many >= MOST_WORK * few:
        yield f"{MANY // FEW} times the text is {many / few:.1f} times the work"


def _work(generation: Generation, times: int) -> int:
    """How many functions run while the text is parsed: work that no other process disturbs."""
    count = 0

    def profile(frame: object, event: str, arg: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    deltas = by_sizes(generation.text * times, generation.sizes)
    parser = generation.family.parser(**generation.request)
    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        for delta in deltas:
            parser.feed(delta)
        parser.finish()
    finally:
        sys.setprofile(before)
    return count


def independent(generation: Generation) -> Iterator[str]:
    """A parser is not disturbed by another of its family that runs beside it."""
    family, request = generation.family, generation.request
    alone = run(family, generation.deltas, **request).message
    parser, other = family.parser(**request), family.parser()
    for delta, beside in zip_longest(generation.deltas, generation.text[::-1], fillvalue=""):
        parser.feed(delta)
        other.feed(beside)
    parser.finish()
    if parser.message != alone:
        yield "the message is another when a second parser runs beside it"


def rendered_reads_back(generation: Generation) -> Iterator[str]:
    """Render, then parse, is the identity. The generation's text is what the turn says.

    A text with a marker in it is none that a renderer keeps, and a family without a renderer has
    nothing to read back.
    """
    family, text = generation.family, generation.text.strip(WHITESPACE)
    markup = ("<co", "</co") if family.spec.citations is not None else ()
    if family.spec.melody is None or any(m in text for m in (*family.markers, *markup)):
        return
    turn = {"role": "assistant", "reasoning_content": text, "content": text}
    message = family.parse(family.render_turn(turn))
    found = (message.reasoning, message.content)
    if found != (text or None, text or None):
        yield f"reasoning and content {text!r} come back as {found}"
    function = {"name": "f", "arguments": json.dumps({"q": text, "n": [1]})}
    calls = [{"id": "call_1", "type": "function", "function": function}]
    message = family.parse(family.render_turn({"role": "assistant", "tool_calls": calls}))
    read = [(call.name, json.loads(call.arguments)) for call in message.tool_calls]
    if read != [("f", {"q": text, "n": [1]})]:
        yield f"a call with {function['arguments']} comes back as {read}"


def _unequal(what: str, found: Sequence[Event], expected: Sequence[Event]) -> Iterator[str]:
    for one, other in zip_longest(found, expected):
        if one != other:
            yield f"{what} {one or 'nothing'}, the whole text {other or 'nothing'}"
            return


LAWS: Mapping[str, Check] = {
    "same-text": same_text,
    "nothing-taken-back": nothing_taken_back,
    "nothing-waits": nothing_waits,
    "nothing-leaks": nothing_leaks,
    "quoted-is-data": quoted_is_data,
    "nothing-lost": nothing_lost,
    "nothing-raises": nothing_raises,
    "linear": linear,
    "independent": independent,
    "rendered-reads-back": rendered_reads_back,
}
"""Each law that a family is held to unless others are named, by its name."""


def broken_by(check: Check, generation: Generation) -> str | None:
    """How a generation breaks a law; None where it keeps it.

    >>> import tagsmith
    >>> family = tagsmith.get_family("cohere-command-a")
    >>> broken_by(nothing_lost, Generation(family, "<co>")) is None
    True
    """
    try:
        return next(check(generation), None)
    except Exception as error:  # Whatever it is: nothing may raise.
        return f"raises {type(error).__name__}: {error}"


def worst_texts(family: Family, fragments: Sequence[str]) -> list[str]:
    """Texts that a parser might read again and again, to be repeated."""
    texts = [*WORST, *(fragment * 12 for fragment in fragments if len(fragment) > 2)]
    try:
        call = write_call(family.spec, "f", {"a": "x", "b": [1]})
    except WritingError:
        return texts
    half = call[: len(call) // 2]
    endings = ["[", "\\", " ", "<", "\n", "a"]
    texts += [call * 6, half * 6, *(half + ending * 120 for ending in endings)]
    return [*texts, *(half + marker * 12 for marker in family.markers[-1:])]


WORST = (
    "<" * 120,
    "a" + " " * 120,
    "`" * 120,
    '"' * 120,
    "{" * 120,
    "[" * 120,
    '[{"' * 60,
    "<co></co: " + "1" * 120,
    "<|START_RESPONSE|>" + "<co>x</co: 0:[1]>" * 20,
    "<|START_RESPONSE|>" + "<co>x" * 20 + "</co: 0:[1]>" * 20,
)
"""Those that are worth a try in any family."""
