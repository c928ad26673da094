"""Which codes are told: what `--select` and `--ignore` say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tagsmith.errors import RequestError
from tagsmith.wording import nearest


@dataclass(frozen=True, slots=True)
class Selection:
    """The codes that are told: those selected, or all, but for those ignored.

    >>> selection = Selection(select=("TS1", "TS305"), ignore=("TS101",))
    >>> [code for code in ("TS101", "TS102", "TS305", "TS306") if selection.wants(code)]
    ['TS102', 'TS305']
    """

    select: tuple[str, ...] = ()
    """Codes, or what codes begin with; none for all."""
    ignore: tuple[str, ...] = ()

    def wants(self, code: str) -> bool:
        """Whether a code is told."""
        selected = not self.select or code.startswith(self.select)
        return selected and not (self.ignore and code.startswith(self.ignore))

    def names(self, group: str) -> bool:
        """Whether a group of codes, such as `TS5`, or one of it, was selected by name."""
        return any(code.startswith(group) for code in self.select)


def read_selection(
    select: Iterable[str], ignore: Iterable[str], known: Mapping[str, object]
) -> Selection:
    """Read what was selected and what is ignored: codes and prefixes, alone or with commas.

    Raises `RequestError` for what is neither.

    >>> read_selection(["TS1,TS305"], [], {"TS101": "", "TS305": ""})
    Selection(select=('TS1', 'TS305'), ignore=())
    """
    return Selection(_codes("select", select, known), _codes("ignore", ignore, known))


def _codes(field: str, given: Iterable[str], known: Mapping[str, object]) -> tuple[str, ...]:
    if isinstance(given, str):
        given = (given,)
    codes = [code.strip() for part in given for code in part.split(",")]
    for code in codes:
        if not code or not any(name.startswith(code) for name in known):
            hint = nearest(code, {name: name for name in known})
            raise RequestError(
                field, f"'{code}' is no code, and no code begins with it; {hint}; see docs/lint.md"
            )
    return tuple(codes)
