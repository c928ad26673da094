"""Names that are written to the letter between literals: which ones can be."""

from __future__ import annotations

from dataclasses import dataclass

from tagsmith.engine.json_runs import BLANK
from tagsmith.engine.names import MAX_NAME
from tagsmith.errors import RequestError
from tagsmith.grammar.schemas.limits import Limitation
from tagsmith.request import CallableTool
from tagsmith.spec.models import FamilySpec


def unwritten_name(name: str, place: str = "") -> Limitation:
    """A parameter that a layout cannot write, because of its name."""
    return Limitation(f"{place}.properties", f"this layout cannot write the name {name!r}")


def unwritten_tool(spec: FamilySpec, tool: CallableTool, allowed: str) -> RequestError:
    """The error of a tool that a family's calls cannot name."""
    return RequestError(
        "tools",
        f"family {spec.id} cannot write the name {tool.name!r} in its calls; give the tool"
        f" another, {allowed}",
    )


@dataclass(frozen=True, slots=True)
class NameForm:
    """A place of a template where a name stands. `stops` are the literals that would end it.

    >>> form = NameForm((">", "</f>"))
    >>> form.holds("get weather"), form.holds("a>b"), form.holds(" a"), form.holds("a\\nb")
    (True, False, False, False)
    """

    stops: tuple[str, ...]

    @property
    def firsts(self) -> frozenset[str]:
        """The characters that the stops begin with."""
        return frozenset(text[0] for text in self.stops)

    def holds(self, name: str) -> bool:
        """Whether a name can be written here, and is read again."""
        return (
            0 < len(name) <= MAX_NAME
            and name == name.strip(BLANK)
            and "\n" not in name
            and not any(stop in name for stop in self.stops)
        )
