"""What structural tags cost: building one for many tools, its size, and compiling it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from tagsmith.bench.contenders import VLLM, NotMeasuredError
from tagsmith.bench.measure import Figure, Task, measure, milliseconds
from tagsmith.bench.tools import Tools, ToolSet, make_tools
from tagsmith.bench.workload import TOOLS
from tagsmith.errors import RequestError
from tagsmith.family import Family
from tagsmith.grammar.check import byte_vocabulary
from tagsmith.request import read_request

Convert = Callable[[Tools], str]
"""Makes the text of a structural tag for these tools."""

_CONVERTER = "vllm.parser.cohere_command"


@dataclass(frozen=True, slots=True)
class TagFigures:
    """What tags for `tools` tools of a set cost.

    `building` and `compiling` are times; `sizes` are bytes of JSON text, by who made it.
    """

    tool_set: ToolSet
    tools: int
    building: list[Figure]
    compiling: list[Figure]
    sizes: dict[str, int]


def measure_tags(
    family: Family,
    count: int,
    rounds: int,
    not_measured: dict[str, str],
    vllm: Convert | None = None,
) -> list[TagFigures]:
    """Measure tags for so many tools of each set; none for a family whose calls have no grammar.

    Parameters: `vllm` makes vLLM's tags, from `vllm_converter`. What is not measured is added to
    `not_measured`, with the reason.
    """
    try:
        family.structural_tag(tools=TOOLS)
    except RequestError as error:
        not_measured["structural tag"] = str(error)
        return []
    try:
        compile_tag = _compiler(family)
    except ImportError as error:
        not_measured["compiling a tag"] = f"xgrammar is not installed ({error})"
        compile_tag = None
    found = []
    for tool_set in ToolSet:
        tools = make_tools(tool_set, count)
        texts = {"tag": _text(family, tools)}
        building = _building(family, tool_set, tools, rounds)
        if vllm is not None:
            texts[VLLM] = vllm(tools)
            building.insert(0, _vllm_task(vllm, tools))
        compiling = _compiling(compile_tag, texts) if compile_tag else []
        sizes = {name: len(text.encode()) for name, text in texts.items()}
        times = measure(building, rounds), measure(compiling, rounds)
        found.append(TagFigures(tool_set, count, *times, sizes))
    return found


def vllm_converter(family: Family) -> Convert:
    """vLLM's own converter from tools to a structural tag, for Cohere's models.

    Raises:
        NotMeasuredError: it is not installed, of another version, or does not know the family.
    """
    architectures = family.spec.match.architectures
    try:
        convert = import_module(_CONVERTER).convert_schema_to_structural_tags
        made = [name for name in architectures if convert(tools=TOOLS, model_architecture=name)]
    except ImportError as error:
        raise NotMeasuredError(f"not installed ({error})") from error
    except Exception as error:
        raise NotMeasuredError(f"cannot be used ({type(error).__name__}: {error})") from error
    if not made:
        raise NotMeasuredError(f"it has no converter for {family.id}")
    return lambda tools: str(convert(tools=tools, model_architecture=made[0]))


def _vllm_task(convert: Convert, tools: Tools) -> Task:
    return milliseconds(f"{VLLM}, tag", lambda: convert(tools), baseline=VLLM)


def _building(family: Family, tool_set: ToolSet, tools: Tools, rounds: int) -> list[Task]:
    # Each run asks for what was never asked for: new schemas, and known ones under another name.
    serials = range(1, rounds + 2)
    unseen = iter([make_tools(tool_set, len(tools), serial) for serial in serials])
    known = iter([_renamed(tools, serial) for serial in serials])
    return [
        milliseconds("tag, new schemas", lambda: family.structural_tag(tools=next(unseen))),
        milliseconds("tag, known schemas", lambda: family.structural_tag(tools=next(known))),
        milliseconds("tag, equal request", lambda: family.structural_tag(tools=tools)),
        milliseconds("its text, equal request", lambda: _text(family, tools)),
    ]


def _renamed(tools: Tools, serial: int) -> Tools:
    first, *others = tools
    return [{**first, "function": {**first["function"], "name": f"other_{serial}"}}, *others]


def _text(family: Family, tools: Tools) -> str:
    return family.shared_structural_tag(read_request(tools=tools)).text


def _compiler(family: Family) -> Callable[[str], Any]:
    """xgrammar's, over single bytes and the family's markers, with nothing kept."""
    xgrammar = import_module("xgrammar")
    vocabulary = byte_vocabulary(family.markers)
    info = xgrammar.TokenizerInfo(
        [*vocabulary, b"<end>"],
        vocab_type=xgrammar.VocabType.RAW,
        stop_token_ids=[len(vocabulary)],
    )
    compiler = xgrammar.GrammarCompiler(info, cache_enabled=False)
    return lambda text: compiler.compile_structural_tag(text)


def _compiling(compile_tag: Callable[[str], Any], texts: dict[str, str]) -> list[Task]:
    def task(name: str, text: str) -> Task:
        return milliseconds(
            f"{name}, compiled",
            lambda: compile_tag(text),
            baseline=VLLM if name == VLLM else None,
        )

    return [task(name, text) for name, text in texts.items()]
