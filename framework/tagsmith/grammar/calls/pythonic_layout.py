"""The `pythonic` layout: calls as Python writes them, such as `[now(), weather(city="Paris")]`."""

from __future__ import annotations

import string
from functools import lru_cache

from tagsmith.engine.pythonic_runs import CALL_NAME, WORD_ENDS
from tagsmith.grammar.arguments.python_values import PythonValues, joined, value_limits
from tagsmith.grammar.arguments.written import ArgumentsWriter, WrittenArguments
from tagsmith.grammar.formats import Format, blanks, either, regex, separated, sequence
from tagsmith.grammar.names import unwritten_name, unwritten_tool
from tagsmith.grammar.regexes import other_than
from tagsmith.grammar.schemas.branches import Shape, shape_limits, shapes
from tagsmith.grammar.schemas.ready import NO_PARAMETERS, ready_parameters
from tagsmith.request import CallableTool, JsonSchema, Request
from tagsmith.request.schemas import KEPT_SCHEMAS
from tagsmith.spec.models import FamilySpec, ToolCalls

_NOT_IN_KEYWORDS = frozenset(WORD_ENDS + string.punctuation.replace("_", ""))


def pythonic_region(spec: FamilySpec, calls: ToolCalls, request: Request) -> Format:
    """A list of one call or more.

    Raises:
        RequestError: a tool's name cannot be written.
    """
    for tool in request.tools:
        if not CALL_NAME.fullmatch(tool.name):
            raise unwritten_tool(spec, tool, "of letters, digits and '_', '.', '-', ':', '/'")
    each = [sequence(f"{tool.name}(", *_written_for(tool).pieces) for tool in request.tools]
    call = sequence(blanks(), either(each))
    listed = separated(call, ",", end=")", at_most_one=not request.parallel_tool_calls)
    return sequence(blanks(), "[", listed, blanks(), "]", blanks())


def pythonic_writer(spec: FamilySpec, calls: ToolCalls) -> ArgumentsWriter:
    """Arguments as keywords with Python values."""
    return _written_for


def _written_for(tool: CallableTool) -> WrittenArguments:
    return _written(tool.parameters, tool.strict)


@lru_cache(maxsize=KEPT_SCHEMAS)
def _written(schema: JsonSchema | None, strict: bool) -> WrittenArguments:
    if not strict:
        return WrittenArguments.of([_keywords({}, Shape((), others=True))])
    if schema is None:
        return WrittenArguments.of([_keywords(NO_PARAMETERS, Shape(()))])
    ready = ready_parameters(schema)
    root = ready.unfold()
    kinds = shapes(root, root)
    names = [parameter.name for kind in kinds for parameter in kind.parameters]
    unwritten = [unwritten_name(name) for name in names if not _is_word(name)]
    limits = [*ready.limits, *shape_limits(root), *unwritten]
    limits += [
        limit for kind in kinds for p in kind.parameters for limit in value_limits(root, p.schema)
    ]
    return WrittenArguments.of([either([_keywords(root, kind) for kind in kinds])], limits)


def _keywords(root: object, shape: Shape) -> Format:
    values = PythonValues(root)
    entries = [
        (sequence(f"{parameter.name}=", values.of(parameter.schema)), parameter.required)
        for parameter in shape.parameters
        if _is_word(parameter.name)
    ]
    other = None
    if shape.others is not False:
        names = [parameter.name for parameter in shape.parameters]
        keyword = regex(other_than(names, _NOT_IN_KEYWORDS))
        other = sequence(keyword, "=", values.of(shape.others))
    return joined(entries, other)


def _is_word(name: str) -> bool:
    return not any(char in WORD_ENDS for char in name)
