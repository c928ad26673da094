"""Free text: what it may hold, so that nothing in it misleads the parser."""

from __future__ import annotations

from collections.abc import Sequence

from tagsmith.engine.text import WHITESPACE
from tagsmith.grammar.calls.forms import NO_CALLS, CallForms
from tagsmith.grammar.formats import (
    Format,
    any_text,
    blanks,
    const,
    either,
    free_text,
    optional,
    regex,
    sequence,
    shortest,
    star,
    tag,
)
from tagsmith.grammar.markers import all_markers, text_markers
from tagsmith.grammar.regexes import not_beginning_with
from tagsmith.grammar.turns import header_starts, variants
from tagsmith.request import ReasoningMode, Request
from tagsmith.spec.models import FamilySpec, MarkerPair
from tagsmith.spec.policies import CallLayout, Unmarked

_POSITION = r"[0-9]{1,4}:\[[0-9]{1,4}(?:, ?[0-9]{1,4}){0,63}\]"
_POSITIONS = f"{_POSITION}(?:, ?{_POSITION}){{0,63}}"
_WORDS = "a-zA-Z0-9_\x80-\U0010ffff"
_WORD = rf"[{_WORDS}][{_WORDS}.\-:/]*"
_BLANK = r"[ \t\n\r]"
_FENCE = "```"


def answer_text(spec: FamilySpec, request: Request, calls: CallForms = NO_CALLS) -> Format:
    """Text, bare or in the family's wrappers, with the calls that may stand in it."""
    several = calls.may_repeat(request)
    marked, begun, bare = (_listed(form) for form in (calls.marked, calls.begun, calls.bare))
    lead = _lead(spec, request)
    if lead is None:
        return _stretch(spec, marked) if several else sequence(_stretch(spec), *_at_most(marked))
    between = [*_messages(spec, request), *(marked if several else [])]
    more = [star(sequence(either(between), _stretch(spec)))] if between else []
    if several:
        ways = [sequence(either([lead, *begun]), *more)]
    else:
        ways = [sequence(lead, *more, *_at_most(marked)), *begun]
    return either([*ways, *(sequence(blanks(), form) for form in bare)])


def thoughts(spec: FamilySpec, end: str) -> Format:
    """Reasoning, up to the marker that ends it."""
    return _cited(spec, [text for text in text_markers(spec) if text not in end])


def wrapped(spec: FamilySpec, pair: MarkerPair, content: Format) -> list[Format]:
    """Content in one of the family's wrappers."""
    end = pair.end or ""
    return variants(spec, tag(pair.start, content, [end, ""] if header_starts(spec) else end))


def forbidden_in_documents(spec: FamilySpec) -> list[str]:
    """What no string of a JSON document may hold: in content a marker is a marker."""
    return [*dict.fromkeys([*text_markers(spec), *all_markers(spec)]), *_citation_markup(spec)]


def _listed(form: Format | None) -> list[Format]:
    return [] if form is None else [form]


def _at_most(forms: list[Format]) -> list[Format]:
    return [optional(form) for form in forms]


def _stretch(spec: FamilySpec, calls: Sequence[Format] = ()) -> Format:
    """Text without markers but the family's wrappers, and these calls in it."""
    pairs = spec.tag_style.content
    wrappers = {pair.end for pair in pairs}
    if not header_starts(spec):
        wrappers |= {pair.start for pair in pairs}
    return _cited(spec, [text for text in text_markers(spec) if text not in wrappers], calls)


def _messages(spec: FamilySpec, request: Request) -> list[Format]:
    """How a message begins in a family with headers; reasoning may come again between others."""
    if not header_starts(spec):
        return []
    messages = [tag(pair.start, const(""), "") for pair in spec.tag_style.content]
    reasoning = spec.tag_style.reasoning
    if reasoning is not None and request.reasoning is not ReasoningMode.DISABLED:
        end = reasoning.end or ""
        messages.append(tag(reasoning.start, thoughts(spec, end), end))
    return [one for message in messages for one in variants(spec, message)]


