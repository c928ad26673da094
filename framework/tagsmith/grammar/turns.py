"""What stands between the parts of a turn: headers, where a family has them, and blanks."""

from __future__ import annotations

from tagsmith.grammar.formats import Format, shortest
from tagsmith.spec.models import FamilySpec
from tagsmith.spec.policies import Trim


def header_starts(spec: FamilySpec) -> tuple[str, ...]:
    """What begins a header; nothing, where a family has none."""
    header = spec.tokens.header
    return () if header is None else tuple(shortest(header.start))


def turn_start_again(spec: FamilySpec) -> str | None:
    """The turn start that is written again before a message with a header, if any is."""
    starts = header_starts(spec)
    return next((text for text in spec.tokens.turn_start if text.startswith(starts)), None)


def variants(spec: FamilySpec, message: Format) -> list[Format]:
    """A tag as it stands at the start of the output, and as it stands behind another turn start."""
    again = turn_start_again(spec)
    if again is None or not message["begin"].startswith(header_starts(spec)):
        return [message]
    return [message, {**message, "begin": again + message["begin"]}]


def is_padded(spec: FamilySpec) -> bool:
    """Whether blanks around calls and answers are shown to nobody."""
    return spec.whitespace.content is Trim.BOTH
