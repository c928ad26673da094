"""The field `tool_calls` of a response template as a family's tool calls."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from tagsmith.convert.losses import Loss
from tagsmith.convert.markers import listed, one_or_more, region
from tagsmith.convert.read_pattern import (
    Group,
    Mark,
    Step,
    UnreadablePatternError,
    literals,
    read_pattern,
)

_PLACE = "fields.tool_calls"
_HOLE = re.compile(r"\{(\w+(?:\.\w+)*)\}")
Values = dict[str, Any]


@dataclass(slots=True)
class ReadCalls:
    """What a family file can say of the calls; nothing where it cannot."""

    calls: Values = field(default_factory=dict)
    region: Values = field(default_factory=dict)
    losses: list[Loss] = field(default_factory=list)

    def lose(self, key: str, what: str) -> None:
        """Note what the family does not have."""
        self.losses.append(Loss(f"{_PLACE}.{key}" if key else _PLACE, what))


@dataclass(frozen=True, slots=True)
class _Transform:
    """Where the parts of a call come from: a group of a pattern, or a path in what was parsed."""

    name: str
    arguments: str
    id: str | None


def read_calls(said: Mapping[str, Any]) -> ReadCalls:
    """Read the field, of a shape that was checked."""
    read = ReadCalls()
    parser = said.get("content", "text")
    transform = _transform(said.get("transform"))
    if parser == "python-call-list":
        read.calls = {"layout": "pythonic"}
        _read_region(said, read)
    elif transform is None:
        read.lose("transform", "it makes no call of a name and arguments; write tool_calls by hand")
    elif parser == "json" and not _takes_name(said, transform):
        _read_json(said, transform, read)
    elif parser in ("json", "xml-inline"):
        _read_template(said, transform, read)
    else:
        read.lose("content", f"no call layout is as {parser}; write tool_calls by hand")
    return read


def _transform(transform: Any) -> _Transform | None:
    if not isinstance(transform, Mapping):
        return None
    function = transform.get("function", transform)
    if function == "{content}":
        return _Transform("content.name", "content.arguments", None)
    if not isinstance(function, Mapping):
        return None
    holes = {
        key: match[1]
        for said in (transform, function)
        for key in ("id", "name", "arguments")
        if isinstance(said.get(key), str) and (match := _HOLE.fullmatch(said[key]))
    }
    if not {"name", "arguments"} <= holes.keys():
        return None
    return _Transform(holes["name"], holes["arguments"], holes.get("id"))


def _takes_name(said: Mapping[str, Any], transform: _Transform) -> bool:
    """Whether the name is in what opens the field, and not in its JSON."""
    return f"(?P<{transform.name}>" in str(said.get("open_pattern", ""))


def _read_json(said: Mapping[str, Any], transform: _Transform, read: ReadCalls) -> None:
    each = bool(said.get("transform_each"))
    paths = {
        "id": transform.id,
        "name": transform.name,
        "arguments": transform.arguments,
    }
    keys = {
        key: path.removeprefix("" if each else "content.")
        for key, path in paths.items()
        if path is not None
    }
    if any("." in key for key in keys.values()):
        read.lose("transform", "a name or arguments deeper inside; write tool_calls by hand")
        return
    if said.get("content_args"):
        read.lose("content_args", "calls are read as JSON")
    read.calls = {"layout": "json", "container": "array" if each else "object", "keys": keys}
    _read_region(said, read)


def _read_region(said: Mapping[str, Any], read: ReadCalls) -> None:
    """The markers of a region that holds nothing but the calls."""
    try:
        opens, bare = _openers(said)
        # Fences around calls are no markers: the layout reads them as blanks.
        closes = [close for close in _closers(said) if close.strip("`")]
    except UnreadablePatternError as error:
        read.lose("open_pattern", f"{error}; write tag_style.tool_calls by hand")
        read.calls = {}
        return
    if bare:
        read.calls["unmarked"] = "at-start"
    read.region = region(opens, closes)


def _openers(said: Mapping[str, Any]) -> tuple[list[str], bool]:
    """The literals that open the field, and whether the start of the text does."""
    pattern = said.get("open_pattern")
    if pattern is None:
        return listed(said.get("open")), False
    ways = read_pattern(pattern)
    bare = any(Mark.START in way for way in ways)
    return literals(pattern), bare


def _closers(said: Mapping[str, Any]) -> list[str]:
    pattern = said.get("close_pattern")
    return listed(said.get("close")) if pattern is None else literals(pattern)


def _read_template(said: Mapping[str, Any], transform: _Transform, read: ReadCalls) -> None:
    arguments = _arguments(said, read)
    try:
        heads = read_pattern(str(said.get("open_pattern", "")))
        closes = _tails(said)
    except UnreadablePatternError as error:
        read.lose("open_pattern", f"{error}; write tool_calls.call by hand")
        return
    if arguments is None or transform.arguments != "content" or not heads:
        return
    forms = [_form(_without_rest(way, read), transform) for way in heads]
    tails = closes if len(closes) == len(forms) else [next(iter(closes), "")] * len(forms)
    call = [head + "{arguments}" + tail for head, tail in zip(forms, tails, strict=True)]
    format_ = _id_format(heads[0], transform)
    if format_ is None and not all("{name}" in form for form in forms):
        read.lose("open_pattern", "no group in it is the name; write tool_calls by hand")
        return
    read.calls = {"layout": "template", "call": one_or_more(list(dict.fromkeys(call)))}
    read.calls |= {"id": {"format": format_}} if format_ else {}
    read.calls["arguments"] = arguments


def _tails(said: Mapping[str, Any]) -> list[str]:
    pattern = said.get("close_pattern")
    if pattern is None:
        return _closers(said)
    ways = [_text(way, {}) for way in read_pattern(pattern)]
    return [way.strip("\n") and way for way in ways if way.strip("\n")]


def _without_rest(way: list[Step], read: ReadCalls) -> list[Step]:
    """A way without what may follow a name at once.

    A pattern knows by its letters where a name ends, a family by what comes next.
    """
    for place, (step, after) in enumerate(pairwise(way)):
        if isinstance(step, Group) and after is Mark.ANYTHING:
            what = f"what may stand behind its group {step.name}; write the forms by hand"
            read.lose("open_pattern", what)
            return [*way[: place + 1], *way[place + 2 :]]
    return way


def _form(way: Sequence[Step], transform: _Transform) -> str:
    names = {transform.name: "{name}"}
    if transform.id is not None:
        names[transform.id] = "{id}"
    return _text(way, names).lstrip("\n")


def _text(way: Sequence[Step], names: Mapping[str, str]) -> str:
    """The text of a template: groups and what is not known are holes, blanks line ends."""
    text = ""
    for step in way:
        if isinstance(step, Group):
            text += names.get(step.name, "{ignored}")
        elif step is Mark.BLANKS:
            text += "\n"
        elif step is Mark.ANYTHING:
            text += "{ignored}"
        elif isinstance(step, str):
            text += step
    return text


def _id_format(way: Sequence[Step], transform: _Transform) -> str | None:
    """The form of an id that carries the name and a number."""
    for step in way:
        if isinstance(step, Group) and step.name == transform.id:
            inner = [s.name if isinstance(s, Group) else s for s in step.inside]
            if transform.name in inner and Mark.ANYTHING in inner:
                text = _text(step.inside, {transform.name: "{name}"})
                return text.replace("{ignored}", "{index}")
    return None


def _arguments(said: Mapping[str, Any], read: ReadCalls) -> Values | None:
    given = dict(said.get("content_args") or {})
    if said.get("content") == "json":
        return _json_arguments(given, read)
    try:
        ways = read_pattern(str(given.get("tag_pattern", "")))
    except UnreadablePatternError as error:
        read.lose("content_args.tag_pattern", f"{error}; write tool_calls by hand")
        return None
    forms = [_text(way, {"key": "{key}", "value": "{value}"}) for way in ways]
    if not forms or any("{ignored}" in form or "{key}" not in form for form in forms):
        read.lose("content_args.tag_pattern", "it holds more than a key and a value")
        return None
    if given.get("merge_duplicates"):
        read.lose("content_args.merge_duplicates", "of a parameter given twice the first counts")
    forms = [form.strip("\n") + "\n" for form in dict.fromkeys(forms)]
    found: Values = {"encoding": "tagged", "parameter": one_or_more(forms)}
    parser = dict(given.get("value_parser") or {})
    if parser.get("name", "text") == "json":
        is_lax = dict(parser.get("args") or {}).get("allow_non_json", False)
        found |= {"untyped": "json"} if is_lax else {"values": {"string": "json"}}
    elif parser.get("name", "text") != "text":
        read.lose("content_args.value_parser", "values are text, or as the tool's schema says")
    return found


def _json_arguments(given: Mapping[str, Any], read: ReadCalls) -> Values | None:
    if not given.get("unquoted_keys"):
        if given.get("string_delims"):
            read.lose("content_args.string_delims", "only beside unquoted keys")
        return {"encoding": "json"}
    delims = given.get("string_delims") or []
    quotes = [pair[0] for pair in delims if len(pair) == 2 and pair[0] == pair[1]]
    if len(quotes) != 1 or len(delims) != 1:
        read.lose("content_args", "bare keys need one mark around strings, the same on both sides")
        return None
    return {"encoding": "bare-keys", "quote": quotes[0]}
