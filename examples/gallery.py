"""Prints docs/families.md: each built-in family, what it serves, and how it writes a call.

python examples/gallery.py > docs/families.md
"""

from __future__ import annotations

import tagsmith
from tagsmith.spec.models import FamilySpec
from tagsmith.testing.writing import write_call

HEAD = """\
# The built-in families

Each is one YAML file in `families/`, with its golden cases beside it; the file says where its truth
comes from. The call shown is written from the file, and the tests read it back.

`python examples/gallery.py` makes this page."""

TOOLS = [
    {
        "name": "get_weather",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        },
    }
]


def section(spec: FamilySpec) -> str:
    """One family's part of the page."""
    match = spec.match
    serves = [f"`{name}`" for name in (*match.architectures, *match.models)]
    reasoning = spec.tag_style.reasoning
    lines = [
        f"## {spec.id}",
        "",
        f"{spec.title or spec.id}. Serves: {', '.join(serves) or 'by its id alone'}.",
        "",
        f"- before any marker: {spec.initial_region.value}",
    ]
    if reasoning is not None:
        lines.append(f"- reasoning: `{reasoning.start}` … `{reasoning.end}`")
    if spec.tool_calls is not None:
        lines.append(f"- call layout: {spec.tool_calls.layout.value}")
        call = write_call(spec, "get_weather", {"city": "Paris", "days": 2})
        lines += ["", "```text", call.rstrip("\n"), "```"]
    return "\n".join(lines)


def gallery() -> str:
    """The whole page."""
    families = sorted(tagsmith.load_registry().families(), key=lambda family: family.spec.id)
    return "\n\n".join([HEAD, *(section(family.spec) for family in families)]) + "\n"


if __name__ == "__main__":
    print(gallery(), end="")
