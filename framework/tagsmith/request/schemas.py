"""A JSON Schema, frozen: its own copy of what the caller gave, hashable, cheap to unfold."""

from __future__ import annotations

import json
import marshal
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from types import NoneType
from typing import Any

from tagsmith.errors import RequestError

MAX_NESTING = 64
"""How deep objects and lists may stand in each other in one schema."""

KEPT_SCHEMAS = 1024
"""For how many schemas the answers are kept until the next request."""

# Format 2 of marshal writes equal plain values as equal bytes, and both ways it is several times
# faster than JSON or a copy in Python: fifty tools are frozen well within a millisecond.
_MARSHAL_FORMAT = 2
_PLAIN = {dict, list, str, int, float, bool, NoneType}
_HUGE = 1e300


@dataclass(frozen=True, slots=True)
class JsonSchema:
    """A JSON value that nobody can change any more.

    >>> frozen = JsonSchema.freeze({"type": "object", "required": ("a",)}, "tools", "parameters")
    >>> frozen.unfold()
    {'type': 'object', 'required': ['a']}
    """

    data: bytes

    @classmethod
    def freeze(cls, value: Any, field: str, where: str) -> JsonSchema:
        """Take a copy, as JSON text would give it back: lists for tuples, strings as keys.

        Raises:
            RequestError: the value holds itself, or something that JSON has no word for, or lists
                and objects deeper in each other than `MAX_NESTING`.
        """
        try:
            data = marshal.dumps(value, _MARSHAL_FORMAT)
        except ValueError:
            raise RequestError(
                field, f"{where} is no plain JSON value, or nested too deeply; give a JSON Schema"
            ) from None
        try:
            return _frozen(data)
        except (TypeError, ValueError) as error:
            raise RequestError(field, f"{where}: {error}; give a JSON Schema") from None

    def unfold(self) -> Any:
        """A fresh value, the caller's own."""
        return marshal.loads(self.data)


@lru_cache(maxsize=KEPT_SCHEMAS)
def _frozen(data: bytes) -> JsonSchema:
    """The one schema for this value, so that it is looked up by identity from here on.

    Raises:
        TypeError, ValueError: JSON has no word for something in it, or it is nested too deeply.
    """
    value = marshal.loads(data)
    if _is_plain(value):
        return JsonSchema(data)
    try:
        text = json.dumps(value, allow_nan=False, ensure_ascii=False)
        return JsonSchema(marshal.dumps(json.loads(text.encode()), _MARSHAL_FORMAT))
    except (TypeError, ValueError) as error:
        raise ValueError(f"JSON has no word for something in it ({error})") from None


def _is_plain(value: Any) -> bool:
    """Whether JSON text surely gives this value back as it is. False asks for a try.

    Raises:
        ValueError: it is nested too deeply.
    """
    plain, level, depth = True, [value], 0
    while level:
        if depth > MAX_NESTING:
            raise ValueError(f"nested deeper than {MAX_NESTING} levels")
        kinds: defaultdict[type, list[Any]] = defaultdict(list)
        for item in level:
            kinds[type(item)].append(item)
        plain = (
            plain
            and kinds.keys() <= _PLAIN
            and _are_texts(chain(kinds[str], *kinds[dict]))
            and all(-_HUGE < number < _HUGE for number in kinds[int] + kinds[float])
        )
        inside = [*map(dict.values, kinds[dict]), *kinds[list], *kinds[tuple]]
        level = list(chain.from_iterable(inside))
        depth += 1
    return plain


def _are_texts(items: Iterable[Any]) -> bool:
    try:
        "".join(items).encode()
    except (TypeError, UnicodeEncodeError):
        return False
    return True
