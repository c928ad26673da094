"""A family's tool calls as the field `tool_calls` of a response template."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tagsmith.convert.losses import Loss
from tagsmith.convert.patterns import (
    BLANKS,
    END,
    START,
    ahead,
    any_of,
    either,
    form_pattern,
    literal,
)
from tagsmith.convert.readers import Reader
from tagsmith.engine.templates import Hole, split_template
from tagsmith.spec.models import FamilySpec, MarkerPair, ToolCalls
from tagsmith.spec.policies import (
    CallLayout,
    Container,
    OnOutsideRegion,
    OnUnknownParameter,
    OnUnknownTool,
    Unmarked,
    ValueForm,
)

_CLOSED = r"(?<=[}\]])"
"""Behind a bracket that closes something, as JSON and Python's calls end: what is inside a string
ends nothing, unless the string has a bracket right before it."""
_WORD = r"[^\n<>\[\]{}]+?"
_NAME, _ID = f"(?P<name>{_WORD})", f"(?P<id>{_WORD})"
_ANY = ".*?"
_TYPE = r"[^<>\n]*?"
Field = dict[str, Any]


@dataclass(frozen=True, slots=True)
class CallField:
    """The field, where there can be one."""

    field: Field | None = None
    losses: tuple[Loss, ...] = ()
    markers: tuple[str, ...] = ()
    """Markers that the field itself opens or closes by."""


def call_openers(spec: FamilySpec) -> list[str]:
    """What opens a call where no region does."""
    calls = spec.tool_calls
    if calls is None or calls.layout is not CallLayout.TEMPLATE:
        return []
    return list(dict.fromkeys(_opener(form) for form in calls.call or ()))


def _opener(form: str) -> str:
    """What a call begins with, up to the first line end in it."""
    first = split_template(form.lstrip())[0]
    return "" if isinstance(first, Hole) else first


def call_field(spec: FamilySpec, reader: Reader) -> CallField:
    """Write the calls of a family."""
    calls = spec.tool_calls
    if calls is None:
        return CallField()
    if calls.layout is CallLayout.PYTHONIC and reader is Reader.SERVING:
        what = "vLLM and SGLang read no calls in Python: calls stay text"
        return CallField(losses=(Loss("tool_calls.layout", what),))
    write = _template_field if calls.layout is CallLayout.TEMPLATE else _region_field
    field = write(spec, calls)
    region = spec.tag_style.tool_calls
    pairs = () if region is None else region.pairs
    own = [text for pair in pairs for text in (pair.start, pair.end) if text is not None]
    takes_region = calls.layout is not CallLayout.TEMPLATE and field is not None
    markers = tuple(own) if takes_region else ()
    return CallField(field, tuple(_losses(spec, calls, field, reader)), markers)


def _region_field(spec: FamilySpec, calls: ToolCalls) -> Field | None:
    """Calls in JSON or Python: all that a region holds is one value."""
    region = spec.tag_style.tool_calls
    pairs: tuple[MarkerPair, ...] = () if region is None else region.pairs
    opens = [BLANKS + any_of(map(_start, pairs))] if pairs else []
    if calls.unmarked is Unmarked.AT_START:
        opens.insert(0, START + BLANKS + ahead(_first_of_bare_calls(calls)))
    ends = [pair.end for pair in pairs if pair.end is not None]
    ends += ["```"] if any("```" in pair.start for pair in pairs) else []
    closes = [_CLOSED + BLANKS + either(ends) + BLANKS] if ends else []
    if spec.tokens.turn_end:
        closes.append(_CLOSED + ahead(BLANKS + either(spec.tokens.turn_end)))
    field: Field = {"open_pattern": any_of(opens)}
    if closes:
        field["close_pattern"] = any_of(closes)
    if calls.layout is CallLayout.PYTHONIC:
        transform = _call("{name}", "{arguments}")
        return {
            **field,
            "content": "python-call-list",
            "transform_each": True,
            "transform": transform,
        }
    keys = calls.keys
    call_id = {} if keys.id is None else {"id": keys.id}
    if calls.container is Container.ARRAY:
        id_hole = {key: f"{{{value}}}" for key, value in call_id.items()}
        transform = _call(f"{{{keys.name[0]}}}", f"{{{keys.arguments[0]}}}", **id_hole)
        return {**field, "content": "json", "transform_each": True, "transform": transform}
    id_hole = {key: f"{{content.{value}}}" for key, value in call_id.items()}
    transform = _call(f"{{content.{keys.name[0]}}}", f"{{content.{keys.arguments[0]}}}", **id_hole)
    return {**field, "repeats": True, "content": "json", "transform": transform}


def _start(pair: MarkerPair) -> str:
    """The opener of a region; a bracket that it ends with belongs to the list as well."""
    if pair.start.endswith("["):
        return literal(pair.start[:-1]) + ahead(r"\[")
    return literal(pair.start)


def _first_of_bare_calls(calls: ToolCalls) -> str:
    """What a call that no marker opens begins with."""
    if calls.layout is CallLayout.PYTHONIC:
        return r"\[\s*[A-Za-z_][\w.-]*\s*\("
    keys = calls.keys
    first = [f'"{key}"' for key in (keys.id, *keys.name, *keys.other) if key is not None]
    bracket = r"\[\s*\{" if calls.container is Container.ARRAY else r"\{"
    return bracket + BLANKS + either(first)


def _call(name: str, arguments: str, **more: str) -> dict[str, Any]:
    return {"type": "function", **more, "function": {"name": name, "arguments": arguments}}


def _template_field(spec: FamilySpec, calls: ToolCalls) -> Field | None:
    body = _arguments(calls)
    if body is None:
        return None
    forms = [form.partition("{arguments}") for form in _ordered(calls.call or ())]
    heads = [_head(calls, before, behind) for before, _, behind in forms]
    tails = [form_pattern(behind, {Hole.IGNORED: _ANY}) for _, _, behind in forms]
    has_ids = all("{id}" in before for before, _, _ in forms)
    more = {"id": "{id}"} if has_ids else {}
    ended = _CLOSED if body["content"] == "json" else ""
    stops = [ahead(BLANKS + either(spec.tokens.turn_end))] if spec.tokens.turn_end else []
    closed = [ended + BLANKS + tail + BLANKS for tail in tails if tail.replace(BLANKS, "")]
    # Groups of a closer would take the place of the opener's.
    next_one = ahead(BLANKS + any_of(heads).replace("(?P<name>", "(?:").replace("(?P<id>", "(?:"))
    open_ended = [] if closed else [ended + stop for stop in (next_one, *stops)]
    field: Field = {"open_pattern": BLANKS + any_of(heads)}
    if closed or open_ended:
        field["close_pattern"] = any_of(closed or open_ended)
    return {
        **field,
        "repeats": True,
        **body,
        "transform": _call("{name}", "{content}", **more),
    }


def _ordered(forms: Sequence[str]) -> list[str]:
    """The forms, each before those whose opener begins its own."""
    ordered: list[str] = []
    for form in forms:
        opener = _opener(form)
        openers = [_opener(other) for other in ordered]
        shorter = [
            i for i, other in enumerate(openers) if opener != other and opener.startswith(other)
        ]
        ordered.insert(min(shorter, default=len(ordered)), form)
    return ordered


def _head(calls: ToolCalls, before: str, behind: str) -> str:
    """What stands before the arguments, up to where they begin or the call ends."""
    id_hole = _ID
    if calls.id.format is not None:
        named, _, numbered = calls.id.format.partition("{name}")
        separator, _, rest = numbered.partition("{index}")
        id_hole = f"(?P<id>{literal(named)}{_NAME}{literal(separator)}[0-9]+{literal(rest)})"
    name = "(?P=name)" if "{id}" in before and calls.id.format and "{name}" in before else _NAME
    holes = {Hole.NAME: name, Hole.ID: id_hole, Hole.IGNORED: _ANY}
    head = form_pattern(before.lstrip(), holes)
    ends_in_hole = isinstance(split_template(before.rstrip())[-1], Hole)
    return head + BLANKS + ahead(_begins(calls, behind)) if ends_in_hole else head


def _begins(calls: ToolCalls, behind: str) -> str:
    """What the arguments begin with; where there may be none, also what follows them."""
    if calls.arguments.encoding != "tagged":
        return r"\{"
    first = [_opener(form) for form in calls.arguments.parameter or ()]
    after = split_template(behind.lstrip())[0] if behind.strip() else ""
    return either([*first, *([after] if isinstance(after, str) and after else [])])


def _arguments(calls: ToolCalls) -> Field | None:
    """How the arguments are read; None where nothing reads them."""
    arguments = calls.arguments
    if arguments.encoding == "json":
        return {"content": "json"}
    if arguments.encoding == "bare-keys":
        quote = arguments.quote
        delims = {} if quote is None else {"string_delims": [[quote, quote]]}
        return {"content": "json", "content_args": {"unquoted_keys": True, **delims}}
    if arguments.encoding != "tagged":
        return None
    forms = arguments.parameter or ()
    next_one = either(_opener(form) for form in forms)
    tag = any_of(map(_tag, forms)) + ahead(BLANKS + any_of([next_one, END]))
    said: Field = {"tag_pattern": tag}
    if arguments.values.string is ValueForm.JSON or arguments.untyped == "json":
        said["value_parser"] = {"name": "json", "args": {"allow_non_json": True}}
    return {"content": "xml-inline", "content_args": said}


def _tag(form: str) -> str:
    """One parameter. A line end of the template beside a value is none of the value's."""
    before, _, behind = form.partition("{value}")
    holes = {Hole.KEY: r"(?P<key>[^\n<>]+?)", Hole.TYPE: _TYPE}
    first = r"\n?" if before.endswith("\n") else ""
    last = r"\n?" if behind.startswith("\n") else ""
    value = f"{first}(?P<value>{_ANY}){last}"
    head = form_pattern(before.rstrip("\n"), holes)
    return head + value + form_pattern(behind.strip("\n"), holes)


