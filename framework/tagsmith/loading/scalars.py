"""What a single YAML value means: text, a number, a truth value or nothing."""

from __future__ import annotations

import math
import re
from typing import Any, cast

import yaml
from yaml.constructor import SafeConstructor

from tagsmith.loading.nodes import Scalar

MAX_NUMBER_CHARACTERS = 64
_PREFIX = "tag:yaml.org,2002:"
_SURROGATE = re.compile("[\ud800-\udfff]")


class ScalarError(ValueError):
    """A value that cannot be represented; the message says why."""


def resolve_scalar(text: str, *, is_plain: bool) -> Scalar:
    """The value of a scalar, as YAML 1.1 reads it; what is neither number, truth value nor null
    is text, dates included.

    Raises ScalarError for a number that is not finite or longer than 64 characters, and for half a
    character.

    >>> resolve_scalar("1", is_plain=True), resolve_scalar("1", is_plain=False)
    (1, '1')
    >>> resolve_scalar("yes", is_plain=True), resolve_scalar("2024-01-01", is_plain=True)
    (True, '2024-01-01')
    """
    if _SURROGATE.search(text):
        raise ScalarError("half a character (a lone surrogate); write the whole character")
    kind = _kind(text) if is_plain else "str"
    if kind == "null":
        return None
    if kind == "bool":
        return bool(SafeConstructor.bool_values[text.lower()])
    if kind not in {"int", "float"}:
        return text
    if len(text) > MAX_NUMBER_CHARACTERS:
        raise ScalarError(f"a number longer than {MAX_NUMBER_CHARACTERS} characters; quote it")
    node = yaml.ScalarNode(_PREFIX + kind, text)
    construct: Any = getattr(SafeConstructor(), f"construct_yaml_{kind}")
    try:
        number = cast("int | float", construct(node))
    except ValueError as error:
        raise ScalarError(f"{text!r} is no number ({error}); quote it if it is text") from None
    if not math.isfinite(number):
        raise ScalarError(f"{text!r} is no finite number; quote it if it is text")
    return number


def is_merge_key(text: str, *, is_plain: bool) -> bool:
    """Whether a key is YAML's merge key `<<`."""
    return is_plain and _kind(text) == "merge"


def _kind(text: str) -> str:
    resolvers = yaml.SafeLoader.yaml_implicit_resolvers
    for tag, pattern in resolvers.get(text[:1], []) + resolvers.get(None, []):
        if pattern.match(text):
            return str(tag).removeprefix(_PREFIX)
    return "str"
