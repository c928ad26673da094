"""From markers spelled as text to markers that are tokens: the same structural tag, token-aware.

A parser that is given token ids takes a marker for one only where its own token stands, and the
same characters, spelled with ordinary tokens, for data. A tag bound here says the same.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tagsmith.engine.templates import split_template
from tagsmith.errors import RequestError
from tagsmith.grammar.formats import Format, any_text, const, either, optional, sequence, star
from tagsmith.grammar.schemas.ready import ready_parameters
from tagsmith.request import Request
from tagsmith.spec.models import FamilySpec, MarkerPair
from tagsmith.wording import shortened


def with_token_markers(
    spec: FamilySpec, request: Request, format_: Format, tokens: Iterable[str]
) -> Format:
    """The format of a request with these tokens in the place of the family's markers.

    Raises:
        RequestError: a marker that is written is no token, or a tool spells one.
    """
    known = sorted(tokens)
    _check_tools(request, known)
    return bind_markers(
        format_,
        tokens=known,
        needed=_named_markers(spec),
        wrappers=[text for pair in spec.tag_style.content for text in _literals(pair)],
    )


def bind_markers(
    format_: Format,
    *,
    tokens: Iterable[str],
    needed: Iterable[str] = (),
    wrappers: Iterable[str] = (),
) -> Format:
    """The format with every marker of its structure as a token; JSON and patterns stay as they are.

    Args:
        format_: A format whose markers are text; it is not changed.
        tokens: The markers that are one token each.
        needed: Markers that must be tokens, or made of some, where they are written.
        wrappers: Literals that free text may hold although their first token opens something
            else too.

    Raises:
        RequestError: one of `needed` is written, and is none of the tokens.

    >>> from tagsmith.grammar.formats import tag
    >>> bind_markers(tag("<a>x", any_text(["<b>"]), "</a>"), tokens=["<a>", "</a>", "<b>"])["end"]
    {'type': 'token', 'token': '</a>'}
    """
    longest_first = sorted(tokens, key=len, reverse=True)
    splitter = re.compile("|".join(map(re.escape, longest_first)) or "(?!)")
    return _Binder(splitter, tuple(needed), tuple(wrappers)).bind(format_)


def token(text: str) -> Format:
    """The one token that is spelled so."""
    return {"type": "token", "token": text}


@dataclass(frozen=True, slots=True)
class _Binder:
    splitter: re.Pattern[str]
    needed: tuple[str, ...]
    wrappers: tuple[str, ...]

    def bind(self, format_: Format, closers: tuple[str, ...] = ()) -> Format:
        """The format bound; `closers` are the literals that end the tag it stands in."""
        kind = format_["type"]
        if kind == "tag":
            return self._tag(format_)
        if kind == "triggered_tags":
            return self._triggered_tags(format_, closers)
        if kind == "tags_with_separator":
            return self._separated(format_)
        if kind == "any_text":
            return self._any_text(format_, closers)
        if kind == "const_string":
            return sequence(*self._pieces(format_["value"]))
        if "style" in format_:
            raise RequestError(
                "markers",
                f"the grammar engine has no tokens in values of the style {format_['style']}; say "
                '"text"',
            )
        bound = dict(format_)
        if "content" in format_:
            bound["content"] = self.bind(format_["content"], closers)
        if "elements" in format_:
            bound["elements"] = [self.bind(item, closers) for item in format_["elements"]]
        return bound

    def _tag(self, format_: Format) -> Format:
        """A tag that begins and ends with a token where its literals do; the rest goes inside."""
        ends = [format_["end"]] if isinstance(format_["end"], str) else format_["end"]
        content = self.bind(format_["content"], tuple(filter(None, ends)))
        before = self._pieces(format_["begin"])
        after = self._pieces(ends[0])
        if len(ends) > 1:
            after = [either([sequence(*self._pieces(end)) for end in ends])]
        begin, end = _edge(before, 0), _edge(after, -1)
        inside = [*before, content, *after]
        return {"type": "tag", "begin": begin, "content": sequence(*inside), "end": end}

    def _triggered_tags(self, format_: Format, closers: tuple[str, ...]) -> Format:
        """The tags, and between them text in which nothing that opens one can stand."""
        tags = either([self._tag(item) for item in format_["tags"]])
        once = format_.get("stop_after_first", False)
        needed = format_.get("at_least_one", False)
        if needed and once:
            return tags
        text = self._text([*format_["triggers"], *format_.get("excludes", ())], closers)
        if needed:
            return sequence(tags, text, star(sequence(tags, text)))
        return sequence(text, optional(tags) if once else star(sequence(tags, text)))

    def _separated(self, format_: Format) -> Format:
        tags = [self._tag(item) for item in format_["tags"]]
        separator = self._pieces(format_["separator"])
        if len(separator) == 1 and separator[0]["type"] != "token":
            return {**format_, "tags": tags}
        # The engine takes no separator but text.
        items = either(tags)
        if not format_.get("stop_after_first", False):
            items = sequence(items, star(sequence(*separator, items)))
        return items if format_.get("at_least_one", False) else optional(items)

    def _any_text(self, format_: Format, closers: tuple[str, ...]) -> Format:
        if format_.keys() - {"type", "excludes"}:
            # Characters are counted, and tokens are not characters.
            return {**format_, "excludes": [*format_.get("excludes", ()), *closers]}
        return self._text(format_.get("excludes", ()), closers)

    def _text(self, excludes: Sequence[str], closers: tuple[str, ...]) -> Format:
        """Text that holds none of these; it stays text where one of them holds no token."""
        literals = list(dict.fromkeys([*excludes, *closers]))
        heads = {literal: self._first_token(literal) for literal in literals}
        tokens = list(dict.fromkeys(filter(None, heads.values())))
        if None in heads.values():
            return any_text(literals)
        text: Format = {"type": "any_tokens", "exclude_tokens": tokens}
        # A literal's first token is excluded; what else begins with it has to be let in by name.
        wrappers = [
            wrapper
            for wrapper in self.wrappers
            if self._first_token(wrapper) in tokens
            and not any(literal.startswith(wrapper) for literal in literals)
        ]
        if not wrappers:
            return text
        opened = either([sequence(*self._pieces(wrapper)) for wrapper in wrappers])
        return sequence(text, star(sequence(opened, text)))

    def _first_token(self, literal: str) -> str | None:
        found = self.splitter.search(literal)
        return None if found is None else found[0]

    def _pieces(self, literal: str) -> list[Format]:
        """The tokens in a literal and the text between them; one empty text where it is empty."""
        pieces: list[Format] = []
        place = 0
        for found in self.splitter.finditer(literal):
            pieces += self._plain(literal[place : found.start()])
            pieces.append(token(found[0]))
            place = found.end()
        pieces += self._plain(literal[place:])
        return pieces or [const("")]

    def _plain(self, text: str) -> list[Format]:
        for marker in self.needed:
            if marker in text:
                raise RequestError(
                    "tokenizer",
                    f"{shortened(repr(marker))} is no token of it; give the model's own tokenizer, "
                    'or say markers="text"',
                )
        return [const(text)] if text else []


def _edge(pieces: list[Format], place: int) -> str | Format:
    """Take out the token that a tag begins or ends with, or the literal that is all there is."""
    if pieces[place]["type"] == "token":
        return pieces.pop(place)
    if len(pieces) == 1 and pieces[0]["type"] == "const_string":
        return str(pieces.pop()["value"])
    return ""


def _named_markers(spec: FamilySpec) -> list[str]:
    """What the family names as a marker; a call's own opener where calls have no region."""
    style, tokens = spec.tag_style, spec.tokens
    regions = [markers for markers in (style.reasoning, style.tool_calls) if markers is not None]
    pairs = [*style.content, *(pair for markers in regions for pair in markers.pairs)]
    named = [*tokens.hidden, *tokens.turn_start, *tokens.turn_end]
    named += [text for pair in pairs for text in _literals(pair)]
    if style.tool_calls is None and spec.tool_calls is not None and spec.tool_calls.call:
        opener = split_template(spec.tool_calls.call[0])[0]
        named += [opener] if isinstance(opener, str) else []
    return list(dict.fromkeys(named))


def _literals(pair: MarkerPair) -> list[str]:
    return [pair.start] if pair.end is None else [pair.start, pair.end]


def _check_tools(request: Request, tokens: list[str]) -> None:
    """Refuse tools that spell a token: written out, their names could not be told from it."""
    spelled = {text: json.dumps(text, ensure_ascii=False)[1:-1] for text in tokens}
    for tool in request.tools:
        schema = None
        if tool.strict and tool.parameters is not None:
            schema = ready_parameters(tool.parameters).unfold()
        asked = json.dumps([tool.name, schema], ensure_ascii=False)
        held = next((token for token, written in spelled.items() if written in asked), None)
        if held is not None:
            raise RequestError(
                "tools",
                f"tool {shortened(repr(tool.name))}: its name or its schema holds {held}, a token "
                'of the model; name it otherwise, or say markers="text"',
            )