def _losses(
    spec: FamilySpec, calls: ToolCalls, field: Field | None, reader: Reader
) -> Iterator[Loss]:
    if field is None:
        what = "no content parser reads it: calls stay text"
        yield Loss("tool_calls.arguments.encoding", what)
        return
    raises = reader is Reader.TRANSFORMERS
    what = "raises ValueError, the message is lost" if raises else "is dropped"
    yield Loss("tool_calls.on_malformed", f"what is no call {what}")
    yield Loss("tool_calls.on_truncated", f"a call that is cut off {what}")
    yield from _id_losses(calls, field)
    if calls.layout is CallLayout.TEMPLATE:
        yield from _template_losses(spec, calls)
    else:
        yield from _region_losses(spec, calls)
    if calls.pseudo_tools:
        yield Loss("tool_calls.pseudo_tools", "calls of them are calls")
    if calls.on_unknown_tool is not OnUnknownTool.KEEP:
        yield Loss("tool_calls.on_unknown_tool", "a call to any tool is a call")


def _id_losses(calls: ToolCalls, field: Field) -> Iterator[Loss]:
    if "id" not in field["transform"]:
        yield Loss("tool_calls.id", "calls have no id, not even one that the output gives")
    if calls.id.format is not None:
        yield Loss("tool_calls.id.format", "with an id of another form it is no call")


