"""When an engine may look for a user's stop strings itself."""

from __future__ import annotations

from collections.abc import Sequence

from tagsmith.family import Family


def may_stop_engine(
    family: Family, stops: Sequence[str], *, may_call: bool, may_reason: bool
) -> bool:
    """Whether an engine that stops at these strings cannot stop at the wrong place.

    They count in content alone, which only the parser can tell from the rest. So nothing but
    content may come, and no marker may hold a part of one.

    >>> import tagsmith
    >>> family = tagsmith.get_family("qwen3")
    >>> may_stop_engine(family, ["END"], may_call=False, may_reason=False)
    True
    >>> may_stop_engine(family, ["think"], may_call=False, may_reason=False)
    False
    """
    facts = family.serving
    if not stops:
        return True
    if may_call or may_reason or facts.source_map_key is not None:
        return False
    return not any(_overlap(stop, marker) for stop in stops for marker in facts.preserve_tokens)


def _overlap(stop: str, marker: str) -> bool:
    """Whether the stop string can begin, end or stand within this marker."""
    sizes = range(1, min(len(stop), len(marker)) + 1)
    return (
        stop in marker
        or marker in stop
        or any(stop[:n] == marker[-n:] or stop[-n:] == marker[:n] for n in sizes)
    )
