"""Checks over several families: what no file can know of itself."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import islice, permutations

from tagsmith.codes import Code
from tagsmith.errors import FamilyFileError
from tagsmith.loading import Claims
from tagsmith.spec.models import Match


def clashes(files: Iterable[Claims]) -> list[FamilyFileError]:
    """Files that claim the same architecture or models, with nothing to tell them apart.

    Each is a problem of both files, and names the other. Two files of one id are told elsewhere.
    """
    files = tuple(files)
    problems: list[FamilyFileError] = []
    for key, code, told_apart in _CLAIMS:
        for claim, holders in _by_claim(files, key).items():
            for one, other in permutations(holders, 2):
                if one.name != other.name and not told_apart(one.match, other.match):
                    problems.append(_clash(one, other, key, claim, code))
    return [*problems, *_taken_in(files)]


def _taken_in(files: Sequence[Claims]) -> Iterator[FamilyFileError]:
    """Model patterns that another family's pattern takes in, with nothing to tell the two apart."""
    held = [(claims, at) for claims in files for at in range(len(claims.match.models))]
    in_order = sorted(held, key=_folded_model)
    for other, wide in held:
        for one, narrow in _beginning_as((other, wide), in_order):
            if one.name == other.name or _differ_by_tokens(one.match, other.match):
                continue
            pair = one.match.models[narrow], other.match.models[wide]
            if _takes_in(pair[1].lower(), pair[0].lower()):
                yield _overlap(one, narrow, other, wide, f"is taken in by '{pair[1]}'")
                yield _overlap(other, wide, one, narrow, f"takes in '{pair[0]}'")


_Held = tuple[Claims, int]
"""A file, and the place of one of its model patterns."""


def _folded_model(held: _Held) -> str:
    claims, at = held
    return claims.match.models[at].lower()


def _beginning_as(wide: _Held, in_order: Sequence[_Held]) -> Iterator[_Held]:
    """Of patterns in order, those that begin as a wide one does before its star."""
    start, star, _ = _folded_model(wide).partition("*")
    first = bisect_left(in_order, start, key=_folded_model)
    for held in islice(in_order, first, None) if star else ():
        if not _folded_model(held).startswith(start):
            return
        yield held


def _takes_in(wide: str, narrow: str) -> bool:
    """Whether every name that one pattern matches is matched by another, wider one.

    >>> _takes_in("acme/*", "acme/one-*"), _takes_in("acme/?", "acme/*")
    (True, False)
    """
    simple = "?" not in wide and "[" not in wide + narrow
    return wide != narrow and simple and fnmatchcase(narrow, wide)


def _overlap(one: Claims, index: int, other: Claims, theirs: int, relation: str) -> FamilyFileError:
    what = (
        f"'{one.match.models[index]}' {relation} of '{other.name}', at "
        f"{other.locate(['match', 'models', theirs])}, and nothing tells the two apart; give one "
        "of them other match.tokens, or narrow the wider pattern"
    )
    return FamilyFileError(Code.SAME_MODELS, what, one.locate(["match", "models", index]))


def _by_claim(files: Iterable[Claims], key: str) -> dict[str, list[Claims]]:
    holders: dict[str, list[Claims]] = {}
    for claims in files:
        for claim in dict.fromkeys(_folded(key, getattr(claims.match, key))):
            holders.setdefault(claim, []).append(claims)
    return holders


def _clash(one: Claims, other: Claims, key: str, claim: str, code: Code) -> FamilyFileError:
    index = _folded(key, getattr(one.match, key)).index(claim)
    theirs = _folded(key, getattr(other.match, key)).index(claim)
    what = (
        f"'{getattr(one.match, key)[index]}' is claimed by '{other.name}' too, at "
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
