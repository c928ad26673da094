"""The `tagged` encoding: parameters as literals with holes, in the order of the schema."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from tagsmith.engine.parameter_types import ToolParameters
from tagsmith.engine.tagged_layout import compile_tagged
from tagsmith.engine.templates import Hole, template_steps, words_after
from tagsmith.engine.text import WHITESPACE
from tagsmith.grammar.arguments.raw_text import Around
from tagsmith.grammar.arguments.text_values import (
    any_of,
    json_value,
    other_part,
    string_limits,
    strings_of,
    text_value,
    value_limits,
)
from tagsmith.grammar.arguments.written import ArgumentsWriter, WrittenArguments
from tagsmith.grammar.filling import Steps, fill, newlines_beside_value
from tagsmith.grammar.formats import (
    Format,
    Piece,
    any_text,
    blanks,
    either,
    optional,
    regex,
    repeat,
    sequence,
    star,
)
from tagsmith.grammar.markers import KEPT_FAMILIES, all_markers
from tagsmith.grammar.names import NameForm, unwritten_name
from tagsmith.grammar.regexes import other_than
from tagsmith.grammar.schemas.branches import (
    Parameter,
    Schema,
    Shape,
    branches,
    detached,
    listed,
    shape_limits,
    shapes,
    types_of,
)
from tagsmith.grammar.schemas.guarded import guard_limits
from tagsmith.grammar.schemas.limits import Limitation
from tagsmith.grammar.schemas.ready import NO_PARAMETERS, ready_parameters
from tagsmith.request import JsonSchema
from tagsmith.request.schemas import KEPT_SCHEMAS
from tagsmith.spec.models import FamilySpec, ToolCalls, WireTypes

_ANOTHER = "\0"
"""The name of a parameter that no schema lists."""
_DEEPEST = 8
"""How deep objects and lists are written as parameters and items; deeper ones are JSON."""
_MOST_WRITTEN = 500
"""How many values of one tool are written as parameters and items; the rest is JSON."""
Within = tuple[int, ...]
"""The branches that a value is a part of."""
_MOST_WITHIN_ITSELF = 3
"""How often a schema is written out within itself."""
_ITEMS = {"type", "items", "minItems", "maxItems"}


@dataclass(frozen=True, slots=True)
class TaggedForm:
    """How one family writes parameters: the steps of the first form of each template, and the
    literals that may end a value."""

    parameter: tuple[str | Hole, ...]
    item: tuple[str | Hole, ...]
    types: WireTypes | None
    keys: NameForm
    ends: tuple[str, ...]

    def around(self, steps: Steps) -> Around:
        """What stands around the value of a parameter, or of an item."""
        return Around(self.ends, *newlines_beside_value(steps))


def tagged_writer(spec: FamilySpec, calls: ToolCalls) -> ArgumentsWriter:
    """The writer of one family."""
    form = _form_of(spec, calls)
    return lambda tool: _written(form, tool.parameters, strict=tool.strict)


@lru_cache(maxsize=KEPT_FAMILIES)
def _form_of(spec: FamilySpec, calls: ToolCalls) -> TaggedForm:
    written = calls.arguments
    layout = compile_tagged(spec, frozenset())
    forms = written.parameter or ()
    ends = tuple(sorted(layout.ends | layout.value_closers))
    stops = words_after(forms, Hole.KEY) | layout.ends | set(all_markers(spec))
    return TaggedForm(
        parameter=tuple(template_steps(forms[0])),
        item=tuple(template_steps(written.item[0])) if written.item else (),
        types=written.types,
        keys=NameForm(tuple(sorted(stops))),
        ends=ends,
    )


@lru_cache(maxsize=KEPT_SCHEMAS)
def _written(form: TaggedForm, schema: JsonSchema | None, *, strict: bool) -> WrittenArguments:
    ready = None if schema is None else ready_parameters(schema)
    root = dict(NO_PARAMETERS) if ready is None else ready.unfold()
    if not strict:
        given = {} if schema is None else schema.unfold()
        return WrittenArguments.of(_Writer(form, given).shape(_loose_shape(given, root)))
    writer = _Writer(form, root)
    pieces = writer.arguments(shapes(root, root))
    limits = () if ready is None else ready.limits
    return WrittenArguments.of(pieces, [*limits, *writer.limits])


def _loose_shape(given: Any, root: Any) -> Shape:
    """The parameters of a tool that is not strict: any may be there, in the types it has."""
    tool = ToolParameters(given)

    def schema(name: str) -> Any:
        types = tool.types(name)
        return True if types is None else {"type": sorted(kind.value for kind in types)}

    named = dict.fromkeys(p.name for shape in shapes(root, root) for p in shape.parameters)
    return Shape(tuple(Parameter(name, schema(name), False) for name in named), schema(_ANOTHER))


@dataclass(slots=True)
class _Writer:
    """Writes the parameters of one tool, whose schema is `root`."""

    form: TaggedForm
    root: Any
    limits: list[Limitation] = field(default_factory=list)
    left: int = _MOST_WRITTEN
    """How many more values may be written out as parameters and items of their own."""
    _tool: ToolParameters = field(init=False)

    def __post_init__(self) -> None:
        self._tool = ToolParameters(self.root)

    def arguments(self, kinds: list[Shape]) -> list[Piece]:
        """The parameters of every kind of object that the tool takes."""
        self.limits += shape_limits(self.root)
        return [either([sequence(*self.shape(kind)) for kind in kinds])] if kinds else []

    def shape(self, shape: Shape, within: Within = ()) -> list[Piece]:
        """The parameters of one kind of object."""
        pieces: list[Piece] = []
        for parameter in shape.parameters:
            if self.form.keys.holds(parameter.name):
                written = self._parameter(parameter.name, parameter.name, parameter.schema, within)
                pieces.append(written if parameter.required else optional(written))
            else:
                self.limits.append(unwritten_name(parameter.name))
        if shape.others is not False:
            names = [parameter.name for parameter in shape.parameters]
            chars = self.form.keys.firsts | set(WHITESPACE)
            key = regex(other_than(names, chars - {" "}, inside=" "))
            pieces.append(star(self._parameter(key, _ANOTHER, shape.others, within)))
        return pieces

    def _parameter(self, key: Piece, name: str, schema: Any, within: Within) -> Format:
        """One parameter; `name` is what the tool's schema knows it by."""
        steps = self.form.parameter
        if self.form.types is not None:
            return self._typed(self.form.types, steps, key, schema, within)
        around = self.form.around(steps)
        known = self._tool.types(name)
        self.limits += value_limits(self.root, schema, known, around)
        value = text_value(self.root, schema, known, around)
        return sequence(*fill(steps, {Hole.KEY: key, Hole.VALUE: value}))

    def _typed(
        self, types: WireTypes, steps: Steps, key: Piece, schema: Any, within: Within
    ) -> Format:
        """A parameter or an item that says its type, in each way that the schema admits."""
        around = self.form.around(steps)
        self.limits += string_limits(self.root, schema, around)
        self.left -= 1
        written: list[tuple[str, Format]] = []
        if strings := strings_of(self.root, schema, around):
            written.append((types.string[0], either(strings)))
        rest: list[Schema] = []
        for leaf in branches(self.root, schema):
            part = other_part(leaf)
            for kind in () if part is None else _kinds(part):
                nested = self._nested(types, kind, (*within, id(leaf)))
                if nested is not None:
                    written.append(nested)
                else:
                    rest.append(kind)
        if rest:
            others = detached(self.root, any_of(rest))
            self.limits += guard_limits(others, around.ends)
            written.append((types.other[0], json_value(others, around)))
        if not written:
            # Nothing that the schema admits can be written: a limitation says so.
            written.append((types.string[0], any_text(around.ends)))
        holes = [{Hole.KEY: key, Hole.TYPE: wire, Hole.VALUE: value} for wire, value in written]
        return either([sequence(*fill(steps, filled)) for filled in holes])

    def _nested(self, types: WireTypes, part: Schema, within: Within) -> tuple[str, Format] | None:
        """An object as parameters of its own, or a list as items; None where it has to be JSON."""
        is_deep = len(within) > _DEEPEST or within.count(within[-1]) > _MOST_WITHIN_ITSELF
        if self.left < 0 or is_deep or listed(part) is not None:
            return None
        if types.mapping and types_of(part) == ["object"] and not list(shape_limits(part)):
            inner = [sequence(*self.shape(kind, within)) for kind in shapes(self.root, part)]
            return types.mapping[0], sequence(blanks(), either(inner))
        if types.list and types_of(part) == ["array"] and part.keys() <= _ITEMS:
            item = self._typed(types, self.form.item, "", part.get("items", True), within)
            least, most = part.get("minItems", 0), part.get("maxItems")
            return types.list[0], sequence(blanks(), repeat(item, least, most))
        return None


def _kinds(part: Schema) -> list[Schema]:
    """A branch for each type of objects and lists, and one for the rest."""
    types = types_of(part)
    nested = [kind for kind in ("object", "array") if kind in types]
    others = [kind for kind in types if kind not in nested]
    if len(types) < 2 or not nested:
        return [part]
    return [{**part, "type": kind} for kind in [*nested, *([others] if others else [])]]
