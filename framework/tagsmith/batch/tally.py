"""What a run counts, and how it is told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tagsmith.wording import one_line, shortened

MAX_PROBLEMS = 20
"""How many bad rows are told with their place."""
_SHOWN = 200


@dataclass(frozen=True, slots=True)
class Problem:
    """A bad row: the number of its line or row, from 1, and what is wrong."""

    row: int
    code: str
    message: str


@dataclass(slots=True)
class Tally:
    """What was read. Tallies of chunks add up to that of the run.

    `absent` says of each column that was to be read how many rows lack it.

    >>> tally = Tally(rows=2)
    >>> tally.add(Tally(rows=1, bad_rows=Counter({"not-json": 1})))
    >>> tally.rows, tally.messages, dict(tally.bad_rows)
    (3, 2, {'not-json': 1})
    """

    rows: int = 0
    bad_rows: Counter[str] = field(default_factory=Counter)
    diagnostics: Counter[str] = field(default_factory=Counter)
    diagnosed_rows: Counter[str] = field(default_factory=Counter)
    absent: Counter[str] = field(default_factory=Counter)
    problems: list[Problem] = field(default_factory=list)

    @property
    def bad(self) -> int:
        """How many rows are bad."""
        return self.bad_rows.total()

    @property
    def messages(self) -> int:
        """How many rows have become messages."""
        return self.rows - self.bad

    @property
    def unseen(self) -> list[str]:
        """The columns that were to be read and that no row has."""
        return [column for column, count in self.absent.items() if 0 < self.messages <= count]

    @property
    def has_problems(self) -> bool:
        """Whether a row was bad, or a column stands in no row."""
        return bool(self.bad or self.unseen)

    def count_diagnostics(self, codes: Iterable[str]) -> None:
        """Count what stands in one row's diagnostics."""
        counts = Counter(str(code) for code in codes)
        self.diagnostics.update(counts)
        self.diagnosed_rows.update(counts.keys())

    def count_bad(self, problem: Problem) -> None:
        """Count a bad row."""
        self.bad_rows[problem.code] += 1
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(problem)

    def add(self, other: Tally) -> None:
        """Count what another has counted."""
        self.rows += other.rows
        self.bad_rows.update(other.bad_rows)
        self.diagnostics.update(other.diagnostics)
        self.diagnosed_rows.update(other.diagnosed_rows)
        self.absent.update(other.absent)
        self.problems += other.problems[: MAX_PROBLEMS - len(self.problems)]

    def to_dict(self) -> dict[str, Any]:
        """The report, as JSON-ready values.

        >>> Tally(rows=1).to_dict()["messages"]
        1
        """
        return {
            "rows": self.rows,
            "messages": self.messages,
            "bad_rows": dict(self.bad_rows.most_common()),
            "diagnostics": {
                code: {"count": count, "rows": self.diagnosed_rows[code]}
                for code, count in self.diagnostics.most_common()
            },
            "absent_columns": self.unseen,
            "problems": [
                {"row": problem.row, "code": problem.code, "message": problem.message}
                for problem in self.problems
            ],
        }

    def lines(self, source: str) -> Iterator[str]:
        """The report for people; `source` is the input as a message names it."""
        yield f"{self.rows} rows: {self.messages} messages, {self.bad} bad rows"
        if self.bad_rows:
            yield "bad rows"
            yield from _counted({code: str(n) for code, n in self.bad_rows.most_common()})
        if self.diagnostics:
            yield "diagnostics"
            yield from _counted(
                {
                    code: f"{count} in {self.diagnosed_rows[code]} rows"
                    for code, count in self.diagnostics.most_common()
                }
            )
        for problem in self.problems:
            message = shortened(one_line(problem.message), _SHOWN)
            yield f"{source}:{problem.row}: {problem.code}: {message}"
        if self.bad > len(self.problems):
            yield f"and {self.bad - len(self.problems)} more"
        for column in self.unseen:
            yield f"{source}: no row has a column '{shortened(column)}'; check --read"

    def saved(self) -> dict[str, Any]:
        """All that is counted, for `restored`."""
        return {
            "rows": self.rows,
            **{name: dict(getattr(self, name)) for name in _COUNTERS},
            "problems": [[p.row, p.code, p.message] for p in self.problems],
        }

    @classmethod
    def restored(cls, saved: Mapping[str, Any]) -> Tally:
        """The tally that was saved."""
        return cls(
            rows=saved["rows"],
            **{name: Counter(saved[name]) for name in _COUNTERS},
            problems=[Problem(*problem) for problem in saved["problems"]],
        )


_COUNTERS = ("bad_rows", "diagnostics", "diagnosed_rows", "absent")


def _counted(counts: Mapping[str, str]) -> Iterator[str]:
    width = max(map(len, counts))
    for name, count in counts.items():
        yield f"  {name:<{width}}  {count}"
