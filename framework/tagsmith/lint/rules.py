"""What a lint rule is: a code, and a check of one family that can be used."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property

from tagsmith.engine.layouts import ENCODINGS, Encodings
from tagsmith.engine.plugin_engines import Engines
from tagsmith.errors import Location
from tagsmith.family import Family
from tagsmith.loading import FoundFamily
from tagsmith.loading.nodes import Node, Path, locate, locate_key
from tagsmith.spec.models import FamilySpec


@dataclass(frozen=True)
class LintSubject:
    """One family that loaded, as rules look at it.

    What keeps a family from being used was told before: rules see families that work.
    """

    found: FoundFamily
    """The family, and where it was found."""
    encodings: Encodings = field(default_factory=lambda: ENCODINGS)
    """The argument encodings that it may name."""
    engines: Engines = field(default_factory=dict)
    """The engines of plug-ins that it may name."""

    @property
    def spec(self) -> FamilySpec:
        """What the family says, with everything it inherits."""
        return self.found.spec

    @property
    def positions(self) -> Node:
        """The same as data, each key and value with the place it was written at."""
        return self.found.root

    @property
    def path(self) -> str:
        """The path of the family's file, as it was given."""
        return self.found.source

    @cached_property
    def family(self) -> Family:
        """The compiled family; compiled once, when a rule first asks for it."""
        return Family(self.spec, self.path, self.encodings, self.engines)

    def locate(self, path: Path) -> Location:
        """Where a value stands: `subject.locate(["tag_style", "content", 0, "start"])`.

        An inherited value stands in the file that it is from. Where the file does not give the
        value, the place is that of the nearest mapping around it.
        """
        return locate(self.positions, path)

    def locate_key(self, path: Path) -> Location:
        """Where the last key of a path stands."""
        return locate_key(self.positions, path)


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule found: what is wrong and what to do, in one line, and the place to mend."""

    message: str
    location: Location


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of lint.

    >>> def titled(subject):
    ...     if subject.spec.title is None:
    ...         yield Finding("give the family a title", subject.locate(["id"]))
    >>> Rule("ACME001", "no-title", "A family without a title.", titled).code
    'ACME001'
    """

    code: str
    """The code that it is told, selected and ignored by, such as `ACME001`; never used again for
    anything else. Those that begin with TS are Tagsmith's own."""
    name: str
    """What it looks for, in a word or two: `no-title`."""
    summary: str
    """The same in a sentence."""
    check: Callable[[LintSubject], Iterable[Finding]]
    """Finds every place in a family that breaks the rule. What it raises is told as TS903."""