def _lead(spec: FamilySpec, request: Request) -> Format | None:
    """Text up to the first marker, where its beginning alone might make it a call or a header."""
    markers = text_markers(spec)
    stretch = _stretch(spec)
    if header_starts(spec):
        # What goes on from the turn start that ends the prompt.
        starts = spec.tokens.turn_start
        tails = [
            text[len(start) :] for text in markers for start in starts if text.startswith(start)
        ]
        begin = not_beginning_with((*filter(None, tails), *markers))
        return optional(sequence(regex(begin), stretch))
    if spec.tool_calls is None or spec.tool_calls.unmarked is not Unmarked.AT_START:
        return None
    begun = [sequence(blanks(), regex(_no_call_begins(spec, request)), stretch), blanks()]
    if spec.tool_calls.layout is CallLayout.PYTHONIC:
        # A word is text as well, where no parenthesis follows it.
        begun.append(sequence(blanks(), regex(_WORD), blanks()))
    return either(begun)


def _cited(spec: FamilySpec, excludes: list[str], calls: Sequence[Format] = ()) -> Format:
    """Text that holds none of these, but calls and cited spans where their openers stand."""
    begins = [call["begin"] for call in calls]
    openers = [
        next((text for text in excludes if begin.startswith(text)), begin) for begin in begins
    ]
    strays = [text for text in excludes if not any(text in begin for begin in begins)]
    tags, triggers = list(calls), shortest(dict.fromkeys(openers))
    if spec.citations is not None:
        markup = spec.citations.markup
        before, after = markup.close_parts
        span = sequence(
            any_text([*text_markers(spec), markup.open, before]), before, regex(_POSITIONS)
        )
        tags.append(tag(markup.open, span, after))
        triggers.append(markup.open)
        strays.append(before)
    return free_text(tags, triggers, strays) if tags else any_text(strays)


def _no_call_begins(spec: FamilySpec, request: Request) -> str:
    """How text begins that is no call, though calls may stand there without a marker."""
    assert spec.tool_calls is not None, "a family has calls where they may stand unmarked"
    # Behind a token that is not shown, the content still begins.
    markers = [*text_markers(spec), *spec.tokens.hidden]
    if spec.tool_calls.layout is CallLayout.JSON:
        begin = not_beginning_with(("{", "[", _FENCE, *markers), beside=WHITESPACE)
        # Code in a fence is text, unless it may be a call.
        return f"(?:{_FENCE}[a-zA-Z0-9_+#.\\-]*{_BLANK}*)?{begin}"
    # A word is no call unless a parenthesis follows it, and what is no keyword follows that.
    other = not_beginning_with(("[", *markers), beside=WHITESPACE, also=_WORDS)
    apart = not_beginning_with(("(", *markers), beside=WHITESPACE)
    joined = not_beginning_with(("(", *markers), beside=WHITESPACE + ".-:/", also=_WORDS)
    names = [tool.name for tool in request.tools]
    unknown = not_beginning_with(("[", *names, *markers), beside=WHITESPACE + "(")
    value = not_beginning_with((")", "(", *markers), beside=WHITESPACE + "=.-", also=_WORDS)
    inside = not_beginning_with(("=", "(", *markers), beside=WHITESPACE + ".-", also=_WORDS)
    bracket = rf"{unknown}[{_WORDS}]*{_BLANK}*\({_BLANK}*(?:{value}|[{_WORDS}]+{_BLANK}*{inside})"
    return f"(?:{other}|{_WORD}(?:{_BLANK}+{apart}|{joined})|{bracket})"


def _citation_markup(spec: FamilySpec) -> list[str]:
    if spec.citations is None:
        return []
    return [spec.citations.markup.open, spec.citations.markup.close_parts[0]]
