"""Engines that plug-ins bring: from the hook to a stream, and through whatever they do wrong."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import tagsmith
from documented_plugins import documented_plugin
from tagsmith import (
    Citation,
    ContentDelta,
    Diagnostic,
    Event,
    Message,
    ReasoningDelta,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    engines,
)
from tagsmith.cli import main
from tagsmith.engines import Context, EngineReader, FamilySpec
from tagsmith.events import DiagnosticCode, Target
from tagsmith.registry import load_registry
from tagsmith.testing import MockTokenizer, by_n_tokens, every_two_way, run, run_tokens

Install = Callable[..., Path]

PLUGIN = documented_plugin(engines, hook="tagsmith_engines", name="acme-lines", made="lines_engine")
FAMILY = "tagsmith: 1\nid: acme\nengine: acme-lines\nmatch: {architectures: [AcmeForCausalLM]}\n"
OUTPUT = '? A city.\n! weather {"city": "Paris"}\nI will\n!? see.\n! now {}\n? Ok\n!'


@pytest.fixture
def family(install: Install) -> tagsmith.Family:
    install("acme", "tagsmith", "acme.plugin", plugin__py=PLUGIN, a__yaml=FAMILY)
    return load_registry().get("AcmeForCausalLM")


def test_a_plugin_brings_an_engine_that_its_family_is_read_with(family: tagsmith.Family) -> None:
    message = family.parse(OUTPUT)
    assert (message.reasoning, message.content) == ("A city.\nOk\n", "I will\n!? see.\n!")
    assert [(c.id, c.name, c.arguments, c.complete) for c in message.tool_calls] == [
        ("call-0", "weather", '{"city": "Paris"}', True),
        ("call-1", "now", "{}", True),
    ]
    assert (message.diagnostics, message.finish_reason) == ((), "tool_calls")
    assert family.parse(OUTPUT, tool_choice="none").tool_calls == ()
    assert family.parse(OUTPUT, engine="native").content == OUTPUT


def test_however_the_text_is_cut_the_result_is_the_same(family: tagsmith.Family) -> None:
    whole = family.parse(OUTPUT)
    for deltas in [list(OUTPUT), *every_two_way(OUTPUT)]:
        assert run(family, deltas).message == whole
    tokenizer = MockTokenizer.for_family(family)
    for size in (1, 3):
        groups = by_n_tokens(tokenizer.encode(OUTPUT), size)
        assert run_tokens(family, groups, tokenizer).message == whole


@pytest.mark.parametrize(
    ("stop", "content", "calls"),
    [
        ("see", "I will\n!? ", 1),
        ("I", "", 1),
        ("ill\n!? s", "I w", 1),
        ("city", "I will\n!? see.\n!", 2),
        ("will\n! now", "I will\n!? see.\n!", 2),
    ],
)
def test_a_stop_string_ends_the_content_and_counts_nowhere_else(
    family: tagsmith.Family, stop: str, content: str, calls: int
) -> None:
    for deltas in [[OUTPUT], list(OUTPUT), *every_two_way(OUTPUT)]:
        parser = family.parser(stop=[stop])
        for delta in deltas:
            parser.feed(delta)
        parser.finish()
        message = parser.message
        assert ((message.content or ""), len(message.tool_calls)) == (content, calls)
        assert (message.stop, parser.stopped) == ((stop, True) if calls == 1 else (None, False))
        assert parser.offset == len(OUTPUT)


def test_a_call_that_is_left_open_is_incomplete(family: tagsmith.Family) -> None:
    message = family.parse('! f {"a"')
    assert [(c.arguments, c.complete) for c in message.tool_calls] == [('{"a"', False)]
    assert message.finish_reason == "length"


def test_a_family_with_it_can_be_pickled_and_copied(family: tagsmith.Family) -> None:
    family.parse(OUTPUT)
    for other in (
        pickle.loads(pickle.dumps(family)),
        copy.copy(family),
        copy.deepcopy(family),
        tagsmith.Family(family.spec, family.source, family.encodings, family.engines),
    ):
        assert (other, hash(other)) == (family, hash(family))
        assert other.parse(OUTPUT) == family.parse(OUTPUT)


def test_every_family_may_be_read_by_it(family: tagsmith.Family) -> None:
    north = load_registry().get("cohere-north")
    assert north.parse("? a\nb", engine="acme-lines").reasoning == "a\n"
    with pytest.raises(tagsmith.RequestError, match="'acme'; use native, melody or acme-lines"):
        north.parser(engine="acme")


def test_without_its_plugin_an_engine_is_not_allowed(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(FAMILY)
    registry = load_registry([tmp_path])
    (problem,) = registry.problems
    assert (problem.code, problem.line, problem.column) == ("TS104", 3, 9)
    assert "'acme-lines' is not allowed; allowed: melody, native; a plug-in" in problem.message
    with pytest.raises(tagsmith.FamilyFileError):
        registry.get("acme")
    spec = FamilySpec.model_validate({"tagsmith": 1, "id": "a", "engine": "acme-lines"})
    with pytest.raises(tagsmith.RequestError, match="'acme-lines'; use native or melody"):
        tagsmith.Family(spec).parser()
    assert tagsmith.Family(spec).parse("? a", engine="native").content == "? a"


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("raise ValueError('give\\n  tokens.header')", "(ValueError: give tokens.header)"),
        ("return None", "(TypeError: it returns NoneType, which makes no reader)"),
        ("import sys; sys.exit(3)", "(SystemExit: 3)"),
    ],
)
def test_an_engine_that_refuses_a_family_is_told_in_its_words(
    install: Install, code: str, told: str
) -> None:
    code = PLUGIN.replace("return LinesProgram()", code)
    install("acme", "tagsmith", "acme.plugin", plugin__py=code, a__yaml=FAMILY)
    registry = load_registry()
    (problem,) = registry.problems
    assert (problem.code, problem.line, problem.column) == ("TS327", 3, 9)
    assert f"acme-lines cannot read the family acme {told}" in problem.message
    with pytest.raises(tagsmith.FamilyFileError):
        registry.get("acme")
    north = registry.get("cohere-north")
    with pytest.raises(tagsmith.RequestError, match="cannot read the family cohere-north"):
        north.parser(engine="acme-lines")
    assert north.parse("Hi").reasoning == "Hi"


def test_of_two_plugins_with_one_engine_the_first_keeps_it(install: Install) -> None:
    install("aafirst", "tagsmith", "aafirst.plugin", plugin__py=PLUGIN, a__yaml=FAMILY)
    install(
        "zzlast",
        "tagsmith",
        "zzlast.plugin",
        plugin__py=PLUGIN,
        a__yaml=FAMILY.replace("id: acme", "id: zz"),
    )
    listed = CliRunner().invoke(main, ["plugins"])
    assert listed.exit_code == 1
    assert "the engine 'acme-lines' is brought by aafirst too; rename it" in listed.stdout
    assert {"acme"} == {"acme", "zz"} & set(load_registry().ids())


SPEC = FamilySpec.model_validate(
    {
        "tagsmith": 1,
        "id": "acme",
        "engine": "acme",
        "tag_style": {
            "reasoning": {"start": "<think>", "end": "</think>"},
            "tool_calls": {"start": "<calls>", "end": "</calls>"},
        },
        "tool_calls": {"layout": "json"},
        "citations": {"markup": {"open": "<co>", "close": "</co: {positions}>"}},
    }
)


class PlainReader(EngineReader):
    """Everything is content, in pieces of five characters; the rest waits."""

    seen = ""

    def feed(self, text: str) -> Iterable[Event]:
        self.seen += text
        text = self.held + text
        end = len(text) - len(text) % 5
        self.held = text[end:]
        return [ContentDelta(text[:end])] if end else []

    def finish(self) -> Iterable[Event]:
        return [ContentDelta(self.held)]


def reading(*events: object, after: str = "BAD") -> type[PlainReader]:
    """A reader that tells these once what it is fed holds a word."""

    class Reader(PlainReader):
        def feed(self, text: str) -> Iterable[Event]:
            if after in self.seen + text:
                return list(events)  # type: ignore[arg-type]
            return super().feed(text)

    return Reader


def family_of(reader: Callable[[], Any]) -> tagsmith.Family:
    class Program:
        def reader(self, context: Context) -> Any:
            return reader()

    return tagsmith.Family(SPEC, engines={"acme": lambda spec: Program()})


class Unprintable(BaseException):
    def __str__(self) -> str:
        raise OSError("no")


def raising(fault: BaseException | type[BaseException], *, late: bool = False) -> Callable[[], Any]:
    class Reader(PlainReader):
        def feed(self, text: str) -> Iterable[Event]:
            if "BAD" not in self.seen + text:
                yield from super().feed(text)
                return
            if late:
                yield ContentDelta("never shown")
            self.held = "lost"
            raise fault

    return Reader


def at_once() -> EngineReader:
    raise ValueError("no reader today")


class Finishing(PlainReader):
    def finish(self) -> Iterable[Event]:
        raise ValueError("at the end")


class Holding(PlainReader):
    def feed(self, text: str) -> Iterable[Event]:
        events = super().feed(text)
        self.held += "x"
        return events


class Hollow:
    pass


class Silent(PlainReader):
    def feed(self, text: str) -> Any:
        return None


TEXT = "Hello there, BAD world!!<think>Hm.</think>So."
FAULTS: dict[str, tuple[Callable[[], Any], str]] = {
    "raises": (raising(ValueError("broken\nhere")), "ValueError: broken here"),
    "raises late in a generator": (raising(OSError("no"), late=True), "OSError: no"),
    "exits": (raising(SystemExit(3)), "SystemExit: 3"),
    "panics": (raising(BaseException("panic")), "BaseException: panic"),
    "recurses": (raising(RecursionError), "RecursionError"),
    "says nothing that can be shown": (raising(Unprintable), "Unprintable: (and what it says"),
    "makes no reader": (at_once, "ValueError: no reader today"),
    "makes something else": (Hollow, "AttributeError"),
    "raises at the end": (Finishing, "ValueError: at the end"),
    "returns nothing": (Silent, "TypeError: 'NoneType' object is not iterable"),
    "tells what is no event": (reading("text"), "'text' is no event"),
    "tells no text": (reading(ContentDelta(None)), "is no event"),  # type: ignore[arg-type]
    "tells a diagnostic of its own": (
        reading(Diagnostic("mine", "x", 0)),  # type: ignore[arg-type]
        "'mine' is not a valid DiagnosticCode",
    ),
    "goes on with no call": (reading(ToolCallDelta(0, "{")), "call 0 goes on, and is not open"),
    "ends no call": (reading(ToolCallEnd(3, True)), "call 3 goes on, and is not open"),
    "skips a call": (reading(ToolCallStart(1, "1", "f")), "call 1 begins where call 0 may"),
    "begins a call in a call": (
        reading(ToolCallStart(0, "0", "f"), ToolCallStart(1, "1", "f")),
        "call 1 begins where call 1 may, or none",
    ),
    "tells text in a call": (
        reading(ToolCallStart(0, "0", "f"), ContentDelta("x")),
        "text begins inside a call",
    ),
    "cites what is no place": (
        reading(Citation(0, 1, "x", "nowhere", ())),  # type: ignore[arg-type]
        "'nowhere' is not a valid Target",
    ),
    "holds what it was not given": (Holding, "what it holds is not the end"),
}  # fmt: skip


@pytest.mark.parametrize(("reader", "told"), FAULTS.values(), ids=FAULTS)
def test_an_engine_that_fails_is_told_and_the_native_engine_reads_on(
    reader: Callable[[], Any], told: str
) -> None:
    family = family_of(reader)
    for deltas in [[TEXT], list(TEXT), *every_two_way(TEXT)]:
        message = run(family, deltas).message
        # At the end nothing is left but what was held.
        reasoning = None if told == "ValueError: at the end" else "Hm."
        content = TEXT if reasoning is None else TEXT.replace("<think>Hm.</think>", "")
        assert (message.reasoning, message.content) == (reasoning, content)
        (fault,) = message.diagnostics
        assert fault.code is DiagnosticCode.ENGINE_FAULT
        assert told in fault.message
        assert fault.message.startswith("the engine acme failed with ")
        assert fault.message.endswith("; the native engine reads on")
        assert 0 <= fault.offset <= len(TEXT)


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, GeneratorExit])
def test_what_does_not_come_from_the_engine_passes(interrupt: type[BaseException]) -> None:
    with pytest.raises(interrupt):
        family_of(raising(interrupt)).parse(TEXT)


class Scripted(EngineReader):
    """Tells the next events at each `|`; raises at the end of the script."""

    def __init__(self, script: list[list[Event]]) -> None:
        self.script = list(script)

    def feed(self, text: str) -> Iterable[Event]:
        for _ in range(text.count("|")):
            yield from self.script.pop(0)


CALL = [ToolCallStart(0, "0", "f"), ToolCallDelta(0, '{"a": ')]
WHOLE = [*CALL, ToolCallDelta(0, "1}"), ToolCallEnd(0, True)]
GOING_ON: dict[str, tuple[list[list[Event]], list[str], dict[str, Any]]] = {
    "in reasoning": (
        [[ReasoningDelta("Hm, ")]],
        ["<think>Hm, |", "so| it is.</think>Yes."],
        {"reasoning": "Hm, so| it is.", "content": "Yes."},
    ),
    "in reasoning, where the engine passed its end": (
        [[ReasoningDelta("Hm.")]],
        ["<think>Hm.|</think>", " Yes|."],
        {"reasoning": "Hm.", "content": "Yes|."},
    ),
    "in content": (
        [[ReasoningDelta("Hm.")], [ContentDelta("It is")]],
        ["<think>Hm.|</think>", "It is|", " so|."],
        {"reasoning": "Hm.", "content": "It is so|."},
    ),
    "in a call": (
        [[ContentDelta("Wait."), *CALL]],
        ["Wait.<calls>|", '1}]|</calls>Then <calls>{"name": "g", "arguments": {}}</calls>'],
        {
            "content": "Wait.1}]|Then",
            "calls": [("0", "f", '{"a": ', False), ("0-1", "g", "{}", True)],
        },
    ),
    "after a call": (
        [WHOLE],
        ["<calls>..</calls>|", '<calls>{"name": "g", "arguments": {}}</calls>|'],
        {"content": "|", "calls": [("0", "f", '{"a": 1}', True), ("0-1", "g", "{}", True)]},
    ),
    "before a citation": (
        [[ContentDelta("It rains. ")]],
        ["It rains. |", "<co>Hard|</co: 0:[0]>."],
        {"content": "It rains. Hard|.", "citations": [(10, 15, "Hard|")]},
    ),
    "where what was told waits for a stop": (
        [[ContentDelta("a EN")]],
        ["a EN|", "D| b"],
        {"content": "a END| b"},
    ),
}


@pytest.mark.parametrize(("script", "deltas", "wanted"), GOING_ON.values(), ids=GOING_ON)
def test_the_native_engine_goes_on_where_the_engine_left_off(
    script: list[list[Event]], deltas: list[str], wanted: dict[str, Any]
) -> None:
    parser = family_of(lambda: Scripted(script)).parser(stop=["END!"], documents=["rain"])
    for delta in deltas:
        parser.feed(delta)
    parser.finish()
    message = parser.message
    assert (message.reasoning, message.content) == (wanted.get("reasoning"), wanted["content"])
    calls = [(c.id, c.name, c.arguments, c.complete) for c in message.tool_calls]
    assert calls == wanted.get("calls", [])
    assert [(c.start, c.end, c.text) for c in message.citations] == wanted.get("citations", [])
    faults = [d for d in message.diagnostics if d.code is DiagnosticCode.ENGINE_FAULT]
    assert [fault.offset for fault in faults] == [sum(map(len, deltas[: len(script)]))]


def test_an_engine_may_change_what_it_is_given_and_what_it_told() -> None:
    told: list[Any] = []

    class Meddler(PlainReader):
        def feed(self, text: str) -> Iterable[Event]:
            for event in told:
                event.text = "changed"
            events = list(super().feed(text))
            told.extend(events)
            return events

    class Program:
        def reader(self, context: Context) -> EngineReader:
            assert context.parameters is not None
            context.parameters["f"]["properties"].clear()
            context.parameters.clear()  # type: ignore[attr-defined]
            assert context.sources is not None
            context.sources.entries.clear()  # type: ignore[attr-defined]
            return Meddler()

    tools = [{"name": "f", "parameters": {"type": "object", "properties": {"a": {}}}}]
    before = copy.deepcopy(tools)
    family = tagsmith.Family(SPEC, engines={"acme": lambda spec: Program()})
    documents = [{"id": "x", "data": {"text": "y"}}]
    assert run(family, list(TEXT), tools=tools, documents=documents).message.content == TEXT
    assert tools == before
    cited = "<co>Hm</co: 0:[0]>"
    other = tagsmith.Family(SPEC.model_copy(update={"engine": "native"}))
    assert other.parse(cited, documents=documents).citations[0].sources[0]["id"] == "x"


def test_a_request_that_cannot_be_copied_is_refused_before_the_first_token() -> None:
    class Schema(dict[str, Any]):
        def __deepcopy__(self, memo: Any) -> Any:
            raise OSError("no copies")

    family = family_of(PlainReader)
    tools = [{"name": "f", "parameters": Schema(type="object")}]
    with pytest.raises(
        tagsmith.RequestError, match=r"tools: cannot be copied \(OSError: no copies"
    ):
        family.parser(tools=tools)


def test_markers_that_are_tokens_are_told_apart() -> None:
    fed: list[tuple[str, str]] = []

    class Reader(EngineReader):
        def feed(self, text: str) -> Iterable[Event]:
            fed.append(("text", text))
            return ()

        def feed_literal(self, text: str) -> Iterable[Event]:
            fed.append(("literal", text))
            return [ContentDelta(text)]

        def feed_marker(self, marker: str) -> Iterable[Event]:
            fed.append(("marker", marker))
            return ()

    family = family_of(Reader)
    tokenizer = MockTokenizer.for_family(family)
    run_tokens(family, by_n_tokens(tokenizer.encode("<think>a"), 1), tokenizer)
    assert fed == [("marker", "<think>"), ("literal", "a")]


def test_engines_share_nothing_between_generations() -> None:
    family = family_of(raising(ValueError("x")))
    good, bad = family.parser(), family.parser()
    good.feed("Hello")
    bad.feed("BAD")
    assert (good.message.diagnostics, len(bad.message.diagnostics)) == ((), 1)


def test_a_message_of_a_fault_is_short() -> None:
    message: Message = family_of(raising(ValueError("x" * 100_000))).parse(TEXT)
    assert len(message.diagnostics[0].message) < 500


def test_the_target_of_a_citation_is_kept() -> None:
    cited = Citation(0, 2, "Hm", Target.REASONING, ((0, 1),), ({"id": "a"},))
    family = family_of(reading(ReasoningDelta("Hm"), cited, after=""))
    assert family.parse("x").citations == (cited,)
