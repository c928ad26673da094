"""A JSON Schema, frozen: its own copy of what the caller gave, hashable, cheap to unfold."""

from __future__ import annotations

import json
import marshal
from dataclasses import dataclass
from typing import Any

from tagsmith.errors import RequestError

# Format 2 of marshal writes equal plain values as equal bytes, and both ways it is several times
# faster than JSON or a copy in Python: fifty tools are frozen well within a millisecond.
_MARSHAL_FORMAT = 2


@dataclass(frozen=True, slots=True)
class JsonSchema:
    """A JSON value that nobody can change any more.

    >>> frozen = JsonSchema.freeze({"type": "object"}, "tools", "parameters")
    >>> frozen.unfold()
    {'type': 'object'}
    """

    data: bytes

    @classmethod
    def freeze(cls, value: Any, field: str, where: str) -> JsonSchema:
        """Take a copy.

        Raises:
            RequestError: the value holds itself, or something that JSON has no word for.
        """
        try:
            return cls(marshal.dumps(value, _MARSHAL_FORMAT))
        except ValueError:
            raise RequestError(
                field, f"{where} is no plain JSON value, or nested too deeply; give a JSON Schema"
            ) from None

    def unfold(self) -> Any:
        """A fresh value, the caller's own."""
        return marshal.loads(self.data)

    def canonical(self) -> Any:
        """The value as JSON text would give it back: lists for tuples, strings as keys.

        Raises:
            ValueError, TypeError: JSON has no word for something in it.
        """
        text = json.dumps(self.unfold(), allow_nan=False, ensure_ascii=False)
        return json.loads(text.encode())
