"""How others and Tagsmith read the same outputs: formats, readers, and a table of the verdicts."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import tagsmith
from tagsmith.testing import MockTokenizer, by_n_tokens

WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        },
    },
}


@dataclass
class Reading:
    """What an output says; the arguments of a call are values, or text where they are no JSON."""

    reasoning: str = ""
    content: str = ""
    calls: list[tuple[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class Format:
    """A format that all of them read."""

    family: str
    template: Mapping[str, Any]
    """transformers' response template."""
    vllm: tuple[str, str]
    """The names of vLLM's parsers, of reasoning and of calls."""
    rows: Sequence[tuple[str, str, Reading]]
    """A name, an output, and what it says."""


def call(arguments: str, name: str = "weather") -> str:
    return f'<tool_call>\n{{"name": "{name}", "arguments": {arguments}}}\n</tool_call>'


def tagged(*parameters: str) -> str:
    inner = "".join(parameters)
    return f"<tool_call>\n<function=weather>\n{inner}</function>\n</tool_call>"


def parameter(key: str, value: str) -> str:
    return f"<parameter={key}>\n{value}\n</parameter>\n"


PARIS = ("weather", {"city": "Paris"})
IN_PARIS = call('{"city": "Paris"}')
AROUND = {
    "thinking": {"open": "<think>", "close": "</think>"},
    "content": {"close": "<|im_end|>"},
}
QWEN3 = Format(
    "qwen3",
    {
        "start_anchor": "<|im_start|>assistant\n",
        "fields": {
            **AROUND,
            "tool_calls": {
                "open": "<tool_call>",
                "close": "</tool_call>",
                "repeats": True,
                "content": "json",
                "content_args": {"allow_non_json": True},
                "transform": {"type": "function", "function": "{content}"},
            },
        },
    },
    ("qwen3", "hermes"),
    [
        (
            "thoughts, an answer and a call",
            f"<think>\nHm.\n</think>\n\nI look.\n{IN_PARIS}",
            Reading("Hm.", "I look.", [PARIS]),
        ),
        ("a call alone", IN_PARIS, Reading(calls=[PARIS])),
        (
            "`</tool_call>` inside an argument",
            call('{"city": "a </tool_call> b"}'),
            Reading(calls=[("weather", {"city": "a </tool_call> b"})]),
        ),
        (
            "a call that is cut off",
            '<tool_call>\n{"name": "weather", "arguments": {"city": "Pa',
            Reading(calls=[("weather", '{"city": "Pa')]),
        ),
        (
            "a call that is no JSON, then a good one",
            f"<tool_call>\nweather\n</tool_call>\n{IN_PARIS}",
            Reading(content="weather", calls=[PARIS]),
        ),
        (
            "thoughts that a call ends",
            f"<think>\nHm.\n{IN_PARIS}",
            Reading("Hm.", calls=[PARIS]),
        ),
        (
            "arguments before the name",
            '<tool_call>\n{"arguments": {"city": "Paris"}, "name": "weather"}\n</tool_call>',
            Reading(calls=[PARIS]),
        ),
        ("a call without arguments", call("{}"), Reading(calls=[("weather", {})])),
        (
            "two calls with text between them",
            f"{IN_PARIS}\nAnd then.\n{IN_PARIS}",
            Reading(content="And then.", calls=[PARIS, PARIS]),
        ),
    ],
)
CODER = Format(
    "qwen3.5",
    {
        "start_anchor": "<|im_start|>assistant\n",
        "fields": {
            **AROUND,
            "tool_calls": {
                "open_pattern": r"<tool_call>\s*<function=(?P<name>[^>]+)>",
                "close_pattern": r"</function>\s*</tool_call>",
                "repeats": True,
                "content": "xml-inline",
                "content_args": {
                    "tag_pattern": r"<parameter=(?P<key>[^>]+)>\n?(?P<value>.*?)\n?</parameter>"
                },
                "transform": {
                    "type": "function",
                    "function": {"name": "{name}", "arguments": "{content}"},
                },
            },
        },
    },
    ("qwen3", "qwen3_coder"),
    [
        (
            "parameters of two types",
            "</think>" + tagged(parameter("city", "5"), parameter("days", "5")),
            Reading(calls=[("weather", {"city": "5", "days": 5})]),
        ),
        (
            "`</parameter>` inside a value",
            "</think>" + tagged(parameter("city", "a </parameter> b")),
            Reading(calls=[("weather", {"city": "a </parameter> b"})]),
        ),
        (
            "a whole call inside a value",
            "</think>" + tagged(parameter("city", f"see {tagged(parameter('city', 'x'))}.")),
            Reading(calls=[("weather", {"city": f"see {tagged(parameter('city', 'x'))}."})]),
        ),
        (
            "a closer that was left out",
            "</think>" + tagged("<parameter=city>\nParis\n", parameter("days", "2")),
            Reading(calls=[("weather", {"city": "Paris", "days": 2})]),
        ),
        (
            "a number that is none",
            "</think>" + tagged(parameter("days", "soon")),
            Reading(calls=[("weather", {"days": "soon"})]),
        ),
    ],
)


FORMATS = (QWEN3, CODER)


def prompt_of(form: Format) -> str:
    """The end of the prompt that the outputs follow."""
    return "<|im_start|>assistant\n" + ("<think>" if form is CODER else "")


