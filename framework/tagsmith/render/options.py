"""What a caller may choose about a prompt."""

from __future__ import annotations

from enum import StrEnum


class Switch(StrEnum):
    """Whether the prompt asks the model for something; `auto` leaves it to the template."""

    AUTO = "auto"
    ENABLED = "enabled"
    DISABLED = "disabled"


class SafetyMode(StrEnum):
    """Cohere's safety modes; `off` is the word of its second API for `none`."""

    CONTEXTUAL = "contextual"
    STRICT = "strict"
    NONE = "none"
    OFF = "off"


class MarkerPolicy(StrEnum):
    """What becomes of a marker that stands in what a user, a tool or a document says.

    `escape` breaks it, so that nobody can forge a turn; `keep` leaves it as it is.
    """

    ESCAPE = "escape"
    KEEP = "keep"
