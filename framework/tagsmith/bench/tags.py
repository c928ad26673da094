"""What structural tags cost: building one for many tools, its size, and compiling it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from tagsmith.bench.contenders import VLLM, NotMeasuredError
from tagsmith.bench.measure import Figure, Task, measure, milliseconds
from tagsmith.bench.workload import nested_tools
from tagsmith.errors import RequestError
from tagsmith.family import Family
from tagsmith.grammar.check import byte_vocabulary
from tagsmith.request import read_request

Tools = list[dict[str, Any]]

_CONVERTER = "vllm.parser.cohere_command"


@dataclass(frozen=True, slots=True)
class TagFigures:
    """What tags for `tools` tools cost.

    `building` and `compiling` are times; `sizes` are bytes of JSON text, by who made it.
    """

    tools: int
    building: list[Figure]
    compiling: list[Figure]
    sizes: dict[str, int]


def measure_tags(
    family: Family,
    tools: Tools,
    rounds: int,
    not_measured: dict[str, str],
    beside: Callable[[], str] | None = None,
) -> TagFigures | None:
    """Measure the tag of these tools; None for a family whose calls have no grammar.

    Parameters: `tools` come from `nested_tools`. `beside` makes another's tag for them, from
    `vllm_converter`. What is not measured is added to `not_measured`, with the reason.
    """
    try:
        texts = {"tag": _text(family, tools)}
    except RequestError as error:
        not_measured["structural tag"] = str(error)
        return None
    building = _building(family, tools, rounds)
    if beside is not None:
        texts[VLLM] = beside()
        building.insert(0, milliseconds(f"{VLLM}, tag", beside, baseline=VLLM))
    try:
        compiling = _compiling(family, texts)
    except ImportError as error:
        not_measured["compiling a tag"] = f"xgrammar is not installed ({error})"
        compiling = []
    return TagFigures(
        tools=len(tools),
        building=measure(building, rounds),
        compiling=measure(compiling, rounds),
        sizes={name: len(text.encode()) for name, text in texts.items()},
    )


def vllm_converter(family: Family, tools: Tools) -> Callable[[], str]:
    """vLLM's own converter from these tools to a structural tag, for Cohere's models.

    Raises:
        NotMeasuredError: it is not installed, of another version, or does not know the family.
    """
    architectures = family.spec.match.architectures
    try:
        convert = import_module(_CONVERTER).convert_schema_to_structural_tags
        made = [name for name in architectures if convert(tools=tools, model_architecture=name)]
    except ImportError as error:
        raise NotMeasuredError(f"not installed ({error})") from error
    except Exception as error:
        raise NotMeasuredError(f"cannot be used ({type(error).__name__}: {error})") from error
    if not made:
        raise NotMeasuredError(f"it has no converter for {family.id}")
    return lambda: str(convert(tools=tools, model_architecture=made[0]))


def _building(family: Family, tools: Tools, rounds: int) -> list[Task]:
    # Each run asks for what was never asked for: new schemas, and known ones under another name.
    unseen = iter([nested_tools(len(tools), serial) for serial in range(1, rounds + 2)])
    known = iter([_renamed(tools, number) for number in range(rounds + 1)])
    return [
        milliseconds("tag, new schemas", lambda: family.structural_tag(tools=next(unseen))),
        milliseconds("tag, known schemas", lambda: family.structural_tag(tools=next(known))),
        milliseconds("tag, equal request", lambda: family.structural_tag(tools=tools)),
        milliseconds("its text, equal request", lambda: _text(family, tools)),
    ]


def _renamed(tools: Tools, number: int) -> Tools:
    first, *others = tools
    return [{**first, "function": {**first["function"], "name": f"tool_{number}"}}, *others]


def _text(family: Family, tools: Tools) -> str:
    return family.shared_structural_tag(read_request(tools=tools)).text


def _compiling(family: Family, texts: dict[str, str]) -> list[Task]:
    """In xgrammar, over single bytes and the family's markers, with nothing kept."""
    xgrammar = import_module("xgrammar")
    vocabulary = byte_vocabulary(family.markers)
    info = xgrammar.TokenizerInfo(
        [*vocabulary, b"<end>"],
        vocab_type=xgrammar.VocabType.RAW,
        stop_token_ids=[len(vocabulary)],
    )
    compiler = xgrammar.GrammarCompiler(info, cache_enabled=False)

    def task(name: str, text: str) -> Task:
        return milliseconds(
            f"{name}, compiled",
            lambda: compiler.compile_structural_tag(text),
            baseline=VLLM if name == VLLM else None,
        )

    return [task(name, text) for name, text in texts.items()]
