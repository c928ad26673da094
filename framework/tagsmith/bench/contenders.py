"""What Tagsmith is measured beside: the least that reading can cost, and other parsers."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from tagsmith.bench.measure import Task, microseconds, milliseconds
from tagsmith.bench.workload import TOOL_NAME, TOOLS, Parts, Workload, cut
from tagsmith.errors import MissingDependencyError
from tagsmith.events import ContentDelta
from tagsmith.family import Family

FLOOR = "floor"
MELODY = "cohere-melody"
VLLM = "vllm"
BASELINES = (FLOOR, MELODY, VLLM)


@dataclass(frozen=True, slots=True)
class VllmNames:
    """The names under which vLLM registers the parsers of a family; no `reasoning` for one that
    does not reason in the open."""

    reasoning: str | None
    tools: str


class NotMeasuredError(Exception):
    """Why a parser is not measured."""


class _Floor:
    """A method call, one look into the text, one event."""

    def feed(self, text: str) -> ContentDelta | None:
        return None if "<" in text else ContentDelta(text)


def floor_task(deltas: Sequence[str]) -> Task:
    """The least that reading can cost."""

    def run() -> None:
        feed = _Floor().feed
        for delta in deltas:
            feed(delta)

    return microseconds(FLOOR, "delta", len(deltas), run, baseline=FLOOR)


def melody_task(parts: Parts) -> Task:
    """cohere-melody's bare filter, preset cmd3, over the same parts in its own format.

    Raises:
        NotMeasuredError: it cannot be used here.
    """
    from tagsmith.engine.melody_filter import load_melody

    try:
        melody = load_melody()
    except MissingDependencyError as error:
        raise NotMeasuredError(str(error)) from error
    deltas = cut(melody_text(parts))

    def run() -> None:
        reader = melody.PyFilter(melody.PyFilterOptions().cmd3())
        write = reader.write_decoded
        for delta in deltas:
            write(delta)
        reader.flush_partials()

    return microseconds(MELODY, "delta", len(deltas), run, baseline=MELODY)


def melody_text(parts: Parts) -> str:
    """An output in the format of preset cmd3.

    >>> melody_text(Parts(content="Hi"))
    '<|START_RESPONSE|>Hi<|END_RESPONSE|>'
    """
    call = {"tool_call_id": "0", "tool_name": TOOL_NAME, "parameters": parts.arguments}
    regions = {
        "THINKING": parts.reasoning,
        "RESPONSE": parts.content,
        "ACTION": "" if parts.arguments is None else json.dumps([call], ensure_ascii=False),
    }
    return "".join(
        f"<|START_{name}|>{text}<|END_{name}|>" for name, text in regions.items() if text
    )


def vllm_tasks(family: Family, workload: Workload, names: VllmNames) -> list[Task]:
    """vLLM's own parsers over the same output: a token at a time, and at once.

    Raises:
        NotMeasuredError: it is not installed, or of a version that is used otherwise.
    """
    try:
        stream, parse = _vllm_runs(family, workload, names)
        stream()
        parse()
    except ImportError as error:
        raise NotMeasuredError(f"not installed ({error})") from error
    except Exception as error:
        raise NotMeasuredError(f"cannot be used ({type(error).__name__}: {error})") from error
    return [
        microseconds(VLLM, "delta", len(workload.deltas), stream, baseline=VLLM),
        milliseconds(f"{VLLM}, parse at once", parse, baseline=VLLM),
    ]


def _vllm_runs(
    family: Family, workload: Workload, names: VllmNames
) -> tuple[Callable[[], Any], Callable[[], Any]]:
    from tagsmith.testing import MockTokenizer

    protocol = import_module("vllm.entrypoints.openai.chat_completion.protocol")
    manager = import_module("vllm.parser.parser_manager").ParserManager
    tokenizer = MockTokenizer.for_family(family)
    request = protocol.ChatCompletionRequest(
        model="m", messages=[{"role": "user", "content": "Hi"}], tools=TOOLS
    )
    make = manager.get_parser(
        tool_parser_name=names.tools, reasoning_parser_name=names.reasoning, enable_auto_tools=True
    )
    *deltas, last = workload.deltas

    def stream() -> None:
        read = make(tokenizer, request.tools).parse_delta
        for delta in deltas:
            read(delta, [], request, finished=False)
        read(last, [], request, finished=True)

    def parse() -> Any:
        parser = make(tokenizer, request.tools)
        return parser.parse(workload.text, request, enable_auto_tools=True)

    return stream, parse
