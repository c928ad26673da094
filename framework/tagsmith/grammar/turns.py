"""What stands between the parts of a turn: headers, where a family has them, and blanks."""

from __future__ import annotations

from tagsmith.grammar.formats import Format, shortest
from tagsmith.spec.models import FamilySpec
from tagsmith.spec.policies import Trim


def header_starts(spec: FamilySpec) -> tuple[str, ...]:
    """What begins a header; nothing, where a family has none."""
    header = spec.tokens.header
    return () if header is None else tuple(shortest(header.start))


def variants(spec: FamilySpec, message: Format) -> list[Format]:
    """A tag as it stands at the start of the output, and as it stands behind another turn start."""
    starts = header_starts(spec)
    begin = message["begin"]
    if not begin.startswith(starts):
        return [message]
    again = [start for start in spec.tokens.turn_start if start.startswith(starts)]
    return [message, *({**message, "begin": start + begin} for start in again[:1])]


def is_padded(spec: FamilySpec) -> bool:
    """Whether blanks around calls and answers are shown to nobody."""
    return spec.whitespace.content is Trim.BOTH