def _region_losses(spec: FamilySpec, calls: ToolCalls) -> Iterator[Loss]:
    if spec.tag_style.tool_calls is not None:
        what = "a closer counts in strings; calls that none closes are lost with text behind them"
        yield Loss("tag_style.tool_calls", what)
    if calls.unmarked is Unmarked.AT_START:
        what = "only at the very start, to whatever tool; what only looks like a call is lost"
        yield Loss("tool_calls.unmarked", what)
    if calls.layout is CallLayout.PYTHONIC:
        what = "of Python's literals only those of python-call-list are read"
        yield Loss("tool_calls.layout", what)
        return
    many = calls.container is Container.ARRAY
    what = "one list, in one region a turn" if many else "one object a region"
    yield Loss("tool_calls.container", f"only what the grammar writes is read: {what}")
    what = "the first spelling alone is read, and each is needed; arguments in a text stay one"
    yield Loss("tool_calls.keys", what)


def _template_losses(spec: FamilySpec, calls: ToolCalls) -> Iterator[Loss]:
    what = "what ends a call may end it inside a string; one that nothing ends, only the turn ends"
    yield Loss("tool_calls.call", what)
    outside = calls.on_outside_region is OnOutsideRegion.TEXT
    if spec.tag_style.tool_calls is not None and outside:
        yield Loss("tool_calls.on_outside_region", "a call's opener is one everywhere")
    arguments = calls.arguments
    if arguments.encoding == "bare-keys":
        what = "with one left out, or one inside a string, the call is lost"
        yield Loss("tool_calls.arguments.quote", what)
    if arguments.encoding != "tagged":
        return
    yield Loss("tool_calls.arguments.values", "texts are cast to a schema's types more freely")
    if arguments.types is not None:
        what = "types are those of the tool's schema, where the request has one"
        yield Loss("tool_calls.arguments.types", what)
    if arguments.item is not None:
        yield Loss("tool_calls.arguments.item", "lists and mappings within are text")
    yield Loss("tool_calls.on_repeated_parameter", "the last value counts")
    if calls.on_unknown_parameter is not OnUnknownParameter.KEEP:
        yield Loss("tool_calls.on_unknown_parameter", "every parameter is kept")
