"""What a response template has to be: the checks of transformers, in the words of this project."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tagsmith.errors import RequestError
from tagsmith.wording import shortened

CONTENT, TOOL_CALLS = "content", "tool_calls"
REASONING = ("reasoning_content", "thinking", "reasoning")
"""What response templates call a thought."""

_FIELD = "response_template"
_TOP = ("version", "defaults", "fields", "start_anchor", "start_anchor_pattern")
_KEYS = (
    "open",
    "open_pattern",
    "close",
    "close_pattern",
    "content",
    "content_args",
    "repeats",
    "join",
    "optional",
    "transform",
    "transform_each",
)
_PARSERS = ("text", "int", "float", "bool", "json", "xml-inline", "kv-lines", "python-call-list")


def check_shape(template: Any) -> None:
    """See that a value is a response template of version 1.

    Raises:
        RequestError: it is none; the message names the key.
    """
    _mapping(template, "the template")
    _whole_text(template)
    _known(template, _TOP, "")
    if template.get("version", 1) != 1:
        _refuse("version", "must be 1")
    _mapping(template.get("defaults", {}), "defaults")
    fields = template.get("fields")
    _mapping(fields, "fields")
    if not fields:
        _refuse("fields", "must name at least one field")
    if ("start_anchor" in template) == ("start_anchor_pattern" in template):
        _refuse("start_anchor", "give one of start_anchor and start_anchor_pattern")
    _anchor(template, "start_anchor", "")
    for name, said in fields.items():
        _field(said, f"fields.{name}")
    implicit = [name for name, said in fields.items() if not {"open", "open_pattern"} & said.keys()]
    if len(implicit) > 1:
        _refuse("fields", f"only one may have no opener, not {', '.join(implicit)}")


def _whole_text(template: Any) -> None:
    """No file can hold half a character."""
    try:
        json.dumps(template, ensure_ascii=False, default=str).encode()
    except UnicodeEncodeError:
        _refuse("the template", "holds half a character (a lone surrogate); give text")
    except RecursionError:
        _refuse("the template", "is nested too deeply")


def _field(said: Any, place: str) -> None:
    _mapping(said, place)
    _known(said, _KEYS, f"{place}.")
    for key in ("open", "close"):
        _anchor(said, key, f"{place}.")
        if key in said and f"{key}_pattern" in said:
            _refuse(f"{place}.{key}", f"give one of {key} and {key}_pattern")
    if said.get("content", "text") not in _PARSERS:
        _refuse(f"{place}.content", f"must be one of {', '.join(_PARSERS)}")
    _content_args(said.get("content_args", {}), f"{place}.content_args")
    for key in ("repeats", "optional", "transform_each"):
        if not isinstance(said.get(key, False), bool):
            _refuse(f"{place}.{key}", "must be true or false")
    if said.get("join") is not None and not isinstance(said["join"], str):
        _refuse(f"{place}.join", "must be text")


def _content_args(args: Any, place: str) -> None:
    _mapping(args, place)
    if not isinstance(args.get("tag_pattern", ""), str):
        _refuse(f"{place}.tag_pattern", "must be a regular expression")
    delims = args.get("string_delims", [])
    if not (isinstance(delims, list) and all(map(_is_pair, delims))):
        _refuse(f"{place}.string_delims", "must be a list of pairs of texts")
    parser = args.get("value_parser") or {}
    _mapping(parser, f"{place}.value_parser")
    _mapping(parser.get("args") or {}, f"{place}.value_parser.args")


def _is_pair(value: Any) -> bool:
    is_pair = isinstance(value, list) and len(value) == 2
    return is_pair and all(isinstance(text, str) and text for text in value)


def _anchor(said: Mapping[str, Any], key: str, place: str) -> None:
    value = said.get(key)
    texts = value if isinstance(value, list) else [value]
    if key in said and not (texts and all(isinstance(text, str) and text for text in texts)):
        _refuse(f"{place}{key}", "must be a text, or a list of texts")
    if not isinstance(said.get(f"{key}_pattern", ""), str):
        _refuse(f"{place}{key}_pattern", "must be a regular expression")


def _mapping(value: Any, place: str) -> None:
    if not isinstance(value, Mapping):
        _refuse(place, f"must be a mapping, not {type(value).__name__}")


def _known(said: Mapping[str, Any], keys: tuple[str, ...], place: str) -> None:
    unknown = [key for key in said if key not in keys]
    if unknown:
        what = f"is no key of a response template; allowed: {', '.join(keys)}"
        _refuse(f"{place}{shortened(str(unknown[0]))}", what)


def _refuse(place: str, what: str) -> None:
    raise RequestError(_FIELD, f"{place} {what}")
