"""HTML from Python: text that is safe, elements, JSON."""

from __future__ import annotations

import json
from typing import Any

from tagsmith.report.characters import escape_signs
from tagsmith.report.limits import MAX_JSON

_REPLACEMENT = "\ufffd"
# A parser of HTML reads a bare CR as a line end; NUL and surrogates it cannot be given at all.
_ESCAPES: dict[int, str] = {
    **dict.fromkeys(range(0xD800, 0xE000), _REPLACEMENT),
    0: _REPLACEMENT,
    ord("\r"): "&#13;",
    ord("&"): "&amp;",
    ord("<"): "&lt;",
    ord(">"): "&gt;",
    ord('"'): "&quot;",
}


def escape(text: str) -> str:
    """Text as HTML that reads back as the same text, in an element or a quoted attribute.

    NUL and lone surrogates, which HTML cannot hold, become U+FFFD.

    >>> escape('</script> & "x"')
    '&lt;/script&gt; &amp; &quot;x&quot;'
    """
    return text.translate(_ESCAPES)


def element(name: str, *children: str, **attributes: object) -> str:
    """An element. `children` are HTML, attributes text; one that is None is left out.

    >>> element("a", "me &amp; you", href="#x", class_="at", title=None)
    '<a href="#x" class="at">me &amp; you</a>'
    """
    return f"{start_tag(name, **attributes)}{''.join(children)}</{name}>"


def start_tag(name: str, **attributes: object) -> str:
    """An element's start; underscores in the names of attributes are hyphens.

    >>> start_tag("li", data_step=3, class_="call")
    '<li data-step="3" class="call">'
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{written}>"


def json_view(value: Any, whole: str) -> str:
    """A value as indented JSON, as far as a page shows it.

    `whole` says where to find the rest.
    """
    pieces: list[str] = []
    size = 0
    for piece in json.JSONEncoder(indent=2, ensure_ascii=False).iterencode(value):
        pieces.append(piece)
        size += len(piece)
        if size > MAX_JSON:
            break
    text = "".join(pieces)
    note = ""
    if size > MAX_JSON:
        text = text[:MAX_JSON]
        note = element("p", f"Cut after {MAX_JSON:,} characters; {whole}", class_="note")
    code = element("code", escape(escape_signs(text)))
    return element("pre", code, class_="json", tabindex=0, translate="no") + note


def data_island(identifier: str, value: Any) -> str:
    """Data for the page's script; nothing in it can end the element.

    >>> data_island("x", "</script>")
    '<script type="application/json" id="x">"\\\\u003c/script>"</script>'
    """
    text = json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")
    return f'<script type="application/json" id="{identifier}">{text}</script>'
