"""Checks over several families: what no file can know of itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import permutations

from tagsmith.codes import Code
from tagsmith.errors import FamilyFileError
from tagsmith.loading import FoundFamily
from tagsmith.spec.models import Match


def clashes(families: Iterable[FoundFamily]) -> list[FamilyFileError]:
    """Families that claim the same architecture or models, with nothing to tell them apart.

    Each is a problem of both files, and names the other.
    """
    problems: list[FamilyFileError] = []
    for key, code, told_apart in _CLAIMS:
        for claim, holders in _by_claim(families, key).items():
            for one, other in permutations(holders, 2):
                if not told_apart(one.spec.match, other.spec.match):
                    problems.append(_clash(one, other, key, claim, code))
    return problems


def _by_claim(families: Iterable[FoundFamily], key: str) -> dict[str, list[FoundFamily]]:
    holders: dict[str, list[FoundFamily]] = {}
    for found in families:
        for claim in dict.fromkeys(_folded(key, getattr(found.spec.match, key))):
            holders.setdefault(claim, []).append(found)
    return holders


def _clash(
    one: FoundFamily, other: FoundFamily, key: str, claim: str, code: Code
) -> FamilyFileError:
    index = _folded(key, getattr(one.spec.match, key)).index(claim)
    theirs = _folded(key, getattr(other.spec.match, key)).index(claim)
    what = (
        f"'{getattr(one.spec.match, key)[index]}' is claimed by '{other.spec.id}' too, at "
        f"{other.locate(['match', key, theirs])}, and nothing tells the two apart; {_MEND[code]}"
    )
    return FamilyFileError(code, what, one.locate(["match", key, index]))


def _folded(key: str, claims: Sequence[str]) -> list[str]:
    """Model names are matched whatever their letter case; architectures are not."""
    return [claim.lower() if key == "models" else claim for claim in claims]


def _differ_by_tokens(one: Match, other: Match) -> bool:
    return set(one.tokens) != set(other.tokens)


def _differ_by_models_or_tokens(one: Match, other: Match) -> bool:
    models = [{glob.lower() for glob in match.models} for match in (one, other)]
    return models[0] != models[1] or _differ_by_tokens(one, other)


_CLAIMS: tuple[tuple[str, Code, Callable[[Match, Match], bool]], ...] = (
    ("architectures", Code.SAME_ARCHITECTURE, _differ_by_models_or_tokens),
    ("models", Code.SAME_MODELS, _differ_by_tokens),
)
_MEND = {
    Code.SAME_ARCHITECTURE: "give one of them other match.models or match.tokens",
    Code.SAME_MODELS: "give one of them other match.tokens, or remove the pattern from one",
}
