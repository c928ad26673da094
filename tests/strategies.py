"""Generated model outputs: texts built from what a family's outputs are made of, for the property
tests of the laws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

import tagsmith
from tagsmith.registry import default_registry
from tagsmith.testing import by_sizes
from tagsmith.testing.texts import MOST_PARTS, fragments, possible_requests

cut = by_sizes

FAMILIES = sorted(default_registry().ids())
MELODY_FAMILIES = [name for name in FAMILIES if tagsmith.get_family(name).spec.melody]


def families(names: Sequence[str] = FAMILIES) -> st.SearchStrategy[tagsmith.Family]:
    """One of the built-in families, or of those named."""
    return st.sampled_from([tagsmith.get_family(name) for name in names])


def outputs(family: tagsmith.Family) -> st.SearchStrategy[str]:
    """A text made of what this family's outputs are made of, in any order."""
    parts = st.one_of(st.sampled_from(fragments(family)), st.text(max_size=6))
    style = family.spec.tag_style.tool_calls
    openers = st.sampled_from(["", "" if style is None else style.start])
    return st.builds(
        lambda opener, parts: opener + "".join(parts), openers, st.lists(parts, max_size=MOST_PARTS)
    )


def requests(family: tagsmith.Family) -> st.SearchStrategy[dict[str, Any]]:
    """What a request may say; mostly nothing."""
    options = possible_requests(family)
    return st.fixed_dictionaries(
        {}, optional={name: st.sampled_from(values) for name, values in options.items()}
    )


@st.composite
def generations(
    draw: st.DrawFn, names: Sequence[str] = FAMILIES
) -> tuple[tagsmith.Family, str, dict[str, Any]]:
    """A family, an output and the request it answers."""
    family = draw(families(names))
    return family, draw(outputs(family)), draw(requests(family))


def cut_sizes() -> st.SearchStrategy[list[int]]:
    """Sizes of deltas: by character now and then, else mixed."""
    return st.one_of(st.just([1]), st.lists(st.integers(1, 9), min_size=1, max_size=5))
