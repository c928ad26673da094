"""Argument encodings of plug-ins that do what they should not: the parser goes on."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

import tagsmith
from tagsmith.encodings import (
    ArgumentsReader,
    Buffer,
    CallSink,
    Context,
    Ended,
    FamilySpec,
    Place,
    SpanKind,
    scanner_of,
)
from tagsmith.engine.guarded_arguments import GuardedEncoding
from tagsmith.events import DiagnosticCode
from tagsmith.testing import every_two_way, run

SPEC = FamilySpec.model_validate(
    {
        "tagsmith": 1,
        "id": "acme",
        "tool_calls": {
            "layout": "template",
            "call": "<call>{name}: {arguments}</call>",
            "arguments": {"encoding": "acme"},
        },
    }
)


class WordReader:
    """The arguments are a word: everything up to what comes after them."""

    def __init__(self, sink: CallSink) -> None:
        self.sink = sink

    flowing: Any = None
    expects_marker: Any = True

    def begin(self, tool: str, after: Place) -> None:
        self.ends, self.begun = scanner_of(after.scanner.literals), False

    def read(self, buffer: Buffer, pos: int) -> tuple[int, Ended | None]:
        found = buffer.find(self.ends, pos)
        end = len(buffer.text) if found is None else found[0]
        if end > pos:
            self.sink.take(buffer.text[pos:end], buffer.base + pos, SpanKind.ARGUMENTS)
            self.sink.confirm()
            opening = "" if self.begun else '{"word": "'
            self.sink.argument_text(opening + buffer.text[pos:end])
            self.begun = True
        if found is None or found[2] is None:
            return end, None
        self.sink.argument_text('"}')
        return end, Ended.WHOLE

    def finish(self) -> bool:
        return False


def family_of(make: Callable[[CallSink, Context], ArgumentsReader]) -> tagsmith.Family:
    class Program:
        starts: frozenset[str] = frozenset()
        literals: frozenset[str] = frozenset()

        def reader(self, sink: CallSink, context: Context) -> ArgumentsReader:
            return make(sink, context)

    encoding = GuardedEncoding("acme", lambda spec, beyond: Program())
    return tagsmith.Family(SPEC, encodings={"acme": encoding})


TEXT = "Hi.<call>f: abcdef</call>Then <call>g: xyz</call>."


def test_an_encoding_that_does_what_it_should_is_not_in_the_way() -> None:
    family = family_of(lambda sink, _: WordReader(sink))
    for deltas in [[TEXT], list(TEXT), *every_two_way(TEXT)]:
        message = run(family, deltas).message
        assert [c.arguments for c in message.tool_calls] == [
            '{"word": "abcdef"}',
            '{"word": "xyz"}',
        ]
        assert (message.content, message.diagnostics) == ("Hi.Then.", ())


def raising(fault: BaseException) -> Callable[..., Any]:
    def method(*_: Any) -> Any:
        raise fault

    return method


def returning(value: object) -> Callable[..., Any]:
    return lambda *_: value


def bad_text(self: Any, buffer: Buffer, pos: int) -> Any:
    self.sink.argument_text(5)
    return len(buffer.text), None


def half(self: Any, buffer: Buffer, pos: int) -> Any:
    self.sink.take(buffer.text[pos : pos + 1], buffer.base + pos, SpanKind.ARGUMENTS)
    raise ValueError("after one character")


def meddling(self: Any, buffer: Buffer, pos: int) -> Any:
    self.sink.call = None
    buffer.text = ""
    raise ValueError("meddled")


READER_FAULTS: dict[str, tuple[dict[str, Any], str]] = {
    "begin raises": ({"begin": raising(OSError("no"))}, "OSError: no"),
    "read raises": ({"read": raising(ValueError("a\nb"))}, "ValueError: a b"),
    "read exits": ({"read": raising(SystemExit(1))}, "SystemExit: 1"),
    "read panics": ({"read": raising(BaseException("panic"))}, "BaseException: panic"),
    "read returns nothing": ({"read": returning(None)}, "TypeError"),
    "read goes back": ({"read": returning((-5, None))}, "it reads to -5"),
    "read goes too far": ({"read": returning((10**9, None))}, "it reads to 1000000000"),
    "read ends in no way there is": ({"read": lambda self, b, pos: (pos, "end")}, "'end' is not"),
    "what it tells is no text": ({"read": bad_text}, "argument text is int, not text"),
    "it fails on the way": ({"read": half}, "after one character"),
    "it changes what it is given": ({"read": meddling}, "meddled"),
    "flowing raises": ({"flowing": property(raising(ValueError("flow")))}, "ValueError: flow"),
}


@pytest.mark.parametrize(("methods", "told"), READER_FAULTS.values(), ids=READER_FAULTS)
def test_a_reader_that_fails_ends_its_call_and_the_next_is_read(
    methods: dict[str, Any], told: str
) -> None:
    failing = type("Failing", (WordReader,), methods)
    family = family_of(lambda sink, _: failing(sink))
    for deltas in [[TEXT], list(TEXT), *every_two_way(TEXT)]:
        message = run(family, deltas).message
        codes = {diagnostic.code for diagnostic in message.diagnostics}
        if "flowing" in methods and not message.diagnostics:
            continue  # Nobody asked for it.
        assert DiagnosticCode.ENGINE_FAULT in codes
        (first, *_) = [d for d in message.diagnostics if d.code is DiagnosticCode.ENGINE_FAULT]
        assert told in first.message
        assert first.message.startswith("the encoding acme failed with ")
        assert str(message.content).startswith("Hi.")
        spans = family.explain(TEXT)
        assert "".join(span.text for span in spans) == TEXT


def test_an_output_ends_where_its_reader_fails() -> None:
    failing = type("Failing", (WordReader,), {"finish": raising(ValueError("at the end"))})
    message = family_of(lambda sink, _: failing(sink)).parse("<call>f: abc", finish_reason="length")
    assert [(c.arguments, c.complete) for c in message.tool_calls] == [('{"word": "abc', False)]
    assert [d.code for d in message.diagnostics] == ["engine-fault", "truncated"]


def test_a_reader_that_cannot_be_made_reads_no_call() -> None:
    message = family_of(raising(ValueError("no reader"))).parse(TEXT)
    assert [d.code for d in message.diagnostics].count(DiagnosticCode.ENGINE_FAULT) == 2
    assert "ValueError: no reader" in message.diagnostics[0].message


def test_a_run_ends_where_the_encoding_cannot_tell() -> None:
    class Flowing(WordReader):
        @property
        def flowing(self) -> Any:
            return raising(ValueError("flow"))

    family = family_of(lambda sink, _: Flowing(sink))
    assert run(family, list(TEXT)).message == family.parse(TEXT)


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt(), GeneratorExit()])
def test_what_does_not_come_from_the_encoding_passes(interrupt: BaseException) -> None:
    failing = type("Failing", (WordReader,), {"read": raising(interrupt)})
    with pytest.raises(type(interrupt)):
        family_of(lambda sink, _: failing(sink)).parse(TEXT)


def test_an_encoding_may_change_the_request_that_it_is_given() -> None:
    def make(sink: CallSink, context: Context) -> ArgumentsReader:
        assert context.parameters is not None
        context.parameters["f"].clear()
        context.parameters.clear()  # type: ignore[attr-defined]
        return WordReader(sink)

    tools = [{"name": "f", "parameters": {"type": "object"}}, {"name": "g"}]
    before = copy.deepcopy(tools)
    message = family_of(make).parse(TEXT, tools=tools)
    assert [call.name for call in message.tool_calls] == ["f", "g"]
    assert (tools, message.diagnostics) == (before, ())


def test_what_an_encoding_says_when_it_refuses_stays_what_it_is() -> None:
    class SilentError(Exception):
        def __str__(self) -> str:
            raise OSError("no")

    for fault, kind, told in [
        (ValueError("give quote"), ValueError, "^give quote$"),
        (SystemExit(2), RuntimeError, "^SystemExit: 2$"),
        (SilentError(), RuntimeError, "^SilentError: .and what it says cannot be shown"),
    ]:
        with pytest.raises(kind, match=told):
            GuardedEncoding("acme", raising(fault))(SPEC, frozenset())
