"""The `template` layout: calls as literals with holes, in the first form that the family names."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

from tagsmith.engine.templates import (
    SOFT_NEWLINE,
    Hole,
    split_template,
    template_steps,
    words_after,
)
from tagsmith.grammar.arguments.encodings import arguments_writer
from tagsmith.grammar.filling import Steps, fill
from tagsmith.grammar.formats import Format, Piece, either, regex, sequence, tag
from tagsmith.grammar.markers import KEPT_FAMILIES, all_markers
from tagsmith.grammar.names import NameForm, unwritten_tool
from tagsmith.request import CallableTool, Request
from tagsmith.spec.models import CallId, FamilySpec, ToolCalls

_INDEX = "[0-9]{1,9}"


def template_call(spec: FamilySpec, calls: ToolCalls, request: Request) -> Format:
    """One call to any of the tools.

    Raises:
        RequestError: the arguments have no grammar, or a tool's name cannot be written.
    """
    steps = _first_form(calls)
    return either([sequence(*pieces) for pieces in _calls(spec, calls, request, steps)])


def template_tag(spec: FamilySpec, calls: ToolCalls, request: Request) -> Format:
    """The same as a tag of its own: it begins and ends with the call's own literals."""
    steps = _first_form(calls)
    begin, *inner = steps
    assert not isinstance(begin, Hole), "a call that stands anywhere begins with a literal"
    end = ""
    if not isinstance(inner[-1], Hole):
        end = inner.pop()
    each = [sequence(*pieces) for pieces in _calls(spec, calls, request, inner)]
    return tag(begin, either(each), end)


def header_call(spec: FamilySpec, calls: ToolCalls, request: Request, start: str) -> Format:
    """One call where every message has a header: in the first form of all, and in the first of
    those that begin with the turn start, which some families put the tool's name behind."""
    steps = _first_form(calls)
    heads = [steps, [start, *steps], *_forms_behind(calls, start)]
    return _headed(spec, calls, request, heads)


def begun_call(spec: FamilySpec, calls: ToolCalls, request: Request, start: str) -> Format | None:
    """The same where the prompt's turn start goes on; None where no form begins with it."""
    behind = _forms_behind(calls, start)
    rest = [[str(form[0]).removeprefix(start), *form[1:]] for form in behind]
    return _headed(spec, calls, request, rest) if rest else None


def _forms_behind(calls: ToolCalls, start: str) -> list[list[str | Hole]]:
    """The first of the forms that begin with the turn start, if there is one."""
    return [_steps(form) for form in calls.call or () if form.startswith(start)][:1]


def _headed(
    spec: FamilySpec, calls: ToolCalls, request: Request, forms: list[list[str | Hole]]
) -> Format:
    """One call in one of these forms, which part before the arguments alone."""
    tail = forms[0][forms[0].index(Hole.ARGUMENTS) :]
    heads = [form[: form.index(Hole.ARGUMENTS)] for form in forms]
    bodies = _calls(spec, calls, request, tail)
    each = [
        sequence(either([sequence(*fill(head, _named(calls, tool))) for head in heads]), *body)
        for tool, body in zip(request.tools, bodies, strict=True)
    ]
    return either(each)


def _first_form(calls: ToolCalls) -> list[str | Hole]:
    """The steps of the form that is written."""
    return _steps((calls.call or ("",))[0])


def _steps(form: str) -> list[str | Hole]:
    """The steps of a form, without newlines around it."""
    steps = template_steps(form)
    while steps[-1] == SOFT_NEWLINE:
        steps.pop()
    return steps[1:] if steps[0] == SOFT_NEWLINE else steps


def _calls(spec: FamilySpec, calls: ToolCalls, request: Request, steps: Steps) -> list[list[Piece]]:
    write = arguments_writer(spec, calls)
    names = _name_form(spec, calls)
    for tool in request.tools:
        if not names.holds(tool.name):
            raise unwritten_tool(spec, tool, "of one line, without any of its markup")
    return [
        fill(steps, _named(calls, tool) | {Hole.ARGUMENTS: sequence(*write(tool).pieces)})
        for tool in request.tools
    ]


def _named(calls: ToolCalls, tool: CallableTool) -> dict[Hole, Piece]:
    return {Hole.NAME: tool.name, Hole.ID: _id(calls.id, tool), Hole.IGNORED: ""}


def _id(form: CallId, tool: CallableTool) -> Piece:
    if form.format is None:
        return regex(form.pattern)
    before, _, rest = form.format.partition("{name}")
    between, _, after = rest.partition("{index}")
    return sequence(before + tool.name + between, regex(_INDEX), after)


@lru_cache(maxsize=KEPT_FAMILIES)
def _name_form(spec: FamilySpec, calls: ToolCalls) -> NameForm:
    forms = calls.call or ()
    hole = Hole.ID if calls.id.format is not None else Hole.NAME
    parts = [step for form in calls.arguments.parameter or () for step in split_template(form)]
    words = {step for step in parts if not isinstance(step, Hole) and any(map(str.isalnum, step))}
    stops = words_after(forms, hole) | words | set(all_markers(spec))
    if not parts and any((hole, Hole.ARGUMENTS) in pairwise(split_template(f)) for f in forms):
        # The arguments may follow at once, and are an object.
        stops |= {"{"}
    return NameForm(tuple(sorted(stops)))
