"""What a caller may choose about a prompt."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

THINKING_SWITCHES = ("enable_thinking", "thinking")
"""Variables of chat templates that switch thinking."""


class Switch(StrEnum):
    """Whether the prompt asks the model for something; `auto` leaves it to the template."""

    AUTO = "auto"
    ENABLED = "enabled"
    DISABLED = "disabled"


def read_thinking_switch(variables: Mapping[str, Any]) -> Switch | None:
    """What the variables of a chat template say of thinking; None where they do not.

    >>> read_thinking_switch({"thinking": False})
    <Switch.DISABLED: 'disabled'>
    """
    for name in THINKING_SWITCHES:
        if isinstance(variables.get(name), bool):
            return Switch.ENABLED if variables[name] else Switch.DISABLED
    return None


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
