"""The calls of a request in a family's own form: what opens them, and where they may stand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tagsmith.errors import RequestError
from tagsmith.grammar.arguments.encodings import arguments_writer, json_writer
from tagsmith.grammar.arguments.written import ArgumentsWriter
from tagsmith.grammar.calls.json_layout import json_region
from tagsmith.grammar.calls.pythonic_layout import pythonic_region, pythonic_writer
from tagsmith.grammar.calls.template_layout import (
    begun_call,
    header_call,
    template_call,
    template_tag,
)
from tagsmith.grammar.formats import Format, blanks, either, plus, sequence, star, tag
from tagsmith.grammar.schemas.limits import Limitation
from tagsmith.grammar.turns import is_padded, turn_start_again
from tagsmith.request import ReasoningMode, Request
from tagsmith.spec.models import FamilySpec, ToolCalls
from tagsmith.spec.policies import CallLayout, Container, Unmarked


@dataclass(frozen=True, slots=True)
class CallForms:
    """The calls of one request.

    `marked` begins with a marker, or with the call's own literal; `bare` are calls at the very
    start of the content, with nothing before them; `begun` is one call there that goes on from the
    turn start in the prompt. `is_last` says that nothing may follow calls; `is_single` that
    `marked` holds one, so that more of them are more of it; `is_padded` that blanks around calls
    are shown to nobody.
    """

    marked: Format | None = None
    bare: Format | None = None
    begun: Format | None = None
    is_last: bool = False
    is_single: bool = False
    is_padded: bool = False

    def may_repeat(self, request: Request) -> bool:
        """Whether text and more calls may follow a call."""
        return request.parallel_tool_calls and not self.is_last

    @property
    def tag(self) -> Format | None:
        """The tag that calls alone are, where they are just one."""
        is_more = self.is_last or self.is_single or self.is_padded or self.bare is not None
        return None if is_more else self.marked

    def only(self, request: Request) -> Format:
        """At least one call, and nothing else."""
        several = self.is_single and request.parallel_tool_calls
        padding = [blanks()] if self.is_padded else []
        ways: list[Format] = []
        if self.marked is not None:
            spaced = sequence(self.marked, *padding)
            ways.append(sequence(*padding, plus(spaced) if several else spaced))
            if self.begun is not None:
                # Nothing may stand between the turn start and what goes on from it.
                ways.append(sequence(self.begun, *padding, *([star(spaced)] if several else [])))
        if self.bare is not None:
            ways.append(sequence(*padding, self.bare))
        return either(ways)


NO_CALLS = CallForms()
"""What a request without tools has."""


def call_forms(spec: FamilySpec, request: Request) -> CallForms:
    """How the calls of a request are written.

    Raises:
        RequestError: the family writes no calls, or none that have a grammar.
    """
    if not request.tools:
        return NO_CALLS
    calls, markers = _calls_of(spec), spec.tag_style.tool_calls
    region, start = _REGIONS[calls.layout], turn_start_again(spec)
    marked: Format | None = None
    begun: Format | None = None
    if markers is not None:
        inner, end = region(spec, calls, request), markers.end
        marked = sequence(markers.start, inner) if end is None else tag(markers.start, inner, end)
    elif start is not None:
        marked = header_call(spec, calls, request, start)
        if request.reasoning is ReasoningMode.DISABLED:
            # Behind reasoning, the turn start would have to be written again.
            begun = begun_call(spec, calls, request, start)
    elif calls.layout is CallLayout.TEMPLATE:
        marked = template_tag(spec, calls, request)
    is_bare = calls.unmarked is Unmarked.AT_START
    return CallForms(
        marked=marked,
        bare=region(spec, calls, request) if is_bare else None,
        begun=begun,
        is_last=markers is not None and markers.end is None,
        is_single=markers is None or calls.container is Container.OBJECT,
        is_padded=is_padded(spec),
    )


def call_limits(spec: FamilySpec, request: Request) -> Iterator[tuple[str, Limitation]]:
    """What the tools of a request ask of their arguments, and their grammar does not hold, each
    with the tool's name."""
    if request.tools:
        calls = _calls_of(spec)
        write = _WRITERS[calls.layout](spec, calls)
        for tool in request.tools:
            yield from ((tool.name, limit) for limit in write(tool).limits)


def _calls_of(spec: FamilySpec) -> ToolCalls:
    if spec.tool_calls is None:
        raise RequestError("tools", f"family {spec.id} writes no tool calls; send no tools")
    return spec.tool_calls


def _template_region(spec: FamilySpec, calls: ToolCalls, request: Request) -> Format:
    call = sequence(template_call(spec, calls, request), blanks())
    several = request.parallel_tool_calls and calls.container is Container.ARRAY
    return sequence(blanks(), plus(call) if several else call)


_REGIONS: dict[CallLayout, Callable[[FamilySpec, ToolCalls, Request], Format]] = {
    CallLayout.JSON: json_region,
    CallLayout.TEMPLATE: _template_region,
    CallLayout.PYTHONIC: pythonic_region,
}
_WRITERS: dict[CallLayout, Callable[[FamilySpec, ToolCalls], ArgumentsWriter]] = {
    CallLayout.JSON: json_writer,
    CallLayout.TEMPLATE: arguments_writer,
    CallLayout.PYTHONIC: pythonic_writer,
}
