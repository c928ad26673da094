"""Outputs that a page must survive, and a page read as a browser reads it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from html.parser import HTMLParser
from typing import Any

import tagsmith
from tagsmith.report import Report, build_report, render_page

FAMILY = tagsmith.get_family("Cohere2ForCausalLM")
VOID = {"meta", "input"}

CALLS = (
    "<|START_THINKING|>I look both up.<|END_THINKING|><|START_ACTION|>["
    '{"tool_call_id": "0", "tool_name": "get_forecast", "parameters": {"city": "Paris"}},\n'
    '{"tool_call_id": "1", "tool_name": "get_forecast", "parameters": {"city": "Oslo"}}'
    "]<|END_ACTION|>"
)
CITED = (
    "<|START_THINKING|>It is <co>warm</co: 0:[0]>.<|END_THINKING|><|START_RESPONSE|>"
    "<co>the <co>inner</co: 0:[7]> one</co: 0:[0],0:[1]> and &lt;that&gt;<|END_RESPONSE|>"
)
DIAGNOSED = (
    "<|END_ACTION|><|START_RESPONSE|>See <co>that<|END_RESPONSE|><|START_ACTION|>"
    '[{"tool_call_id": "0", "tool_name": "nope", "parameters": {"a": 1}}, junk, '
    '{"tool_call_id": "0", "tool_name": "f", "parameters": {"a'
)
HOSTILE = {
    "empty": "",
    "end of script": "</script><script>alert(1)</script>",
    "comment": "<!-- <![CDATA[ ]]> -->",
    "references": "&amp; &#0; &lt;b&gt; &notit; <b title='x' onclick=\"y\">",
    "NUL": "\0a\0\0\ufffd\0",
    "lone surrogates": "\ud83d\0\ufffd \udc00<|START_RESPONSE|>\udbff<|END_RESPONSE|>",
    "controls": "".join(map(chr, range(0xA0))),
    "line ends": "\r\n\ra\n\n\x0b\x0c\x85\u2028\u2029",
    "direction": "\u202eleft\u2066 \u2069\u202c \u05e9\u05dc\u05d5\u05dd \u200f",
    "terminal codes": "\x1b[31mred\x1b[0m\x1b]0;title\x07\x9b2J",
    "invisible": "\u200b\u2060\ufeff\u00ad\u3164\U000e0041 \xa0\u3000",
    "joined": "\U0001f469\u200d\U0001f4bb e\u0301 \ud7a3 \U0010ffff",
    "white space": "  \t a  \n  \n\tb ",
    "calls": CALLS,
    "citations": CITED,
    "diagnostics": DIAGNOSED,
    "drops": "<|START_RESPONSE|>a <EOS_TOKEN> STOP b<|END_RESPONSE|>",
    "one long line": "<|START_RESPONSE|>" + "x" * 9_000 + " " + "y " * 2_100,
    "many lines": "".join(f"{number}\n" for number in range(1_000)),
    "long": f"<|START_THINKING|>{'word ' * 900}<|END_THINKING|>" + "\U0001f600" * 4_100,
}
OPTIONS: dict[str, Any] = {
    "tools": [{"name": "get_forecast", "parameters": {"type": "object"}}, {"name": "f"}],
    "stop": ["STOP"],
    "documents": [{"id": "<d>", "data": {"text": "x</script>"}}, {"data": {"text": "y"}}],
}


LONG = "<|START_RESPONSE|>" + "Words of a long answer.\n" * 42_000 + "<|END_RESPONSE|>"
"""An output of about 1 MB."""


def restored(text: str, names: Sequence[str]) -> str:
    """The characters that these are the names of, where HTML holds U+FFFD."""
    return "".join(
        chr(0 if name == "NUL" else int(name[2:], 16)) if character == "\ufffd" else character
        for character, name in zip(text, names, strict=True)
    )


@lru_cache
def hostile_report(name: str) -> Report:
    text = HOSTILE[name]
    return build_report(FAMILY, text, name=f"{name}.txt", delta=4 + len(text) // 100, **OPTIONS)


@lru_cache
def hostile_html(name: str) -> str:
    return render_page(hostile_report(name))


@lru_cache
def hostile_page(name: str) -> Page:
    return Page.read(hostile_html(name))


@dataclass
class Element:
    """An element of a page, with all text in it."""

    name: str
    attributes: dict[str, str | None]
    parents: tuple[Element, ...]
    pieces: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    @property
    def id(self) -> str | None:
        return self.attributes.get("id")

    @property
    def classes(self) -> list[str]:
        return (self.attributes.get("class") or "").split()


@dataclass
class Page(HTMLParser):
    """A page's elements, in order."""

    elements: list[Element] = field(default_factory=list)
    open: list[Element] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    @classmethod
    def read(cls, html: str) -> Page:
        page = cls()
        page.feed(html)
        page.close()
        assert not page.open, f"<{page.open[-1].name}> is not closed"
        return page

    def __getitem__(self, identifier: str) -> Element:
        [found] = [element for element in self.elements if element.id == identifier]
        return found

    def of(self, *classes: str) -> list[Element]:
        return [element for element in self.elements if set(classes) <= set(element.classes)]

    def inside(self, identifier: str) -> list[Element]:
        return [
            element
            for element in self.elements
            if any(parent.id == identifier for parent in element.parents)
        ]

    @property
    def raw_text(self) -> str:
        """The raw text as the page's script leaves it: what HTML cannot hold is back in place."""
        return "".join(self._raw)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, dict(attrs), tuple(self.open))
        self.elements.append(element)
        if tag not in VOID:
            self.open.append(element)
        if element.id == "raw":
            self._raw: list[str] = []

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop().name == tag

    def handle_data(self, data: str) -> None:
        for element in self.open:
            element.pieces.append(data)
        if any(element.id == "raw" for element in self.open):
            is_sign = "sign" in self.open[-1].classes
            names = (self.open[-1].attributes["data-label"] or "").split() if is_sign else ()
            self._raw.append(restored(data, names) if is_sign else data)
