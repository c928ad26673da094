"""Writes values as YAML, in the style that stood there before where it can hold them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from tagsmith.loading.scalars import ScalarError, resolve_scalar
from tagsmith.testing.yaml_text import Style

_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
"""What YAML does not take as it is, or takes for a line end, and JSON leaves as it is."""


class UnwritableError(ValueError):
    """A text that YAML cannot hold."""


def write_value(value: Any, *, in_flow: bool, style: Style = Style.PLAIN) -> str:
    """A value on one line.

    Args:
        value: text, a number, a truth value, None, or lists and mappings of them.
        in_flow: whether it stands between brackets.
        style: how a text is quoted where that can hold it.

    Raises:
        UnwritableError: half a character.

    >>> print(write_value({"id": "0", "a": '{"q": 1}', "n": [1, None]}, in_flow=False))
    {id: "0", a: '{"q": 1}', n: [1, null]}
    """
    if isinstance(value, str):
        return _write_text(value, style, in_flow=in_flow)
    if isinstance(value, Mapping):
        items = (f"{_in_flow(key)}: {_in_flow(inner)}" for key, inner in value.items())
        return f"{{{', '.join(items)}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_in_flow, value))}]"
    return json.dumps(value)


def write_literal(text: str, indent: str, line_end: str) -> str | None:
    """A text as a block after `|-`, each line behind the indent; None where it cannot be one."""
    lines = text.split("\n")
    is_plain = all(line.isprintable() for line in text.replace("\t", " ").split("\n"))
    blank = any(line and not line.strip() for line in lines)
    if not is_plain or blank or text[:1] in ("", " ", "\t", "\n") or text.endswith("\n"):
        return None
    return line_end.join(["|-", *(indent + line if line else "" for line in lines)])


def _in_flow(value: Any) -> str:
    return write_value(value, in_flow=True)


def _write_text(text: str, style: Style, *, in_flow: bool) -> str:
    if style is Style.PLAIN and _may_be_plain(text, in_flow):
        return text
    prefers_single = style is Style.SINGLE or (style is Style.PLAIN and '"' in text)
    if prefers_single and text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise UnwritableError("half a character (a lone surrogate) cannot be written")
    return _ESCAPED.sub(_escape, json.dumps(text, ensure_ascii=False))


def _may_be_plain(text: str, in_flow: bool) -> bool:
    """Whether it is read back as it is: YAML's own rules are the judge."""
    if not text.isprintable() or text != text.strip():
        return False
    probe = f"[{text}, z]" if in_flow else f"{text}\n"
    try:
        events = [event for event in yaml.parse(probe) if isinstance(event, yaml.NodeEvent)]
        scalars = list(_plain_texts(events))
    except (yaml.YAMLError, ScalarError):
        return False
    wanted = [text, "z"] if in_flow else [text]
    return scalars == wanted and _keeps_its_place(text)


def _plain_texts(events: list[yaml.NodeEvent]) -> Iterator[Any]:
    for event in events:
        if isinstance(event, yaml.ScalarEvent):
            yield resolve_scalar(event.value, is_plain=bool(event.implicit[0]))
        elif not isinstance(event, yaml.SequenceStartEvent):
            yield None


def _keeps_its_place(text: str) -> bool:
    """Whether nothing in it would be taken for a key, a list or a comment after a key."""
    return not re.search(r"^[-?:](\s|$)|:(\s|$)|\s#", text)


def _escape(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"
