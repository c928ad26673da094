"""A family as a response template of Hugging Face's transformers.

Its format is that of transformers' `utils.chat_parsing` and its documentation page "Response
Parsing". A region of a response template knows only what closes it, and the field without an
opener is whatever no region holds: so a family's content is that field, and every marker that is
never shown closes it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tagsmith.convert.losses import Loss
from tagsmith.convert.patterns import (
    BLANKS,
    END,
    START,
    ahead,
    any_of,
    char_set,
    either,
)
from tagsmith.convert.write_calls import CallField, call_field, call_openers
from tagsmith.spec.models import FamilySpec
from tagsmith.spec.policies import InitialRegion, Join, OnOpener, Trim

REASONING = "reasoning_content"
"""What chat templates call a thought, so that a message can go into the next prompt."""

_JOINS = {Join.NOTHING: "", Join.NEWLINE: "\n", Join.BLANK_LINE: "\n\n"}
_NEVER = "(?!)"
Field = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ResponseTemplate:
    """A response template, and what the family says that it does not."""

    template: dict[str, Any]
    """The value of `response_template` in a tokenizer_config.json."""
    losses: tuple[Loss, ...]


def to_response_template(spec: FamilySpec) -> ResponseTemplate:
    """Write a family as a response template.

    >>> import tagsmith
    >>> written = to_response_template(tagsmith.get_family("qwen3").spec).template
    >>> written["start_anchor"], list(written["fields"])
    ('<|im_start|>assistant', ['reasoning_content', 'tool_calls', 'content'])
    """
    calls = call_field(spec)
    fields: dict[str, Field] = {}
    if spec.tag_style.reasoning is not None or _begins_in_thought(spec):
        fields[REASONING] = _reasoning(spec, calls)
    if calls.field is not None:
        fields["tool_calls"] = calls.field
    fields["content"] = _content(spec, calls)
    template = {"defaults": {"role": "assistant"}, **_anchor(spec), "fields": fields}
    return ResponseTemplate(template, (*_losses(spec), *calls.losses))


def _begins_in_thought(spec: FamilySpec) -> bool:
    return spec.initial_region is InitialRegion.REASONING


def _anchor(spec: FamilySpec) -> Field:
    starts = list(spec.tokens.turn_start)
    if not starts:
        return {"start_anchor_pattern": _NEVER}
    return {"start_anchor": starts[0] if len(starts) == 1 else starts}


def _reasoning(spec: FamilySpec, calls: CallField) -> Field:
    markers = spec.tag_style.reasoning
    pairs = () if markers is None else markers.pairs
    starts = [pair.start for pair in pairs]
    ends = [pair.end for pair in pairs if pair.end is not None]
    beyond = [*_openers(spec), *spec.tokens.turn_end]
    if markers is not None and markers.on_opener is OnOpener.TEXT:
        beyond = list(spec.tokens.turn_end)
    opens = [BLANKS + either(starts)] if starts else []
    if _begins_in_thought(spec):
        # Not where a marker may begin: a stream has to know at the first character.
        known = [*starts, *_openers(spec), *_silent(spec)]
        firsts = "".join(dict.fromkeys(text[0] for text in known if not text[0].isalnum()))
        opens.append(START + BLANKS + ahead(rf"[^\s{char_set(firsts)}]"))
    closes = [either(ends) + BLANKS] if ends else []
    closes += [ahead(either(beyond))] if beyond else []
    field: Field = {"open_pattern": any_of(opens)}
    if closes:
        field["close_pattern"] = any_of(closes)
    field |= _text(spec.whitespace.reasoning, spec.whitespace.join)
    return field


def _content(spec: FamilySpec, calls: CallField) -> Field:
    """Whatever is nothing else; in the pattern, what ends a turn stands in a group of its own."""
    trim = spec.whitespace.content
    before = "" if trim is Trim.KEEP else BLANKS
    after = BLANKS if trim is Trim.BOTH else ""
    ends, others = _silent_groups(spec, calls)
    groups = [before + either(ends) + after if ends else _NEVER]
    groups += [before + either(others) + after] if others else []
    if trim is Trim.END:
        groups.append(rf"\s+{END}")
    return {"close_pattern": "|".join(groups), **_text(trim, spec.whitespace.join)}


def _text(trim: Trim, join: Join) -> Field:
    strip = {} if trim is Trim.BOTH else {"content_args": {"strip": False}}
    return {"content": "text", **strip, "repeats": True, "join": _JOINS[join]}


def _openers(spec: FamilySpec) -> list[str]:
    """What opens another region than reasoning."""
    style = spec.tag_style
    wraps = [wrap.start for wrap in style.content]
    regions = [] if style.tool_calls is None else [pair.start for pair in style.tool_calls.pairs]
    return list(dict.fromkeys([*wraps, *regions, *call_openers(spec)]))


def _silent(spec: FamilySpec) -> list[str]:
    """What is never shown where it stands by itself."""
    return [marker for markers in _silent_groups(spec, None) for marker in markers]


def _silent_groups(spec: FamilySpec, calls: CallField | None) -> Iterator[list[str]]:
    style, tokens = spec.tag_style, spec.tokens
    yield list(tokens.turn_end)
    taken = set() if calls is None else set(calls.markers)
    known = {*tokens.turn_end, *taken}
    regions = () if style.tool_calls is None else style.tool_calls.pairs
    thoughts = () if style.reasoning is None else style.reasoning.pairs
    wraps = [text for pair in (*style.content, *regions) for text in (pair.start, pair.end)]
    ends = [pair.end for pair in thoughts]
    starts = [start for start in tokens.turn_start if not start[0].isalnum()]
    rest = [*wraps, *ends, *tokens.hidden, *starts]
    yield [text for text in dict.fromkeys(rest) if text is not None and text not in known]


def _losses(spec: FamilySpec) -> Iterator[Loss]:
    if spec.match != type(spec.match)():
        yield Loss("match", "a response template is kept with its model, and names none")
    if spec.melody is not None:
        yield Loss("melody", "nothing renders by it")
    if spec.citations is not None:
        yield Loss("citations", "their markup stays in the text")
    if spec.tag_style.reasoning is not None:
        what = "within a thought, its own opener and markers that are never shown are text"
        yield Loss("tag_style.reasoning", what)
    if spec.tokens.header is not None:
        yield Loss("tokens.header", "a header that no marker covers is shown")
    if spec.tokens.hidden:
        yield Loss("tokens.hidden", "text on both sides of a marker is two stretches of text")
    silent = _silent(spec)
    if any(one in other[1:] for one in silent for other in silent):
        yield Loss("tag_style", "a stream takes a marker inside a longer one for itself")
    yield Loss(
        "tokens.turn_start",
        "a prefix without it is a part of the message, and no call begins in a prompt",
    )
