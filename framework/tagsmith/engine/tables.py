"""A family's markers as lookup tables: compiled once, shared by every parser of the family."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from functools import lru_cache

from tagsmith.engine.scanner import Scanner, build_scanner
from tagsmith.spec.models import FamilySpec


class Role(Enum):
    """What a literal does when it is structure."""

    REASONING_START = auto()
    REASONING_END = auto()
    CONTENT_START = auto()
    CONTENT_END = auto()
    CALLS_START = auto()
    CALLS_END = auto()
    HIDDEN = auto()
    CITATION_OPEN = auto()
    CITATION_CLOSE = auto()


@dataclass(frozen=True, slots=True)
class Scanners:
    """The scanners for text regions and, without citation markup, for tool-call regions."""

    text: Scanner
    calls: Scanner


@dataclass(frozen=True, slots=True)
class Tables:
    """The markers of one family by what they do, and the scanners that find them."""

    roles: Mapping[str, Role]
    scanners: Scanners
    close_suffix: str

    def without(self, token_markers: frozenset[str]) -> Scanners:
        """Scanners for text in which these markers are only spelled: as tokens they come apart."""
        if not token_markers:
            return self.scanners
        literals = frozenset(self.roles) - token_markers
        calls = self.scanners.calls
        rest = scanners_for(literals, calls.literals - token_markers)
        # Where only a marker can stand, the start of one at the end of the output is no text.
        return Scanners(rest.text, calls.finding_only(rest.calls))


def marker_roles(spec: FamilySpec) -> dict[str, Role]:
    """Every marker that may be a token of its own, with what it does."""
    roles = dict.fromkeys(spec.tokens.hidden, Role.HIDDEN)
    for token in (spec.tokens.turn_start, spec.tokens.turn_end):
        if token is not None:
            roles[token] = Role.HIDDEN
    style = spec.tag_style
    pairs = [(style.reasoning, Role.REASONING_START, Role.REASONING_END)]
    pairs += [(pair, Role.CONTENT_START, Role.CONTENT_END) for pair in style.content]
    pairs += [(style.tool_calls, Role.CALLS_START, Role.CALLS_END)]
    for pair, start, end in pairs:
        if pair is not None:
            roles[pair.start] = start
            roles[pair.end] = end
    return roles


def build_tables(spec: FamilySpec) -> Tables:
    """Compile a family's tag style and citation markup."""
    roles = marker_roles(spec)
    markers = frozenset(roles)
    suffix = ""
    if spec.citations is not None:
        prefix, suffix = spec.citations.markup.close_parts
        roles[spec.citations.markup.open] = Role.CITATION_OPEN
        roles[prefix] = Role.CITATION_CLOSE
    return Tables(
        roles=roles,
        scanners=scanners_for(frozenset(roles), markers),
        close_suffix=suffix,
    )


@lru_cache(maxsize=256)
def scanners_for(literals: frozenset[str], call_literals: frozenset[str]) -> Scanners:
    """Scanners for these literals; kept, because token-aware parsers ask for the same few sets."""
    return Scanners(build_scanner(literals), build_scanner(call_literals))
