"""Server-sent events: the frames in which both APIs stream."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

DONE = "data: [DONE]\n\n"
"""The frame after the last one, of both APIs."""


def sse_frame(value: Mapping[str, Any]) -> str:
    r"""One frame: a `data:` line that holds the value as JSON, and an empty line.

    Everything but ASCII is escaped: some clients cut lines at characters such as U+2028, and half
    of a surrogate pair has no encoding of its own.

    >>> sse_frame({"text": "é\u2028"})
    'data: {"text":"\\u00e9\\u2028"}\n\n'
    """
    return f"data: {json.dumps(value, separators=(',', ':'))}\n\n"
