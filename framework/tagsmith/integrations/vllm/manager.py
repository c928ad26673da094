"""A pair of Tagsmith's parsers made one, where vLLM joins a reasoning and a tool parser.

vLLM's `ParserManager` knows by classes and names of its own which pairs are one parser; a pair of
Tagsmith's is told here, before it looks.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import wraps
from inspect import signature
from typing import Any

from vllm.parser import ParserManager
from vllm.reasoning import ReasoningParserManager
from vllm.tool_parsers import ToolParserManager
from vllm.tool_parsers.tool_strict_level import ToolStrictLevel

from tagsmith.integrations.naming import adapter_names, tell_once
from tagsmith.integrations.vllm import OVERRIDE
from tagsmith.integrations.vllm.offering import overridden

_MARK = "_tagsmith"


def unify() -> None:
    """Have `ParserManager.get_parser` make one parser of a pair of Tagsmith's.

    Other parsers are vLLM's affair, with whatever a vLLM of another version asks of them.
    """
    original = ParserManager.get_parser.__func__
    if getattr(original, _MARK, False):
        return

    parameters = signature(original)

    @wraps(original)
    def get_parser(cls: type[ParserManager], *args: Any, **options: Any) -> Any:
        given = parameters.bind(cls, *args, **options).arguments
        names = {given.get("tool_parser_name"), given.get("reasoning_parser_name")}
        if names.isdisjoint([*adapter_names(), *overridden()]):
            return original(cls, *args, **options)
        return _unified(cls, given) or original(cls, *args, **options)

    setattr(get_parser, _MARK, True)
    ParserManager.get_parser = classmethod(get_parser)
    _tell_unknown()


def _tell_unknown() -> None:
    known = {*ReasoningParserManager.list_registered(), *ToolParserManager.list_registered()}
    unknown = [name for name in overridden() if name not in known]
    if unknown:
        tell_once(f"{OVERRIDE} names what is no parser of vLLM's: {', '.join(unknown)}")


def _unified(manager: type[ParserManager], given: Mapping[str, Any]) -> Any:
    """The parser of a pair, or of one without the other; None where none of them is Tagsmith's."""
    from tagsmith.integrations.vllm.parser import TagsmithParser
    from tagsmith.integrations.vllm.reasoning import TagsmithReasoningParser
    from tagsmith.integrations.vllm.tools import TagsmithToolParser

    reasoning_parser_name, tool_parser_name = (
        given.get(name) for name in ("reasoning_parser_name", "tool_parser_name")
    )
    model_name, tokenizer = given.get("model_name"), given.get("tokenizer")
    reasoning = manager.get_reasoning_parser(reasoning_parser_name)
    tools = manager.get_tool_parser(
        tool_parser_name, given.get("enable_auto_tools", False), model_name
    )
    found = [parser for parser in (reasoning, tools) if parser is not None]
    ours = [p for p in found if issubclass(p, TagsmithReasoningParser | TagsmithToolParser)]
    if not ours:
        return None
    if given.get("is_harmony"):
        tell_once("vLLM reads gpt-oss by a parser of its own, whichever is named")
        return None
    if len(ours) < len(found) or len({parser.adapter for parser in ours}) > 1:
        raise TypeError(
            f"--reasoning-parser {reasoning_parser_name} and --tool-call-parser "
            f"{tool_parser_name} cannot be combined; name the same one of Tagsmith's for both"
        )
    level = given.get("tool_strict_level")
    parser = type(
        "TagsmithParser",
        (TagsmithParser,),
        {
            "adapter": ours[0].adapter,
            "reasoning_parser_cls": reasoning,
            "tool_parser_cls": tools,
            "tool_strict_level": level and ToolStrictLevel.from_name(level),
        },
    )
    if tokenizer is not None:
        manager.validate_parser_tokenizer(
            parser,
            tokenizer,
            tool_parser_name=tool_parser_name,
            reasoning_parser_name=reasoning_parser_name,
            model_name=model_name,
        )
    return parser
