"""A response template of Hugging Face's transformers as a family."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tagsmith.convert.losses import Loss
from tagsmith.convert.markers import listed, one_or_more, pairs, region
from tagsmith.convert.read_calls import read_calls
from tagsmith.convert.read_pattern import (
    Mark,
    UnreadablePatternError,
    literals,
    read_pattern,
    top_level,
)
from tagsmith.convert.template_shape import CONTENT, REASONING, TOOL_CALLS, check_shape

_JOINS = {"": "nothing", "\n": "newline", "\n\n": "blank-line"}
Values = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ReadFamily:
    """What a family file can say of a response template."""

    values: Values
    """The file, as plain data."""
    losses: tuple[Loss, ...]


@dataclass(slots=True)
class _Found:
    """What is read so far."""

    tokens: dict[str, list[str]] = field(default_factory=dict)
    style: Values = field(default_factory=dict)
    values: Values = field(default_factory=dict)
    losses: list[Loss] = field(default_factory=list)

    def lose(self, key: str, what: str) -> None:
        self.losses.append(Loss(key, what))


def from_response_template(template: Any, family: str, title: str) -> ReadFamily:
    """Read a response template, or a tokenizer_config.json that has one.

    Args:
        template: the JSON value.
        family: the id of the new family.
        title: its title.

    Raises:
        RequestError: it is no response template.

    >>> fields = {"content": {"close": "<|end|>"}}
    >>> template = {"start_anchor": "<|assistant|>", "fields": fields}
    >>> from_response_template(template, "acme", "Acme").values["tokens"]
    {'turn_start': '<|assistant|>', 'turn_end': '<|end|>'}
    """
    if isinstance(template, Mapping) and "fields" not in template:
        template = template.get("response_template", template)
    check_shape(template)
    fields = dict(template["fields"])
    found = _Found()
    _read_anchor(template, found)
    content = fields.pop(CONTENT, None)
    if content is not None:
        _read_content(content, found)
    named = [name for name in REASONING if name in fields]
    if named:
        _read_reasoning(fields.pop(named[0]), named[0], found)
    calls = fields.pop(TOOL_CALLS, None)
    if calls is not None:
        read = read_calls(calls)
        found.losses += read.losses
        if read.calls:
            found.values["tool_calls"] = read.calls
            found.style |= {"tool_calls": read.region} if read.region else {}
    for name in fields:
        found.lose(f"fields.{name}", "a family has no such region")
    if set(template.get("defaults", {})) - {"role"}:
        found.lose("defaults", "what is always in a message is the API's")
    return ReadFamily(_values(found, family, title), tuple(found.losses))


def _values(found: _Found, family: str, title: str) -> Values:
    values: Values = {"tagsmith": 1, "id": family, "title": title}
    tokens = {key: one_or_more(texts) for key, texts in found.tokens.items() if texts}
    if "hidden" in tokens:
        taken = {*_markers(found.style), *found.tokens.get("turn_start", ())}
        tokens["hidden"] = [text for text in found.tokens["hidden"] if text not in taken]
    values |= {"tokens": tokens} if tokens else {}
    values |= {key: found.values[key] for key in ("initial_region",) if key in found.values}
    order = ("reasoning", "content", "tool_calls")
    style = {key: found.style[key] for key in order if key in found.style}
    values |= {"tag_style": style} if style else {}
    if "tool_calls" in found.values:
        values["tool_calls"] = found.values["tool_calls"]
    said = found.values.get("whitespace", {})
    whitespace = {key: said[key] for key in ("reasoning", "content", "join") if key in said}
    return values | ({"whitespace": whitespace} if whitespace else {})


def _markers(style: Any) -> Iterator[str]:
    """Every text in the markers of the regions: each has one role."""
    if isinstance(style, str):
        yield style
        return
    for inner in style.values() if isinstance(style, dict) else style:
        yield from _markers(inner)


def _read_anchor(template: Mapping[str, Any], found: _Found) -> None:
    pattern = template.get("start_anchor_pattern")
    try:
        starts = listed(template.get("start_anchor")) if pattern is None else literals(pattern)
    except UnreadablePatternError as error:
        found.lose("start_anchor_pattern", f"{error}; write tokens.turn_start by hand")
        return
    found.tokens["turn_start"] = [start.strip() for start in starts if start.strip()]


def _texts(said: Mapping[str, Any], key: str, found: _Found, name: str) -> list[str]:
    """The literals that a field opens or closes by."""
    pattern = said.get(f"{key}_pattern")
    if pattern is None:
        return [text.strip() or text for text in listed(said.get(key))]
    try:
        return literals(pattern)
    except UnreadablePatternError as error:
        found.lose(f"fields.{name}.{key}_pattern", f"{error}; write the marker by hand")
        return []


def _is_implicit(said: Mapping[str, Any]) -> bool:
    return "open" not in said and "open_pattern" not in said


def _read_content(said: Mapping[str, Any], found: _Found) -> None:
    _read_text(said, found, CONTENT, CONTENT)
    if not _is_implicit(said):
        opens = _texts(said, "open", found, CONTENT)
        closes = _texts(said, "close", found, CONTENT)
        if opens:
            found.style["content"] = list(pairs(opens, closes))
        return
    pattern = said.get("close_pattern")
    if pattern is None:
        found.tokens["turn_end"] = _texts(said, "close", found, CONTENT)
        return
    first, *rest = top_level(pattern)
    found.tokens["turn_end"] = _texts({"close_pattern": first}, "close", found, CONTENT)
    if rest:
        others = [
            text
            for group in rest
            for text in _texts({"close_pattern": group}, "close", found, CONTENT)
        ]
        found.tokens["hidden"] = [text for text in others if text not in found.tokens["turn_end"]]


def _read_reasoning(said: Mapping[str, Any], name: str, found: _Found) -> None:
    _read_text(said, found, "reasoning", name)
    opens = _texts(said, "open", found, name)
    closes = _texts(said, "close", found, name)
    if _is_implicit(said) or _may_begin(said.get("open_pattern", "")):
        found.values["initial_region"] = "reasoning"
    if not opens and closes:
        found.lose(f"fields.{name}", "nothing opens it; its closer ends the first thought alone")
        found.tokens.setdefault("hidden", []).extend(closes)
        return
    if opens:
        found.style["reasoning"] = region(opens, closes)


def _may_begin(pattern: str) -> bool:
    """Whether a pattern takes the start of the whole text, with nothing in it."""
    try:
        return any(
            Mark.START in way and not any(isinstance(step, str) for step in way)
            for way in read_pattern(pattern)
        )
    except UnreadablePatternError:
        return False


def _read_text(said: Mapping[str, Any], found: _Found, region: str, name: str) -> None:
    """The blanks at the edges of a region's text, and what joins two; content comes first."""
    place = f"fields.{name}"
    if said.get("content", "text") != "text":
        found.lose(f"{place}.content", "it stays text")
    strips = dict(said.get("content_args") or {}).get("strip", True)
    takes_blanks = str(said.get("close_pattern", "")).startswith(r"\s*")
    trim = "both" if strips else "end" if takes_blanks else "keep"
    whitespace = found.values.setdefault("whitespace", {})
    whitespace[region] = trim
    join = said.get("join", "\n")
    if "join" not in said:
        found.lose(f"{place}.repeats", "of several texts the last counts; a family joins them")
    if join not in _JOINS:
        found.lose(f"{place}.join", "a family joins texts by nothing, a newline or a blank line")
    taken = whitespace.setdefault("join", _JOINS.get(join, "newline"))
    if join in _JOINS and "join" in said and _JOINS[join] != taken:
        found.lose(f"{place}.join", f"a family joins all texts alike, here by {taken}")
