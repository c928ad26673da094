"""Lines for people, each problem with the line that it stands in."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator

from tagsmith.errors import FamilyFileError
from tagsmith.lint.reporters.counting import counts
from tagsmith.lint.run import Report
from tagsmith.wording import one_line

_SHOWN = 100
"""How many characters of a line are shown."""
_BEFORE = 60
"""How many of them stand before the place, where the line is longer."""

_JOINED = frozenset(map(chr, range(0x1160, 0x1200)))
"""Letters of Hangul that are drawn into the one before them."""

Paint = Callable[[str, str], str]
"""Takes a text and what it is: `place`, `code`, `gutter` or `caret`."""

_CODES = {"place": "1", "code": "1;31", "gutter": "34", "caret": "1;31"}


def unpainted(text: str, _: str) -> str:
    """The text as it is."""
    return text


def painted(text: str, part: str) -> str:
    r"""The text in a terminal's colour for this part.

    >>> painted("TS101", "code")
    '\x1b[1;31mTS101\x1b[0m'
    """
    return f"\x1b[{_CODES[part]}m{text}\x1b[0m"


def text_report(report: Report, paint: Paint = unpainted) -> str:
    """A line for each problem, `file:line:column: CODE message`, with the line that it stands in
    below it, and one that counts them.

    >>> print(text_report(Report((), ())))
    0 files, no problems
    """
    lines = [line for problem in report.problems for line in _lines(problem, report, paint)]
    return "\n".join([*lines, counts(report)])


def _lines(problem: FamilyFileError, report: Report, paint: Paint) -> Iterator[str]:
    place = paint(f"{one_line(problem.file)}:{problem.line}:{problem.column}:", "place")
    yield f"{place} {paint(str(problem.code), 'code')} {one_line(problem.message)}"
    source = report.texts.get(problem.file)
    line = None if source is None else source.line(problem.line)
    if source is None or not line or line.isspace():
        return
    start, end = problem.column - 1, source.end_column(problem.location) - 1
    first, before, shown, after = _window(line, start, end)
    number = str(problem.line)
    bar = paint("|", "gutter")
    caret = "^" * max(_width(shown[start - first : end - first]), 1)
    indent = " " * (len(before) + _width(shown[: start - first]))
    yield f"  {paint(number, 'gutter')} {bar} {before}{shown}{after}"
    yield f"  {' ' * len(number)} {bar} {indent}{paint(caret, 'caret')}"


def _window(line: str, start: int, end: int) -> tuple[int, str, str, str]:
    """What is shown of a line: where it begins, and a mark on each side that is left out."""
    first = max(start - _BEFORE, 0) if len(line) > _SHOWN else 0
    shown = "".join(map(_shown, line[first : first + _SHOWN]))
    return first, "..." if first else "", shown, "..." if first + _SHOWN < len(line) else ""


def _shown(char: str) -> str:
    """A character that takes the room it seems to: nothing moves the cursor or turns the text."""
    if char.isprintable():
        return char
    return " " if char == "\t" else "\N{REPLACEMENT CHARACTER}"


def _width(text: str) -> int:
    """How many columns a text takes in a terminal."""
    return sum(_columns(char) for char in text)


def _columns(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me") or char in _JOINED:
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1
