"""When a structural tag goes with a request, and what it leaves open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tagsmith.engine.tables import Region, marker_meanings
from tagsmith.errors import RequestError
from tagsmith.family import Family
from tagsmith.grammar import StructuralTag, list_limitations
from tagsmith.render import Switch
from tagsmith.request import (
    ReasoningMode,
    Strictness,
    ToolChoiceMode,
    Unenforceable,
    read_request,
    read_tool_choice,
    read_tools,
)
from tagsmith.serve.generation import Generation
from tagsmith.serve.settings import Settings, TagPolicy, Unenforced
from tagsmith.serve.spellings import SPELLINGS


@dataclass(frozen=True, slots=True)
class ChosenTag:
    """The tag that goes with a request, if any, and what the request asks and nobody holds."""

    tag: StructuralTag | None = None
    unenforced: tuple[str, ...] = ()


def choose_tag(settings: Settings, generation: Generation, prompt: str) -> ChosenTag:
    """The structural tag for a request.

    Raises:
        RequestError: a field of the request is wrong; or it asks for what only a grammar holds,
            and either the upstream takes no grammar or no grammar holds it, where the settings
            refuse such requests.
    """
    needs = _needs(generation)
    policy, spelling = settings.structural_tags, SPELLINGS[settings.upstream.kind]
    if spelling.tag is None or policy is TagPolicy.NEVER:
        return ChosenTag(unenforced=tuple(_unheld(settings, field) for field in needs))
    wanted = {
        TagPolicy.NEEDED: bool(needs),
        TagPolicy.TOOLS: bool(needs or generation.tools),
        TagPolicy.ALWAYS: True,
    }
    return _build(settings, generation, prompt) if wanted[policy] else ChosenTag()


def _needs(generation: Generation) -> list[str]:
    """The fields that ask for what only a grammar holds; checked, whether or not there is one."""
    tools = read_tools(generation.tools) or ()
    choice = read_tool_choice(generation.tool_choice, tools)
    request = read_request(
        response_format=generation.response_format, unenforceable=Unenforceable.REPORT
    )
    may_call = bool(tools) and choice.mode is not ToolChoiceMode.NONE
    asked = {
        "tool_choice": choice.mode is ToolChoiceMode.REQUIRED or choice.names is not None,
        "response_format": request.response_schema is not None,
        "tools": may_call and "tools" in generation.held,
        "parallel_tool_calls": may_call and generation.parallel_tool_calls is False,
    }
    return [field for field, needed in asked.items() if needed]


def _unheld(settings: Settings, field: str) -> str:
    kind = settings.upstream.kind
    reason = (
        "this server passes no grammar on"
        if settings.structural_tags is TagPolicy.NEVER
        else f"an upstream of kind {kind} takes no structural tag"
    )
    if settings.unenforced is Unenforced.REFUSE:
        raise RequestError(field, f"asks for what only a grammar holds, and {reason}")
    return f"{field}: {reason}"


def _build(settings: Settings, generation: Generation, prompt: str) -> ChosenTag:
    family = settings.family
    asked: dict[str, Any] = {
        "response_format": generation.response_format,
        "parallel_tool_calls": generation.parallel_tool_calls,
        "strict": generation.strict_tools,
        "reasoning": reasoning_mode(family, prompt, generation.reasoning),
        "unenforceable": Unenforceable.REPORT,
    }
    request = read_request(tools=generation.tools, tool_choice=generation.tool_choice, **asked)
    tag = family.shared_structural_tag(request)
    if tag.limitations and settings.unenforced is Unenforced.REFUSE:
        strict = read_request(tools=_strict_tools(generation), **asked)
        for limit in list_limitations(family.spec, strict):
            field, _, reason = limit.partition(": ")
            if field in generation.held:
                raise RequestError(field, reason)
    return ChosenTag(tag, tag.limitations)


def _strict_tools(generation: Generation) -> list[Any]:
    """The tools whose schemas the request wants held."""
    if generation.strict_tools is Strictness.ALL:
        return generation.tools or []
    tools = zip(generation.tools or (), read_tools(generation.tools) or (), strict=True)
    return [given for given, tool in tools if tool.strict is True]


def reasoning_mode(family: Family, prompt: str, asked: Switch) -> ReasoningMode:
    """Where the grammar meets reasoning, by how the prompt ends.

    No gate opens the grammar in a raw completion, so that it sees the whole output.

    >>> import tagsmith
    >>> family = tagsmith.get_family("Cohere2ForCausalLM")
    >>> reasoning_mode(family, "<|CHATBOT_TOKEN|><|START_THINKING|>", Switch.AUTO)
    <ReasoningMode.ENABLED: 'enabled'>
    """
    openers, closers = _reasoning_markers(family)
    is_open = max(map(prompt.rfind, openers), default=-1) > max(
        map(prompt.rfind, closers), default=-1
    )
    if is_open and family.parse("x", prompt=prompt).reasoning:
        return ReasoningMode.ENABLED
    # A family whose output is taken for reasoning, where nothing says otherwise, writes the opener
    # by itself if the prompt did not.
    if asked is Switch.DISABLED or not openers or prompt.rstrip().endswith(closers):
        return ReasoningMode.DISABLED
    return ReasoningMode.AUTO


def _reasoning_markers(family: Family) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What opens reasoning, and what closes it."""
    meanings = marker_meanings(family.spec).items()
    return (
        tuple(marker for marker, meaning in meanings if meaning.opens is Region.REASONING),
        tuple(marker for marker, meaning in meanings if Region.REASONING in meaning.closes),
    )
