"""A family as a response template of Hugging Face's transformers.

Its format is that of transformers' `utils.chat_parsing` and its documentation page "Response
Parsing". A region of a response template knows only what closes it, and the field without an
opener is whatever no region holds: so a family's content is that field, and every marker that is
never shown closes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tagsmith.convert.losses import Loss
from tagsmith.convert.patterns import (
    BLANK,
    BLANKS,
    END,
    START,
    ahead,
    any_of,
    char_set,
    either,
    literal,
)
from tagsmith.convert.readers import Reader
from tagsmith.convert.write_calls import CallField, call_field, call_openers
from tagsmith.request.plain import named
from tagsmith.spec.models import FamilySpec
from tagsmith.spec.policies import InitialRegion, Join, OnOpener, Trim

_JOINS = {Join.NOTHING: "", Join.NEWLINE: "\n", Join.BLANK_LINE: "\n\n"}
_NEVER = "(?!)"
_POSITIONS = r"[0-9:,\[\] ]+"
_FIRST_BLANKS = f"{START}{BLANK}+"
Field = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ResponseTemplate:
    """A response template, and what the family says that it does not."""

    template: dict[str, Any]
    """The value of `response_template` in a tokenizer_config.json."""
    losses: tuple[Loss, ...]


def to_response_template(
    spec: FamilySpec, *, reader: Reader | str = Reader.TRANSFORMERS
) -> ResponseTemplate:
    """Write a family as a response template.

    Parameters: `reader` is `transformers`, or `serving` for vLLM and SGLang.

    Raises `RequestError` for another reader.

    >>> import tagsmith
    >>> written = to_response_template(tagsmith.get_family("qwen3").spec).template
    >>> written["start_anchor"], list(written["fields"])
    ('<|im_start|>assistant', ['reasoning_content', 'tool_calls', 'content'])
    """
    reader = named(Reader, reader, "reader")
    calls = call_field(spec, reader)
    fields: dict[str, Field] = {}
    if spec.tag_style.reasoning is not None or _begins_in_thought(spec):
        fields[reader.reasoning] = _reasoning(spec, reader)
    if calls.field is not None:
        fields["tool_calls"] = calls.field
    fields["content"] = _content(spec, calls, reader)
    template = {"defaults": {"role": "assistant"}, **_anchor(spec), "fields": fields}
    return ResponseTemplate(template, (*_losses(spec, reader), *calls.losses))


def _begins_in_thought(spec: FamilySpec) -> bool:
    return spec.initial_region is InitialRegion.REASONING


def _anchor(spec: FamilySpec) -> Field:
    starts = list(spec.tokens.turn_start)
    if not starts:
        return {"start_anchor_pattern": _NEVER}
    return {"start_anchor": starts[0] if len(starts) == 1 else starts}


def _reasoning(spec: FamilySpec, reader: Reader) -> Field:
    markers = spec.tag_style.reasoning
    pairs = () if markers is None else markers.pairs
    starts = [pair.start for pair in pairs]
    ends = [pair.end for pair in pairs if pair.end is not None]
    beyond = [*_openers(spec), *spec.tokens.turn_end]
    if markers is not None and markers.on_opener is OnOpener.TEXT:
        beyond = list(spec.tokens.turn_end)
    trim = spec.whitespace.reasoning
    last, first = _blanks(trim)
    opens = [BLANKS + either(starts) + first] if starts else []
    if _begins_in_thought(spec):
        # Not where a marker may begin: a stream has to know at the first character.
        known = [*starts, *_openers(spec), *_silent(spec)]
        firsts = "".join(dict.fromkeys(text[0] for text in known if not text[0].isalnum()))
        opens.append(START + BLANKS + ahead(rf"[^\s{char_set(firsts)}]"))
    closes = [last + either(ends) + BLANKS] if ends else []
    closes += [last + ahead(either(beyond))] if beyond else []
    closes += _at_the_end(spec, trim, [*ends, *beyond])
    field: Field = {"open_pattern": any_of(opens)}
    if closes:
        field["close_pattern"] = any_of(closes)
    return field | _text(trim, spec.whitespace.join, reader)


def _content(spec: FamilySpec, calls: CallField, reader: Reader) -> Field:
    """Whatever is nothing else; in the pattern, what ends a turn stands in a group of its own."""
    trim = spec.whitespace.content
    last, first = _blanks(trim)
    ends, others = _silent_groups(spec, calls)
    groups = [last + either(ends) + first if ends else _NEVER]
    groups += [last + either(others) + first] if others else []
    groups += [_FIRST_BLANKS] if first else []
    groups += _at_the_end(spec, trim, [*ends, *others])
    groups += _citation_markup(spec)
    return {"close_pattern": "|".join(groups), **_text(trim, spec.whitespace.join, reader)}


def _blanks(trim: Trim) -> tuple[str, str]:
    """The blanks at the end of a text and at its start that are none of it: a stream shows text as
    it comes, and strips nothing later."""
    return "" if trim is Trim.KEEP else BLANKS, BLANKS if trim is Trim.BOTH else ""


def _citation_markup(spec: FamilySpec) -> list[str]:
    """The literals around a cited span, whose blanks belong to the text on both sides."""
    if spec.citations is None or not _is_markup_dropped(spec):
        return []
    markup = spec.citations.markup
    before, behind = markup.close_parts
    return [any_of([literal(markup.open), literal(before) + _POSITIONS + literal(behind)])]


def _is_markup_dropped(spec: FamilySpec) -> bool:
    """Whether what stands on both sides of it comes together again as it was."""
    trims, joins = spec.whitespace.content is Trim.BOTH, spec.whitespace.join is not Join.NOTHING
    return not (trims or joins)


def _at_the_end(spec: FamilySpec, trim: Trim, markers: Sequence[str]) -> list[str]:
    """The blanks before the end of the output; not those inside of a marker that is under way.

    A stream would take them: a search prefers a whole match to an earlier one that has only begun.
    """
    if trim is Trim.KEEP:
        return []
    before = [] if spec.citations is None else [spec.citations.markup.close_parts[0]]
    texts = [*markers, *before]
    begun = [literal(t[:i]) for t in texts for i, char in enumerate(t) if char.isspace()]
    begun += [literal(text) + _POSITIONS for text in before]
    return [f"(?<!{'|'.join([BLANK, *begun])}){BLANK}+{END}"]


def _text(trim: Trim, join: Join, reader: Reader) -> Field:
    strip = {} if trim is Trim.BOTH else {"content_args": {"strip": False}}
    many = {"repeats": True, "join": _JOINS[join]} if reader is Reader.TRANSFORMERS else {}
    return {"content": "text", **strip, **many}


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


def _losses(spec: FamilySpec, reader: Reader) -> Iterator[Loss]:
    if spec.match != type(spec.match)():
        yield Loss("match", "a response template is kept with its model, and names none")
    if spec.melody is not None:
        yield Loss("melody", "nothing renders by it")
    if spec.citations is not None:
        where = " of a thought" if _is_markup_dropped(spec) else ""
        yield Loss("citations", f"there are none, and their markup stays in the text{where}")
    if spec.tag_style.reasoning is not None:
        what = "within a thought, its own opener and markers that are never shown are text"
        yield Loss("tag_style.reasoning", what)
    if reader is Reader.SERVING and spec.whitespace.join is not Join.NOTHING:
        yield Loss("whitespace.join", "what parts two stretches of text is lost")
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
