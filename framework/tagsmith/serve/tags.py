"""When a structural tag goes with a request, and what it leaves open."""

from __future__ import annotations

from dataclasses import dataclass

from tagsmith.errors import RequestError
from tagsmith.grammar import StructuralTag
from tagsmith.guidance import Asked, Unenforced, fields_asked, guiding_tag
from tagsmith.serve.generation import Generation
from tagsmith.serve.settings import Settings, TagPolicy
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
    asked = _asked(generation)
    needs = fields_asked(asked)
    policy, spelling = settings.structural_tags, SPELLINGS[settings.upstream.kind]
    if spelling.tag is None or policy is TagPolicy.NEVER:
        return ChosenTag(unenforced=tuple(_unheld(settings, field) for field in needs))
    wanted = {
        TagPolicy.NEEDED: bool(needs),
        TagPolicy.TOOLS: bool(needs or generation.tools),
        TagPolicy.ALWAYS: True,
    }
    if not wanted[policy]:
        return ChosenTag()
    # No gate opens the grammar in a raw completion, so that it sees the whole output.
    mode = settings.family.reasoning_mode(prompt, generation.reasoning)
    tag = guiding_tag(settings.family, asked, mode, settings.unenforced)
    return ChosenTag(tag, tag.limitations)


def _asked(generation: Generation) -> Asked:
    return Asked(
        tools=generation.tools,
        tool_choice=generation.tool_choice,
        response_format=generation.response_format,
        parallel_tool_calls=generation.parallel_tool_calls,
        strict=generation.strict_tools,
        held=generation.held,
    )


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
