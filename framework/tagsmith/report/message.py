"""The message as people read it, and as clients get it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from tagsmith.events import Citation, Target
from tagsmith.message import Message, ToolCall
from tagsmith.report.characters import escape_signs
from tagsmith.report.chunks import Piece, in_chunks
from tagsmith.report.limits import MAX_ITEMS
from tagsmith.report.markup import element, escape, json_view, start_tag
from tagsmith.report.steps import Moments
from tagsmith.report.wording import CODES, place_of, quoted, shown

_PARTS = ((Target.REASONING, "Reasoning"), (Target.CONTENT, "Content"))
_ELSEWHERE = "tagsmith parse --format {} prints it whole."


def message_view(message: Message, moments: Moments) -> str:
    """Reasoning, content, calls and citations; the page's script cuts them to a moment."""
    texts = {Target.REASONING: message.reasoning, Target.CONTENT: message.content}
    parts = [
        element("h3", title)
        + element(
            "div",
            in_chunks(_cited(texts[target] or "", target, message.citations, moments)),
            class_=f"text {target}",
            data_part=target,
            translate="no",
        )
        for target, title in _PARTS
        if texts[target] is not None
    ]
    if message.tool_calls:
        calls = [_call(call, moments) for call in message.tool_calls[:MAX_ITEMS]]
        title = element("h3", "Tool calls", data_step=moments.calls[0])
        parts.append(title + _listed(calls, message.tool_calls, "calls"))
    if message.citations:
        cited = [
            _citation(number, citation, moments)
            for number, citation in enumerate(message.citations[:MAX_ITEMS])
        ]
        title = element("h3", "Citations", data_step=moments.citations[0])
        parts.append(title + _listed(cited, message.citations, "citations"))
    if not parts:
        parts.append(element("p", "Nothing: the output says nothing to the user.", class_="note"))
    return "".join(parts) + _finish(message, moments)


def diagnostics_view(message: Message) -> str:
    """Each diagnostic with what its code means, and the way to its place in the raw text."""
    if not message.diagnostics:
        return element("p", "None: the output is written as the family says.", class_="note")
    rows = [
        element(
            "li",
            element("p", element("code", diagnostic.code.value, class_="code"), " ", place),
            element("p", escape(shown(diagnostic.message))),
            element("p", escape(f"The code means: {CODES[diagnostic.code]}."), class_="note"),
            id=f"diagnostic-{number}",
        )
        for number, diagnostic in enumerate(message.diagnostics[:MAX_ITEMS], 1)
        for place in [element("a", f"at character {diagnostic.offset:,}", href=f"#at-{number}")]
    ]
    return _listed(rows, message.diagnostics, "diagnostics")


def json_views(message: Message) -> str:
    """The message in the shapes that clients read."""
    shapes = {
        "Chat Completions": ("openai", message.to_openai()),
        "Cohere v2": ("cohere", message.to_cohere()),
    }
    return "".join(
        element("details", element("summary", title), json_view(value, _ELSEWHERE.format(name)))
        for title, (name, value) in shapes.items()
    )


def _finish(message: Message, moments: Moments) -> str:
    reason = element("code", escape(str(message.finish_reason)))
    stop = f", at the stop string {quoted(message.stop)}" if message.stop is not None else ""
    return element(
        "p", "Finish reason: ", reason, escape(stop), class_="finish", data_step=moments.end
    )


def _listed(rows: Sequence[str], of: Sequence[object], kind: str) -> str:
    rest = len(of) - len(rows)
    note = element("p", f"and {rest:,} more {kind}", class_="note") if rest > 0 else ""
    return element("ol", *rows, class_=f"list {kind}", role="list") + note


def _cited(
    text: str, target: Target, citations: Sequence[Citation], moments: Moments
) -> Iterator[Piece]:
    """A text of the message, divided where cited spans begin and end."""
    own = [
        (number, citation)
        for number, citation in enumerate(citations[:MAX_ITEMS])
        if citation.target is target
    ]
    edges = {edge for _, citation in own for edge in (citation.start, citation.end)}
    cuts = sorted({0, len(text)} | {edge for edge in edges if 0 < edge < len(text)})
    for start, end in pairwise(cuts):
        yield _stretch(text[start:end], start, end, own, moments)
    ends = "".join(_reference(number, moments) for number, it in own if it.end >= len(text))
    yield Piece("", first=ends)


def _stretch(
    text: str, start: int, end: int, own: Sequence[tuple[int, Citation]], moments: Moments
) -> Piece:
    closed = "".join(_reference(number, moments) for number, it in own if it.end == start)
    steps = [moments.citations[number] for number, it in own if it.start <= start and end <= it.end]
    if not steps:
        return Piece(text, first=closed)
    return Piece(text, start_tag("mark", data_step=min(steps)), "</mark>", closed)


def _reference(number: int, moments: Moments) -> str:
    return element(
        "a",
        class_="reference",
        href=f"#citation-{number + 1}",
        data_label=number + 1,
        data_step=moments.citations[number],
        aria_label=f"Citation {number + 1}",
    )


def _call(call: ToolCall, moments: Moments) -> str:
    state = "complete" if call.complete else "incomplete"
    badge = element("span", state, class_=f"badge {state}", data_step=moments.ends.get(call.index))
    arguments = element(
        "div",
        in_chunks([Piece(call.arguments)]),
        class_="text arguments-of-call",
        data_part=f"call-{call.index}",
        translate="no",
    )
    return element(
        "li",
        element("h4", escape(shown(call.name)) or "(no name)"),
        element("p", "id ", element("code", escape(quoted(call.id))), " ", badge),
        arguments,
        data_step=moments.calls[call.index],
    )


def _citation(number: int, citation: Citation, moments: Moments) -> str:
    sources = [element("li", _source(source)) for source in citation.sources]
    if not sources:
        sources = [element("li", "no source of the request stands there", class_="none")]
    return element(
        "li",
        element("p", element("q", escape(shown(citation.text)))),
        element("p", escape(place_of(citation)), class_="note"),
        element("ul", *sources),
        id=f"citation-{number + 1}",
        data_step=moments.citations[number],
    )


def _source(source: dict[str, Any]) -> str:
    """A source's type and id, and what it says."""
    rest = {key: value for key, value in source.items() if key not in ("type", "id")}
    says = shown(escape_signs(json.dumps(rest, ensure_ascii=False, default=str)))
    name = element("b", escape(shown(str(source.get("id") or "without an id"))))
    return f"{escape(str(source.get('type', 'source')))} {name} {element('code', escape(says))}"