def read_transformers(form: Format, deltas: Sequence[str]) -> Reading:
    """By a response template."""
    from transformers.utils.chat_parsing import ResponseParser

    parser = ResponseParser(dict(form.template), prefix=prompt_of(form), tools=[WEATHER])
    for delta in deltas:
        parser.feed(delta)
    message, _ = parser.finalize()
    functions = [found["function"] for found in message.get("tool_calls", [])]
    return Reading(
        message.get("thinking", ""),
        message.get("content", ""),
        [(f["name"], f["arguments"]) if isinstance(f, dict) else ("", f) for f in functions],
    )


def read_vllm(form: Format, deltas: Sequence[str]) -> Reading:
    """By the parsers that vLLM has for the format."""
    protocol = import_module("vllm.entrypoints.openai.chat_completion.protocol")
    manager = import_module("vllm.parser.parser_manager").ParserManager
    tokenizer = MockTokenizer.for_family(tagsmith.get_family(form.family))
    request = protocol.ChatCompletionRequest(
        model="m", messages=[{"role": "user", "content": "Hi"}], tools=[WEATHER]
    )
    reasoning, tools = form.vllm
    make = manager.get_parser(
        tool_parser_name=tools, reasoning_parser_name=reasoning, enable_auto_tools=True
    )
    parser = make(tokenizer, request.tools)
    if len(deltas) == 1:
        thoughts, content, calls = parser.parse(deltas[0], request, enable_auto_tools=True)
        found = [(c.name, c.arguments) for c in calls or ()]
        return Reading(thoughts or "", content or "", [(n, value_of(a)) for n, a in found])
    return _streamed_vllm(parser, tokenizer, request, deltas)


def _streamed_vllm(parser: Any, tokenizer: Any, request: Any, deltas: Sequence[str]) -> Reading:
    reading, calls = Reading(), dict[int, list[str]]()
    for number, delta in enumerate(deltas, start=1):
        ids = tokenizer.encode(delta)
        said = parser.parse_delta(delta, ids, request, finished=number == len(deltas))
        if said is None:
            continue
        reading.reasoning += said.reasoning or ""
        reading.content += said.content or ""
        for part in said.tool_calls or ():
            found = calls.setdefault(part.index, ["", ""])
            found[0] += part.function.name or ""
            found[1] += part.function.arguments or ""
    reading.calls = [(name, value_of(arguments)) for name, arguments in calls.values()]
    return reading


def read_tagsmith(form: Format, deltas: Sequence[str]) -> Reading:
    """By the family."""
    parser = tagsmith.get_family(form.family).parser(tools=[WEATHER], prompt=prompt_of(form))
    for delta in deltas:
        parser.feed(delta)
    parser.finish("stop")
    message = parser.message
    calls = [(found.name, value_of(found.arguments)) for found in message.tool_calls]
    return Reading(message.reasoning or "", message.content or "", calls)


Reader = Callable[[Format, Sequence[str]], Reading]
READERS: dict[str, Reader] = {
    "transformers": read_transformers,
    "vllm": read_vllm,
    "tagsmith": read_tagsmith,
}


def value_of(arguments: str) -> Any:
    """Arguments as a value, or their text where they are no JSON."""
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments


def verdict(read: Reader, form: Format, text: str, right: Reading) -> str:
    """What a reader makes of an output, at once and token by token."""
    tokenizer = MockTokenizer.for_family(tagsmith.get_family(form.family))
    tokens = [tokenizer.decode(ids) for ids in by_n_tokens(tokenizer.encode(text), 1)]
    whole, streamed = (judged(read, form, deltas, right) for deltas in ([text], tokens))
    return whole if whole == streamed else f"{whole}; token by token: {streamed}"


def judged(read: Reader, form: Format, deltas: Sequence[str], right: Reading) -> str:
    """`right`, or the first part that is not, and what came in its place."""
    try:
        found = read(form, deltas)
    except Exception as error:
        return f"raises `{type(error).__name__}`"
    found.reasoning, found.content = found.reasoning.strip(), found.content.strip()
    for part in ("calls", "reasoning", "content"):
        if getattr(found, part) != getattr(right, part):
            return f"{part}: {shown(getattr(found, part))}"
    return "right"


def shown(value: str | list[tuple[str, Any]]) -> str:
    """What came, for a cell of a table."""
    if not value:
        return "none"
    text = value if isinstance(value, str) else "; ".join(map(shown_call, value))
    text = " ".join(text.split())
    return f"`{text if len(text) <= 70 else text[:67] + '...'}`"


def shown_call(found: tuple[str, Any]) -> str:
    name, arguments = found
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return f"{name} {text}".strip()


def reading_table(form: Format, readers: Mapping[str, Reader]) -> list[str]:
    """What each reader makes of each output."""
    names = {"transformers": "transformers", "vllm": "vLLM", "tagsmith": "Tagsmith"}
    lines = [
        f"| output | {' | '.join(names[r] for r in readers)} |",
        "|---" * len(readers) + "|---|",
    ]
    for name, text, right in form.rows:
        cells = [verdict(read, form, text, right) for read in readers.values()]
        lines.append(f"| {' | '.join([name, *cells])} |")
    return lines
